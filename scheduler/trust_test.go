package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
)

// placeExec answers by address.
type placeExec struct {
	fakeExec
	gone  map[string]bool
	calls []string
	busy  atomic.Bool
}

func (p *placeExec) Run(_ context.Context, address string, _ protocol.Trigger) call.Sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, address)
	if p.gone[address] {
		return call.Sent{State: call.Refused, Unreachable: true, Gone: true, Msg: "connection refused"}
	}
	return call.Sent{State: call.Accepted, Code: 200}
}

func (p *placeExec) called() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func (p *placeExec) GlobalIdleBeat(context.Context, string) (bool, error) { return !p.busy.Load(), nil }

// TestAnotherAddressIsTried when nothing listens at the first, and the first is
// avoided afterwards.
func TestAnotherAddressIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.groups[1] = model.Group{ID: 1, AppName: "app", AddressList: "http://a/,http://b/"}
		exec := &placeExec{gone: map[string]bool{"http://a/": true}}
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		m.put(planned(1))
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"http://a/", "http://b/"}, exec.called())
		require.Equal(t, model.PhaseAccepted, m.get(1).Phase)
		require.Equal(t, "http://b/", m.get(1).Address)
		require.Contains(t, m.get(1).TriggerMsg, "route_elsewhere Addresses=http://a/")
		m.put(planned(2))
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"http://a/", "http://b/", "http://b/"}, exec.called(), "who refused a moment ago is not asked")
		// A shard belongs to its address: there is no other.
		m.mu.Lock()
		m.jobs[1] = model.Job{ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteBroadcast}
		m.mu.Unlock()
		r := planned(3)
		r.Sharding = "0/2"
		m.put(r)
		time.Sleep(2 * time.Second)
		s.Close(t.Context())
		require.Equal(t, model.ReasonUnreached, m.get(3).Reason)
	})
}

// waitingForIdle starts a scheduler with one run whose only executor is busy.
func waitingForIdle(t *testing.T) (*Scheduler, *memory, *placeExec) {
	m, exec := newMemory(), &placeExec{}
	m.jobs[1] = model.Job{ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteGlobalBusyover}
	exec.busy.Store(true)
	s := New(m, exec, small())
	require.NoError(t, s.Start(t.Context()))
	m.put(planned(1))
	return s, m, exec
}

// TestGlobalBusyoverWaits until an executor is idle, and says so on the row.
func TestGlobalBusyoverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, exec := waitingForIdle(t)
		time.Sleep(5 * time.Minute)
		require.Empty(t, exec.called())
		require.Equal(t, model.PhasePlanned, m.get(1).Phase)
		require.Equal(t, "waits_for_idle", m.get(1).Note.Said[len(m.get(1).Note.Said)-1].Code)
		exec.busy.Store(false)
		time.Sleep(12 * time.Second)
		s.Close(t.Context())
		require.Equal(t, []string{"http://a/"}, exec.called())
	})
}

// TestWhatWasTakenBackAsksNobody any more: it leaves the memory of the node that held it.
func TestWhatWasTakenBackAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, exec := waitingForIdle(t)
		time.Sleep(5 * time.Second)
		require.Equal(t, "waits_for_idle", m.get(1).Note.Said[len(m.get(1).Note.Said)-1].Code)
		m.mu.Lock()
		m.runs[1].Phase = model.PhaseMissed
		m.mu.Unlock()
		time.Sleep(10 * time.Minute)
		require.Zero(t, s.Stats().InRing)
		exec.busy.Store(false)
		time.Sleep(time.Minute)
		s.Close(t.Context())
		require.Empty(t, exec.called())
	})
}

// TestOneHangingExecutorDelaysNobody: far more runs for it than fit into memory,
// all older than those of the other executor, which are rung at once.
func TestOneHangingExecutorDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.jobs[2] = model.Job{ID: 2, GroupID: 2, Handler: "h", GlueType: model.GlueBean, Route: model.RouteFirst}
		m.groups[2] = model.Group{ID: 2, AppName: "other", AddressList: "http://b/"}
		exec := &hanging{address: "http://a/", rung: map[int64]time.Time{}}
		for id := range int64(3000) {
			r := planned(id + 1)
			r.PlannedMS -= 60_000
			m.put(r)
		}
		cfg := small()
		cfg.RingCapacity, cfg.AddressLimit, cfg.FastWorkers = 200, 2, 8
		s := New(m, exec, cfg)
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(5 * time.Second)
		for id := range int64(20) {
			r := planned(10_000 + id)
			r.JobID = 2
			m.put(r)
		}
		began := time.Now()
		time.Sleep(4 * time.Second)
		exec.mu.Lock()
		for id := range int64(20) {
			require.Less(t, exec.rung[10_000+id].Sub(began), 2*time.Second, "run %d waits for somebody else's executor", id)
			require.NotZero(t, exec.rung[10_000+id])
		}
		exec.mu.Unlock()
		s.Close(t.Context())
	})
}

// hanging is an executor client one of whose addresses never answers.
type hanging struct {
	fakeExec
	address string
	rung    map[int64]time.Time
}

