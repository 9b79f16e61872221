package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// followAll loads the jobs that follow needs and collects what it decides. Of
// successes only those with children are looked at.
func (s *Store) followAll(ctx context.Context, tx *sql.Tx, ended []model.Run, follow model.Follow) ([]model.Run, error) {
	if follow == nil || len(ended) == 0 {
		return nil, nil
	}
	var won, failed []int
	for i := range ended {
		if ended[i].HandleCode == model.CodeSuccess {
			won = append(won, ended[i].JobID)
		} else if ended[i].RetryLeft > 0 {
			failed = append(failed, ended[i].JobID)
		}
	}
	parents, err := s.parentsAmong(ctx, tx, compact(won))
	if err != nil || len(parents)+len(failed) == 0 {
		return nil, err
	}
	jobs, err := s.definitions(ctx, tx, compact(append(failed, parents...)))
	if err != nil {
		return nil, err
	}
	var children []int
	for _, j := range jobs {
		// What cannot be read stops nothing; the planner quarantines broken jobs.
		list, _ := model.ChildIDList(j.ChildIDs)
		children = append(children, list...)
	}
	more, err := s.definitions(ctx, tx, compact(children))
	if err != nil {
		return nil, err
	}
	for id, j := range more {
		jobs[id] = j
	}
	var out []model.Run
	for i := range ended {
		r := ended[i]
		if r.HandleCode == model.CodeSuccess {
			if !slices.Contains(parents, r.JobID) {
				continue
			}
			if r.ShardsLeft, err = s.shardsLeft(ctx, tx, &r); err != nil {
				return nil, err
			}
		}
		out = append(out, follow(r, jobs)...)
	}
	return out, nil
}

// parentsAmong says which of the jobs have children.
func (s *Store) parentsAmong(ctx context.Context, tx *sql.Tx, ids []int) ([]int, error) {
	var out []int
	err := chunks(ids, 1000, func(part []int) error {
		found, err := collect(ctx, tx, one[int],
			`SELECT id FROM xxl_job_info WHERE id IN (`+marks(len(part))+`) AND child_jobid <> ''`, anys(part)...)
		out = append(out, found...)
		return err
	})
	return out, err
}

// definitions reads jobs without their sources.
func (s *Store) definitions(ctx context.Context, tx *sql.Tx, ids []int) (map[int]model.Job, error) {
	out := make(map[int]model.Job, len(ids))
	err := readable(ids, 500, func(part []int) error {
		list, err := s.queryJobs(ctx, tx, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, j := range list {
			out[j.ID] = j
		}
		return err
	})
	return out, err
}

// shardsLeft counts the shards of the run's broadcast that have not succeeded,
// in any attempt. The rows are locked, so of two shards that succeed at the
// same moment the later one sees the other.
func (s *Store) shardsLeft(ctx context.Context, tx *sql.Tx, r *model.Run) (int, error) {
	if r.ShardKey == "" {
		return 0, nil
	}
	type shard struct {
		name string
		code int
	}
	list, err := collect(ctx, tx, func(x row) (one shard, err error) {
		err = x.Scan(nz(&one.name), &one.code)
		return one, err
	}, `SELECT executor_sharding_param, handle_code FROM xxl_job_log WHERE shard_key = ? ORDER BY id`+s.d.forUpdate, r.ShardKey)
	if err != nil {
		return 0, err
	}
	done := map[string]bool{}
	for _, one := range list {
		done[one.name] = done[one.name] || one.code == model.CodeSuccess
	}
	left := 0
	for _, ok := range done {
		if !ok {
			left++
		}
	}
	return left, nil
}

// markCovered finds failed runs that a later run of their job had ended
// (COVER_EARLY): an executor that took a later one stops the earlier.
func (s *Store) markCovered(ctx context.Context, tx *sql.Tx, won []model.Run) error {
	var ids []int
	for i := range won {
		if r := &won[i]; r.HandleCode != model.CodeSuccess && r.Reason == "" && r.Address != "" {
			ids = append(ids, r.JobID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	jobs, err := s.definitions(ctx, tx, compact(ids))
	if err != nil {
		return err
	}
	for i := range won {
		r := &won[i]
		if r.HandleCode == model.CodeSuccess || r.Reason != "" || jobs[r.JobID].Block != model.BlockCover {
			continue
		}
		later, err := collect(ctx, tx, one[int64],
			`SELECT id FROM xxl_job_log WHERE job_id = ? AND id > ? AND executor_address = ? AND COALESCE(sent_time, planned_time) >= ? AND planned_time <= ? AND run_state IN (?, ?, ?, ?)
			AND NOT (run_state = 5 AND trigger_code <> 200) ORDER BY id LIMIT 1`,
			r.JobID, r.ID, r.Address, r.SentMS, r.FinishedMS, model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted, model.PhaseFinished)
		if err != nil {
			return err
		}
		if len(later) > 0 {
			r.Reason = model.ReasonCovered
			if !strings.HasPrefix(saidLast(r), "sdk_covered") { // which names it already
				r.Note.Said = append(r.Note.Said, model.Say(model.ReasonCovered, "Run", later[0]))
			}
		}
	}
	return nil
}

// saidLast is the code of what was said of a run last, or "".
func saidLast(r *model.Run) string {
	if n := len(r.Note.Said); n > 0 {
		return r.Note.Said[n-1].Code
	}
	return ""
}
