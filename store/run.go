package store

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// runShort leaves out the texts; runColumns has everything.
const (
	runShort = `id, job_group, job_id, executor_address, executor_handler, executor_sharding_param, executor_fail_retry_count,
	trigger_time, trigger_code, handle_time, handle_code, alarm_status,
	run_state, planned_time, sent_time, accepted_time, finished_time, trigger_type, owner, parent_run, first_run, run_reason,
	route_turn, shard_key, lineage, missed_fires`
	runColumns = runShort + `, executor_param, trigger_msg, handle_msg, run_note`
)

// What queryRuns reads.
const (
	full  = true  // runColumns
	brief = false // runShort
)

// runTargets are where the columns of a run go, made once for many rows.
func (s *Store) runTargets(r *model.Run, all bool) []any {
	dst := []any{
		&r.ID, &r.GroupID, &r.JobID, nz(&r.Address), nz(&r.Handler), nz(&r.Sharding), &r.RetryLeft,
		s.scanTime(&r.TriggerTime), &r.TriggerCode, s.scanTime(&r.HandleTime), &r.HandleCode, &r.AlarmStatus,
		nz(&r.Phase), nz(&r.PlannedMS), nz(&r.SentMS), nz(&r.AcceptedMS), nz(&r.FinishedMS), nz(&r.TriggerType), nz(&r.Owner),
		nz(&r.ParentID), nz(&r.FirstID), nz(&r.Reason),
		nz(&r.Turn), nz(&r.ShardKey), nz(&r.Lineage), nz(&r.MissedFires),
	}
	if all {
		dst = append(dst, nz(&r.Param), nz(&r.TriggerMsg), nz(&r.HandleMsg), noteTarget{&r.Note})
	}
	return dst
}

func (s *Store) queryRuns(ctx context.Context, q querier, all bool, query string, args ...any) ([]model.Run, error) {
	var r model.Run
	return collect(ctx, q, into(&r, s.runTargets(&r, all)), query, args...)
}

// dueColumns are those that ringing needs: the rest of a planned run is empty.
const dueColumns = `id, job_group, job_id, executor_address, executor_handler, executor_param, executor_sharding_param, executor_fail_retry_count,
	trigger_time, run_state, planned_time, trigger_type, owner, parent_run, first_run, route_turn, shard_key, lineage, run_note`

func (s *Store) dueTargets(r *model.Run) []any {
	return []any{
		&r.ID, &r.GroupID, &r.JobID, nz(&r.Address), nz(&r.Handler), nz(&r.Param), nz(&r.Sharding), &r.RetryLeft,
		s.scanTime(&r.TriggerTime), nz(&r.Phase), nz(&r.PlannedMS), nz(&r.TriggerType), nz(&r.Owner), nz(&r.ParentID), nz(&r.FirstID),
		nz(&r.Turn), nz(&r.ShardKey), nz(&r.Lineage), noteTarget{&r.Note},
	}
}

// noteTarget reads run_note.
type noteTarget struct{ n *model.Note }

// Scan reads a text or NULL.
func (t noteTarget) Scan(v any) error {
	switch x := v.(type) {
	case []byte:
		*t.n = model.DecodeNote(string(x))
	case string:
		*t.n = model.DecodeNote(x)
	default:
		*t.n = model.Note{}
	}
	return nil
}

// triggerText is what trigger_msg says: the given text, or what the center says of the
// run in its language.
func (s *Store) triggerText(text string, n model.Note) string {
	if text == "" && len(n.Said) > 0 {
		text = s.words(n.Said...)
	}
	return cut(text, textBytes)
}

// Run reads one run; a missing one is model.CodeNotFound.
func (s *Store) Run(ctx context.Context, id int64) (model.Run, error) {
	var r model.Run
	err := s.r.QueryRowContext(ctx, `SELECT `+runColumns+` FROM xxl_job_log WHERE id = ?`, id).Scan(s.runTargets(&r, full)...)
	return r, notFound(err, "error.run_not_found", id)
}

