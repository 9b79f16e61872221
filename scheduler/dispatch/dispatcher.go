// Package dispatch takes planned runs from the ring through route, claim and call to
// their record.
package dispatch

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/router"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
)

// job is one run on its way to an executor.
type job struct {
	run      *model.Run
	def      *model.Definition // zero when the job is gone
	group    *model.Group      // zero when there is none
	loadedAt time.Time
	address  string       // chosen; set again by each attempt
	said     []model.Said // about the choice
	note     model.Note   // what was noted before, and whom this one asked
	bad      []string     // addresses that cannot be called
	tried    []string     // addresses where nothing listened
	held     string       // address kept for this run alone, GLOBAL_BUSYOVER
	called   gateKey      // the gate that called it from its parking place
	// claimedAt is when a claim ahead of its instant was made, or confirmed since; zero =
	// it is to be claimed.
	claimedAt time.Time
	waited    bool // for an idle executor, on purpose
}

// noted is the note of the run with what is said of it now.
func (j *job) noted(said ...model.Said) model.Note {
	return model.Note{Said: append(slices.Clone(j.said), said...), Route: j.note.Route}
}

// Dispatcher takes due runs through route, claim, call and record. Each step
// that touches the database is shared by everybody who is at it at the moment.
type Dispatcher struct {
	store Store
	exec  call.Executor
	cfg   config.Config
	node  Node
	ring  *ring
	route *router.Router

	ahead *ahead            // chosen and claimed ahead of their instants, not confirmed
	armed *ahead            // confirmed: at the instant nothing is left but the calls
	early chan []*model.Run // to be prepared

	fast, slow *lane
	gates      *gates
	slowness   slowness
	reloads    *loop.Batcher[*model.Run, *job]
	claims     *loop.Batcher[model.Claim, bool]
	records    *loop.Batcher[model.Dispatch, struct{}]
	results    *loop.Batcher[model.Handled, model.HandledStatus]
	accepts    *accepts
	Nudge      func()                              // new planned runs may be there
	Unsettled  func()                              // claims failed: what they left is to be put back soon
	Gone       func(address string, now time.Time) // nothing listened there
	inFlight   sync.Map                            // run ids being sent, so that the settler leaves them alone
	counts     counts
	calls      lastCalls
	capacity   capacity
	waiting    sync.Map // ids of runs that wait for an idle executor: when they last asked

	unsentMu sync.Mutex
	unsent   map[int64]unsentRun // runs whose claim failed
}

// claimLease is how old a claim may be when its run is sent. A process that was
// stopped in between (SIGSTOP, a long pause) finds its claim too old and does
// not send: others may have taken the run over.
func (d *Dispatcher) claimLease() time.Duration { return d.cfg.NodeDeadAfter * 8 / 10 }

const (
	// maxBatch is about how many runs share one write.
	maxBatch = 1000
	// claimBatch is the same for claims: the first calls of a burst go out while the
	// rest of it is being claimed.
	claimBatch = 128
)

// New builds a dispatcher; Nudge and Gone are set by whoever knows.
func New(store Store, exec call.Executor, cfg config.Config, n Node) *Dispatcher {
	d := &Dispatcher{
		store: store, exec: exec, cfg: cfg, node: n, ring: newRing(cfg.Now, cfg.RingCapacity), route: router.New(),
		// An address that hangs never holds all workers of a lane.
		fast: newLane(cfg.Now, cfg.FastWorkers, min(cfg.AddressLimit, cfg.FastWorkers/4)), slow: newLane(cfg.Now, cfg.SlowWorkers, min(cfg.AddressLimit, cfg.SlowWorkers/4)), gates: newGates(),
		slowness: slowness{threshold: cfg.SlowThreshold, limit: cfg.SlowPerMinute},
		accepts:  newAccepts(store, cfg.Now),
		ahead:    newAhead(), armed: newAhead(), early: make(chan []*model.Run, 8),
		Gone: func(string, time.Time) {}, Nudge: func() {}, Unsettled: func() {},
		unsent: map[int64]unsentRun{},
	}
	d.reloads = loop.NewBatcher(maxBatch, d.load)
	d.claims = loop.NewBatcher(claimBatch, d.writeClaims)
	d.records = loop.NewBatcher(maxBatch, d.writeRecords)
	d.results = loop.NewBatcher(maxBatch, d.writeHandled)
	// One row that the database refuses must not hold up the others.
	bad := func(err error) bool { return errors.Is(err, model.ErrBadRow) }
	d.claims.Alone, d.records.Alone, d.results.Alone = bad, bad, bad
	return d
}

// Write runs the writers that everybody shares until ctx ends; what is queued then
// is written with the detached context last.
func (d *Dispatcher) Write(ctx, last context.Context) {
	var all sync.WaitGroup
	all.Go(func() { d.reloads.Run(ctx, last) })
	all.Go(func() { d.claims.Run(ctx, last) })
	all.Go(func() { d.records.Run(ctx, last) })
	all.Go(func() { d.results.Run(ctx, last) })
	all.Wait()
}

