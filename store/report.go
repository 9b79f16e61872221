package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// dayTally is how the counters of one day change.
type dayTally struct {
	running, succeeded, failed, missed int
	ledger                             map[string]int // reason, or model.LedgerExpected: fires
}

// tally collects changes of the daily report and of the ledger, by midnight of
// the trigger day.
type tally map[time.Time]*dayTally

func (t tally) day(at time.Time) *dayTally {
	y, m, d := at.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, at.Location())
	if t[day] == nil {
		t[day] = &dayTally{ledger: map[string]int{}}
	}
	return t[day]
}

func (t tally) add(at time.Time, running, succeeded, failed, missed int) {
	c := t.day(at)
	c.running, c.succeeded, c.failed, c.missed = c.running+running, c.succeeded+succeeded, c.failed+failed, c.missed+missed
}

// fires counts in the ledger.
func (t tally) fires(at time.Time, reason string, n int) { t.day(at).ledger[reason] += n }

// attempt is one try to make a fire.
type attempt struct {
	id      int64
	code    int // of the call to the executor
	handled int
	phase   model.RunPhase
	reason  string
	at      time.Time
}

// attempts lists the tries of the fire that a run belongs to, in order.
func (s *Store) attempts(ctx context.Context, tx *sql.Tx, r *model.Run) ([]attempt, error) {
	const columns = `id, trigger_code, handle_code, run_state, run_reason, trigger_time`
	var a attempt
	return collect(ctx, tx, into(&a, []any{&a.id, &a.code, &a.handled, nz(&a.phase), nz(&a.reason), s.scanTime(&a.at)}),
		`SELECT `+columns+` FROM xxl_job_log WHERE id = ? UNION ALL SELECT `+columns+` FROM xxl_job_log WHERE first_run = ? ORDER BY 1`,
		r.FirstAttempt(), r.FirstAttempt())
}

// takenBy reports whether an executor took another attempt than the given one.
func takenBy(list []attempt, other int64) bool {
	return slices.ContainsFunc(list, func(a attempt) bool { return a.code == model.CodeSuccess && a.id != other })
}

// missFire counts in the ledger that the fire behind a run that has ended was not
// made, unless an executor took another attempt of it. It belongs to the day of its
// first attempt.
func (s *Store) missFire(ctx context.Context, tx *sql.Tx, t tally, r *model.Run, reason string) error {
	if r.FirstID == 0 {
		t.fires(r.TriggerTime, reason, r.Fires())
		return nil
	}
	list, err := s.attempts(ctx, tx, r)
	if err != nil || takenBy(list, r.ID) {
		return err
	}
	at := r.TriggerTime
	if len(list) > 0 {
		at = list[0].at
	}
	t.fires(at, reason, 1)
	return nil
}

// takeMissBack corrects the ledger when an attempt that nobody seemed to have taken
// reports its result: had its last attempt been counted as missed, the fire was made
// all the same.
func (s *Store) takeMissBack(ctx context.Context, tx *sql.Tx, t tally, r *model.Run) error {
	list, err := s.attempts(ctx, tx, r)
	if err != nil || len(list) == 0 || takenBy(list, r.ID) {
		return err
	}
	last := list[len(list)-1]
	untaken := last.handled == 0 && (last.phase == model.PhaseMissed || last.phase == model.PhaseFinished && last.code != model.CodeSuccess)
	if untaken {
		t.fires(list[0].at, last.reason, -r.Fires())
	}
	return nil
}

// miss counts a run that is not made. wasOpen says that it had been counted
// as running before.
func (t tally) miss(r *model.Run, at time.Time, reason string, wasOpen bool) {
	open := 0
	if wasOpen {
		open = -1
	}
	t.add(at, open, 0, 0, r.Fires())
	t.fires(at, reason, r.Fires())
}

