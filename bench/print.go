package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

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
	out.table([]string{"targets", "made", "missed, with reason", "missed without reason", "extra", "untrue", "retries", "child runs", "takeover max"}, [][]string{{
		n(c.targets), n(c.made), strings.TrimSpace(n(total) + reasons), n(len(c.unexplained)), n(len(c.extra)), n(len(c.untrue)), n(c.retries), n(c.childRuns), ms(c.takeover()),
	}})
	out.printf("Of the %d made, %d succeeded, %d failed (one kind of job fails on purpose), %d were declared lost (their executor was killed or kept silent on purpose), %d are still open.\n",
		c.made, c.succeeded, c.failed, c.lost, c.withoutOutcome)
	row := func(name string, list []late, of func(int64) bool) []string {
		k, p50, p99, most := lateness(list, of)
		return []string{name, n(k), ms(p50), ms(p99), ms(most)}
	}
	always := func(int64) bool { return true }
	rows := [][]string{row("all", c.late, always), row("retries and children", c.lateFollowers, always), row("quiet", c.late, func(p int64) bool { return !c.near(p) })}
	for _, k := range append(allFaults(), loneFaults()...) {
		if count := len(slices.DeleteFunc(slices.Clone(c.faults), func(f fault) bool { return f.kind != k })); count > 0 {
			rows = append(rows, row(fmt.Sprintf("around %s (%d times)", k, count), c.late, func(p int64) bool { return c.near(p, k) }))
		}
	}
	out.table([]string{"lateness", "runs", "p50", "p99", "max"}, rows)
	if len(c.asks)+len(s.asks) > 0 {
		out.printf("%d runs by hand were wanted while answers of commits were lost. ", len(s.asks))
	}
	for _, o := range slices.Sorted(maps.Keys(c.owners)) {
		out.printf("%s rang %d. ", o, c.owners[o])
	}
	out.printf("\n")
}