// Ring runs the ring and the workers until ctx ends. Calls in flight then are ended
// under send.
func (d *Dispatcher) Ring(ctx, send context.Context) {
	var all sync.WaitGroup
	for _, l := range []*lane{d.fast, d.slow} {
		all.Go(func() { l.watch(ctx) })
		l.open(func() { all.Go(func() { d.work(ctx, send, l) }) })
	}
	all.Go(func() {
		loop.Supervise(ctx, "ring", d.cfg.Logger, func() {
			d.ring.run(ctx, d.prepare, func(due []*model.Run) { d.fire(ctx, due) })
		})
	})
	all.Go(func() {
		var early sync.WaitGroup
		early.Go(func() { loop.Supervise(ctx, "prepare", d.cfg.Logger, func() { d.prepareAll(ctx) }) })
		early.Go(func() {
			loop.Supervise(ctx, "confirm", d.cfg.Logger, func() {
				d.ahead.run(ctx, d.cfg.Now, checkAhead, func(jobs []*job) { d.confirm(ctx, jobs) })
			})
		})
		loop.Supervise(ctx, "armed", d.cfg.Logger, func() { d.armed.run(ctx, d.cfg.Now, 0, d.fireArmed) })
		early.Wait()
		d.giveBack(send)
	})
	all.Wait()
}

// Clear drops what waits for its instant: this node will not ring it.
func (d *Dispatcher) Clear() { d.ring.clear() }

// InFlight reports whether a run is being sent, or was taken and is not written down yet.
func (d *Dispatcher) InFlight(id int64) bool {
	_, sending := d.inFlight.Load(id)
	return sending || d.accepts.has(id)
}

// fire takes runs whose instant has come.
func (d *Dispatcher) fire(ctx context.Context, due []*model.Run) {
	if d.node.SinceBeat(d.cfg.Now()) > d.cfg.NodeDeadAfter {
		// The process slept, or the database is away: others may have taken over. The
		// next beat tells; then what is still ours is read again.
		for _, r := range due {
			d.ring.forget(r.ID)
		}
		return
	}
	for part := range slices.Chunk(due, 500) {
		jobs, err := d.load(ctx, part)
		if err != nil {
			if ctx.Err() == nil {
				d.cfg.Logger.Error("cannot load due runs, they are read again", "count", len(part), "error", err)
			}
			for _, r := range part {
				d.ring.forget(r.ID) // the row is there: the next fetch brings it back
			}
		}
		now := d.cfg.Now()
		for _, j := range jobs {
			d.laneOf(now, j).push(j)
		}
	}
}

func (d *Dispatcher) laneOf(now time.Time, j *job) *lane {
	if d.slowness.slow(now, j.run.JobID) {
		return d.slow
	}
	return d.fast
}

// load brings the jobs and executors of many runs in two statements.
func (d *Dispatcher) load(ctx context.Context, runs []*model.Run) ([]*job, error) {
	now := d.cfg.Now()
	var jobIDs, groupIDs []int
	seen := map[int]bool{}
	for _, r := range runs {
		if !seen[r.JobID] {
			seen[r.JobID] = true
			jobIDs = append(jobIDs, r.JobID)
		}
	}
	defs, err := d.store.Definitions(ctx, jobIDs)
	if err != nil {
		return nil, err
	}
	groupSeen := map[int]bool{}
	for _, def := range defs {
		if !groupSeen[def.GroupID] {
			groupSeen[def.GroupID] = true
			groupIDs = append(groupIDs, def.GroupID)
		}
	}
	groups, err := d.store.GroupsByID(ctx, groupIDs)
	if err != nil {
		return nil, err
	}
	shared := make(map[int]*model.Group, len(groups))
	for id, g := range groups {
		shared[id] = &g
	}
	out := make([]*job, len(runs))
	for i, r := range runs {
		j := &job{run: r, def: defs[r.JobID], group: &model.Group{}, loadedAt: now, note: r.Note}
		if j.def == nil {
			j.def = &model.Definition{}
		} else if g := shared[j.def.GroupID]; g != nil {
			j.group = g
		}
		out[i] = j
	}
	return out, nil
}

// work is the body of one worker; it ends when no job waits. send outlives ctx so
// that a call in flight at stop is finished and recorded.
func (d *Dispatcher) work(ctx, send context.Context, l *lane) {
	for j := l.take(); j != nil; j = l.take() {
		if ctx.Err() != nil {
			if !j.claimedAt.IsZero() {
				d.ahead.add([]*job{j}) // given back
				d.giveBack(send)
			}
			d.ring.forget(j.run.ID) // stays planned; handed over or adopted
			continue
		}
		d.safely(send, l, j)
	}
}

// safely keeps one run from ending the process, whatever is wrong with it. The
// row stays as far as it came and is read again or settled.
func (d *Dispatcher) safely(ctx context.Context, l *lane, j *job) {
	defer func() {
		if p := recover(); p != nil {
			d.cfg.Logger.Error("dispatch failed, the run is read again or settled", "log_id", j.run.ID, "job_id", j.run.JobID,
				"panic", p, "stack", string(debug.Stack()))
			d.inFlight.Delete(j.run.ID)
			d.ring.forget(j.run.ID)
		}
	}()
	d.dispatch(ctx, l, j)
}

