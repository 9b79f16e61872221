package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// CheckerCmd asks, for every job and planned instant: made exactly once?
type CheckerCmd struct {
	Jobs     int           `help:"Jobs." default:"300"`
	Duration time.Duration `help:"How long." default:"10m"`
	Seed     uint64        `help:"Of the schedule of faults; the same seed gives the same one." default:"1"`
	Faults   string        `help:"kill, pause, dbrestart, dbcut, execkill, slowanswer, silent; all or none." default:"all"`
}

// maxTakeover is how late what a dead node left may be.
const maxTakeover = 12 * time.Second

// Run checks and prints; anything that should not be is an error.
func (c *CheckerCmd) Run(ctx context.Context, flags *SiteFlags, out *Report) error {
	kinds, err := c.kinds(flags)
	if err != nil {
		return err
	}
	s, err := flags.open(ctx, siteNeeds{proxies: slices.Contains(kinds, faultDBCut), runFor: 20 * time.Millisecond})
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
	return slices.DeleteFunc(kinds, func(k faultKind) bool {
		database, node := k == faultDBRestart || k == faultDBCut, k == faultKill || k == faultPause
		return database && flags.Engine == "sqlite" || (database || node) && flags.Center != ""
	}), nil
}

// checked is the result of one check.
type checked struct {
	*verdict
	window window
	faults []fault
	owners map[string]int // runs by node
	nodes  int
}

