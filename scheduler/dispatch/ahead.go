package dispatch

import (
	"container/heap"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// ahead holds runs until their instants, or until shortly before.
type ahead struct {
	mu    sync.Mutex
	queue jobHeap
	wake  chan struct{}
}

func newAhead() *ahead { return &ahead{wake: make(chan struct{}, 1)} }

func (a *ahead) add(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	a.mu.Lock()
	for _, j := range jobs {
		heap.Push(&a.queue, j)
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// next takes the runs whose instants are not after until, and says when the nearest of
// the others is.
func (a *ahead) next(until int64) (jobs []*job, nearest int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 && a.queue[0].run.PlannedMS <= until {
		jobs = append(jobs, heap.Pop(&a.queue).(*job))
	}
	if len(a.queue) > 0 {
		nearest = a.queue[0].run.PlannedMS
	}
	return jobs, nearest
}

// takeAll empties it.
func (a *ahead) takeAll() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.queue
	a.queue = nil
	return out
}

// run hands out what is due within lead until ctx ends. A step of the wall clock is
// noticed soon.
func (a *ahead) run(ctx context.Context, now func() time.Time, lead time.Duration, hand func([]*job)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		jobs, nearest := a.next(now().Add(lead).UnixMilli())
		if len(jobs) > 0 {
			hand(jobs)
			continue
		}
		wait := maxNap
		if nearest > 0 {
			wait = min(wait, max(0, time.UnixMilli(nearest).Sub(now())-lead))
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-a.wake:
		case <-timer.C:
		}
	}
}

// checkAhead is how long before their instant prepared runs are looked at once more.
const checkAhead = 30 * time.Millisecond

// confirmPatience is how long that may take; then they are claimed like others.
const confirmPatience = time.Second

// confirm makes claims out of what was claimed ahead. Until then such a run counts as not
// sent, whatever happens to this node: the others put it back. Now it is written down up to
// which instant this node rings, and then asked which of the runs are still its own and
// wanted. One write stands for all runs of an instant.
func (d *Dispatcher) confirm(ctx context.Context, jobs []*job) {
	ids := make([]int64, len(jobs))
	until := int64(0)
	for i, j := range jobs {
		ids[i], until = j.run.ID, max(until, j.run.PlannedMS)
	}
	ask, cancel := context.WithTimeout(ctx, confirmPatience)
	defer cancel()
	ours, err := d.store.ConfirmAhead(ask, d.node.Owner(), until, ids)
	var gone map[int]map[string]bool
	if err == nil {
		gone = d.movedAway(ask, jobs)
	} else if ctx.Err() == nil {
		d.cfg.Logger.Warn("cannot confirm runs that were claimed ahead, they are claimed at their instant", "count", len(jobs), "error", err)
	}
	slices.Sort(ours)
	now := d.cfg.Now()
	armed := jobs[:0]
	for _, j := range jobs {
		_, mine := slices.BinarySearch(ours, j.run.ID)
		switch {
		case err != nil || mine && gone[j.group.ID][j.address]: // it is chosen and claimed at its instant
			j.claimedAt, j.loadedAt, j.address = time.Time{}, time.Time{}, ""
		case mine:
			j.claimedAt = now
		default:
			d.noteUnsent(j) // it was stopped, or others have it
			d.ring.forget(j.run.ID)
			d.inFlight.Delete(j.run.ID)
			continue
		}
		armed = append(armed, j)
	}
	d.armed.add(armed)
}

// fireArmed hands runs to their lanes at their instant.
func (d *Dispatcher) fireArmed(jobs []*job) {
	now := d.cfg.Now()
	for _, j := range jobs {
		d.laneOf(now, j).push(j)
	}
}

// movedAway gives the chosen addresses that their executors do not have any more, or that
// take no new runs.
func (d *Dispatcher) movedAway(ctx context.Context, jobs []*job) map[int]map[string]bool {
	chosen := map[int]map[string]bool{}
	for _, j := range jobs {
		if chosen[j.group.ID] == nil {
			chosen[j.group.ID] = map[string]bool{}
		}
		chosen[j.group.ID][j.address] = true
	}
	now, err := d.store.GroupsByID(ctx, slices.Collect(maps.Keys(chosen)))
	if err != nil {
		return nil
	}
	gone := map[int]map[string]bool{}
	for id, addresses := range chosen {
		g := now[id]
		list := g.Taking()
		for a := range addresses {
			if !slices.Contains(list, a) {
				if gone[id] == nil {
					gone[id] = map[string]bool{}
				}
				gone[id][a] = true
			}
		}
	}
	return gone
}

// prepare hands runs to whoever prepares them; when that one is behind, they are rung
// without preparation.
func (d *Dispatcher) prepare(runs []*model.Run) {
	select {
	case d.early <- runs:
	default:
		d.ring.hold(runs...)
	}
}

// prepareAll chooses and claims until ctx ends.
func (d *Dispatcher) prepareAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case runs := <-d.early:
			for part := range slices.Chunk(runs, prepareBatch) {
				d.prepareSome(ctx, part)
			}
		}
	}
}

