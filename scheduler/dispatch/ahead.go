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

// ahead holds runs whose address is chosen and whose claim is written, until their
// instants: at the instant nothing is left but the calls. All schedules fire on whole
// seconds, so many runs are due at the same moment.
type ahead struct {
	mu    sync.Mutex
	queue jobHeap
	wake  chan struct{}
}

func newAhead() *ahead { return &ahead{wake: make(chan struct{}, 1)} }

func (a *ahead) add(jobs []*job) {
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

// next takes the runs of the nearest instant when it is not after until, and says when
// the nearest instant is.
func (a *ahead) next(until int64) (jobs []*job, nearest int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil, 0
	}
	nearest = a.queue[0].run.PlannedMS
	for len(a.queue) > 0 && nearest <= until && a.queue[0].run.PlannedMS == nearest {
		jobs = append(jobs, heap.Pop(&a.queue).(*job))
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

// checkAhead is how long before their instant prepared runs are looked at once more:
// their job may have been stopped since.
const checkAhead = 25 * time.Millisecond

// fireAhead fires prepared runs at their instants until ctx ends.
func (d *Dispatcher) fireAhead(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := d.cfg.Now()
		jobs, nearest := d.ahead.next(now.Add(checkAhead).UnixMilli())
		if len(jobs) > 0 {
			jobs = d.stillWanted(ctx, jobs)
			timer.Reset(max(0, time.UnixMilli(nearest).Sub(d.cfg.Now())))
			select {
			case <-ctx.Done():
				d.ahead.add(jobs) // given back with the others
				return
			case <-timer.C:
			}
			for _, j := range jobs {
				d.laneOf(now, j).push(j)
			}
			continue
		}
		wait := maxNap
		if nearest > 0 {
			wait = min(wait, max(time.Millisecond, time.UnixMilli(nearest).Sub(now)-checkAhead))
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-d.ahead.wake:
		case <-timer.C:
		}
	}
}

// stillWanted leaves out runs whose job was stopped or deleted since they were claimed;
// they are put back, which ends them. When the database does not say, they are made: a
// claim is as good as it was.
func (d *Dispatcher) stillWanted(ctx context.Context, jobs []*job) []*job {
	ids := make([]int, 0, len(jobs))
	for _, j := range jobs {
		ids = append(ids, j.run.JobID)
	}
	slices.Sort(ids)
	ask, cancel := context.WithTimeout(ctx, checkAhead)
	defer cancel()
	stopped, err := d.store.StoppedJobs(ask, slices.Compact(ids))
	if err != nil {
		return jobs
	}
	gone := d.movedAway(ask, jobs)
	if len(stopped)+len(gone) == 0 {
		return jobs
	}
	return slices.DeleteFunc(jobs, func(j *job) bool {
		if !slices.Contains(stopped, j.run.JobID) && !gone[j.group.ID][j.address] {
			return false
		}
		d.noteUnsent(j)
		d.inFlight.Delete(j.run.ID)
		return true
	})
}

// movedAway gives the chosen addresses that their executors do not have any more.
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
		list := g.Addresses()
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

func (d *Dispatcher) prepareSome(ctx context.Context, runs []*model.Run) {
	if ctx.Err() != nil || d.node.SinceBeat(d.cfg.Now()) > d.cfg.NodeDeadAfter/2 {
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
		claims = append(claims, model.Claim{RunID: j.run.ID, Address: j.address})
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
			d.noteUnsent(j) // it may be claimed, and is not sent
		case got[i]:
			j.claimedAt = now
			ready = append(ready, j)
		}
		d.ring.forget(j.run.ID)
		if err != nil || !got[i] {
			d.inFlight.Delete(j.run.ID)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.cfg.Logger.Error("cannot claim runs ahead, they are read again or settled", "count", len(claims), "error", err)
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
	jobs := d.ahead.takeAll()
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
