package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// tally collects changes of the daily report: midnight of the trigger day to
// running, succeeded, failed, missed.
type tally map[time.Time]*[4]int

func (t tally) add(at time.Time, running, succeeded, failed, missed int) {
	y, m, d := at.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, at.Location())
	if t[day] == nil {
		t[day] = &[4]int{}
	}
	c := t[day]
	c[0], c[1], c[2], c[3] = c[0]+running, c[1]+succeeded, c[2]+failed, c[3]+missed
}

// addTally moves the counters of the daily report. It runs last in the
// transaction that changes the runs: the report is always right and nobody has
// to count the log table. Days are taken in order, so two nodes cannot deadlock.
func (s *Store) addTally(ctx context.Context, tx *sql.Tx, t tally, now time.Time) error {
	for _, day := range slices.SortedFunc(maps.Keys(t), time.Time.Compare) {
		c := t[day]
		if *c == [4]int{} {
			continue
		}
		for range 2 {
			// A Java admin counts afresh and may write lower numbers: never go below zero.
			res, err := tx.ExecContext(ctx, `UPDATE xxl_job_log_report SET
				running_count = CASE WHEN running_count + ? < 0 THEN 0 ELSE running_count + ? END,
				suc_count = suc_count + ?, fail_count = CASE WHEN fail_count + ? < 0 THEN 0 ELSE fail_count + ? END,
				missed_count = COALESCE(missed_count, 0) + ?, update_time = ? WHERE trigger_day = ?`,
				c[0], c[0], c[1], c[2], c[2], c[3], s.dt(now), s.dt(day))
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				if err != nil {
					return err
				}
				break
			}
			if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`xxl_job_log_report (trigger_day, missed_count, update_time) VALUES (?, 0, ?)`,
				s.dt(day), s.dt(now)); err != nil {
				return err
			}
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

// RunsTotal is the number of runs of all time; it survives the retention.
func (s *Store) RunsTotal(ctx context.Context) (int64, error) {
	var n int64
	err := s.r.QueryRowContext(ctx, `SELECT COALESCE(SUM(running_count + suc_count + fail_count), 0) FROM xxl_job_log_report`).Scan(&n)
	return n, err
}
