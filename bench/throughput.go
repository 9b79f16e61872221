package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// ThroughputCmd finds the highest rate of completed runs that is sustained.
type ThroughputCmd struct {
	Rates    []int         `help:"Runs per second to try, one after the other." default:"500,1000,2000,4000,6000,8000,10000"`
	Duration time.Duration `help:"How long each." default:"20s"`
	Profile  string        `help:"Write CPU profiles of the center: this prefix, rate and .pprof." placeholder:"PREFIX"`
}

// sustained is the share of the wanted rate that must be completed.
const sustained = 0.98

// load is what one measured stretch needed.
type load struct {
	due, rung, done float64 // per second
	late            []time.Duration
	cpu             map[string]float64 // cores
	rss             int                // MB, of the centers together
	statements      float64            // per second, all
}

// Run measures each rate on a site of its own.
func (c *ThroughputCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	out.printf("### Throughput: completed runs per second\n\n")
	best := 0
	var rows [][]string
	for i, rate := range c.Rates {
		s, err := flags.open(ctx, siteNeeds{pool: 1024, args: c.pprofArgs()})
		if err != nil {
			return err
		}
		if i == 0 {
			out.environment(ctx, s)
		}
		l, err := c.measure(ctx, s, rate)
		if err = errors.Join(err, s.close(ctx)); err != nil {
			return err
		}
		held := l.done >= sustained*float64(rate)
		if held {
			best = max(best, rate)
		}
		at := func(p int) string { return ms(percentile(l.late, p)) }
		rows = append(rows, []string{
			fmt.Sprint(rate), fmt.Sprintf("%.0f", l.rung), fmt.Sprintf("%.0f", l.done), map[bool]string{true: "yes", false: "no"}[held],
			at(50), at(99), at(100), fmt.Sprintf("%.2f", l.cpu["center"]), fmt.Sprintf("%.2f", l.cpu["database"]), fmt.Sprintf("%.2f", l.cpu["executors"]),
			fmt.Sprintf("%.0f (%.2f)", l.statements, l.statements/max(1, l.done)), fmt.Sprintf("%d MB", l.rss),
		})
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1], " | "))
		if l.done < 0.8*float64(rate) {
			break
		}
	}
	out.table([]string{
		"due/s", "rung/s", "completed/s", "sustained", "late p50", "p99", "max",
		"center cores", "database cores", "executors cores", "statements/s (per run)", "center memory",
	}, rows)
	out.printf("Highest sustained rate of those tried: **%d** completed runs per second.\n", best)
	return nil
}

func (c *ThroughputCmd) measure(ctx context.Context, s *site, rate int) (*load, error) {
	start := time.Now().Truncate(time.Second).Add(time.Duration(3+rate/4000) * time.Second)
	if err := addSteady(ctx, s, rate, start); err != nil {
		return nil, err
	}
	if err := pause(ctx, time.Until(start.Add(5*time.Second))); err != nil {
		return nil, err
	}
	before, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	profile := c.profile(ctx, rate)
	if err := pause(ctx, c.Duration); err != nil {
		return nil, err
	}
	after, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := profile(); err != nil {
		return nil, err
	}
	sec := after.at.Sub(before.at).Seconds()
	l := &load{
		due: float64(rate), rung: float64(after.rung-before.rung) / sec, done: float64(after.done-before.done) / sec,
		statements: float64(after.statements-before.statements) / sec, rss: after.rss, cpu: map[string]float64{},
	}
	for k, v := range after.cpu {
		l.cpu[k] = (v - before.cpu[k]) / sec
	}
	l.late, err = s.lateness(ctx, before.at, after.at.Add(-time.Second))
	return l, err
}

// addSteady adds jobs that fire once a second each, all at the same instant: schedules
// know whole seconds only.
func addSteady(ctx context.Context, s *site, rate int, start time.Time) error {
	jobs := make([]jobRow, rate)
	for i := range jobs {
		jobs[i] = jobRow{
			name: fmt.Sprintf("steady %d", i), kind: "FIX_RATE", conf: "1", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount,
			status: 1, next: start.UnixMilli(),
		}
	}
	_, err := insertJobs(ctx, s.db, s.group, jobs)
	return err
}

// glance is the state of a site at one moment.
type glance struct {
	at         time.Time
	rung       int
	done       int
	statements int64
	cpu        map[string]float64
	rss        int
}

func (s *site) look(ctx context.Context) (glance, error) {
	g := glance{cpu: map[string]float64{}}
	for _, c := range s.counters {
		c.mu.Lock()
		g.rung += len(c.rings)
		c.mu.Unlock()
	}
	if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE job_group = ? AND handle_code = 200`, s.group).Scan(&g.done); err != nil {
		return g, err
	}
	g.at = time.Now()
	if s.maria != nil {
		var name string
		if err := s.db.QueryRowContext(ctx, `SHOW GLOBAL STATUS LIKE 'Questions'`).Scan(&name, &g.statements); err != nil {
			return g, err
		}
		g.cpu["database"] = used(s.maria.PID()).cpu
	}
	for _, n := range s.nodes {
		u := used(n.pid())
		g.cpu["center"] += u.cpu
		g.rss += u.peak
	}
	g.cpu["executors"] = used(os.Getpid()).cpu
	return g, nil
}

// lateness of the runs planned between two moments, as they reached the executors.
func (s *site) lateness(ctx context.Context, from, to time.Time) ([]time.Duration, error) {
	rows, err := readRuns(ctx, s)
	if err != nil {
		return nil, err
	}
	rings := s.rings()
	var out []time.Duration
	for _, r := range rows {
		rung, ok := rings[r.call()]
		if ok && r.Planned >= from.UnixMilli() && r.Planned < to.UnixMilli() {
			out = append(out, time.Duration(rung.first-r.Planned*1000)*time.Microsecond)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("nothing reached the executors")
	}
	return out, nil
}

// pprofAddress is where the center's profiler listens when a profile is wanted.
const pprofAddress = "127.0.0.1:16060"

func (c *ThroughputCmd) pprofArgs() []string {
	if c.Profile == "" {
		return nil
	}
	return []string{"--pprof", pprofAddress}
}

// profile begins to fetch a CPU profile; the function it gives waits for it.
func (c *ThroughputCmd) profile(ctx context.Context, rate int) (wait func() error) {
	if c.Profile == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		body, err := get(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", pprofAddress, max(1, int(c.Duration.Seconds())-1)))
		if err == nil {
			err = os.WriteFile(fmt.Sprintf("%s%d.pprof", c.Profile, rate), body, 0o644)
		}
		done <- err
	}()
	return func() error { return <-done }
}
