package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// DeadCmd measures how much jobs whose executor has no address delay those of a living one.
type DeadCmd struct {
	Living   int           `help:"Jobs of a living executor, each second." default:"300"`
	Dead     int           `help:"Jobs of an executor without an address, each second." default:"5000"`
	Duration time.Duration `help:"How long each is measured." default:"20s"`
}

// Run measures the living ones alone, then beside the dead ones, on one site.
func (c *DeadCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	out.printf("### Dead executors: %d jobs each second beside %d whose executor has no address\n\n", c.Living, c.Dead)
	s, err := flags.open(ctx, siteNeeds{pool: 1024})
	if err != nil {
		return err
	}
	out.environment(ctx, s)
	rows, err := c.measure(ctx, s)
	if err = errors.Join(err, s.close(ctx)); err != nil {
		return err
	}
	out.table([]string{"", "late p50", "p99", "max", "decided without an address, per second"}, rows)
	return nil
}

func (c *DeadCmd) measure(ctx context.Context, s *site) ([][]string, error) {
	start := time.Now().Truncate(time.Second).Add(3 * time.Second)
	if err := addSteady(ctx, s, c.Living, start); err != nil {
		return nil, err
	}
	if err := pause(ctx, time.Until(start.Add(5*time.Second))); err != nil {
		return nil, err
	}
	nobody, err := addGroup(ctx, s.db, "bench-nobody")
	if err != nil {
		return nil, err
	}
	row := func(name string) ([]string, error) {
		from := time.Now()
		if err := pause(ctx, c.Duration); err != nil {
			return nil, err
		}
		to := time.Now().Add(-time.Second)
		late, err := s.lateness(ctx, from, to)
		if err != nil {
			return nil, err
		}
		var decided int
		if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE job_group = ? AND trigger_code = 500`, nobody).Scan(&decided); err != nil {
			return nil, err
		}
		return []string{name, ms(percentile(late, 50)), ms(percentile(late, 99)), ms(percentile(late, 100)), fmt.Sprintf("%.0f", float64(decided)/c.Duration.Seconds())}, nil
	}
	alone, err := row("alone")
	if err != nil {
		return nil, err
	}
	jobs := make([]jobRow, c.Dead)
	for i := range jobs {
		jobs[i] = jobRow{name: fmt.Sprintf("dead %d", i), kind: "FIX_RATE", conf: "1", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount,
			status: 1, next: time.Now().Truncate(time.Second).Add(4 * time.Second).UnixMilli()}
	}
	if _, err := insertJobs(ctx, s.db, nobody, jobs); err != nil {
		return nil, err
	}
	if err := pause(ctx, 8*time.Second); err != nil {
		return nil, err
	}
	beside, err := row("beside dead ones")
	if err != nil {
		return nil, err
	}
	return [][]string{alone, beside}, nil
}

// OverloadCmd gives a center more than it can send and looks when it has caught up.
type OverloadCmd struct {
	Sustained int           `help:"What the machine sustains, completed runs per second." default:"6000"`
	Over      time.Duration `help:"How long 150 % of it are due." default:"60s"`
	Limit     time.Duration `help:"How long the backlog may last after the return to 30 %." default:"3m"`
}

// Run fails when the backlog outlives the limit.
func (c *OverloadCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	out.printf("### Overload: %s at 150 %% of %d runs per second, then 30 %%\n\n", c.Over, c.Sustained)
	s, err := flags.open(ctx, siteNeeds{pool: 1024})
	if err != nil {
		return err
	}
	out.environment(ctx, s)
	row, took, err := c.measure(ctx, s)
	if err = errors.Join(err, s.close(ctx)); err != nil {
		return err
	}
	out.table([]string{"due/s", "completed/s meanwhile", "backlog at the return", "missed, listed", "backlog gone after", "said so"}, [][]string{row})
	if took > c.Limit {
		return fmt.Errorf("the backlog lasted %s", took)
	}
	return nil
}

func (c *OverloadCmd) measure(ctx context.Context, s *site) ([]string, time.Duration, error) {
	rate := c.Sustained * 3 / 2
	start := time.Now().Truncate(time.Second).Add(time.Duration(3+rate/4000) * time.Second)
	if err := addSteady(ctx, s, rate, start); err != nil {
		return nil, 0, err
	}
	if err := pause(ctx, time.Until(start)); err != nil {
		return nil, 0, err
	}
	before, err := s.look(ctx)
	if err != nil {
		return nil, 0, err
	}
	said := "no"
	for until := time.Now().Add(c.Over); time.Now().Before(until); {
		if err := pause(ctx, 2*time.Second); err != nil {
			return nil, 0, err
		}
		if body, err := get(ctx, s.nodes[0].url+"/readyz"); err == nil && containsOver(body) {
			said = "yes"
		}
	}
	after, err := s.look(ctx)
	if err != nil {
		return nil, 0, err
	}
	// 30 % goes on; what was planned of the others is still to be made.
	if _, err := s.db.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = 0 WHERE job_group = ? AND id % 10 >= 2`, s.group); err != nil {
		return nil, 0, err
	}
	returned := time.Now()
	due := func() (n int, err error) {
		err = s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE run_state IN (1, 2) AND planned_time < ?`,
			time.Now().Add(-2*time.Second).UnixMilli()).Scan(&n)
		return n, err
	}
	backlog, err := due()
	if err != nil {
		return nil, 0, err
	}
	took := time.Duration(0)
	for {
		n, err := due()
		if err != nil {
			return nil, 0, err
		}
		if took = time.Since(returned); n == 0 || took > 2*c.Limit {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return nil, 0, err
		}
	}
	var missed int
	if err := s.db.QueryRowContext(ctx, `SELECT COALESCE(SUM(COALESCE(missed_fires, 1)), 0) FROM xxl_job_log WHERE run_state = 6`).Scan(&missed); err != nil {
		return nil, 0, err
	}
	sec := after.at.Sub(before.at).Seconds()
	return []string{fmt.Sprint(rate), fmt.Sprintf("%.0f", float64(after.done-before.done)/sec), fmt.Sprint(backlog), fmt.Sprint(missed),
		took.Round(time.Second).String(), said}, took, nil
}

// containsOver reports whether /readyz says that the node does not keep up.
func containsOver(body []byte) bool { return bytes.Contains(body, []byte("beyond capacity")) }
