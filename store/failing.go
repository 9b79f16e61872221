package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// verdicts is what the fires that end in one transaction say of their jobs: the fire
// that ends last decides whether a job is failing.
type verdicts map[int]verdict

type verdict struct {
	run     int64 // of the first attempt, 0 = not known yet
	sinceMS int64
	good    bool
}

// note takes the outcome of a fire: a line of the ledger, or "" while it is open. What
// was not sent, or ended because somebody wanted it, says nothing about the job.
func (v verdicts) note(job int, run, plannedMS int64, line string) {
	info, known := model.ReasonOf(line)
	good := line == model.OutcomeSucceeded
	if !good && (line == "" || known && (info.Class != model.ClassFailed || info.Final)) {
		return
	}
	if old, there := v[job]; !there || run == 0 || old.run <= run {
		v[job] = verdict{run, plannedMS, good}
	}
}

// noteFailing writes down which jobs are failing now and which are not any more. Jobs
// that go on as they did, as nearly all do, cost no write.
func (s *Store) noteFailing(ctx context.Context, tx *sql.Tx, v verdicts) error {
	ids := slices.Sorted(maps.Keys(v))
	return chunks(ids, 1000, func(part []int) error {
		list, err := collect(ctx, tx, one[int], `SELECT job_id FROM carillon_failing WHERE job_id IN (`+marks(len(part))+`)`, anys(part)...)
		if err != nil {
			return err
		}
		failing := make(map[int]bool, len(list))
		for _, id := range list {
			failing[id] = true
		}
		var fresh []any
		var well []int
		for _, id := range part {
			switch x := v[id]; {
			case x.good && failing[id]:
				well = append(well, id)
			case !x.good && !failing[id]:
				fresh = append(fresh, id, x.sinceMS)
			}
		}
		if len(well) > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_failing WHERE job_id IN (`+marks(len(well))+`)`, anys(well)...); err != nil {
				return err
			}
		}
		if len(fresh) > 0 {
			_, err = tx.ExecContext(ctx, s.d.insertIgnore+`carillon_failing (job_id, since_at) VALUES `+rowsOf(2, len(fresh)/2), fresh...)
		}
		return err
	})
}

// failingWhere is true of jobs that are failing and that nobody has stopped.
const failingWhere = `id IN (SELECT job_id FROM carillon_failing) AND (trigger_status = 1 OR schedule_type = 'NONE')`

// FailingJobs lists the jobs of the groups (nil = all) that are failing and not stopped,
// the newest trouble first, with the planned instant of the first fire that failed.
func (s *Store) FailingJobs(ctx context.Context, groups []int, limit int) ([]model.FailingJob, error) {
	limitTo, args := inGroups("i.job_group", groups)
	return collect(ctx, s.r, func(r row) (f model.FailingJob, err error) {
		err = r.Scan(&f.ID, &f.GroupID, &f.Name, nz(&f.Author), &f.SinceMS)
		return f, err
	}, `SELECT i.id, i.job_group, i.job_desc, i.author, f.since_at FROM carillon_failing f JOIN xxl_job_info i ON i.id = f.job_id
		WHERE (i.trigger_status = 1 OR i.schedule_type = 'NONE')`+limitTo+` ORDER BY f.since_at DESC, i.id DESC LIMIT ?`, append(args, limit)...)
}

// FailingSince says of the given jobs since when they are failing, in epoch ms; those
// that are not are left out.
func (s *Store) FailingSince(ctx context.Context, ids []int) (map[int]int64, error) {
	out := map[int]int64{}
	err := chunks(ids, 1000, func(part []int) error {
		type pair struct{ id, since int64 }
		list, err := collect(ctx, s.r, func(r row) (p pair, err error) { err = r.Scan(&p.id, &p.since); return p, err },
			`SELECT job_id, since_at FROM carillon_failing WHERE job_id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, p := range list {
			out[int(p.id)] = p.since
		}
		return err
	})
	return out, err
}

// LastFailures gives, of jobs that fail since the given instants (epoch ms), the last run
// that failed. Those without one are left out.
func (s *Store) LastFailures(ctx context.Context, since map[int]int64) (map[int]*model.Run, error) {
	out := map[int]*model.Run{}
	err := chunks(slices.Sorted(maps.Keys(since)), 100, func(part []int) error {
		const one = `SELECT * FROM (SELECT ` + runColumns + ` FROM xxl_job_log WHERE job_id = ? AND planned_time >= ? AND ` + isFailed + ` ORDER BY id DESC LIMIT 1) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, since[id])
		}
		list, err := s.queryRuns(ctx, s.r, full, strings.Repeat(one+" UNION ALL ", len(part)-1)+one, args...)
		for i := range list {
			out[list[i].JobID] = &list[i]
		}
		return err
	})
	return out, err
}

// FailuresSince counts the fires of jobs that failed since the given instants (epoch ms),
// at most limit of each.
func (s *Store) FailuresSince(ctx context.Context, since map[int]int64, limit int) (map[int]int, error) {
	out := map[int]int{}
	err := chunks(slices.Sorted(maps.Keys(since)), 100, func(part []int) error {
		one := `SELECT ? AS job, COUNT(*) AS n FROM (SELECT 1 FROM xxl_job_log l WHERE job_id = ? AND planned_time >= ?` +
			statusWhere(model.RunsFailed) + ` AND ` + onePerFire + ` ORDER BY id DESC LIMIT ?) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, id, since[id], limit)
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