// Runs lists runs, newest first, with one more than f.Limit when there are more.
// With f.After the rows next to it come, still newest first.
func (s *Store) Runs(ctx context.Context, f model.RunFilter) ([]model.Run, error) {
	where, args := inGroups("job_group", f.Groups)
	if f.JobID != 0 {
		where, args = where+" AND job_id = ?", append(args, f.JobID)
	} else if f.GroupID != 0 {
		where, args = where+" AND job_group = ?", append(args, f.GroupID)
	}
	where += statusWhere(f.Status)
	if f.Reason != "" {
		more, reasonArgs := reasonWhere(f.Reason)
		where, args = where+more, append(args, reasonArgs...)
	}
	more, timeArgs := s.periodWhere(f)
	where, args = where+more, append(args, timeArgs...)
	if f.Fires { // last, as it looks at other rows
		where += " AND run_state IS NOT NULL AND " + onePerFire
	}
	order := "DESC"
	switch {
	case f.Before != 0:
		where, args = where+" AND id < ?", append(args, f.Before)
	case f.After != 0:
		where, args, order = where+" AND id > ?", append(args, f.After), "ASC"
	}
	// The ids first: an index often has all that is asked, and the engine need not
	// sort whole rows of a long period.
	ids, err := collect(ctx, s.r, one[int64],
		`SELECT id FROM xxl_job_log l WHERE 1 = 1`+where+` ORDER BY id `+order+` LIMIT ?`, append(args, f.Limit+1)...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`) ORDER BY id DESC`, anys(ids)...)
}

// RecentRuns gives the newest runs of each job, oldest first, without texts:
// one statement for many jobs, each part by index, never over the table.
func (s *Store) RecentRuns(ctx context.Context, jobIDs []int, perJob int) (map[int][]model.Run, error) {
	out := make(map[int][]model.Run, len(jobIDs))
	err := chunks(jobIDs, 100, func(part []int) error {
		const one = `SELECT * FROM (SELECT ` + runShort + ` FROM xxl_job_log WHERE job_id = ? ORDER BY id DESC LIMIT ?) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, perJob)
		}
		list, err := s.queryRuns(ctx, s.r, false,
			strings.Repeat(one+" UNION ALL ", len(part)-1)+one+" ORDER BY id", args...)
		for _, r := range list {
			out[r.JobID] = append(out[r.JobID], r)
		}
		return err
	})
	return out, err
}

// LinkedRuns gives the other attempts, the parent, the children and the other
// shards of a run, of the given executors only (nil = all).
func (s *Store) LinkedRuns(ctx context.Context, r *model.Run, groups []int, limit int) ([]model.Run, error) {
	first := r.FirstAttempt()
	where, args := inGroups("job_group", groups)
	// NULL equals nothing, so a run without a broadcast has no shards beside it.
	list, err := s.queryRuns(ctx, s.r, brief, `SELECT * FROM (SELECT `+runShort+` FROM xxl_job_log WHERE id IN (?, ?)
		UNION SELECT `+runShort+` FROM xxl_job_log WHERE first_run = ?
		UNION SELECT `+runShort+` FROM xxl_job_log WHERE parent_run = ?
		UNION SELECT `+runShort+` FROM xxl_job_log WHERE shard_key = ?) AS t
		WHERE 1 = 1`+where+` ORDER BY id LIMIT ?`, append(append([]any{first, r.ParentID, first, r.ID, null(r.ShardKey)}, args...), limit)...)
	return slices.DeleteFunc(list, func(x model.Run) bool { return x.ID == r.ID }), err
}

// NamesOfJobs gives the names of jobs by id.
func (s *Store) NamesOfJobs(ctx context.Context, ids []int) (map[int]string, error) {
	out := make(map[int]string, len(ids))
	err := chunks(ids, 500, func(part []int) error {
		rows, err := s.r.QueryContext(ctx, `SELECT id, job_desc FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			var name string
			if err := rows.Scan(&id, &name); err != nil {
				return err
			}
			out[id] = name
		}
		return rows.Err()
	})
	return out, err
}
