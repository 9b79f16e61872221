package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
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
	return s.queryRunsOn(ctx, q, nil, all, query, args...)
}

// queryRunsOn appends to out, which has room for those that are expected.
func (s *Store) queryRunsOn(ctx context.Context, q querier, out []model.Run, all bool, query string, args ...any) ([]model.Run, error) {
	var r model.Run
	return collectOn(ctx, q, out, into(&r, s.runTargets(&r, all)), query, args...)
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
// With f.After the rows next to it come, still newest first. Those of a period are in the
// order of their trigger times, by which an index finds them; others in that of their ids.
func (s *Store) Runs(ctx context.Context, f model.RunFilter) ([]model.Run, error) {
	where, args := s.runWhere(f)
	order, cursor, compare := "DESC", f.Before, "<"
	if f.Before == 0 && f.After != 0 {
		order, cursor, compare = "ASC", f.After, ">"
	}
	by := "id " + order
	timed := !f.From.IsZero() || !f.To.IsZero()
	if timed {
		by = "trigger_time " + order + ", id " + order
	}
	if cursor != 0 {
		var at sql.NullString // as it is stored
		if timed {
			err := s.r.QueryRowContext(ctx, `SELECT CAST(trigger_time AS CHAR) FROM xxl_job_log WHERE id = ?`, cursor).Scan(&at)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
		}
		if at.Valid {
			where += " AND trigger_time " + compare + "= ? AND (trigger_time <> ? OR id " + compare + " ?)"
			args = append(args, at.String, at.String, cursor)
		} else {
			where, args = where+" AND id "+compare+" ?", append(args, cursor)
		}
	}
	// The ids first: an index often has all that is asked, and the engine need not
	// sort whole rows of a long period.
	query := `SELECT id FROM xxl_job_log l WHERE 1 = 1` + where + ` ORDER BY ` + by + ` LIMIT ? OFFSET ?`
	var ids []int64
	var err error
	if f.Tag != "" && f.JobID == 0 && !timed {
		ids, err = s.runsOfTag(ctx, f, where, args, order)
	} else {
		ids, err = collect(ctx, s.r, one[int64], query, append(args, f.Limit+1, f.Offset)...)
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if order == "ASC" {
		slices.Reverse(ids)
	}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	list, err := s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`)`, anys(ids)...)
	slices.SortFunc(list, func(a, b model.Run) int { return place[a.ID] - place[b.ID] })
	return list, err
}

// CountRuns counts the runs of a filter, up to most.
func (s *Store) CountRuns(ctx context.Context, f model.RunFilter, most int) (int, error) {
	where, args := s.runWhere(f)
	var n int
	err := s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT id FROM xxl_job_log l WHERE 1 = 1`+where+` LIMIT ?) AS t`, append(args, most)...).Scan(&n)
	return n, err
}

// runWhere is a filter without its page.
func (s *Store) runWhere(f model.RunFilter) (string, []any) {
	where, args := inGroups("job_group", f.Groups)
	if f.JobID != 0 {
		where, args = where+" AND job_id = ?", append(args, f.JobID)
		if f.GroupID != 0 && f.Fires { // as a report of the executor counts a job that was elsewhere, too
			where, args = where+" AND job_group + 0 = ?", append(args, f.GroupID)
		}
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
	if f.DueByMS != 0 {
		where, args = where+" AND NOT (COALESCE(run_state, 0) = 1 AND planned_time > ?)", append(args, f.DueByMS)
	}
	if f.Taken {
		where += " AND trigger_code = 200 AND handle_code = 0"
	}
	more, tasteArgs := beginWhere(f)
	where, args = where+more, append(args, tasteArgs...)
	more, textArgs := runText(f.Text)
	where, args = where+more, append(args, textArgs...)
	return where, args
}

// taggedJobs bounds of how many jobs the runs of a tag are shown, the newest jobs first.
const taggedJobs = 1000

// runsOfTag gives the ids of the runs of all jobs that have the tag: of each job its newest
// by the index, then the newest of these.
func (s *Store) runsOfTag(ctx context.Context, f model.RunFilter, where string, args []any, order string) ([]int64, error) {
	limitTo, groupArgs := inGroups("i.job_group", f.Groups)
	jobs, err := collect(ctx, s.r, one[int], `SELECT t.job_id FROM carillon_job_tag t JOIN xxl_job_info i ON i.id = t.job_id WHERE t.tag = ?`+limitTo+
		` ORDER BY t.job_id DESC LIMIT ?`, append(append([]any{f.Tag}, groupArgs...), taggedJobs)...)
	if err != nil {
		return nil, err
	}
	need := f.Limit + 1 + f.Offset
	var ids []int64
	err = chunks(jobs, 50, func(part []int) error {
		each := `SELECT * FROM (SELECT id FROM xxl_job_log l WHERE job_id = ?` + where + ` ORDER BY id ` + order + ` LIMIT ?) AS t`
		var all []any
		for _, id := range part {
			all = append(append(append(all, id), args...), need)
		}
		some, err := collect(ctx, s.r, one[int64], strings.Repeat(each+" UNION ALL ", len(part)-1)+each, all...)
		ids = append(ids, some...)
		return err
	})
	slices.Sort(ids)
	if order == "DESC" {
		slices.Reverse(ids)
	}
	return ids[min(f.Offset, len(ids)):min(need, len(ids))], err
}

// beginWhere selects runs by how they began, where they went and the tags of their jobs.
func beginWhere(f model.RunFilter) (where string, args []any) {
	if f.Trigger != "" {
		where, args = where+" AND trigger_type = ?", append(args, f.Trigger)
	}
	if f.Address != "" {
		where, args = where+" AND executor_address LIKE ? ESCAPE '!'", append(args, "%"+likeEscaper.Replace(f.Address)+"%")
	}
	if where != "" && f.JobID == 0 && f.Tag == "" && f.From.IsZero() && f.To.IsZero() { // no index has it
		where += " AND id > (SELECT MAX(m.id) FROM xxl_job_log m) - " + strconv.Itoa(searchedRuns)
	}
	if f.Owner != "" {
		where, args = where+" AND job_id IN (SELECT i.id FROM xxl_job_info i WHERE i.author = ?)", append(args, f.Owner)
	}
	switch f.How {
	case model.HowLate:
		where, args = where+" AND NOT "+isOpen+` AND (CASE WHEN l.first_run IS NULL THEN l.sent_time - l.planned_time
			ELSE (SELECT h.sent_time - h.planned_time FROM xxl_job_log h WHERE h.id = l.first_run) END) > ?`, append(args, model.LateAfter.Milliseconds())
	case model.HowRescued:
		where += " AND handle_code = 200 AND l.first_run IS NOT NULL"
	}
	if f.Tag != "" {
		where, args = where+" AND job_id IN (SELECT t.job_id FROM carillon_job_tag t WHERE t.tag = ?)", append(args, f.Tag)
	}
	return where, args
}

// searchedRuns is how many of the newest runs are searched for what no index has.
const searchedRuns = 100_000

// runText selects runs by id, by name and handler of their job, and, among the newest,
// by address, parameter and message.
func runText(text string) (string, []any) {
	if text == "" {
		return "", nil
	}
	like := "%" + likeEscaper.Replace(text) + "%"
	id, _ := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64) // 0 is no run
	return ` AND (id = ? OR job_id IN (SELECT i.id FROM xxl_job_info i WHERE i.job_desc LIKE ? ESCAPE '!' OR i.executor_handler LIKE ? ESCAPE '!')
		OR id > (SELECT MAX(m.id) FROM xxl_job_log m) - ` + strconv.Itoa(searchedRuns) + ` AND (executor_address LIKE ? ESCAPE '!'
			OR executor_param LIKE ? ESCAPE '!' OR handle_msg LIKE ? ESCAPE '!' OR trigger_msg LIKE ? ESCAPE '!'))`, []any{id, like, like, like, like, like, like}
}

// CountPlanned counts runs of the given executors (nil = all) and, unless 0, of a group
// and a job, that are planned for later than nowMS, at most limit.
func (s *Store) CountPlanned(ctx context.Context, f model.RunFilter, nowMS int64, limit int) (int, error) {
	where, args := inGroups("job_group", f.Groups)
	if f.JobID != 0 {
		where, args = where+" AND job_id = ?", append(args, f.JobID)
	} else if f.GroupID != 0 {
		where, args = where+" AND job_group = ?", append(args, f.GroupID)
	}
	var n int
	err := s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM xxl_job_log WHERE run_state = ? AND planned_time > ?`+where+` LIMIT ?) AS t`,
		append(append([]any{model.PhasePlanned, nowMS}, args...), limit)...).Scan(&n)
	return n, err
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