func (c *CheckerCmd) measure(ctx context.Context, s *site, kinds []faultKind) (*checked, error) {
	start := time.Now().Truncate(time.Second).Add(3 * time.Second)
	jobs, err := c.addJobs(ctx, s, start)
	if err != nil {
		return nil, err
	}
	// The first seconds are not judged: a center without our tables may need them.
	out := &checked{window: window{start.Add(7 * time.Second).UnixMilli(), start.Add(7*time.Second + c.Duration).UnixMilli()}, owners: map[string]int{}, nodes: max(1, len(s.nodes))}
	if err := pause(ctx, time.Until(time.UnixMilli(out.window.from))); err != nil {
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
	// The jobs go on until all is decided: what a stop would end is not judged by its end.
	if err := waitUntilDecided(ctx, s, out.window.to); err != nil {
		return nil, err
	}
	if err := switchOff(ctx, s.db, s.group); err != nil {
		return nil, err
	}
	if err := waitUntilDecided(ctx, s, time.Now().UnixMilli()); err != nil {
		return nil, err
	}
	rows, err := readRuns(ctx, s)
	if err != nil {
		return nil, err
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
	return out, nil
}

// addJobs makes the mixture: of ten jobs six fire each second, two every two or
// three seconds (one of them with a child), one is a broadcast, one fails often
// and is retried.
func (c *CheckerCmd) addJobs(ctx context.Context, s *site, start time.Time) ([]expect, error) {
	routes := []string{"FIRST", "LAST", "ROUND", "RANDOM", "CONSISTENT_HASH", "LEAST_FREQUENTLY_USED", "LEAST_RECENTLY_USED", "FAILOVER", "BUSYOVER"}
	children := max(1, c.Jobs/10)
	var list []jobRow
	for i := range children {
		list = append(list, jobRow{name: fmt.Sprintf("child %d", i), kind: "NONE", misfire: "DO_NOTHING", route: "ROUND", handler: handlerCount})
	}
	childIDs, err := insertJobs(ctx, s.db, s.group, list)
	if err != nil {
		return nil, err
	}
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
	return jobs, err
}

// waitUntilDecided waits until nothing of the window is on its way any more. A
// center without our columns gets half a minute.
func waitUntilDecided(ctx context.Context, s *site, until int64) error {
	if !s.extended {
		return pause(ctx, 30*time.Second)
	}
	for range 180 {
		var open int
		err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE job_group = ? AND run_state BETWEEN 1 AND ? AND planned_time < ?`,
			s.group, stateOpenMax, until).Scan(&open)
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

// recovery is how long after a fault its consequences may last.
func recovery(k faultKind) time.Duration {
	switch k {
	case faultKill, faultPause, faultDBRestart, faultDBCut:
		return maxTakeover
	}
	return 4 * time.Second // an address that refused is asked again, late answers come in
}

// near reports whether an instant lies in a fault or its consequences.
func (c *checked) near(planned int64, kinds ...faultKind) bool {
	at := time.UnixMilli(planned)
	return slices.ContainsFunc(c.faults, func(f fault) bool {
		return (len(kinds) == 0 || slices.Contains(kinds, f.kind)) && at.After(f.start.Add(-time.Second)) && at.Before(f.end.Add(recovery(f.kind)))
	})
}

// lateness of some of the runs.
func lateness(all []late, of func(planned int64) bool) (n int, p50, p99, most time.Duration) {
	var list []time.Duration
	for _, l := range all {
		if of(l.planned) {
			list = append(list, l.by)
		}
	}
	return len(list), percentile(list, 50), percentile(list, 99), percentile(list, 100)
}

// takeover is how late the latest run was that a lost node may have delayed.
func (c *checked) takeover() time.Duration {
	var most time.Duration
	for _, l := range c.late {
		// A run that was sent to an executor just as that died waits for the executor.
		if c.near(l.planned, faultKill, faultPause, faultDBCut) && !c.near(l.planned, faultExecKill) {
			most = max(most, c.waited(l))
		}
	}
	return most
}

// waited is how late a run was. With one node nobody can take over: the time that
// the node was away does not count.
func (c *checked) waited(l late) time.Duration {
	waited := l.by
	if c.nodes > 1 {
		return waited
	}
	planned := time.UnixMilli(l.planned)
	rung := planned.Add(l.by)
	for _, f := range c.faults {
		if f.kind != faultKill && f.kind != faultPause {
			continue
		}
		from, to := f.start, f.end
		if planned.After(from) {
			from = planned
		}
		if rung.Before(to) {
			to = rung
		}
		waited -= max(0, to.Sub(from))
	}
	return waited
}

// tooLate counts the runs, retries and children among them, that were later than a
// takeover may make them, whatever happened. What was sent to an executor that was
// killed just then may wait until that is back and has had time to show it.
func (c *checked) tooLate() (n int) {
	for _, l := range slices.Concat(c.late, c.lateFollowers) {
		limit := maxTakeover
		for _, f := range c.faults {
			if at := time.UnixMilli(l.planned); f.kind == faultExecKill && at.After(f.start.Add(-time.Second)) && at.Before(f.end.Add(recovery(f.kind))) {
				limit = max(limit, maxTakeover+f.end.Sub(f.start))
			}
		}
		if c.waited(l) > limit {
			n++
		}
	}
	return n
}

// bad says what should not be.
func (c *checked) bad() error {
	var err error
	if n := len(c.unexplained); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d missed without a reason, such as: %v", n, c.unexplained[:min(n, 10)]))
	}
	if n := len(c.extra); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d extra, such as: %v", n, c.extra[:min(n, 10)]))
	}
	if t := c.takeover(); t > maxTakeover {
		err = errors.Join(err, fmt.Errorf("a takeover lasted %s", t))
	}
	if n := c.tooLate(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d runs were later than a takeover may make them", n))
	}
	if c.made == 0 {
		err = errors.Join(err, errors.New("nothing was made"))
	}
	return err
}

func (c *checked) print(ctx context.Context, out *Report, s *site, cmd *CheckerCmd) {
	where := fmt.Sprintf("%s, %d node(s)", s.flags.Engine, len(s.nodes))
	if s.flags.Center != "" {
		where = s.flags.Center
	}
	out.printf("### Checker: %d jobs, %s, %s\n\n", cmd.Jobs, cmd.Duration, where)
	out.environment(ctx, s)
	total := 0
	reasons := ""
	for _, r := range slices.SortedFunc(maps.Keys(c.missed), func(a, b string) int { return cmp.Compare(c.missed[b], c.missed[a]) }) {
		total += c.missed[r]
		reasons += fmt.Sprintf(" · %s %d", r, c.missed[r])
	}
	n := func(v int) string { return fmt.Sprint(v) }
	out.table([]string{"targets", "made", "missed, with reason", "missed without reason", "extra", "retries", "child runs", "takeover max"}, [][]string{{
		n(c.targets), n(c.made), strings.TrimSpace(n(total) + reasons), n(len(c.unexplained)), n(len(c.extra)), n(c.retries), n(c.childRuns), ms(c.takeover()),
	}})
	out.printf("Of the %d made, %d succeeded, %d failed (one kind of job fails on purpose), %d were declared lost (their executor was killed or kept silent on purpose), %d are still open.\n",
		c.made, c.succeeded, c.failed, c.lost, c.withoutOutcome)
	row := func(name string, list []late, of func(int64) bool) []string {
		k, p50, p99, most := lateness(list, of)
		return []string{name, n(k), ms(p50), ms(p99), ms(most)}
	}
	always := func(int64) bool { return true }
	rows := [][]string{row("all", c.late, always), row("retries and children", c.lateFollowers, always), row("quiet", c.late, func(p int64) bool { return !c.near(p) })}
	for _, k := range allFaults() {
		if count := len(slices.DeleteFunc(slices.Clone(c.faults), func(f fault) bool { return f.kind != k })); count > 0 {
			rows = append(rows, row(fmt.Sprintf("around %s (%d times)", k, count), c.late, func(p int64) bool { return c.near(p, k) }))
		}
	}
	out.table([]string{"lateness", "runs", "p50", "p99", "max"}, rows)
	for _, o := range slices.Sorted(maps.Keys(c.owners)) {
		out.printf("%s rang %d. ", o, c.owners[o])
	}
	out.printf("\n")
}
