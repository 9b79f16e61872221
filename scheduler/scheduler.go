package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Scheduler is all loops of one node.
type Scheduler struct {
	store   Store
	cfg     Config
	node    *node
	ring    *ring
	disp    *dispatcher
	accepts *accepts
	done    *batcher[model.Handled, model.HandledStatus]
	fetch   *loop
	loops   []*loop // planning first
	clock   stepWatch

	fatal     chan error
	mu        sync.Mutex // start and stop, one at a time
	started   bool
	running   atomic.Bool        // takes part in the scheduling
	stopPlan  context.CancelFunc // planner, fetch, takeover
	stopRing  context.CancelFunc // ring and workers
	stopSend  context.CancelFunc // calls in flight
	stopWrite context.CancelFunc // batchers and monitors
	planning  sync.WaitGroup
	ringing   sync.WaitGroup
	writing   sync.WaitGroup
}

// New builds the loops; nothing runs before Start.
func New(store Store, exec Executor, cfg Config) *Scheduler {
	cfg = cfg.withDefaults()
	s := &Scheduler{store: store, cfg: cfg, fatal: make(chan error, 1)}
	s.node = &node{store: store, cfg: cfg, fatal: s.fail, report: s.describe}
	s.ring = newRing(cfg.Now, cfg.RingCapacity)
	s.disp = newDispatcher(store, exec, cfg, s.node, s.ring)
	s.accepts = s.disp.accepts
	s.done = newBatcher(maxBatch, s.writeHandled)
	s.fetch = &loop{name: "fetch", every: 500 * time.Millisecond, nudge: make(chan struct{}, 1),
		body:   func(ctx context.Context, now time.Time) error { return s.fetchDue(ctx, now.Add(fetchAhead)) },
		nudged: s.fetchDue}

	plan := &planner{store: store, cfg: cfg, owners: s.node.owners, planned: s.Nudge, noted: s.notePlan}
	settle := &settler{store: store, exec: exec, cfg: cfg, node: s.node, nudge: s.Nudge, inFlight: s.inFlight, unsent: s.disp.putBackUnsent}
	settling := &loop{name: "settle", every: 2 * time.Second, nudge: make(chan struct{}, 1), body: settle.settle, nudged: settle.settle}
	take := &takeover{store: store, cfg: cfg, node: s.node, nudge: func() {
		s.Nudge()
		settling.wake()
	}}
	lost := newLostMonitor(store, exec, cfg)
	lost.leads, lost.complete = s.node.leads, s.Complete
	s.disp.gone = lost.noteGone
	adopt := &loop{name: "takeover", every: time.Second, nudge: make(chan struct{}, 1), body: take.adopt, nudged: take.adopt}
	s.node.gone = adopt.wake
	jitter := func(d time.Duration) time.Duration { return rand.N(d) }
	s.loops = []*loop{
		{name: "plan", every: time.Second, body: plan.plan},
		s.fetch,
		adopt,
		{name: "beat", every: time.Second, body: func(ctx context.Context, now time.Time) error {
			if s.node.sinceBeat(now) > cfg.TakeoverWindow { // before the beat: until then nothing is rung
				if err := take.afterPause(ctx, now); err != nil {
					return err
				}
			}
			return s.node.beat(ctx, now)
		}},
		{name: "routes", every: time.Second, body: shareRoutes(store, s.disp.route)},
		{name: "accept", every: acceptDelay / 2, body: s.accepts.flush},
		settling,
		{name: "lost", every: 2 * time.Second, body: lost.check},
		{name: "registry", every: 10 * time.Second, body: s.sweepRegistry, jitter: jitter},
		{name: "retention", every: 10 * time.Minute, body: s.retention, jitter: jitter},
	}
	return s
}

func (s *Scheduler) inFlight(id int64) bool {
	_, sending := s.disp.inFlight.Load(id)
	return sending || s.accepts.has(id)
}

// notePlan writes down that everything due was planned, and by whom.
func (s *Scheduler) notePlan(ctx context.Context, now time.Time) error {
	s.node.mu.Lock()
	epoch := s.node.epoch
	s.node.mu.Unlock()
	return s.store.NotePlan(ctx, s.cfg.NodeName, epoch, now.UnixMilli())
}

// describe fills in what the node tells the others of itself.
func (s *Scheduler) describe(ctx context.Context, n *model.Node) {
	now := s.cfg.Now()
	n.LateMS = s.disp.counts.lateMS(now)
	// Without the number the beat is still a beat.
	n.Backlog, _ = s.store.CountDue(ctx, ownerOf(n.Name, n.Epoch), now.UnixMilli())
}

