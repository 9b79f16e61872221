package store

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// LatestRuns gives the newest runs of a job that are not planned any more, oldest
// first, without texts.
func (s *Store) LatestRuns(ctx context.Context, jobID, limit int) ([]model.Run, error) {
	list, err := s.queryRuns(ctx, s.r, brief, `SELECT `+runShort+` FROM xxl_job_log
		WHERE job_id = ? AND COALESCE(run_state, 0) <> ? ORDER BY id DESC LIMIT ?`, jobID, model.PhasePlanned, limit)
	slices.Reverse(list)
	return list, err
}

// RunsWithTexts reads some runs with their texts, newest first; missing ones are left out.
func (s *Store) RunsWithTexts(ctx context.Context, ids []int64) (out []model.Run, err error) {
	err = chunks(ids, 500, func(part []int64) error {
		list, err := s.queryRuns(ctx, s.r, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`) ORDER BY id DESC`, anys(part)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// StreakWindow is how many runs of a job are looked at where all of them may be millions.
const StreakWindow = 10000

// SuccessBefore gives the newest success of a job among the StreakWindow runs that were
// written before the given one, without texts; without one the run has no id.
func (s *Store) SuccessBefore(ctx context.Context, jobID int, beforeID int64) (r model.Run, err error) {
	list, err := s.queryRuns(ctx, s.r, brief, `SELECT `+runShort+` FROM xxl_job_log WHERE id = (SELECT MAX(id) FROM
		(SELECT id, handle_code FROM xxl_job_log WHERE job_id = ? AND id < ? ORDER BY id DESC LIMIT ?) AS t WHERE handle_code = 200)`,
		jobID, beforeID, StreakWindow)
	if len(list) > 0 {
		r = list[0]
	}
	return r, err
}

// WaitingRuns says how many runs of a job are written down and not sent, how many of
// them are due by now (epoch ms), and gives the first ones by their instant.
func (s *Store) WaitingRuns(ctx context.Context, jobID int, now int64, limit int) (w model.Waiting, err error) {
	// All planned runs are few, all runs of a job may be millions: the sum keeps the
	// engine from the index on the job.
	const of = ` FROM xxl_job_log WHERE run_state = ? AND job_id + 0 = ?`
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN planned_time <= ? THEN 1 ELSE 0 END), 0)`+of,
		now, model.PhasePlanned, jobID).Scan(&w.Total, &w.Due)
	if err != nil || w.Total == 0 {
		return w, err
	}
	ids, err := collect(ctx, s.r, one[int64], `SELECT id`+of+` ORDER BY planned_time, id LIMIT ?`, model.PhasePlanned, jobID, limit)
	if err != nil {
		return w, err
	}
	w.Runs, err = s.RunsWithTexts(ctx, ids)
	slices.SortFunc(w.Runs, func(a, b model.Run) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return w, err
}

// QueuePlace says which place a run that waits has among those of its job that are due by
// now (epoch ms), from 1, and how many these are; 0 = it does not wait.
func (s *Store) QueuePlace(ctx context.Context, r *model.Run, now int64) (place, of int, err error) {
	if r.Phase != model.PhasePlanned || r.PlannedMS > now {
		return 0, 0, nil
	}
	err = s.r.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN planned_time < ? OR planned_time = ? AND id <= ? THEN 1 ELSE 0 END), 0), COUNT(*)
		FROM xxl_job_log WHERE run_state = ? AND job_id + 0 = ? AND planned_time <= ?`,
		r.PlannedMS, r.PlannedMS, r.ID, model.PhasePlanned, r.JobID, now).Scan(&place, &of)
	return place, of, err
}

// CountRunsOf counts the stored runs of a job, up to most: what is more is answered as most.
func (s *Store) CountRunsOf(ctx context.Context, jobID, most int) (n int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT id FROM xxl_job_log WHERE job_id = ? LIMIT ?) AS t`, jobID, most).Scan(&n)
	return n, err
}

// ParentJobs lists the jobs that start the given one, of the given executors only (nil
// = all), without sources.
func (s *Store) ParentJobs(ctx context.Context, jobID int, groups []int, limit int) ([]model.Job, error) {
	limitTo, args := inGroups("job_group", groups)
	list, err := s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info
		WHERE child_jobid > '' AND child_jobid LIKE ?`+limitTo+` ORDER BY id`, append([]any{"%" + itoa(jobID) + "%"}, args...)...)
	list = slices.DeleteFunc(list, func(j model.Job) bool {
		ids, err := model.ChildIDList(j.ChildIDs)
		return err != nil || !slices.Contains(ids, jobID)
	})
	return list[:min(len(list), limit)], err
}

// JobsBrief reads some jobs without sources, in no order; missing ones are left out.
func (s *Store) JobsBrief(ctx context.Context, ids []int) (out []model.Job, err error) {
	err = chunks(ids, 500, func(part []int) error {
		list, err := s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// AppRegistrations lists the addresses that an executor registered and that were not removed.
func (s *Store) AppRegistrations(ctx context.Context, appName string) ([]model.Registration, error) {
	return s.queryRegistrations(ctx, s.r, ` AND registry_key = ?`, appName)
}

// HandRuns gives the newest runs of a job that people asked for, with their texts, newest
// first. It looks at the newest StreakWindow runs of the job.
func (s *Store) HandRuns(ctx context.Context, jobID, limit int) ([]model.Run, error) {
	ids, err := collect(ctx, s.r, one[int64], `SELECT id FROM (SELECT id, trigger_type FROM xxl_job_log WHERE job_id = ? ORDER BY id DESC LIMIT ?) AS t
		WHERE trigger_type = ? ORDER BY id DESC LIMIT ?`, jobID, StreakWindow, model.TriggerManual, limit)
	if err != nil {
		return nil, err
	}
	return s.RunsWithTexts(ctx, ids)
}

// GoneJobs gives the names of jobs that were deleted and whose runs are kept, by id.
func (s *Store) GoneJobs(ctx context.Context, ids []int) (map[int]string, error) {
	out := map[int]string{}
	err := chunks(ids, 500, func(part []int) error {
		list, err := collect(ctx, s.r, func(r row) (j model.Job, err error) {
			err = r.Scan(&j.ID, &j.Name)
			return j, err
		}, `SELECT job_id, name FROM carillon_gone WHERE job_id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, j := range list {
			out[j.ID] = j.Name
		}
		return err
	})
	return out, err
}
