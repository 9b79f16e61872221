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

// add takes runs that are not known yet and returns how many that were.
func (r *ring) add(runs []model.Run) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for i := range runs {
		if r.known[runs[i].ID] {
			continue
		}
		r.known[runs[i].ID] = true
		run := runs[i] // its own memory: it is let go one by one
		heap.Push(&r.queue, ringItem{run.PlannedMS, run.ID, &run})
		n++
	}
	if n > 0 {
		r.signal()
	}
	return n
}

// release forgets a run at the given instant: when it is still planned then, the
// next fetch brings it back as it is.
func (r *ring) release(id int64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		heap.Push(&r.queue, ringItem{at.UnixMilli(), id, nil})
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

// run hands everything that is due to fire until ctx ends.
func (r *ring) run(ctx context.Context, fire func([]*model.Run)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, wait := r.pop()
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

// pop takes what is due and says how long to wait for the next.
func (r *ring) pop() ([]*model.Run, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var due []*model.Run
	for len(r.queue) > 0 && r.queue[0].at <= now.UnixMilli() {
		x := heap.Pop(&r.queue).(ringItem)
		if x.run == nil {
			delete(r.known, x.id)
			continue
		}
		due = append(due, x.run)
	}
	wait := maxNap
	if len(r.queue) > 0 {
		wait = max(0, min(wait, time.UnixMilli(r.queue[0].at).Sub(now)))
	}
	return due, wait
}

// ringItem is a run and the instant, in epoch ms, at which it is handed out;
// without the run it is forgotten then.
type ringItem struct {
	at  int64
	id  int64
	run *model.Run
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