// prepareBatch is how many runs are claimed at once ahead of their instant.
const prepareBatch = 250

// prepareSome chooses and claims, unless this node is behind: what then waits is claimed once
// more before it is sent, and the database would have the work twice just when it has no time.
func (d *Dispatcher) prepareSome(ctx context.Context, runs []*model.Run) {
	if ctx.Err() != nil || d.node.SinceBeat(d.cfg.Now()) > d.cfg.NodeDeadAfter/2 || d.fast.behind() {
		d.ring.hold(runs...)
		return
	}
	jobs, err := d.load(ctx, runs)
	if err != nil {
		d.ring.hold(runs...) // tried again at the instant
		return
	}
	var chosen []*job
	var claims []model.Claim
	for _, j := range jobs {
		if !preparable(j) || d.choose(ctx, j) != nil {
			d.ring.hold(j.run)
			continue
		}
		chosen = append(chosen, j)
		claims = append(claims, model.Claim{RunID: j.run.ID, Address: j.address, Ahead: true})
	}
	if len(claims) == 0 {
		return
	}
	now := d.cfg.Now()
	for _, j := range chosen {
		d.inFlight.Store(j.run.ID, true)
	}
	got, err := d.writeClaims(ctx, claims)
	ready := chosen[:0]
	for i, j := range chosen {
		switch {
		case err != nil:
			d.inFlight.Delete(j.run.ID)
			d.ring.hold(j.run) // claimed ahead or not, it is claimed at its instant
		case got[i]:
			j.claimedAt = now
			ready = append(ready, j)
		default:
			d.inFlight.Delete(j.run.ID)
			d.ring.forget(j.run.ID)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.cfg.Logger.Warn("cannot claim runs ahead, they are claimed at their instant", "count", len(claims), "error", err)
	}
	d.ahead.add(ready)
}

// preparable reports whether the address of a run can be chosen before its instant:
// no executor has to be asked, and none was named by a person.
func preparable(j *job) bool {
	if j.def.ID == 0 || j.group.ID == 0 || j.run.Address != "" {
		return false
	}
	switch j.def.Route {
	case model.RouteFailover, model.RouteBusyover, model.RouteGlobalBusyover:
		return false
	case model.RouteBroadcast:
		return j.run.Sharding != ""
	}
	return true
}

// giveBack makes runs planned again that were claimed ahead and will not be sent by
// this node: the stop hands them over with the others.
func (d *Dispatcher) giveBack(ctx context.Context) {
	jobs := slices.Concat(d.ahead.takeAll(), d.armed.takeAll(), d.gates.takeClaimed())
	if len(jobs) == 0 {
		return
	}
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = j.run.ID
	}
	if err := d.store.GiveBack(ctx, d.node.Owner(), ids); err != nil {
		d.cfg.Logger.Error("cannot give claimed runs back, they are settled later", "count", len(ids), "error", err)
	}
	for _, id := range ids {
		d.inFlight.Delete(id)
		d.ring.forget(id)
	}
}

// jobHeap orders jobs by instant, then by run.
type jobHeap []*job

func (h jobHeap) Len() int { return len(h) }
func (h jobHeap) Less(i, j int) bool {
	if h[i].run.PlannedMS != h[j].run.PlannedMS {
		return h[i].run.PlannedMS < h[j].run.PlannedMS
	}
	return h[i].run.ID < h[j].run.ID
}
func (h jobHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *jobHeap) Push(x any)   { *h = append(*h, x.(*job)) }
func (h *jobHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return x
}
