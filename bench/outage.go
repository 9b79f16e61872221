package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// backlogSince is for how long the jobs of an outage have been due.
const backlogSince = 30 * 24 * time.Hour

// outage takes all nodes away, lets jobs be due that have not been made for a month,
// and starts the nodes. It does not wait for them: a node that never gets ready is
// what the check looks for.
func (s *site) outage(ctx context.Context, lasts time.Duration) error {
	for _, n := range s.nodes {
		n.kill()
	}
	now := time.Now().UTC()
	list := make([]jobRow, s.backlog)
	for i := range list {
		list[i] = jobRow{
			name: fmt.Sprintf("backlog %d", i), kind: "CRON", conf: longSilence(now), status: 1, next: now.Add(-backlogSince).UnixMilli(),
			misfire: []string{"DO_NOTHING", "FIRE_ONCE_NOW"}[i%2], route: "ROUND", handler: handlerCount,
		}
	}
	if _, err := insertJobs(ctx, s.db, s.group, list); err != nil {
		return err
	}
	_ = pause(ctx, lasts)
	for _, n := range s.nodes {
		if err := n.launch(); err != nil {
			return err
		}
	}
	return nil
}

// longSilence is a schedule that fires each second of working hours on three days of
// the week: searching its last fire is a long walk, and it is silent now.
func longSilence(now time.Time) string {
	var days []string
	for i := 2; i <= 4; i++ {
		days = append(days, strings.ToUpper(now.AddDate(0, 0, i).Format("Mon")))
	}
	return "* * 8-17 ? * " + strings.Join(days, ",")
}

// leftBehind says what became of the jobs that had been due for a month.
func (s *site) leftBehind(ctx context.Context, now time.Time) ([]string, error) {
	var out []string
	for _, q := range []struct{ what, where string }{
		{"jobs of the outage still wait to be planned", `i.trigger_status = 1 AND i.trigger_next_time < ?`},
		{"jobs of the outage have no row that says what became of their fires",
			`i.trigger_next_time <> ? AND NOT EXISTS (SELECT 1 FROM xxl_job_log l WHERE l.job_id = i.id)`},
	} {
		var n int
		err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info i WHERE i.job_group = ? AND i.job_desc LIKE 'backlog %' AND `+q.where,
			s.group, now.UnixMilli()).Scan(&n)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, q.what))
		}
	}
	return out, nil
}
