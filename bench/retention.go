package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// RetentionCmd removes old runs while others are made, and lets it be, in turn.
type RetentionCmd struct {
	Runs  int           `help:"Old runs to remove." default:"1000000"`
	Rate  int           `help:"Runs per second that are made meanwhile." default:"300"`
	Round time.Duration `help:"How long each turn takes." default:"60s"`
}

// Run fills the table, and measures until the old runs are gone.
func (c *RetentionCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	if flags.Center != "" {
		return errors.New("retention removes runs of a center of its own")
	}
	s, err := flags.open(ctx, siteNeeds{pool: 1024, args: []string{"--retention-days", "0"}})
	if err != nil {
		return err
	}
	err = c.measure(ctx, s, out)
	return errors.Join(err, s.close(ctx))
}

func (c *RetentionCmd) measure(ctx context.Context, s *site, out *Report) error {
	if err := c.fill(ctx, s); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, `SELECT MAX(id) FROM xxl_job_log`).Scan(&s.since); err != nil {
		return err
	}
	if err := addSteady(ctx, s, c.Rate, time.Now().Truncate(time.Second).Add(3*time.Second)); err != nil {
		return err
	}
	if err := pause(ctx, 20*time.Second); err != nil {
		return err
	}
	var quiet, busy, without, with []time.Duration
	var rows [][]string
	began, fastest := time.Now(), 0
	for left, round := c.Runs, 1; left > 0; round++ {
		off, _, err := c.turn(ctx, s, 0)
		if err != nil {
			return err
		}
		on, now, err := c.turn(ctx, s, 30)
		if err != nil {
			return err
		}
		fastest = max(fastest, left-now)
		quiet, busy = append(quiet, off...), append(busy, on...)
		without, with = append(without, percentile(off, 99)), append(with, percentile(on, 99))
		rows = append(rows, []string{fmt.Sprint(round), fmt.Sprint(left - now), ms(percentile(off, 50)), ms(percentile(off, 99)), ms(percentile(on, 50)), ms(percentile(on, 99))})
		fmt.Fprintln(os.Stderr, rows[len(rows)-1])
		if now == left {
			return fmt.Errorf("in round %d nothing was removed: see %s", round, s.nodes[0].log)
		}
		left = now
	}
	out.printf("### Retention: %d old runs removed beside %d runs per second\n\n", c.Runs, c.Rate)
	out.environment(ctx, s)
	out.table([]string{"round", "removed", "without: p50", "p99", "with: p50", "p99"}, rows)
	a, b := percentile(quiet, 99), percentile(busy, 99)
	out.printf("Half of the rounds have a p99 of at most %s without and %s with it. ", ms(percentile(without, 50)), ms(percentile(with, 50)))
	out.printf("p99 lateness of all rounds: %s without, %s with the retention going on: %.2f times. Up to %.0f runs a second were removed, all of them within %s.\n",
		ms(a), ms(b), float64(b)/float64(a), float64(fastest)/c.Round.Seconds(), time.Since(began).Round(time.Second))
	var wanted int
	if err := s.db.QueryRowContext(ctx, `SELECT succeeded + failed FROM carillon_retention_day`).Scan(&wanted); err != nil || wanted != c.Runs {
		return errors.Join(err, fmt.Errorf("the center counts %d removed runs", wanted))
	}
	if float64(b) > 1.2*float64(a) {
		return errors.New("the p99 lateness grows by more than a fifth")
	}
	return nil
}

// turn sets the days, 0 = for ever, and gives the lateness of a round from when the center
// goes by them; left is how many old runs are there then.
func (c *RetentionCmd) turn(ctx context.Context, s *site, days int) (late []time.Duration, left int, err error) {
	changed := time.Now().UnixMilli()
	if _, err := s.db.ExecContext(ctx, `UPDATE carillon_retention SET keep_days = ?, keep_failed_days = ?, changed_at = ? WHERE id = 1`, days, days, changed); err != nil {
		return nil, 0, err
	}
	for begun := int64(0); begun < changed; { // COALESCE: it has never begun
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, 0, err
		}
		if err := s.db.QueryRowContext(ctx, `SELECT COALESCE(began_at, 0) FROM carillon_retention`).Scan(&begun); err != nil {
			return nil, 0, err
		}
	}
	from := time.Now()
	if err := pause(ctx, c.Round); err != nil {
		return nil, 0, err
	}
	to := time.Now()
	if err := pause(ctx, 2*time.Second); err != nil {
		return nil, 0, err
	}
	if late, err = s.lateness(ctx, from, to); err != nil {
		return nil, 0, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE trigger_time < ?`, time.Now().UTC().AddDate(0, 0, -29).Format(time.DateTime)).Scan(&left)
	return late, left, err
}

// fill writes old runs, 40 days before those of today, ten thousand in one statement. One
// of a hundred has failed.
func (c *RetentionCmd) fill(ctx context.Context, s *site) error {
	next := time.Now().UTC().Truncate(time.Minute).Add(12 * time.Hour) // none of them fires meanwhile
	jobs := make([]jobRow, 1000)
	for i := range jobs {
		jobs[i] = jobRow{
			name: fmt.Sprintf("old %d", i), kind: "CRON", conf: fmt.Sprintf("0 %d %d * * ?", next.Minute(), next.Hour()), misfire: "DO_NOTHING",
			route: "ROUND", handler: handlerCount, status: 1, next: next.UnixMilli(),
		}
	}
	ids, err := insertJobs(ctx, s.db, s.group, jobs)
	if err != nil {
		return err
	}
	const part = 10_000
	digits := "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	statement := fmt.Sprintf(`INSERT INTO xxl_job_log (job_group, job_id, executor_address, executor_handler, executor_fail_retry_count,
		trigger_time, trigger_code, trigger_msg, handle_time, handle_code, handle_msg, alarm_status, run_state, planned_time, trigger_type, owner, fire_key)
		SELECT %d, %d + n %% 1000, 'http://127.0.0.1:9999', 'count', 0, ?, 200, '', ?, CASE WHEN n %% 100 = 7 THEN 500 ELSE 200 END, 'done', 1, 5, ?, 'CRON', 'n1#1', %s
		FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM %s a, %s b, %s c, %s e) AS numbers ORDER BY n`, s.group, ids[0], s.fireKey(), digits, digits, digits, digits)
	start := time.Now().UTC().AddDate(0, 0, -40)
	for i := range c.Runs / part {
		at := start.Add(time.Duration(i) * time.Minute).Format(time.DateTime)
		if _, err := s.db.ExecContext(ctx, statement, at, at, start.UnixMilli(), i); err != nil {
			return err
		}
	}
	return nil
}

// fireKey is an expression for keys of their own, of a part and the number n in it.
func (s *site) fireKey() string {
	if s.maria == nil {
		return "? || ':old:' || n"
	}
	return "CONCAT(?, ':old:', n)"
}
