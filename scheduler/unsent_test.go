package scheduler

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/node"
	"github.com/carillon-scheduler/carillon/scheduler/settle"
)

// bumpy is a store whose first claim goes wrong.
type bumpy struct {
	*memory
	stall   time.Duration // it takes so long
	lose    bool          // its answer is lost
	written bool          // although it was written down
	commits bool          // it is written down when the next claim is made
	begun   atomic.Bool
	first   func()
}

func (b *bumpy) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	if b.begun.Swap(true) {
		if b.commits {
			b.commits = false
			b.first()
		}
		return b.memory.ClaimRuns(ctx, owner, claims, nowMS)
	}
	time.Sleep(b.stall)
	b.first = func() { _, _ = b.memory.ClaimRuns(ctx, owner, claims, nowMS) }
	if b.lose && !b.written {
		return nil, errors.New("invalid connection")
	}
	got, err := b.memory.ClaimRuns(ctx, owner, claims, nowMS)
	if b.lose {
		return nil, errors.New("invalid connection")
	}
	return got, err
}

// TestWhatWasCertainlyNotSentIsPutBack soon: the answer to the claim was lost, or it
// came when the claim was too old.
func TestWhatWasCertainlyNotSentIsPutBack(t *testing.T) {
	for name, b := range map[string]*bumpy{
		"written down, answer lost": {stall: 5 * time.Millisecond, lose: true, written: true},
		"not written down":          {stall: 5 * time.Millisecond, lose: true},
		"written down later":        {stall: 5 * time.Millisecond, lose: true, commits: true},
		"too old":                   {stall: 8500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b.memory = newMemory()
				exec := &placeExec{}
				s := New(b, exec, small())
				require.NoError(t, s.Start(t.Context()))
				b.put(planned(1))
				time.Sleep(b.stall + 4*time.Second)
				s.Close(t.Context())
				require.Equal(t, []string{"http://a/"}, exec.called(), "rung once, and soon")
				require.Equal(t, model.PhaseAccepted, b.get(1).Phase)
			})
		})
	}
}

// stuck is a store in which somebody else holds the job of the first run.
type stuck struct{ *bumpy }

func (s *stuck) Unclaim(context.Context, string, int64, string, int64, time.Time) (bool, error) {
	return false, errors.New("lock wait timeout")
}

// TestOneRunThatCannotBePutBackStopsNoOther from being settled.
func TestOneRunThatCannotBePutBackStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &stuck{&bumpy{memory: newMemory(), lose: true, written: true}}
		exec := &placeExec{}
		exec.lines = 1
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		m.put(planned(1))
		time.Sleep(time.Second)
		other := planned(2)
		other.Phase, other.Address = model.PhaseUnknown, "http://a/"
		m.put(other)
		time.Sleep(4 * time.Second)
		s.Close(t.Context())
		require.Equal(t, model.PhaseSending, m.get(1).Phase)
		require.Equal(t, model.PhaseAccepted, m.get(2).Phase)
	})
}

// late is an executor that does not answer the first call and picks the run up
// some time after the call has ended.
type late struct {
	fakeExec
	after time.Duration
	there atomic.Bool
}

func (l *late) Run(ctx context.Context, _ string, tr protocol.Trigger) call.Sent {
	l.mu.Lock()
	l.rings = append(l.rings, tr.LogID)
	l.mu.Unlock()
	<-ctx.Done()
	time.AfterFunc(l.after, func() { l.there.Store(true) })
	return call.Sent{State: call.Unknown, Msg: "no answer"}
}

func (l *late) IdleBeat(context.Context, string, int64) (bool, error) { return !l.there.Load(), nil }

func (l *late) Log(context.Context, string, protocol.LogRequest) (protocol.LogResult, error) {
	if l.there.Load() {
		return protocol.LogResult{FromLineNum: 1, ToLineNum: 1}, nil
	}
	return protocol.LogResult{FromLineNum: 1}, nil
}

// TestAnExecutorHasTimeToShowARun after the call has ended, however long the claim took.
func TestAnExecutorHasTimeToShowARun(t *testing.T) {
	for _, stall := range []time.Duration{0, 3 * time.Second, 6 * time.Second} {
		t.Run(stall.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &bumpy{memory: newMemory(), stall: stall}
				exec := &late{after: settle.ArrivalGrace - time.Second}
				s := New(m, exec, small())
				require.NoError(t, s.Start(t.Context()))
				m.put(planned(1))
				time.Sleep(40 * time.Second)
				s.Close(t.Context())
				require.Equal(t, []int64{1}, exec.rings)
				require.Equal(t, model.PhaseAccepted, m.get(1).Phase)
			})
		})
	}
}

// heirs is a store in which a lost node left much.
type heirs struct {
	*memory
	left int
}

func (h *heirs) AdoptRuns(_ context.Context, _, _ []string, limit int) (int, int, error) {
	n := min(limit, h.left)
	h.left -= n
	return n, 0, nil
}

// TestAllThatALostNodeLeftIsAdoptedAtOnce, batch after batch.
func TestAllThatALostNodeLeftIsAdoptedAtOnce(t *testing.T) {
	h := &heirs{memory: newMemory(), left: 3*node.AdoptBatch + 1}
	cfg := small().WithDefaults()
	cfg.Now = func() time.Time { return t0 }
	n := &node.Node{Store: h, Cfg: cfg}
	require.NoError(t, n.Join(t.Context(), t0))
	take := &node.Takeover{Store: h, Cfg: cfg, Node: n, Nudge: func() {}}
	require.NoError(t, take.Adopt(t.Context(), t0))
	require.Zero(t, h.left)
}