// planLoops end first at stop; the others go on while calls in flight end.
var planLoops = []string{"plan", "fetch", "takeover"}

// Start joins the nodes and starts the loops. Fatal reports an error after
// which the process must end.
func (s *Scheduler) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errors.New("scheduler: already started")
	}
	if err := s.store.EnsureLock(ctx); err != nil {
		return fmt.Errorf("schedule lock: %w", err)
	}
	if err := s.node.join(ctx, s.cfg.Now()); err != nil {
		return err
	}
	s.started = true
	base := context.WithoutCancel(ctx)
	var planCtx, ringCtx, sendCtx, writeCtx context.Context
	planCtx, s.stopPlan = context.WithCancel(base)
	ringCtx, s.stopRing = context.WithCancel(base)
	sendCtx, s.stopSend = context.WithCancel(base)
	writeCtx, s.stopWrite = context.WithCancel(base)

	s.writing.Go(func() { s.disp.reloads.run(writeCtx, base) })
	s.writing.Go(func() { s.disp.claims.run(writeCtx, base) })
	s.writing.Go(func() { s.disp.records.run(writeCtx, base) })
	s.writing.Go(func() { s.done.run(writeCtx, base) })
	for range s.cfg.FastWorkers {
		s.ringing.Go(func() { s.disp.work(ringCtx, sendCtx, s.disp.fast) })
	}
	for range s.cfg.SlowWorkers {
		s.ringing.Go(func() { s.disp.work(ringCtx, sendCtx, s.disp.slow) })
	}
	s.ringing.Go(func() {
		supervise(ringCtx, "ring", s.cfg.Logger, func() {
			s.ring.run(ringCtx, func(due []*model.Run) { s.disp.fire(ringCtx, due) })
		})
	})
	for _, l := range s.loops {
		if slices.Contains(planLoops, l.name) {
			s.planning.Go(func() { l.run(planCtx, s.cfg.Now, s.cfg.Logger) })
		} else {
			s.writing.Go(func() { l.run(writeCtx, s.cfg.Now, s.cfg.Logger) })
		}
	}
	s.running.Store(true)
	s.cfg.Logger.Info("scheduler started", "node", s.node.owner())
	return nil
}

// StopScheduling ends planning, gives the planned runs back at once and lets
// calls in flight end. Callbacks are still taken after it; Close ends those too.
// Both may be called before Start and more than once.
func (s *Scheduler) StopScheduling(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return
	}
	s.running.Store(false)
	ctx = context.WithoutCancel(ctx)
	s.stopPlan()
	s.planning.Wait()
	s.stopRing()
	s.ring.clear()
	s.handOver(ctx)
	drained := make(chan struct{})
	go func() { s.ringing.Wait(); close(drained) }()
	limit, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	select {
	case <-drained:
	case <-limit.Done():
		s.cfg.Logger.Warn("calls in flight did not end in time, they are settled later")
		s.stopSend()
		<-drained
	}
	s.handOver(ctx) // what was put back meanwhile
}

// handOver deals what is planned and not sent out to the other nodes. Alone, the
// node keeps it for its own next start.
func (s *Scheduler) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.node.leave(ctx, s.cfg.Now()); err != nil {
		s.cfg.Logger.Error("cannot tell the other nodes that this one stops", "error", err)
	}
	me := s.node.owner()
	others := slices.DeleteFunc(slices.Clone(s.node.owners()), func(o string) bool { return o == me })
	if len(others) == 0 {
		return
	}
	n, err := s.store.HandOver(ctx, me, others)
	if err != nil {
		s.cfg.Logger.Error("cannot hand planned runs over, they are adopted later", "error", err)
	} else if n > 0 {
		s.cfg.Logger.Info("planned runs handed over", "to", others, "count", n)
	}
}