// addTally moves the counters of the daily report and of the ledger. It runs
// last in the transaction that changes the runs: the counts are always right
// and nobody has to count the log table. Days and reasons are taken in order,
// so two nodes cannot deadlock.
func (s *Store) addTally(ctx context.Context, tx *sql.Tx, t tally, now time.Time) error {
	for _, day := range slices.SortedFunc(maps.Keys(t), time.Time.Compare) {
		c := t[day]
		if err := s.addReport(ctx, tx, day, c, now); err != nil {
			return err
		}
		for _, reason := range slices.Sorted(maps.Keys(c.ledger)) {
			if n := c.ledger[reason]; n != 0 {
				if _, err := tx.ExecContext(ctx, `INSERT INTO carillon_ledger (trigger_day, reason, fires) VALUES (?, ?, ?)`+
					s.d.upsertAdd("trigger_day, reason", "carillon_ledger", "fires"), s.dt(day), reason, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *Store) addReport(ctx context.Context, tx *sql.Tx, day time.Time, c *dayTally, now time.Time) error {
	if c.running == 0 && c.succeeded == 0 && c.failed == 0 && c.missed == 0 {
		return nil
	}
	for range 2 {
		// A Java admin counts afresh and may write lower numbers: never go below zero.
		known, err := matched(tx.ExecContext(ctx, `UPDATE xxl_job_log_report SET
			running_count = CASE WHEN running_count + ? < 0 THEN 0 ELSE running_count + ? END,
			suc_count = suc_count + ?, fail_count = CASE WHEN fail_count + ? < 0 THEN 0 ELSE fail_count + ? END,
			missed_count = COALESCE(missed_count, 0) + ?, update_time = ? WHERE trigger_day = ?`,
			c.running, c.running, c.succeeded, c.failed, c.failed, c.missed, s.dt(now), s.dt(day)))
		if err != nil || known {
			return err
		}
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`xxl_job_log_report (trigger_day, missed_count, update_time) VALUES (?, 0, ?)`,
			s.dt(day), s.dt(now)); err != nil {
			return err
		}
	}
	return nil
}

// Report reads the days from first to last (inclusive), only those that have a row.
func (s *Store) Report(ctx context.Context, first, last time.Time) ([]model.DayCount, error) {
	return collect(ctx, s.r, func(r row) (c model.DayCount, err error) {
		var day time.Time
		err = r.Scan(s.scanTime(&day), &c.Running, &c.Succeeded, &c.Failed, nz(&c.Missed))
		c.Day = day.Format(time.DateOnly)
		return c, err
	}, `SELECT trigger_day, running_count, suc_count, fail_count, missed_count
		FROM xxl_job_log_report WHERE trigger_day BETWEEN ? AND ? ORDER BY trigger_day`, s.dt(first), s.dt(last))
}

// Ledger reads the account of one day. What is open is counted from the runs in
// progress, which are few; what was decided and is neither open nor missed was made.
func (s *Store) Ledger(ctx context.Context, day time.Time) (model.Ledger, error) {
	l := model.Ledger{Day: day.Format(time.DateOnly)}
	lines, err := collect(ctx, s.r, func(r row) (f model.Fires, err error) {
		err = r.Scan(&f.Reason, &f.Count)
		return f, err
	}, `SELECT reason, fires FROM carillon_ledger WHERE trigger_day = ?`, s.dt(day))
	if err != nil {
		return l, err
	}
	for _, f := range lines {
		switch {
		case f.Reason == model.LedgerExpected:
			l.Expected = f.Count
		case f.Count > 0:
			l.Missed += f.Count
			l.Reasons = append(l.Reasons, model.Fires{Day: l.Day, Reason: f.Reason, Count: f.Count})
		}
	}
	slices.SortFunc(l.Reasons, func(a, b model.Fires) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	open := []any{model.PhasePlanned, model.PhaseSending, model.PhaseUnknown, s.dt(day), s.dt(day.AddDate(0, 0, 1))}
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE run_state IN (?, ?, ?) AND trigger_time >= ? AND trigger_time < ?
		AND first_run IS NULL`, open...).Scan(&l.Open)
	if err != nil {
		return l, err
	}
	// A retry that waits keeps its fire open when no attempt before it was taken. The
	// fire belongs to the day of its first attempt.
	var waiting int64
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log l JOIN xxl_job_log f ON f.id = l.first_run
		WHERE l.run_state IN (?, ?, ?) AND f.trigger_time >= ? AND f.trigger_time < ? AND f.trigger_code <> 200
		AND NOT EXISTS (SELECT 1 FROM xxl_job_log x WHERE x.first_run = l.first_run AND x.trigger_code = 200)`, open...).Scan(&waiting)
	l.Open += waiting
	l.Made = max(0, l.Expected-l.Missed-l.Open)
	return l, err
}

// RunsTotal is the number of runs of all time; it survives the retention.
func (s *Store) RunsTotal(ctx context.Context) (int64, error) {
	var n int64
	err := s.r.QueryRowContext(ctx, `SELECT COALESCE(SUM(running_count + suc_count + fail_count), 0) FROM xxl_job_log_report`).Scan(&n)
	return n, err
}
