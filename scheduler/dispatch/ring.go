package dispatch

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// ring holds the planned runs of this node until their instants. It is a heap
// keyed by absolute time: whatever is due is handed over, however late it
// wakes. A run stays known until it is forgotten, so that reading the same row
// twice cannot ring it twice.
type ring struct {
	now      func() time.Time
	capacity int

	mu    sync.Mutex
	queue runHeap
	known map[int64]bool
	wake  chan struct{} // buffered: something earlier than before was added
}

func newRing(now func() time.Time, capacity int) *ring {
	return &ring{now: now, capacity: capacity, known: map[int64]bool{}, wake: make(chan struct{}, 1)}
}

// unknown gives those of the ids that the ring does not hold.
func (r *ring) unknown(ids []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []int64
	for _, id := range ids {
		if !r.known[id] {
			out = append(out, id)
		}
	}
	return out
}

// How long before their instant runs of a schedule are handed out to be prepared: the
// more there are, the sooner.
// Few runs are claimed at their instant: what is claimed ahead by a node that is killed
// just then has to be asked about.
const (
	leadFrom  = 50 // runs that are loaded together
	leadFirst = 100 * time.Millisecond
	leadEach  = 100 * time.Microsecond
	leadMost  = 900 * time.Millisecond
)

// add takes runs that are not known yet and returns how many that were.
func (r *ring) add(runs []model.Run) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, lead := 0, min(leadFirst+time.Duration(len(runs))*leadEach, leadMost).Milliseconds()
	for i := range runs {
		if r.known[runs[i].ID] {
			continue
		}
		r.known[runs[i].ID] = true
		run := runs[i] // its own memory: it is let go one by one
		x := ringItem{at: run.PlannedMS, id: run.ID, run: &run}
		if run.TriggerType == model.TriggerCron && len(runs) >= leadFrom {
			x.at, x.early = run.PlannedMS-lead, true
		}
		heap.Push(&r.queue, x)
		n++
	}
	if n > 0 {
		r.signal()
	}
	return n
}

// hold takes runs back that could not be prepared; they are handed out at their instants.
func (r *ring) hold(runs ...*model.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range runs {
		if r.known[run.ID] {
			heap.Push(&r.queue, ringItem{at: run.PlannedMS, id: run.ID, run: run})
		}
	}
	r.signal()
}

// release forgets a run at the given instant: when it is still planned then, the
// next fetch brings it back as it is.
func (r *ring) release(id int64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		heap.Push(&r.queue, ringItem{at: at.UnixMilli(), id: id})
		r.signal()
	}
}

func (r *ring) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// forget lets a run be added again; called when its claim was decided.
func (r *ring) forget(id int64) {
	r.mu.Lock()
	delete(r.known, id)
	r.mu.Unlock()
}

// clear drops what waits for its instant: this node will not ring it.
func (r *ring) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.queue {
		delete(r.known, x.id)
	}
	r.queue = nil
}

// room is how many more runs may be loaded. Beyond it the backlog stays on disk.
func (r *ring) room() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.capacity-len(r.known))
}

// size is how many runs are known: waiting for their instant or being sent.
func (r *ring) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known)
}

// run hands what is due to fire, and what will be soon to prepare, until ctx ends.
func (r *ring) run(ctx context.Context, prepare, fire func([]*model.Run)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		early, due, wait := r.pop()
		if len(early) > 0 {
			prepare(early)
		}
		if len(due) > 0 {
			fire(due)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.wake:
		}
	}
}

// maxNap bounds one sleep, so that a step of the wall clock is noticed soon.
const maxNap = 500 * time.Millisecond

// tooLate is how near its instant a run is no longer prepared.
const tooLate = 50 * time.Millisecond

// pop takes what is due and what can be prepared, and says how long to wait for the next.
func (r *ring) pop() (early, due []*model.Run, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for len(r.queue) > 0 && r.queue[0].at <= now.UnixMilli() {
		x := heap.Pop(&r.queue).(ringItem)
		if x.run == nil {
			delete(r.known, x.id)
			continue
		}
		switch left := x.run.PlannedMS - now.UnixMilli(); {
		case !x.early || left <= 0:
			due = append(due, x.run)
		case left < tooLate.Milliseconds():
			heap.Push(&r.queue, ringItem{at: x.run.PlannedMS, id: x.id, run: x.run})
		default:
			early = append(early, x.run)
		}
	}
	wait = maxNap
	if len(r.queue) > 0 {
		wait = max(0, min(wait, time.UnixMilli(r.queue[0].at).Sub(now)))
	}
	return early, due, wait
}

// ringItem is a run and the instant, in epoch ms, at which it is handed out;
// without the run it is forgotten then.
type ringItem struct {
	at  int64
	id  int64
	run *model.Run
	// early says that the run is handed out before its instant, to be prepared.
	early bool
}

// runHeap orders runs by instant, then by id.
type runHeap []ringItem

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].id < h[j].id
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(ringItem)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = ringItem{}
	*h = old[:len(old)-1]
	return x
}