func (h *hanging) Run(ctx context.Context, address string, t protocol.Trigger) call.Sent {
	if address == h.address {
		<-ctx.Done()
		return call.Sent{State: call.Unknown, Msg: ctx.Err().Error()}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rung[t.LogID] = time.Now()
	return call.Sent{State: call.Accepted, Code: 200}
}

// TestNobodyIsForgottenAtAGate: runs are parked at an executor that hangs, and then
// another one takes its place. All of them are rung there.
func TestNobodyIsForgottenAtAGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for id := range int64(40) {
			m.put(planned(id + 1))
		}
		exec := &hanging{address: "http://a/", rung: map[int64]time.Time{}}
		cfg := small()
		cfg.AddressLimit, cfg.FastWorkers = 2, 20
		s := New(m, exec, cfg)
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(1500 * time.Millisecond)
		m.mu.Lock()
		m.groups = map[int]model.Group{1: {ID: 1, AppName: "app", AddressList: "http://b/"}}
		m.mu.Unlock()
		time.Sleep(time.Minute)
		require.Empty(t, m.inPhase(model.PhasePlanned))
		exec.mu.Lock()
		require.GreaterOrEqual(t, len(exec.rung), 40-2*2)
		exec.mu.Unlock()
		s.Close(t.Context())
	})
}

// TestAProcessThatSleptRingsNothingLate: after two minutes the misfire rule decides
// before anything is rung.
func TestAProcessThatSleptRingsNothingLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for i := range int64(5) {
			r := planned(i + 1)
			r.PlannedMS += 3000 + i*1000
			r.Owner = "n#1"
			m.put(r)
		}
		exec := &placeExec{}
		var slept atomic.Int64
		cfg := small()
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		s := New(m, exec, cfg)
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(2300 * time.Millisecond)
		slept.Store(int64(2 * time.Minute))
		time.Sleep(1500 * time.Millisecond)
		m.mu.Lock()
		missed := len(m.miss)
		m.mu.Unlock()
		require.Equal(t, 5, missed)
		s.Close(t.Context())
	})
}

// TestDiscardedIsNotFailed: the executor refuses because it is busy with the job
// and the job discards later runs.
func TestDiscardedIsNotFailed(t *testing.T) {
	for _, block := range []model.BlockStrategy{model.BlockDiscard, model.BlockSerial} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.jobs[1] = model.Job{ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteFirst, Block: block}
			m.put(planned(1))
			s := New(m, &fakeExec{sent: call.Sent{State: call.Refused, Code: 500, Msg: "block strategy effect"}, idle: false}, small())
			require.NoError(t, s.Start(t.Context()))
			time.Sleep(3 * time.Second)
			s.Close(t.Context())
			if block == model.BlockDiscard {
				require.Equal(t, model.PhaseMissed, m.get(1).Phase)
				require.Equal(t, model.ReasonDiscarded, m.get(1).Reason)
			} else {
				require.Equal(t, model.ReasonRefused, m.get(1).Reason)
			}
		})
	}
}

// panicking is an executor whose client has a bug.
type panicking struct{ fakeExec }

func (p *panicking) Run(context.Context, string, protocol.Trigger) call.Sent { panic("a bug") }

// TestAPanicIsOneRunsMatter: the workers, the ring and the loops go on.
func TestAPanicIsOneRunsMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for id := range int64(50) {
			m.put(planned(id + 1))
		}
		s := New(m, &panicking{}, small())
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Ready())
		for id := range int64(50) {
			require.NotEqual(t, model.PhasePlanned, m.get(id+1).Phase, "it was tried")
		}
		s.Close(t.Context())
	})
}

// TestLoopsStartAndStopUnderLoad starts and stops nodes in the middle of
// everything they do, in many interleavings and without a pause between.
func TestLoopsStartAndStopUnderLoad(t *testing.T) {
	for round := range 30 {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.groups[1] = model.Group{ID: 1, AppName: "app", AddressList: "http://a/,http://b/"}
			for id := range int64(300) {
				r := planned(id + 1)
				r.PlannedMS += id * 10
				m.put(r)
			}
			m.broken.Store(round%7 == 3)
			exec := &fakeExec{sent: call.Sent{State: call.Accepted}, hang: round%5 == 4}
			s := New(m, exec, small())
			if s.Start(t.Context()) != nil {
				require.True(t, m.broken.Load())
				return
			}
			var callers sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			for i := range 4 {
				callers.Go(func() {
					for ctx.Err() == nil {
						s.Nudge()
						_, _ = s.Complete(ctx, []model.Handled{{RunID: int64(i + 1), Code: 200}})
						_, _ = s.Stats(), s.Ready()
						time.Sleep(time.Duration(i+1) * 7 * time.Millisecond) // fake time: costs nothing
					}
				})
			}
			time.Sleep(time.Duration(round*round) * 3 * time.Millisecond)
			if round%2 == 0 {
				s.StopScheduling(t.Context())
			}
			s.Close(t.Context())
			cancel()
			callers.Wait()
			_, err := s.Complete(t.Context(), []model.Handled{{RunID: 1, Code: 200}})
			require.ErrorIs(t, err, loop.ErrStopped)
			require.NotContains(t, strings.Join(rungTwice(exec), ","), "twice")
		})
	}
}

func rungTwice(f *fakeExec) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[int64]bool{}
	for _, id := range f.rings {
		if seen[id] {
			out = append(out, fmt.Sprintf("%d twice", id))
		}
		seen[id] = true
	}
	return out
}
