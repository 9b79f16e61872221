package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// The ledger counts fires, not attempts: a fire has succeeded when one of its attempts
// has, else it is what its last attempt is. It belongs to the day of its first attempt.

// fireState is how a fire is counted.
type fireState struct {
	line string    // of the ledger; "" = open
	day  time.Time // of its first attempt
	n    int

	job     int
	last    int64 // the attempt that decides
	endedMS int64

	group     int
	plannedMS int64 // of its first attempt
	tookMS    int64 // of a good one, -1 = not known
	late      bool  // its first attempt was
	rescued   bool  // good, but not at the first attempt
}

// fireOf is how a fire of one attempt is counted.
func fireOf(r *model.Run, day time.Time, line string) fireState {
	f := fireState{line: line, day: day, n: r.Fires(), job: r.JobID, group: r.GroupID, plannedMS: r.PlannedMS, tookMS: -1}
	switch line {
	case "", model.LedgerExpected:
	case model.OutcomeSucceeded:
		f.tookMS = r.DurationMS()
		fallthrough
	default:
		f.late = sentLate(r)
	}
	return f
}

func sentLate(r *model.Run) bool {
	return r.SentMS != 0 && r.PlannedMS != 0 && r.SentMS-r.PlannedMS > model.LateAfter.Milliseconds()
}

// key says how the fire is counted for reports.
func (f fireState) key() model.CountKey {
	at := f.day
	if f.plannedMS != 0 {
		at = time.UnixMilli(f.plannedMS).In(f.day.Location())
	}
	k := model.CountKey{Hour: model.HourOf(at), JobID: f.job, GroupID: f.group, Line: f.line, Took: -1, Late: f.late, Rescued: f.rescued}
	if f.tookMS >= 0 {
		k.Took = model.TookBucket(f.tookMS)
	}
	return k
}

// outcomes counts the fires whose attempts change in one transaction. Fires with more
// than the one attempt that ends are looked up before the rows change (touch) and after
// they have (settle), retries included: that is right whatever happens to them in between.
type outcomes struct {
	s      *Store
	tx     *sql.Tx
	count  tally
	before map[int64]fireState // by first attempt
	jobs   *verdicts
}

func (s *Store) outcomes(tx *sql.Tx, t tally) *outcomes {
	return &outcomes{s: s, tx: tx, count: t, before: map[int64]fireState{}, jobs: newVerdicts()}
}

// touch is told of runs before their rows change, open says which of them were counted
// as open although their rows say else by now. The first attempts are locked: of two
// transactions about attempts of one fire the later one sees what the earlier one did.
func (o *outcomes) touch(ctx context.Context, runs []*model.Run, open map[int64]bool) error {
	var first []int64
	for _, r := range runs {
		if _, known := o.before[r.FirstAttempt()]; !known {
			first = append(first, r.FirstAttempt())
		}
	}
	err := chunks(compact(first), 500, func(part []int64) error {
		_, err := collect(ctx, o.tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`) ORDER BY id`+o.s.d.forUpdate, anys(part)...)
		return err
	})
	if err != nil {
		return err
	}
	states, err := o.states(ctx, first, open)
	maps.Copy(o.before, states)
	return err
}

// end counts a run that has its outcome. One that is no retry and was not touched was
// open until now, as nearly all are; retried says that its fire still is.
func (o *outcomes) end(r *model.Run, retried bool) {
	if retried {
		o.jobs.attempts = append(o.jobs.attempts, model.AttemptEvent(r))
	}
	if _, touched := o.before[r.FirstAttempt()]; touched || retried {
		return
	}
	if line := r.Outcome(); line != "" {
		o.count.fires(fireOf(r, r.TriggerTime, line), r.Fires())
		o.jobs.note(r.JobID, r.FirstAttempt(), r.FinishedMS, line, model.AlarmEvent{RunID: r.ID, Fires: r.Fires()})
	}
}

// settle counts the fires that were touched, after all rows are written.
func (o *outcomes) settle(ctx context.Context) error {
	after, err := o.states(ctx, slices.Sorted(maps.Keys(o.before)), nil)
	if err != nil {
		return err
	}
	for first, was := range o.before {
		is := after[first]
		if was.line != "" {
			o.count.fires(was, -was.n)
		}
		if is.line != "" {
			o.count.fires(is, is.n)
		}
		if is.line == was.line {
			continue
		}
		if was.line != "" && is.line == model.OutcomeSucceeded { // better news of a fire that had ended
			worse, err := o.failedSince(ctx, is.job, first)
			if err != nil || worse {
				if err != nil {
					return err
				}
				continue
			}
		}
		o.jobs.note(is.job, first, is.endedMS, is.line, model.AlarmEvent{RunID: is.last, Fires: is.n})
	}
	return o.s.noteFailing(ctx, o.tx, o.jobs)
}

// failedSince reports whether a later run of the job has failed.
func (o *outcomes) failedSince(ctx context.Context, job int, run int64) (bool, error) {
	list, err := collect(ctx, o.tx, one[int64], `SELECT id FROM xxl_job_log WHERE job_id = ? AND id > ? AND `+isFailed+` AND COALESCE(first_run, 0) <> ? LIMIT 1`, job, run, run)
	return len(list) > 0, err
}

// states reads how fires are, by their first attempts.
func (o *outcomes) states(ctx context.Context, first []int64, open map[int64]bool) (map[int64]fireState, error) {
	out := make(map[int64]fireState, len(first))
	const columns = `id, trigger_code, handle_code, run_state, run_reason, trigger_time, first_run, missed_fires, job_id, finished_time, job_group, planned_time, sent_time, accepted_time`
	var x model.Run
	// Of more than 200 values MariaDB guesses how many rows they have, and as nearly all
	// have no first_run it guesses wrong and reads the whole table.
	err := chunks(compact(first), 150, func(part []int64) error {
		rows, err := collect(ctx, o.tx, into(&x, []any{
			&x.ID, &x.TriggerCode, &x.HandleCode, nz(&x.Phase), nz(&x.Reason), o.s.scanTime(&x.TriggerTime), nz(&x.FirstID), nz(&x.MissedFires), &x.JobID, nz(&x.FinishedMS),
			&x.GroupID, nz(&x.PlannedMS), nz(&x.SentMS), nz(&x.AcceptedMS),
		}), `SELECT `+columns+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`) UNION ALL
			SELECT `+columns+` FROM xxl_job_log WHERE first_run IN (`+marks(len(part))+`) ORDER BY 1`, append(anys(part), anys(part)...)...)
		for i := range rows {
			r := &rows[i]
			f, later := out[r.FirstAttempt()]
			f.attempt(r, later, open[r.ID])
			out[r.FirstAttempt()] = f
		}
		return err
	})
	return out, err
}

// attempt takes one more attempt of the fire, in their order. open says that it is
// counted as open, whatever its row says.
func (f *fireState) attempt(r *model.Run, later, open bool) {
	if !later {
		*f = fireOf(r, r.TriggerTime, "")
	}
	if f.line == model.OutcomeSucceeded {
		return
	}
	f.endedMS, f.last, f.line = r.FinishedMS, r.ID, r.Outcome()
	if open {
		f.line = ""
	}
	if f.line != "" && !later {
		f.late = sentLate(r)
	}
	if f.line == model.OutcomeSucceeded {
		f.tookMS, f.rescued = r.DurationMS(), later
	}
}

// withHistory gives the runs whose fires have other attempts.
func withHistory(runs []model.Run) (out []*model.Run) {
	for i := range runs {
		if runs[i].FirstID != 0 {
			out = append(out, &runs[i])
		}
	}
	return out
}
