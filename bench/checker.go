package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CheckerCmd asks, for every job and planned instant: made exactly once?
type CheckerCmd struct {
	Jobs     int           `help:"Jobs." default:"300"`
	Duration time.Duration `help:"How long." default:"10m"`
	Seed     uint64        `help:"Of the schedule of faults; the same seed gives the same one." default:"1"`
	Faults   string        `help:"kill, pause, dbrestart, dbcut, execkill, slowanswer, silent, rename, rowlock, commitcut, blackhole; all or none. Alone: outage, restore." default:"all"`
	Takeover time.Duration `help:"How late what a dead node left may be: what the nodes wait for a sign of life, and two seconds." default:"6s"`
	Backlog  int           `help:"Jobs that wait after an outage, due for a month." default:"2000"`
}

// Run checks and prints; anything that should not be is an error.
func (c *CheckerCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	kinds, err := c.kinds(flags)
	if err != nil {
		return err
	}
	proxied := func(k faultKind) bool { return k == faultDBCut || k == faultCommitCut || k == faultBlackHole }
	needs := siteNeeds{proxies: slices.ContainsFunc(kinds, proxied), runFor: 20 * time.Millisecond}
	if slices.Contains(kinds, faultRestore) {
		needs.runFor = forgotten * 2 / 3 // results come when their runs are forgotten
	}
	s, err := flags.open(ctx, needs)
	if err != nil {
		return err
	}
	result, err := c.measure(ctx, s, kinds)
	if err == nil {
		result.print(ctx, out, s, c)
		err = result.bad()
		if err != nil && flags.Keep {
			fmt.Println("the logs of the centers are in", s.dir)
		}
	}
	return errors.Join(err, s.close(ctx))
}

// kinds leaves out what cannot happen on the site.
func (c *CheckerCmd) kinds(flags *SiteFlags) ([]faultKind, error) {
	kinds, err := parseFaults(c.Faults)
	if err != nil {
		return nil, err
	}
	mysql := flags.Engine != "sqlite"
	if flags.Center != "" {
		mysql = strings.HasPrefix(flags.Database, "mysql:")
	}
	left := slices.DeleteFunc(kinds, func(k faultKind) bool {
		switch k {
		case faultExecKill, faultSlow, faultSilent:
			return false
		case faultRowLock: // needs no hand on the database or its nodes
			return !mysql
		case faultKill, faultPause, faultRename, faultOutage:
			return flags.Center != ""
		}
		return flags.Center != "" || !mysql
	})
	if len(left) == 0 && c.Faults != "none" && c.Faults != "" {
		return nil, fmt.Errorf("none of the faults %q can happen here", c.Faults)
	}
	return left, nil
}

func (c *CheckerCmd) measure(ctx context.Context, s *site, kinds []faultKind) (*checked, error) {
	start := time.Now().Truncate(time.Second).Add(3 * time.Second)
	jobs, err := c.addJobs(ctx, s, start)
	if err != nil {
		return nil, err
	}
	s.backlog = c.Backlog
	out := &checked{owners: map[string]int{}, nodes: max(1, len(s.nodes)), limit: c.Takeover}
	// The first seconds are not judged: a center without our tables may need them.
	from := start.Add(7 * time.Second)
	if slices.Contains(kinds, faultRestore) {
		f, err := s.forget(ctx, from)
		if err != nil {
			return nil, fmt.Errorf("fault %s: %w", faultRestore, err)
		}
		out.faults, kinds = append(out.faults, f), nil
		from = f.end.Truncate(time.Second).Add(settled)
	}
	out.window = window{from: from.UnixMilli(), to: from.Add(c.Duration).UnixMilli()}
	if len(out.faults) > 0 {
		out.window.since = out.window.from
	}
	if err := pause(ctx, time.Until(from)); err != nil {
		return nil, err
	}
	for _, p := range scheduleFaults(c.Seed, kinds, c.Duration) {
		if err := pause(ctx, p.after); err != nil {
			return nil, err
		}
		f, err := s.inflict(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("fault %s: %w", p.kind, err)
		}
		out.faults = append(out.faults, f)
	}
	if err := pause(ctx, time.Until(time.UnixMilli(out.window.to).Add(time.Second))); err != nil {
		return nil, err
	}
	return out, c.judge(ctx, s, jobs, out)
}

