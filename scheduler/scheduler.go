package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/scheduler/node"
	"github.com/carillon-scheduler/carillon/scheduler/plan"
	"github.com/carillon-scheduler/carillon/scheduler/settle"
	"github.com/carillon-scheduler/carillon/scheduler/upkeep"
)

// Scheduler is all loops of one node.
type Scheduler struct {
	store Store
	cfg   config.Config
	node  *node.Node
	disp  *dispatch.Dispatcher
	fetch *loop.Loop
	loops []*loop.Loop // planning first

	retention *upkeep.Retention
	troubles  troubles

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
func New(store Store, exec call.Executor, cfg Config) *Scheduler {
	cfg = cfg.WithDefaults()
	s := &Scheduler{store: store, cfg: cfg, fatal: make(chan error, 1)}
	s.node = &node.Node{Store: store, Cfg: cfg, Fatal: s.fail, Report: s.describe}
	s.disp = dispatch.New(store, exec, cfg, s.node)
	s.disp.Nudge = s.Nudge
	s.fetch = &loop.Loop{Name: "fetch", Every: 500 * time.Millisecond, Nudge: make(chan struct{}, 1),
		Body:   func(ctx context.Context, now time.Time) error { return s.disp.Fetch(ctx, now.Add(dispatch.FetchAhead)) },
		Nudged: s.disp.Fetch}

	planner := &plan.Planner{Store: store, Cfg: cfg, Owners: s.node.Owners, Planned: s.Nudge, Noted: s.node.NotePlan}
	settler := &settle.Settler{Store: store, Exec: exec, Cfg: cfg, Owner: s.node.Owner, Nudge: s.Nudge, InFlight: s.disp.InFlight, Unsent: s.disp.PutBackUnsent}
	settling := &loop.Loop{Name: "settle", Every: time.Second, Nudge: make(chan struct{}, 1), Body: settler.Settle, Nudged: settler.Settle}
	s.disp.Unsettled = settling.Wake
	take := &node.Takeover{Store: store, Cfg: cfg, Node: s.node, Nudge: func() {
		s.Nudge()
		settling.Wake()
	}}
	lost := settle.NewLostMonitor(store, exec, cfg)
	lost.Leads, lost.Complete = s.node.Leads, s.Complete
	s.disp.Gone = lost.NoteGone
	adopt := &loop.Loop{Name: "takeover", Every: time.Second, Nudge: make(chan struct{}, 1), Body: take.Adopt, Nudged: take.Adopt}
	s.node.Gone = adopt.Wake
	keep := &upkeep.Upkeep{Store: store, Cfg: cfg, Leads: s.node.Leads}
	s.retention = &upkeep.Retention{Store: store, Cfg: cfg, Leads: s.node.Leads, Busy: func() bool { return s.disp.Load().Over > 0 }}
	jitter := func(d time.Duration) time.Duration { return rand.N(d) }
	s.loops = []*loop.Loop{
		{Name: "plan", Every: time.Second, Phase: 300 * time.Millisecond, Body: planner.Plan},
		s.fetch,
		adopt,
		{Name: "beat", Every: time.Second, Body: func(ctx context.Context, now time.Time) error {
			if s.node.SinceBeat(now) > cfg.TakeoverWindow { // before the beat: until then nothing is rung
				if err := take.AfterPause(ctx, now); err != nil {
					return err
				}
			}
			return s.node.Beat(ctx, now)
		}},
		{Name: "routes", Every: time.Second, Body: func(ctx context.Context, now time.Time) error {
			return errors.Join(s.disp.ShareRoutes(ctx, now), s.disp.ShareCalls(ctx, now))
		}},
		{Name: "accept", Every: dispatch.AcceptEvery, Body: s.disp.FlushAccepts},
		settling,
		{Name: "lost", Every: 2 * time.Second, Body: lost.Check},
		{Name: "registry", Every: 10 * time.Second, Body: keep.SweepRegistry, Jitter: jitter},
		{Name: "retention", Every: upkeep.RetentionTick, Body: s.retention.Tick},
		{Name: "figures", Every: 20 * time.Second, Body: keep.Figures, Jitter: jitter},
	}
	return s
}

// describe fills in what the node tells the others of itself.
func (s *Scheduler) describe(ctx context.Context, n *model.Node) {
	n.LateMS, n.Late50MS = s.disp.LateMS()
	n.SlowWaiting, n.SickLoops = s.disp.SlowWaiting(), s.sick(s.cfg.Now())
	// Without the number the beat is still a beat, and it must not wait for it.
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	began := s.cfg.Now()
	load, err := s.disp.Measure(ctx)
	now := s.cfg.Now()
	s.troubles.answered(now, max(now.Sub(began), s.node.Took()))
	if err == nil {
		n.Backlog = load.Backlog
	}
	n.Troubles = s.troubles.list(s.disp.Load().Over, n.Backlog)
	if s.cfg.Troubles != nil {
		n.Troubles = append(n.Troubles, s.cfg.Troubles(now)...)
	}
}

// sick names the loops that have not succeeded for five of their periods, and for 10 s.
func (s *Scheduler) sick(now time.Time) string {
	var out []string
	for _, l := range s.Liveness() {
		if l.Sick(now) {
			out = append(out, l.Name)
		}
	}
	return strings.Join(out, ",")
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
	if err := s.node.Join(ctx, s.cfg.Now()); err != nil {
		return err
	}
	s.started = true
	base := context.WithoutCancel(ctx)
	var planCtx, ringCtx, sendCtx, writeCtx context.Context
	planCtx, s.stopPlan = context.WithCancel(base)
	ringCtx, s.stopRing = context.WithCancel(base)
	sendCtx, s.stopSend = context.WithCancel(base)
	writeCtx, s.stopWrite = context.WithCancel(base)

	s.writing.Go(func() { s.disp.Write(writeCtx, base) })
	s.ringing.Go(func() { s.disp.Ring(ringCtx, sendCtx) })
	for _, l := range s.loops {
		if slices.Contains(planLoops, l.Name) {
			s.planning.Go(func() { l.Run(planCtx, s.cfg.Now, s.cfg.Logger) })
		} else {
			s.writing.Go(func() { l.Run(writeCtx, s.cfg.Now, s.cfg.Logger) })
		}
	}
	s.running.Store(true)
	s.cfg.Logger.Info("scheduler started", "node", s.node.Owner())
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
	s.disp.Clear()
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
	if err := s.node.Leave(ctx, s.cfg.Now()); err != nil {
		s.cfg.Logger.Error("cannot tell the other nodes that this one stops", "error", err)
	}
	me := s.node.Owner()
	others := slices.DeleteFunc(slices.Clone(s.node.Owners()), func(o string) bool { return o == me })
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
	if err := s.disp.FlushAll(context.WithoutCancel(ctx)); err != nil {
		s.cfg.Logger.Warn("cannot write down what executors took, they will be asked", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.node.Goodbye(ctx); err != nil {
		s.cfg.Logger.Warn("cannot say goodbye to the other nodes", "error", err)
	}
	s.started = false
	s.cfg.Logger.Info("scheduler stopped", "node", s.node.Owner())
}

// Also adds loops that run as long as the others do; before Start.
func (s *Scheduler) Also(loops ...*loop.Loop) { s.loops = append(s.loops, loops...) }

// Leads reports whether this node does what one node does for all.
func (s *Scheduler) Leads() bool { return s.node.Leads() }

// Fatal delivers at most one error after which the process must end.
func (s *Scheduler) Fatal() <-chan error { return s.fatal }

func (s *Scheduler) fail(err error) {
	select {
	case s.fatal <- err:
	default:
	}
}

// Owner is the identity that runs rung by this node carry.
func (s *Scheduler) Owner() string { return s.node.Owner() }

// Nudge makes the node look for new planned runs at once.
func (s *Scheduler) Nudge() { s.fetch.Wake() }

// Complete stores results and returns when they are stored, with what became of
// each. What follows from them (retry, children) is stored with them.
func (s *Scheduler) Complete(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error) {
	return s.disp.Complete(ctx, list)
}

// Stats are the numbers of one node.
type Stats struct {
	dispatch.Stats
	Loops     []loop.Liveness
	Retention upkeep.RetentionStats
}

// Stats tells what the node does.
func (s *Scheduler) Stats() Stats {
	return Stats{Stats: s.disp.Stats(), Loops: s.Liveness(), Retention: s.retention.Stats()}
}

// Liveness says for every loop when it last succeeded.
func (s *Scheduler) Liveness() []loop.Liveness {
	out := make([]loop.Liveness, len(s.loops))
	for i, l := range s.loops {
		out[i] = l.Liveness()
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
