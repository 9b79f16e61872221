package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// faultKind is something that goes wrong.
type faultKind string

// What may go wrong.
const (
	faultKill      faultKind = "kill"       // kill -9 of a node, started again later
	faultPause     faultKind = "pause"      // SIGSTOP of a node for longer than a claim or its own lease, then SIGCONT
	faultDBRestart faultKind = "dbrestart"  // the database is killed or stopped, and started again
	faultDBCut     faultKind = "dbcut"      // a node loses its connections to the database
	faultExecKill  faultKind = "execkill"   // an executor is killed and started again
	faultSlow      faultKind = "slowanswer" // an executor answers after the time-out
	faultSilent    faultKind = "silent"     // an executor accepts and never calls back
)

func allFaults() []faultKind {
	return []faultKind{faultKill, faultPause, faultDBRestart, faultDBCut, faultExecKill, faultSlow, faultSilent}
}

// parseFaults reads a list; "all" and "none" are words.
func parseFaults(list string) ([]faultKind, error) {
	if list == "all" {
		return allFaults(), nil
	}
	if list == "none" || list == "" {
		return nil, nil
	}
	var out []faultKind
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(allFaults(), faultKind(name)) {
			return nil, fmt.Errorf("there is no fault %q: choose from %v", name, allFaults())
		}
		out = append(out, faultKind(name))
	}
	return out, nil
}

// fault is one thing that went wrong, and when.
type fault struct {
	kind       faultKind
	what       string
	start, end time.Time // end = mended
}

// plannedFault is decided by the seed alone.
type plannedFault struct {
	kind  faultKind
	after time.Duration // quiet before it
	lasts time.Duration
	pick  uint32 // which node or executor
	hard  bool   // the database: kill -9 instead of a stop; a pause: shorter than the lease of a node
}

// scheduleFaults fills a duration with faults, one after the other, every kind
// before any comes again.
func scheduleFaults(seed uint64, kinds []faultKind, total time.Duration) []plannedFault {
	if len(kinds) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	between := func(low, high float64) time.Duration {
		return time.Duration((low + rng.Float64()*(high-low)) * float64(time.Second))
	}
	var out []plannedFault
	var deck []faultKind
	for used := time.Duration(0); ; {
		if len(deck) == 0 {
			deck = slices.Clone(kinds)
			rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		f := plannedFault{kind: deck[0], after: between(3, 9), pick: rng.Uint32(), hard: rng.IntN(2) == 0}
		deck = deck[1:]
		switch f.kind {
		case faultPause:
			// Longer than what a claim is good for, and some of them than the lease of a node.
			if f.lasts = between(13, 20); f.hard {
				f.lasts = between(8, 10)
			}
		case faultDBRestart:
			f.lasts = between(0.5, 4)
		case faultKill:
			f.lasts = between(0.2, 16)
		default:
			f.lasts = between(3, 14)
		}
		// The last one leaves time to recover.
		if used += f.after + f.lasts; used+8*time.Second > total {
			return out
		}
		out = append(out, f)
	}
}

// inflict makes one fault happen and mends it.
func (s *site) inflict(ctx context.Context, p plannedFault) (fault, error) {
	f := fault{kind: p.kind, start: time.Now()}
	var err error
	switch p.kind {
	case faultKill, faultPause, faultDBCut:
		i := int(p.pick) % len(s.nodes)
		f.what, err = s.nodes[i].name, s.hurtNode(ctx, p, i)
	case faultDBRestart:
		f.what = map[bool]string{true: "kill -9", false: "SIGTERM"}[p.hard]
		err = s.maria.Restart(ctx, p.hard, p.lasts)
	default:
		i := int(p.pick) % len(s.counters)
		f.what, err = fmt.Sprintf("executor %d", i+1), s.hurtExecutor(ctx, p, s.counters[i])
	}
	f.end = time.Now()
	return f, err
}

func (s *site) hurtNode(ctx context.Context, p plannedFault, i int) error {
	n := s.nodes[i]
	switch p.kind {
	case faultKill:
		n.kill()
		_ = pause(ctx, p.lasts)
		return n.start(ctx)
	case faultPause:
		if err := n.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		_ = pause(ctx, p.lasts)
		return n.signal(syscall.SIGCONT)
	default:
		s.proxies[i].set(true)
		_ = pause(ctx, p.lasts)
		s.proxies[i].set(false)
		return nil
	}
}

func (s *site) hurtExecutor(ctx context.Context, p plannedFault, c *counter) error {
	switch p.kind {
	case faultExecKill:
		c.kill()
		_ = pause(ctx, p.lasts)
		return c.start()
	case faultSlow:
		c.behave(answersLate)
	default:
		c.behave(neverCallsBack)
	}
	_ = pause(ctx, p.lasts)
	c.behave(behaves)
	return nil
}
