package store

import (
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
	counted                            model.Counted  // the same by hour and job
}

// tally collects changes of the daily report and of the ledger by trigger day. The day
// is a text: not every day has a midnight.
type tally map[string]*dayTally

func (t tally) day(at time.Time) *dayTally {
	day := model.Day(at, 0)
	if t[day] == nil {
		t[day] = &dayTally{ledger: map[string]int{}, counted: model.Counted{}}
	}
	return t[day]
}

func (t tally) add(at time.Time, running, succeeded, failed, missed int) {
	c := t.day(at)
	c.running, c.succeeded, c.failed, c.missed = c.running+running, c.succeeded+succeeded, c.failed+failed, c.missed+missed
}

// fires counts n times what became of a fire, in the ledger and for reports.
func (t tally) fires(f fireState, n int) {
	d := t.day(f.day)
	d.ledger[f.line] += n
	took := max(0, f.tookMS) * int64(n)
	d.counted.Add(f.key(), int64(n), took)
}

// miss counts a run that is not made. wasOpen says that it had been counted
// as running before.
func (t tally) miss(r *model.Run, at time.Time, wasOpen bool) {
	open := 0
	if wasOpen {
		open = -1
	}
	t.add(at, open, 0, 0, r.Fires())
	t.fires(fireOf(r, at, r.Outcome()), r.Fires())
}

// addTally moves the counters of the daily report and of the ledger. It runs
// last in the transaction that changes the runs: the counts are always right
// and nobody has to count the log table. Days and reasons are taken in order,
// so two nodes cannot deadlock.
func (s *Store) addTally(ctx context.Context, tx *sql.Tx, t tally, now time.Time) error {
	for _, day := range slices.Sorted(maps.Keys(t)) {
		c := t[day]
		if err := s.addReport(ctx, tx, day, c, now); err != nil {
			return err
		}
		for _, reason := range slices.Sorted(maps.Keys(c.ledger)) {
			if n := c.ledger[reason]; n != 0 {
				if _, err := tx.ExecContext(ctx, `INSERT INTO carillon_ledger (trigger_day, reason, fires) VALUES (?, ?, ?)`+
					s.d.upsertAdd("trigger_day, reason", "carillon_ledger", "fires"), day+midnight, reason, n); err != nil {
					return err
				}
			}
		}
	}
	return writeJournal(ctx, tx, t)
}

// midnight makes a value of the columns trigger_day from the name of a day.
const midnight = " 00:00:00"

func (s *Store) addReport(ctx context.Context, tx *sql.Tx, day string, c *dayTally, now time.Time) error {
	if c.running == 0 && c.succeeded == 0 && c.failed == 0 && c.missed == 0 {
		return nil
	}
	for range 2 {
		// A Java admin counts afresh and may write lower numbers: never go below zero.
		known, err := matched(tx.ExecContext(ctx, `UPDATE xxl_job_log_report SET
			running_count = CASE WHEN running_count + ? < 0 THEN 0 ELSE running_count + ? END,
			suc_count = suc_count + ?, fail_count = CASE WHEN fail_count + ? < 0 THEN 0 ELSE fail_count + ? END,
			missed_count = COALESCE(missed_count, 0) + ?, update_time = ? WHERE trigger_day = ?`,
			c.running, c.running, c.succeeded, c.failed, c.failed, c.missed, s.dt(now), day+midnight))
		if err != nil || known {
			return err
		}
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`xxl_job_log_report (trigger_day, missed_count, update_time) VALUES (?, 0, ?)`,
			day+midnight, s.dt(now)); err != nil {
			return err
		}
	}
	return nil
}

// Report reads the days from first to last (inclusive), only those that have a row.
func (s *Store) Report(ctx context.Context, first, last time.Time) ([]model.DayCount, error) {
	return collect(ctx, s.r, func(r row) (c model.DayCount, err error) {
		err = r.Scan(&c.Day, &c.Running, &c.Succeeded, &c.Failed, nz(&c.Missed))
		return c, err
	}, `SELECT `+dayName+`, running_count, suc_count, fail_count, missed_count
		FROM xxl_job_log_report WHERE trigger_day BETWEEN ? AND ? ORDER BY trigger_day`, s.dayOf(first), s.dayOf(last))
}

// dayName reads a trigger_day as text.
const dayName = `SUBSTR(CAST(trigger_day AS CHAR), 1, 10)`

func (s *Store) dayOf(t time.Time) string { return model.Day(t.In(s.loc), 0) + midnight }

// Ledger reads the accounts of the days from first to last (inclusive) that have one.
func (s *Store) Ledger(ctx context.Context, first, last time.Time) ([]model.Fires, error) {
	return collect(ctx, s.r, func(r row) (f model.Fires, err error) {
		err = r.Scan(&f.Day, &f.Reason, &f.Count)
		return f, err
	}, `SELECT `+dayName+`, reason, fires FROM carillon_ledger WHERE trigger_day BETWEEN ? AND ? AND fires <> 0 ORDER BY trigger_day, reason`,
		s.dayOf(first), s.dayOf(last))
}

// RunsTotal is the number of runs of all time; it survives the retention.
func (s *Store) RunsTotal(ctx context.Context) (int64, error) {
	var n int64
	err := s.r.QueryRowContext(ctx, `SELECT COALESCE(SUM(running_count + suc_count + fail_count), 0) FROM xxl_job_log_report`).Scan(&n)
	return n, err
}
