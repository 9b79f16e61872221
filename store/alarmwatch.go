package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// JobsToWatch reads jobs without their sources and with their tags, by which rules find them;
// those that are missing or cannot be read are left out.
func (s *Store) JobsToWatch(ctx context.Context, ids []int) (map[int]model.Job, error) {
	out := make(map[int]model.Job, len(ids))
	err := readable(ids, 500, func(part []int) error {
		list, err := s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		if err == nil {
			err = s.addTags(ctx, s.r, list)
		}
		for _, j := range list {
			out[j.ID] = j
		}
		return err
	})
	return out, err
}

// OpenRuns gives of each job the oldest run that was planned before an instant (epoch ms), has
// been sent, and has no result. The index has all that finds them.
func (s *Store) OpenRuns(ctx context.Context, plannedBefore int64) ([]model.OpenRun, error) {
	oldest, err := collect(ctx, s.r, one[int64], `SELECT MIN(id) FROM xxl_job_log WHERE run_state IN (?, ?) AND planned_time < ? GROUP BY job_id`,
		model.PhaseUnknown, model.PhaseAccepted, plannedBefore)
	if err != nil {
		return nil, err
	}
	var out []model.OpenRun
	err = chunks(oldest, 1000, func(part []int64) error {
		list, err := collect(ctx, s.r, func(r row) (x model.OpenRun, err error) { err = r.Scan(&x.RunID, &x.JobID, &x.SentMS); return x, err },
			`SELECT id, job_id, COALESCE(sent_time, planned_time) FROM xxl_job_log WHERE id IN (`+marks(len(part))+`) AND run_state IN (?, ?)`,
			append(anys(part), model.PhaseUnknown, model.PhaseAccepted)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// How many of a job's newest runs say how long its runs take, and how many of these must have
// succeeded.
const (
	usualRuns  = 50
	usualLeast = 5
)

// UsualDurations gives the longest time in milliseconds that one of the recent runs of each
// job took to succeed. Jobs of which too few did are left out.
func (s *Store) UsualDurations(ctx context.Context, jobs []int) (map[int]int64, error) {
	out := map[int]int64{}
	err := chunks(jobs, 50, func(part []int) error {
		const one = `SELECT ? AS job, COALESCE(MAX(finished_time - began), 0) AS longest, COUNT(*) AS n FROM
			(SELECT handle_code, COALESCE(sent_time, planned_time) AS began, finished_time FROM xxl_job_log WHERE job_id = ? ORDER BY id DESC LIMIT ?) AS t
			WHERE handle_code = 200 AND finished_time >= began`
		var args []any
		for _, id := range part {
			args = append(args, id, id, usualRuns)
		}
		type entry struct {
			job   int
			ms, n int64
		}
		list, err := collect(ctx, s.r, func(r row) (e entry, err error) { err = r.Scan(&e.job, &e.ms, &e.n); return e, err },
			strings.Repeat(one+" UNION ALL ", len(part)-1)+one, args...)
		for _, e := range list {
			if e.n >= usualLeast {
				out[e.job] = max(e.ms, 1)
			}
		}
		return err
	})
	return out, err
}

// JobsOfRule gives the jobs that a rule is about, narrower rules apart: those that are on, and
// those made on demand, without their sources and with their tags.
func (s *Store) JobsOfRule(ctx context.Context, r model.AlarmRule) ([]model.Job, error) {
	where, args := "", []any(nil)
	switch r.Scope {
	case model.ScopeExecutor:
		where, args = ` AND job_group = ?`, []any{r.GroupID}
	case model.ScopeTag:
		where, args = ` AND id IN (SELECT job_id FROM carillon_job_tag WHERE tag = ?)`, []any{r.Tag}
	case model.ScopeJob:
		where, args = ` AND id = ?`, []any{r.JobID}
	}
	list, err := s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE (trigger_status = 1 OR schedule_type = 'NONE')`+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, err
	}
	return list, s.addTags(ctx, s.r, list)
}

// wholeSuccess leaves successes r, of shards only those of broadcasts that succeeded as a whole:
// each shard at one of its attempts.
const wholeSuccess = `r.handle_code = 200 AND (r.shard_key IS NULL OR NOT EXISTS
	(SELECT 1 FROM xxl_job_log l WHERE l.shard_key = r.shard_key AND l.handle_code <> 200 AND ` + onePerFire + `))`

// SucceededFrom gives those of the jobs that have a success that was planned at or after their
// instant (epoch ms). A broadcast has succeeded when all its shards have.
func (s *Store) SucceededFrom(ctx context.Context, from map[int]int64) ([]int, error) {
	if len(from) == 0 {
		return nil, nil
	}
	// What was written down before the first of these instants is not read.
	first := time.UnixMilli(slices.Min(slices.Collect(maps.Values(from))))
	ids, err := collect(ctx, s.r, one[int64], `SELECT id FROM xxl_job_log WHERE trigger_time >= ? ORDER BY trigger_time LIMIT 1`, s.since(first))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var out []int
	err = chunks(slices.Sorted(maps.Keys(from)), 100, func(part []int) error {
		const last = `SELECT * FROM (SELECT r.job_id FROM xxl_job_log r WHERE r.job_id = ? AND r.id >= ? AND r.planned_time >= ? AND ` + wholeSuccess + ` ORDER BY r.id DESC LIMIT 1) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, ids[0]-streakSlack, from[id])
		}
		list, err := collect(ctx, s.r, one[int], strings.Repeat(last+" UNION ALL ", len(part)-1)+last, args...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// mostLate is how many fires that wait are looked at: of more, the rest comes later.
const mostLate = 20_000

// LateFires gives of each job the oldest fire that was due before an instant (epoch ms) and has
// not been sent: a run that waits, or a fire that nobody has written down.
func (s *Store) LateFires(ctx context.Context, before int64) ([]model.LateFire, error) {
	list, err := collect(ctx, s.r, func(r row) (x model.LateFire, err error) { err = r.Scan(&x.JobID, &x.RunID, &x.DueMS); return x, err },
		`SELECT job_id, MIN(id), MIN(planned_time) FROM (SELECT id, job_id, planned_time FROM xxl_job_log WHERE run_state = ? AND planned_time < ? LIMIT ?) AS t GROUP BY job_id`,
		model.PhasePlanned, before, mostLate)
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for _, x := range list {
		seen[x.JobID] = true
	}
	due, err := collect(ctx, s.r, func(r row) (x model.LateFire, err error) { err = r.Scan(&x.JobID, &x.DueMS); return x, err },
		`SELECT id, trigger_next_time FROM xxl_job_info WHERE trigger_status = 1 AND trigger_next_time > 0 AND trigger_next_time < ? LIMIT ?`, before, mostLate)
	for _, x := range due {
		if !seen[x.JobID] {
			list = append(list, x)
		}
	}
	return list, err
}

// RecentFailures counts, among so many of the newest fires of each job that have ended, those
// that failed or were not made. What a person wanted so does not count as a fire.
func (s *Store) RecentFailures(ctx context.Context, of map[int]int) (map[int]int, error) {
	out := map[int]int{}
	err := chunks(slices.Sorted(maps.Keys(of)), 50, func(part []int) error {
		const one = `SELECT ? AS job, COALESCE(SUM(bad), 0) AS n FROM (SELECT CASE WHEN handle_code = 200 THEN 0 ELSE 1 END AS bad FROM xxl_job_log l
			WHERE job_id = ? AND NOT ` + isOpen + ` AND COALESCE(run_reason, '') NOT IN ('` + model.ReasonKilled + `', '` + model.ReasonKillAsked + `', '` + model.ReasonCovered + `', '` +
			model.ReasonPaused + `', '` + model.ReasonCancelled + `', '` + model.ReasonTakenBack + `', '` + model.ReasonDiscarded + `') AND ` + onePerFire + ` ORDER BY id DESC LIMIT ?) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, id, of[id])
		}
		type pair struct{ id, n int }
		list, err := collect(ctx, s.r, func(r row) (p pair, err error) { err = r.Scan(&p.id, &p.n); return p, err },
			strings.Repeat(one+" UNION ALL ", len(part)-1)+one, args...)
		for _, p := range list {
			out[p.id] = p.n
		}
		return err
	})
	return out, err
}

// BrokenJobs gives the jobs that cannot be planned, with their executors.
func (s *Store) BrokenJobs(ctx context.Context) (map[int]int, error) {
	type pair struct{ id, group int }
	list, err := collect(ctx, s.r, func(r row) (p pair, err error) { err = r.Scan(&p.id, &p.group); return p, err },
		`SELECT id, job_group FROM xxl_job_info WHERE carillon_condition = ?`, model.JobQuarantined)
	out := map[int]int{}
	for _, p := range list {
		out[p.id] = p.group
	}
	return out, err
}