// dispatch takes one run through all steps.
func (d *Dispatcher) dispatch(ctx context.Context, l *lane, j *job) {
	place, ok := d.place(ctx, l, j)
	if !ok {
		return
	}
	out, ok := d.sendFrom(ctx, place, j)
	if ok {
		d.record(ctx, out)
	}
	d.inFlight.Delete(j.run.ID)
}

// place finds the address and a place at it. A run that was called from its
// parking place and goes elsewhere calls the next one there.
func (d *Dispatcher) place(ctx context.Context, l *lane, j *job) (at gateKey, ok bool) {
	called := j.called
	j.called = gateKey{}
	defer func() {
		if called.lane != nil && at != called {
			d.recall(called.lane, d.gates.next(called))
		}
	}()
	now := d.cfg.Now()
	if j.claimedAt.IsZero() {
		if !d.refresh(ctx, j) {
			return at, false
		}
		began := d.cfg.Now()
		err := d.choose(ctx, j)
		now = d.cfg.Now()
		d.slowness.note(now, j.run.JobID, now.Sub(began)) // probes of executors that hang
		if err != nil {
			d.refuse(ctx, j, err)
			return at, false
		}
	}
	k := gateKey{l, j.address}
	switch d.gates.enter(k, j) {
	case parked: // whoever leaves calls it
		d.letGo(j)
		return at, false
	case turnedAway:
		d.letGo(j)
		d.ring.release(j.run.ID, now.Add(busyPause))
		return at, false
	}
	return k, true
}

// refresh reads the definition again when the run had to wait, so that an edit
// takes effect.
func (d *Dispatcher) refresh(ctx context.Context, j *job) bool {
	if d.cfg.Now().Sub(j.loadedAt) <= time.Second {
		return true
	}
	fresh, err := d.reloads.Do(ctx, j.run)
	if err != nil {
		d.cfg.Logger.Error("cannot load a due run, it is read again", "log_id", j.run.ID, "job_id", j.run.JobID, "error", err)
		d.ring.forget(j.run.ID)
		return false
	}
	j.def, j.group, j.loadedAt = fresh[0].def, fresh[0].group, fresh[0].loadedAt
	return true
}

// sendFrom sends from a place and gives it free, whatever happens, before the
// outcome is written.
func (d *Dispatcher) sendFrom(ctx context.Context, place gateKey, j *job) (model.Dispatch, bool) {
	defer func() {
		d.letGo(j)
		d.recall(place.lane, d.gates.leave(place))
	}()
	return d.send(ctx, j)
}

// recall puts a run that was parked into its lane again.
func (d *Dispatcher) recall(l *lane, next *job) {
	if next != nil {
		l.push(next)
	}
}

// busyPause is how long a run waits when the strategy wants an idle executor and
// all are busy.
const busyPause = time.Second

// refuse ends a run for which no executor could be chosen, or lets it wait.
func (d *Dispatcher) refuse(ctx context.Context, j *job, err error) {
	d.waiting.Delete(j.run.ID)
	if waits(err) && ctx.Err() == nil {
		d.wait(ctx, j)
		return
	}
	defer d.ring.forget(j.run.ID)
	if _, ok := errors.AsType[*model.Error](err); !ok || ctx.Err() != nil {
		d.cfg.Logger.Error("cannot choose an executor, the run is read again", "log_id", j.run.ID, "job_id", j.run.JobID, "error", err)
		return
	}
	claimed, cerr := d.claims.Do(ctx, model.Claim{RunID: j.run.ID})
	if cerr != nil {
		d.noteUnsent(j)
		return
	}
	if !claimed[0] {
		return
	}
	reason, said := d.nowhere(j, err)
	d.record(ctx, model.Dispatch{
		RunID: j.run.ID, Phase: model.PhaseFinished, Code: model.CodeFail, Reason: reason, Note: j.noted(said...), AtMS: d.cfg.Now().UnixMilli(),
	})
}

// wait lets a run be tried again a little later and says on its row, now and
// then, what it waits for.
func (d *Dispatcher) wait(ctx context.Context, j *job) {
	now := d.cfg.Now()
	j.waited = true
	d.waiting.Store(j.run.ID, now)
	waited := now.Sub(time.UnixMilli(j.run.PlannedMS))
	if since := waited / busyPause; since < 2 || since%30 == 0 {
		waits, err := d.store.NoteWaiting(ctx, d.node.Owner(), j.run.ID, j.noted(model.Say("waits_for_idle")))
		if err == nil && !waits { // taken back, cancelled, or adopted by another node
			d.ring.forget(j.run.ID)
			d.waiting.Delete(j.run.ID)
			return
		}
		if err != nil {
			d.cfg.Logger.Warn("cannot note what a run waits for", "log_id", j.run.ID, "error", err)
		}
	}
	// Who waits long asks less often: many may wait.
	d.ring.release(j.run.ID, now.Add(min(10*busyPause, max(busyPause, waited/8))))
}