// Close ends everything and says goodbye to the other nodes.
func (s *Scheduler) Close(ctx context.Context) {
	s.StopScheduling(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return
	}
	s.stopSend()
	s.stopWrite()
	s.writing.Wait()
	if err := s.accepts.flushAll(context.WithoutCancel(ctx)); err != nil {
		s.cfg.Logger.Warn("cannot write down what executors took, they will be asked", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.node.mu.Lock()
	epoch := s.node.epoch
	s.node.mu.Unlock()
	if err := s.store.LeaveNode(ctx, s.cfg.NodeName, epoch); err != nil {
		s.cfg.Logger.Warn("cannot say goodbye to the other nodes", "error", err)
	}
	s.started = false
	s.cfg.Logger.Info("scheduler stopped", "node", s.node.owner())
}

// Fatal delivers at most one error after which the process must end.
func (s *Scheduler) Fatal() <-chan error { return s.fatal }

func (s *Scheduler) fail(err error) {
	select {
	case s.fatal <- err:
	default:
	}
}

// Owner is the identity that runs rung by this node carry.
func (s *Scheduler) Owner() string { return s.node.owner() }

// Nudge makes the node look for new planned runs at once.
func (s *Scheduler) Nudge() { s.fetch.wake() }

const (
	// fetchAhead is how far before their instants runs are loaded into the ring.
	fetchAhead = 1500 * time.Millisecond
	// backlogAge is how late a run is that belongs to the backlog.
	backlogAge = 2 * time.Second
	// backlogShare is which part of the ring the oldest runs of the backlog may take,
	// and again its newest: what waits for an executor that hangs never fills it.
	backlogShare = 5
)

// fetchDue loads this node's planned runs up to the given instant.
func (s *Scheduler) fetchDue(ctx context.Context, until time.Time) error {
	room := s.ring.room()
	if room == 0 {
		return nil
	}
	owner, old := s.node.owner(), s.cfg.Now().Add(-backlogAge).UnixMilli()
	backlogRoom := max(1, s.cfg.RingCapacity/backlogShare)
	var ids []int64
	for _, part := range []struct {
		after, until int64
		limit        int
		latest       bool
	}{
		// What is known already is listed again, so the limit must leave room for it.
		{old, until.UnixMilli(), room + s.ring.size(), false},
		{0, old, backlogRoom, false},
		{0, old, backlogRoom, true},
	} {
		list, err := s.store.PlannedIDs(ctx, owner, part.after, part.until, part.limit, part.latest)
		if err != nil {
			return fmt.Errorf("planned runs: %w", err)
		}
		ids = append(ids, s.ring.unknown(list)...)
		if !part.latest && part.after == 0 && len(list) < backlogRoom {
			break // that was all of it
		}
	}
	if len(ids) == 0 {
		return nil
	}
	runs, err := s.store.RunsByID(ctx, ids[:min(len(ids), room)])
	if err != nil {
		return fmt.Errorf("planned runs: %w", err)
	}
	s.ring.add(runs)
	return nil
}

// Complete stores results and returns when they are stored, with what became of
// each. What follows from them (retry, children) is stored with them.
func (s *Scheduler) Complete(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error) {
	return s.done.do(ctx, list...)
}

func (s *Scheduler) writeHandled(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error) {
	now := s.cfg.Now()
	// What executors took a moment ago is written down with the result.
	var noted []model.Dispatch
	for i := range list {
		if d, ok := s.accepts.take(list[i].RunID); ok {
			noted = append(noted, d)
			list[i].AcceptedMS, list[i].TriggerMsg = d.AtMS, d.Msg
		}
	}
	follow, after := Follower(now, s.node.owner()), false
	statuses, err := s.store.StoreHandled(ctx, list, now, func(run model.Run, jobs map[int]model.Job) []model.Run {
		runs := follow(run, jobs)
		after = after || len(runs) > 0
		return runs
	})
	if err != nil {
		for _, d := range noted {
			s.accepts.add(d)
		}
		return nil, err
	}
	s.disp.counts.callbacks(len(list))
	if after {
		s.Nudge() // a child or a retry may be due
	}
	return statuses, nil
}

// Stats are the numbers of one node.
type Stats struct {
	Counters
	InRing, Open int // runs in memory, calls and notes in progress
	Loops        []Liveness
}

// Stats tells what the node does.
func (s *Scheduler) Stats() Stats {
	out := Stats{Counters: s.disp.counts.snapshot(), InRing: s.ring.size(), Loops: s.Liveness()}
	s.disp.inFlight.Range(func(any, any) bool { out.Open++; return true })
	return out
}

// Liveness says for every loop when it last succeeded.
func (s *Scheduler) Liveness() []Liveness {
	out := make([]Liveness, len(s.loops))
	for i, l := range s.loops {
		out[i] = l.liveness()
	}
	return out
}

// Ready reports why the node cannot schedule, or nil.
func (s *Scheduler) Ready() error {
	if !s.running.Load() {
		return errors.New("the scheduler is not running: it has not started, or it stops")
	}
	now := s.cfg.Now()
	for _, l := range s.Liveness() {
		if slices.Contains([]string{"plan", "fetch", "beat"}, l.Name) && now.Sub(l.LastOK) > 10*time.Second {
			return fmt.Errorf("loop %s has not succeeded since %s", l.Name, l.LastOK.Format(time.RFC3339))
		}
	}
	return nil
}
