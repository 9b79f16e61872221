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
// that ends last decides whether a job is failing. What people may be told of is kept apart.
type verdicts struct {
	jobs map[int]verdict
	news []model.AlarmEvent
	// attempts are those that failed and will be tried again.
	attempts []model.AlarmEvent
}

func newVerdicts() *verdicts { return &verdicts{jobs: map[int]verdict{}} }

type verdict struct {
	run  int64 // of the first attempt, 0 = not known yet
	atMS int64 // when it had failed, of many the first
	good bool
}

// note takes the outcome of a fire: a line of the ledger, or "" while it is open. What
// was not sent, or ended because somebody wanted it, says nothing about the job.
// The event names the last attempt, and how many fires it stands for.
func (v *verdicts) note(job int, run, atMS int64, line string, event model.AlarmEvent) {
	if line != model.OutcomeSucceeded && model.Raises(line) { // most succeed
		event.JobID, event.AtMS, event.Reason = job, atMS, line
		v.news = append(v.news, event)
	}
	good := line == model.OutcomeSucceeded
	if !good {
		info, known := model.ReasonOf(line)
		if line == "" || known && (info.Class != model.ClassFailed || info.Final) {
			return
		}
	}
	old, there := v.jobs[job]
	switch {
	case there && !good && !old.good: // the first of them
		v.jobs[job] = verdict{min(run, old.run), min(atMS, old.atMS), false}
	case !there || run == 0 || old.run <= run:
		v.jobs[job] = verdict{run, atMS, good}
	}
}

