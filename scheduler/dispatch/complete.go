package dispatch

import (
	"context"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
)

// Complete stores results and returns when they are stored, with what became of
// each. What follows from them (retry, children) is stored with them.
func (d *Dispatcher) Complete(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error) {
	return d.results.Do(ctx, list...)
}

func (d *Dispatcher) writeHandled(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error) {
	now := d.cfg.Now()
	// What executors took a moment ago is written down with the result.
	var noted []model.Dispatch
	for i := range list {
		if a, ok := d.accepts.take(list[i].RunID); ok {
			noted = append(noted, a)
			list[i].Call = &a
		}
	}
	after, owner := false, d.node.Owner()
	statuses, err := d.store.StoreHandled(ctx, list, now, func(run model.Run, jobs map[int]model.Job) []model.Run {
		// The clock is read here: the process may have been paused since, and what follows
		// is due now.
		runs := rule.Follower(d.cfg.Now(), owner)(run, jobs)
		after = after || len(runs) > 0
		return runs
	})
	if err != nil {
		for _, a := range noted {
			d.accepts.add(a)
		}
		return nil, err
	}
	for i, st := range statuses {
		if c := list[i].Call; c != nil && (st == model.HandledUnknown || st == model.HandledLocked) {
			d.accepts.add(*c) // the result was refused, that the executor has the run is still to be noted
		}
	}
	d.counts.callbacks(len(list))
	if after {
		d.Nudge() // a child or a retry may be due
	}
	return statuses, nil
}

// Stats are the numbers of the dispatcher.
type Stats struct {
	Counters
	InRing, Open int // runs in memory, calls and notes in progress
	SlowWaiting  int // runs that wait in the slow lane
	Load         Load
}

// Stats tells what the dispatcher does.
func (d *Dispatcher) Stats() Stats {
	out := Stats{Counters: d.counts.snapshot(), InRing: d.ring.size(), SlowWaiting: d.slow.len(), Load: d.Load()}
	d.inFlight.Range(func(any, any) bool { out.Open++; return true })
	return out
}

// LateMS gives the 99th percentile and the median of the lateness of about the last
// minute, in ms.
func (d *Dispatcher) LateMS() (p99, p50 int) { return d.counts.percentiles(d.cfg.Now()) }

// SlowWaiting is how many runs wait for a worker of the slow lane.
func (d *Dispatcher) SlowWaiting() int { return d.slow.len() }
