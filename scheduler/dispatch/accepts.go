package dispatch

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// acceptDelay is how long the note "the executor has it" may wait for the
// result: most runs are short, and then one write says both.
const acceptDelay = 300 * time.Millisecond

const (
	// acceptsAtOnce is how many notes one pass writes.
	acceptsAtOnce = 300
	// acceptsMax is how many notes may wait.
	acceptsMax = 30000
)

// accepts holds what executors took and what is not written down yet. When the
// process dies with it, the rows say "sending" and the executors are asked.
type accepts struct {
	store Store
	now   func() time.Time

	mu sync.Mutex
	m  map[int64]accepted
}

// accepted is a note and when it was made; the time is for the wait alone.
type accepted struct {
	d  model.Dispatch
	at time.Time
}

func newAccepts(store Store, now func() time.Time) *accepts {
	return &accepts{store: store, now: now, m: map[int64]accepted{}}
}

func (a *accepts) add(d model.Dispatch) {
	now := a.now()
	a.mu.Lock()
	a.m[d.RunID] = accepted{d, now}
	a.mu.Unlock()
}

func (a *accepts) has(id int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.m[id]
	return ok
}

// take gives a note away; whoever takes it writes it down.
func (a *accepts) take(id int64) (model.Dispatch, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.m[id]
	delete(a.m, id)
	return x.d, ok
}

// flush writes notes down that are older than the delay. What cannot be written
// is kept for the next time.
func (a *accepts) flush(ctx context.Context, now time.Time) error {
	return a.write(ctx, acceptsAtOnce, func(x accepted) bool { return now.Sub(x.at) >= acceptDelay })
}

// flushAll writes everything down.
func (a *accepts) flushAll(ctx context.Context) error {
	return a.write(ctx, math.MaxInt, func(accepted) bool { return true })
}

// write notes down, at most about limit unless they are becoming too many. Under
// load the results come late: a note that waits for them costs nothing.
func (a *accepts) write(ctx context.Context, limit int, due func(accepted) bool) error {
	a.mu.Lock()
	limit = max(limit, len(a.m)-acceptsMax)
	var list []model.Dispatch
	for id, x := range a.m {
		if len(list) >= limit {
			break
		}
		if due(x) {
			list = append(list, x.d)
			delete(a.m, id)
		}
	}
	a.mu.Unlock()
	for part := range slices.Chunk(list, 1000) {
		if err := a.store.RecordDispatches(ctx, "", part, a.now(), nil); err != nil {
			for _, d := range list {
				a.add(d) // those that were written already match no row again
			}
			return err
		}
	}
	return nil
}

// AcceptEvery is how often FlushAccepts is to be called.
const AcceptEvery = acceptDelay / 2

// FlushAccepts writes down what executors took some time ago.
func (d *Dispatcher) FlushAccepts(ctx context.Context, now time.Time) error {
	return d.accepts.flush(ctx, now)
}

// FlushAll writes down all that executors took.
func (d *Dispatcher) FlushAll(ctx context.Context) error { return d.accepts.flushAll(ctx) }