// noteFailing writes down which jobs are failing now and which are not any more. Jobs
// that go on as they did, as nearly all do, cost no write.
func (s *Store) noteFailing(ctx context.Context, tx *sql.Tx, v *verdicts) error {
	ids := slices.Sorted(maps.Keys(v.jobs))
	raised, again := map[int]bool{}, map[int]bool{}
	for _, e := range v.news {
		raised[e.JobID] = true
	}
	err := chunks(ids, 1000, func(part []int) error {
		failing, err := s.streaks(ctx, tx, part, "")
		if err != nil {
			return err
		}
		if err := s.holdStreaks(ctx, tx, v, failing); err != nil {
			return err
		}
		for id := range failing {
			again[id] = true
		}
		var fresh []any
		var well []int
		for _, id := range part {
			was, there := failing[id]
			switch x := v.jobs[id]; {
			case x.good && !there && raised[id]:
				// It failed and is well again within this transaction.
				v.news = append(v.news, model.AlarmEvent{JobID: id, RunID: x.run, AtMS: x.atMS, Reason: model.OutcomeSucceeded})
			case x.good && there:
				well = append(well, id)
				v.news = append(v.news, model.AlarmEvent{JobID: id, RunID: x.run, AtMS: x.atMS, Reason: model.OutcomeSucceeded})
			case !x.good && !there:
				if x.run == 0 {
					if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM xxl_job_log`).Scan(&x.run); err != nil {
						return err
					}
				}
				fresh = append(fresh, id, x.atMS, x.run)
			case !x.good && x.atMS < was.SinceMS: // of two that end at once the later was written first
				if _, err := tx.ExecContext(ctx, `UPDATE carillon_failing SET since_at = ? WHERE job_id = ?`, x.atMS, id); err != nil {
					return err
				}
			}
		}
		if len(well) > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_failing WHERE job_id IN (`+marks(len(well))+`)`, anys(well)...); err != nil {
				return err
			}
		}
		if len(fresh) > 0 {
			_, err = tx.ExecContext(ctx, s.d.insertIgnore+`carillon_failing (job_id, since_at, first_run) VALUES `+rowsOf(3, len(fresh)/3), fresh...)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.raiseAttempts(ctx, tx, v.attempts); err != nil {
		return err
	}
	return s.raise(ctx, tx, v.news, again)
}

// holdStreaks makes sure that jobs that fail again go on failing until this is committed: a
// success that is written at the same moment waits, or has been faster. Without it a failure
// could count as part of a trouble that has just ended, and nobody would hear of it.
func (s *Store) holdStreaks(ctx context.Context, tx *sql.Tx, v *verdicts, failing map[int]model.Streak) error {
	var ids []int
	for id := range failing {
		if !v.jobs[id].good {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || s.d.forUpdate == "" {
		return nil
	}
	slices.Sort(ids)
	held, err := s.streaks(ctx, tx, ids, " ORDER BY job_id"+s.d.forUpdate)
	for _, id := range ids {
		if _, there := held[id]; !there {
			delete(failing, id)
		}
	}
	return err
}

func (s *Store) streaks(ctx context.Context, q querier, ids []int, how string) (map[int]model.Streak, error) {
	type entry struct {
		job int
		model.Streak
	}
	list, err := collect(ctx, q, func(r row) (e entry, err error) { err = r.Scan(&e.job, &e.SinceMS, &e.FirstRun); return e, err },
		`SELECT job_id, since_at, first_run FROM carillon_failing WHERE job_id IN (`+marks(len(ids))+`)`+how, anys(ids)...)
	out := make(map[int]model.Streak, len(list))
	for _, e := range list {
		out[e.job] = e.Streak
	}
	return out, err
}

// failingWhere is true of jobs that are failing and that nobody has stopped.
const failingWhere = `id IN (SELECT job_id FROM carillon_failing) AND (trigger_status = 1 OR schedule_type = 'NONE')`

// FailingJobs lists the jobs of the groups (nil = all) that are failing and not stopped,
// the newest trouble first.
func (s *Store) FailingJobs(ctx context.Context, groups []int, limit int) ([]model.FailingJob, error) {
	limitTo, args := inGroups("i.job_group", groups)
	return collect(ctx, s.r, func(r row) (f model.FailingJob, err error) {
		err = r.Scan(&f.ID, &f.GroupID, &f.Name, nz(&f.Author), &f.SinceMS, &f.FirstRun)
		return f, err
	}, `SELECT i.id, i.job_group, i.job_desc, i.author, f.since_at, f.first_run FROM carillon_failing f JOIN xxl_job_info i ON i.id = f.job_id
		WHERE (i.trigger_status = 1 OR i.schedule_type = 'NONE')`+limitTo+` ORDER BY f.since_at DESC, i.id DESC LIMIT ?`, append(args, limit)...)
}

// Streaks says of the given jobs since when they are failing; those that are not are left out.
func (s *Store) Streaks(ctx context.Context, ids []int) (map[int]model.Streak, error) {
	out := map[int]model.Streak{}
	err := chunks(ids, 1000, func(part []int) error {
		some, err := s.streaks(ctx, s.r, part, "")
		maps.Copy(out, some)
		return err
	})
	return out, err
}

// streakSlack is how many ids before that of its first run the runs of a streak may have:
// what was written down before may end after it.
const streakSlack = 20_000

// unwanted is true of runs that nobody ended on purpose, which says nothing about the job.
const unwanted = `COALESCE(run_reason, '') NOT IN ('` + model.ReasonKilled + `', '` + model.ReasonKillAsked + `', '` + model.ReasonCovered + `')`

// LastFailures gives the last run that failed of jobs that are failing. Those without one
// are left out.
func (s *Store) LastFailures(ctx context.Context, of map[int]model.Streak) (map[int]*model.Run, error) {
	out := map[int]*model.Run{}
	err := chunks(slices.Sorted(maps.Keys(of)), 100, func(part []int) error {
		const one = `SELECT * FROM (SELECT ` + runColumns + ` FROM xxl_job_log WHERE job_id = ? AND id >= ? AND finished_time >= ? AND ` + isFailed + ` AND ` + unwanted + ` ORDER BY id DESC LIMIT 1) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, of[id].FirstRun-streakSlack, of[id].SinceMS)
		}
		list, err := s.queryRuns(ctx, s.r, full, strings.Repeat(one+" UNION ALL ", len(part)-1)+one, args...)
		for i := range list {
			out[list[i].JobID] = &list[i]
		}
		return err
	})
	return out, err
}

// CountFailures counts the fires of each streak, at most limit.
func (s *Store) CountFailures(ctx context.Context, of map[int]model.Streak, limit int) (map[int]int, error) {
	out := map[int]int{}
	err := chunks(slices.Sorted(maps.Keys(of)), 100, func(part []int) error {
		one := `SELECT ? AS job, COUNT(*) AS n FROM (SELECT 1 FROM xxl_job_log l WHERE job_id = ? AND id >= ? AND finished_time >= ?` +
			statusWhere(model.RunsFailed) + ` AND ` + unwanted + ` AND ` + onePerFire + ` ORDER BY id DESC LIMIT ?) AS t`
		var args []any
		for _, id := range part {
			args = append(args, id, id, of[id].FirstRun-streakSlack, of[id].SinceMS, limit)
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
