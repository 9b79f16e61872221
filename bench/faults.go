package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	faultRename    faultKind = "rename"     // kill -9 of a node, started again under its name in other letters
	faultRowLock   faultKind = "rowlock"    // another session holds the row of one job
	faultCommitCut faultKind = "commitcut"  // a node's commits are done, but the answer is lost with the connection
	faultBlackHole faultKind = "blackhole"  // connections to the database die without a sign, new ones work
	faultOutage    faultKind = "outage"     // all nodes are away; when they come, jobs wait that have been due for a month
	faultRestore   faultKind = "restore"    // the database goes back to a copy of itself
)

// allFaults are those that are mixed. The others want a check for themselves: they
// make so much late or forgotten that nothing else could be judged beside them.
func allFaults() []faultKind {
	return []faultKind{
		faultKill, faultPause, faultDBRestart, faultDBCut, faultExecKill, faultSlow, faultSilent,
		faultRename, faultRowLock, faultCommitCut, faultBlackHole,
	}
}

func loneFaults() []faultKind { return []faultKind{faultOutage, faultRestore} }

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
		kind, known := faultKind(name), append(allFaults(), loneFaults()...)
		if !slices.Contains(known, kind) {
			return nil, fmt.Errorf("there is no fault %q: choose from %v", name, known)
		}
		if slices.Contains(loneFaults(), kind) && name != list {
			return nil, fmt.Errorf("the fault %q is checked alone", name)
		}
		out = append(out, kind)
	}
	return out, nil
}

// fault is one thing that went wrong, and when.
type fault struct {
	kind       faultKind
	what       string
	start, end time.Time // end = mended
	job        int       // rowlock: whose row
	all        bool      // all nodes are hit alike
}

// plannedFault is decided by the seed alone.
type plannedFault struct {
	kind  faultKind
	after time.Duration // quiet before it
	lasts time.Duration
	calm  time.Duration // left alone after it, for what it has done shows late
	pick  uint32        // which node, executor or job
	hard  bool          // the database: kill -9 instead of a stop; a pause: shorter; blackhole: all nodes
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
		case faultRename:
			f.lasts, f.calm = between(0.2, 3), 14*time.Second
		case faultRowLock:
			f.lasts = 20 * time.Second // longer than anybody waits for a lock
		case faultBlackHole:
			f.calm = 14 * time.Second
		case faultOutage:
			f.lasts, f.calm = between(8, 15), 30*time.Second
		default:
			f.lasts = between(3, 14)
		}
		// The last one leaves time to recover.
		if used += f.after + f.lasts + f.calm; used+8*time.Second > total {
			return out
		}
		out = append(out, f)
	}
}
