package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// BurstCmd makes many jobs due at one instant.
type BurstCmd struct {
	Jobs []int `help:"Jobs due at one instant, one measurement each." default:"1000,10000"`
}

// Run measures each burst on a site of its own; a lost run is an error.
func (c *BurstCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	out.printf("### Burst: many jobs due at one instant\n\n")
	var rows [][]string
	lost := 0
	for i, n := range c.Jobs {
		s, err := flags.open(ctx, siteNeeds{pool: 1024})
		if err != nil {
			return err
		}
		if i == 0 {
			out.environment(ctx, s)
		}
		row, missing, err := burst(ctx, s, n)
		if err = errors.Join(err, s.close(ctx)); err != nil {
			return err
		}
		lost += missing
		rows = append(rows, row)
	}
	out.table([]string{"jobs", "rung", "lost", "extra", "late p50", "p99", "last rung after", "last result stored after", "center memory"}, rows)
	if lost > 0 {
		return fmt.Errorf("%d runs lost", lost)
	}
	return nil
}

func burst(ctx context.Context, s *site, n int) (row []string, lost int, err error) {
	at := time.Now().Truncate(time.Second).Add(time.Duration(8+n/5000) * time.Second)
	jobs := make([]jobRow, n)
	for i := range jobs {
		jobs[i] = jobRow{
			name: fmt.Sprintf("burst %d", i), kind: "FIX_RATE", conf: "86400", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount,
			status: 1, next: at.UnixMilli(),
		}
	}
	if _, err := insertJobs(ctx, s.db, s.group, jobs); err != nil {
		return nil, 0, err
	}
	if err := pause(ctx, time.Until(at)); err != nil {
		return nil, 0, err
	}
	var done time.Duration
	for range 600 {
		var k int
		if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE job_group = ? AND handle_code = 200`, s.group).Scan(&k); err != nil {
			return nil, 0, err
		}
		if done = time.Since(at); k >= n {
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, 0, err
		}
	}
	late, err := s.lateness(ctx, at, at.Add(time.Second))
	if err != nil {
		return nil, 0, err
	}
	extra := 0
	for _, r := range s.rings() {
		extra += r.times - 1
	}
	peak := 0
	for _, n := range s.nodes {
		peak += used(n.pid()).peak
	}
	lost = n - len(late)
	return []string{
		fmt.Sprint(n), fmt.Sprint(len(late)), fmt.Sprint(lost), fmt.Sprint(extra), ms(percentile(late, 50)), ms(percentile(late, 99)),
		ms(percentile(late, 100)), ms(done), fmt.Sprintf("%d MB", peak),
	}, lost, nil
}
