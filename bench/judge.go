package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// checked is the result of one check.
type checked struct {
	*verdict
	window     window
	faults     []fault
	owners     map[string]int // runs by node
	nodes      int
	limit      time.Duration // how late what a dead node left may be
	asks       []string      // what went wrong with runs by hand
	leftBehind []string      // what went wrong with the jobs of an outage
}

const (
	// deafFor is how long nodes may be deaf when all their connections have died
	// without a sign, and what they missed takes until it is made.
	deafFor = 12 * time.Second
	// backAfter is how soon after an outage jobs that are due each second go on, however
	// much waits beside them.
	backAfter = 10 * time.Second
)

// recovery is how long after a fault its consequences may last.
func (c *checked) recovery(f fault) time.Duration {
	switch f.kind {
	case faultKill, faultPause, faultDBRestart, faultDBCut, faultRename, faultCommitCut:
		return c.limit
	case faultBlackHole:
		return max(c.limit, deafFor)
	case faultOutage:
		return backAfter
	}
	return 4 * time.Second // an address that refused is asked again, late answers come in
}

// touches reports whether an instant lies in a fault or its consequences.
func (c *checked) touches(f fault, planned int64) bool {
	at := time.UnixMilli(planned)
	return at.After(f.start.Add(-time.Second)) && at.Before(f.end.Add(c.recovery(f)))
}

// near reports whether an instant lies in a fault, of some kinds or any.
func (c *checked) near(planned int64, kinds ...faultKind) bool {
	return slices.ContainsFunc(c.faults, func(f fault) bool {
		return (len(kinds) == 0 || slices.Contains(kinds, f.kind)) && c.touches(f, planned)
	})
}

// takeover is how late the latest run was that a lost node may have delayed.
func (c *checked) takeover() time.Duration {
	var most time.Duration
	for _, l := range c.late {
		// A run that was sent to an executor just as that died waits for the executor.
		if c.near(l.planned, faultKill, faultPause, faultDBCut, faultRename) && !c.near(l.planned, faultExecKill) {
			most = max(most, c.waited(l))
		}
	}
	return most
}

// waited is how late a run was. When all nodes were away nobody could take over: that
// time does not count.
func (c *checked) waited(l late) time.Duration {
	waited := l.by
	planned := time.UnixMilli(l.planned)
	rung := planned.Add(l.by)
	for _, f := range c.faults {
		alone := c.nodes == 1 && (f.kind == faultKill || f.kind == faultPause || f.kind == faultRename)
		if !alone && f.kind != faultOutage {
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

// allowed is how late a run may be, whatever happened. What was sent to an executor
// that was killed just then may wait until that is back and has had time to show it,
// and while the database is away nobody can do anything.
func (c *checked) allowed(l late) time.Duration {
	limit := c.limit
	for _, f := range c.faults {
		if !c.touches(f, l.planned) {
			continue
		}
		switch {
		case f.kind == faultExecKill, f.kind == faultDBRestart, f.kind == faultRowLock && f.job == l.job:
			limit = max(limit, c.limit+f.end.Sub(f.start))
		case f.kind == faultBlackHole && f.all:
			limit = max(limit, deafFor)
		case f.kind == faultOutage:
			limit = max(limit, backAfter)
		}
	}
	return limit
}

// tooLate lists the runs, retries and children among them, that were later than they may be.
func (c *checked) tooLate() (out []string) {
	for i, l := range slices.Concat(c.late, c.lateFollowers) {
		if c.waited(l) > c.allowed(l) {
			what := "run"
			if i >= len(c.late) {
				what = "retry or child"
			}
			out = append(out, fmt.Sprintf("%s of job %d at %s, %s late", what, l.job, stamp(l.planned), l.by.Round(time.Millisecond)))
		}
	}
	return out
}

// careless lists what was missed with a reason although nothing was wrong: no fault
// was near, or one that concerns another job only.
func (c *checked) careless() (out []string) {
	for _, m := range c.skips {
		excused := slices.ContainsFunc(c.faults, func(f fault) bool {
			return c.touches(f, m.planned) && (f.kind != faultRowLock || f.job == m.job)
		})
		if !excused {
			out = append(out, fmt.Sprintf("job %d at %s (%s)", m.job, stamp(m.planned), m.reason))
		}
	}
	return out
}

// bad says what should not be.
func (c *checked) bad() error {
	var err error
	some := func(list []string, what string) {
		if n := len(list); n > 0 {
			err = errors.Join(err, fmt.Errorf("%d %s, such as: %v", n, what, list[:min(n, 10)]))
		}
	}
	some(c.unexplained, "missed without a reason")
	some(c.extra, "extra")
	some(c.untrue, "successes that are not true")
	some(c.careless(), "missed though nothing was wrong with them")
	some(c.asks, "runs by hand not as the center had said")
	for _, what := range c.leftBehind {
		err = errors.Join(err, errors.New(what))
	}
	if t := c.takeover(); t > c.limit {
		err = errors.Join(err, fmt.Errorf("a takeover lasted %s", t))
	}
	some(c.tooLate(), "later than a takeover may make them")
	if c.made == 0 {
		err = errors.Join(err, errors.New("nothing was made"))
	}
	return err
}