// judge waits until all is decided and looks what became of it.
func (c *CheckerCmd) judge(ctx context.Context, s *site, jobs []expect, out *checked) error {
	// The jobs go on until all is decided: what a stop would end is not judged by its end.
	if err := waitUntilDecided(ctx, s, out.window); err != nil {
		return err
	}
	var err error
	if out.leftBehind, err = s.leftBehind(ctx, time.Now().Add(-10*time.Second)); err != nil {
		return err
	}
	if err := switchOff(ctx, s.db, s.group); err != nil {
		return err
	}
	if err := waitUntilDecided(ctx, s, window{to: time.Now().UnixMilli(), since: out.window.since}); err != nil {
		return err
	}
	rows, err := readRuns(ctx, s)
	if err != nil {
		return err
	}
	if !s.extended {
		attribute(jobs, rows)
	}
	for _, r := range rows {
		if name, _, ok := strings.Cut(r.Owner, "#"); ok {
			out.owners[name]++
		}
	}
	out.verdict = check(jobs, rows, s.rings(), out.window)
	out.asks = judgeAsks(s.asks, s.askedFor())
	return nil
}

// addJobs makes the mixture: of ten jobs six fire each second, two every two or
// three seconds (one of them with a child), one is a broadcast, one fails often
// and is retried.
func (c *CheckerCmd) addJobs(ctx context.Context, s *site, start time.Time) ([]expect, error) {
	routes := []string{"FIRST", "LAST", "ROUND", "RANDOM", "CONSISTENT_HASH", "LEAST_FREQUENTLY_USED", "LEAST_RECENTLY_USED", "FAILOVER", "BUSYOVER"}
	if c.Faults == string(faultRestore) {
		routes = routes[:8] // runs are long there, and BUSYOVER rightly finds all busy
	}
	children := max(1, c.Jobs/10)
	var list []jobRow
	for i := range children {
		list = append(list, jobRow{name: fmt.Sprintf("child %d", i), kind: "NONE", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount})
	}
	list = append(list, jobRow{name: "by hand", kind: "NONE", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount})
	childIDs, err := insertJobs(ctx, s.db, s.group, list)
	if err != nil {
		return nil, err
	}
	s.byHand = childIDs[children]
	list = nil
	var jobs []expect
	for i := range c.Jobs {
		j := jobRow{
			name: fmt.Sprintf("each second %d", i), kind: "CRON", conf: "* * * * * ?", status: 1, next: start.UnixMilli(),
			misfire: []string{"DO_NOTHING", "FIRE_ONCE_NOW"}[i/10%2], route: routes[i%len(routes)], handler: handlerCount,
		}
		e := expect{start: start.UnixMilli(), step: 1000}
		rate := func(seconds int) { j.kind, j.conf, e.step = "FIX_RATE", fmt.Sprint(seconds), int64(seconds)*1000 }
		switch i % 10 {
		case 6:
			rate(2)
			if j.name = fmt.Sprintf("parent %d", i); s.extended {
				e.child = childIDs[i/10%children]
				j.children = fmt.Sprint(e.child)
			}
		case 7:
			j.name, j.handler = fmt.Sprintf("long %d", i), handlerLong
			rate(3)
		case 8:
			j.name, j.route, e.shards = fmt.Sprintf("broadcast %d", i), "SHARDING_BROADCAST", s.flags.Executors
			rate(3)
		case 9:
			rate(2)
			if j.name = fmt.Sprintf("flaky %d", i); s.extended {
				j.handler, j.retries = handlerFlaky, 3
			}
		}
		e.name = j.name
		list, jobs = append(list, j), append(jobs, e)
	}
	ids, err := insertJobs(ctx, s.db, s.group, list)
	for i := range ids {
		jobs[i].job = ids[i]
	}
	s.jobs = ids
	return jobs, err
}

// waitUntilDecided waits until nothing of the window is on its way any more. A
// center without our columns gets half a minute.
func waitUntilDecided(ctx context.Context, s *site, w window) error {
	if !s.extended {
		return pause(ctx, 30*time.Second)
	}
	for range 180 {
		var open int
		err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE job_group = ? AND run_state BETWEEN 1 AND ? AND planned_time < ? AND planned_time >= ?`,
			s.group, stateOpenMax, w.to, w.since).Scan(&open)
		if err != nil {
			return err
		}
		if open == 0 {
			return pause(ctx, 3*time.Second) // results on their way, and what follows them
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return nil // what is still open is judged as it is
}
