package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
)

// claiming is a store that knows claims only.
type claiming struct{ Store }

func (claiming) ClaimRuns(_ context.Context, _ string, claims []model.Claim, _ int64) (map[int64]bool, error) {
	got := map[int64]bool{}
	for _, c := range claims {
		got[c.RunID] = true
	}
	return got, nil
}

// silent is an executor that nobody may call.
type silent struct {
	call.Executor
	t *testing.T
}

func (s silent) Run(context.Context, string, protocol.Trigger) call.Sent {
	s.t.Error("called")
	return call.Sent{}
}

type someNode struct{}

func (someNode) Owner() string                     { return "n#1" }
func (someNode) SinceBeat(time.Time) time.Duration { return 0 }

// TestAClaimThatIsTooOldIsNotSent: the clock jumps by 20 s between claim and call,
// the process was stopped.
func TestAClaimThatIsTooOldIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, base := 0, time.Now()
		cfg := config.Config{}.WithDefaults()
		cfg.Now = func() time.Time {
			if calls++; calls > 1 {
				return base.Add(20 * time.Second)
			}
			return base
		}
		d := New(claiming{}, silent{t: t}, cfg, someNode{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); d.claims.Run(ctx, ctx) }()
		calls = 0
		j := &job{run: &model.Run{ID: 1, JobID: 1}, def: &model.Definition{ID: 1}, group: &model.Group{}, loadedAt: base, address: "http://a/"}
		_, ok := d.send(t.Context(), j)
		require.False(t, ok)
		require.Len(t, d.unsent, 1, "put back later")
		cancel()
		<-done
	})
}

// renewing is a store that remembers claims, and an executor that takes every call.
type renewing struct {
	Store
	call.Executor
	claims []model.Claim
}

func (r *renewing) ClaimRuns(_ context.Context, _ string, claims []model.Claim, _ int64) (map[int64]bool, error) {
	got := map[int64]bool{}
	for _, c := range claims {
		r.claims = append(r.claims, c)
		got[c.RunID] = c.RunID != 3 // which others have by now
	}
	return got, nil
}

func (r *renewing) Run(context.Context, string, protocol.Trigger) call.Sent {
	return call.Sent{State: call.Accepted, Code: 200}
}

// TestAClaimAheadThatWaitedIsMadeAnew: a run that had to wait for a place at its executor
// is not put back, and not sent when others have it.
func TestAClaimAheadThatWaitedIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := &renewing{}
		d := New(both, both, config.Config{}.WithDefaults(), someNode{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); d.claims.Run(ctx, ctx) }()
		begun := time.Now()
		send := func(id int64) bool {
			j := &job{run: &model.Run{ID: id, JobID: 1}, def: &model.Definition{ID: 1}, group: &model.Group{}, loadedAt: begun, address: "http://a/", claimedAt: begun}
			_, ok := d.send(t.Context(), j)
			return ok
		}
		require.True(t, send(1))
		require.Empty(t, both.claims)
		time.Sleep(10 * time.Second)
		require.True(t, send(2))
		require.False(t, send(3))
		require.Equal(t, []model.Claim{{RunID: 2, Address: "http://a/", Again: true}, {RunID: 3, Address: "http://a/", Again: true}}, both.claims)
		require.Empty(t, d.unsent)
		cancel()
		<-done
	})
}

// preparing knows one job with one executor, and remembers claims.
type preparing struct{ renewing }

func (*preparing) Definitions(context.Context, []int) (map[int]*model.Definition, error) {
	return map[int]*model.Definition{1: {ID: 1, GroupID: 2, Route: model.RouteFirst}}, nil
}

func (*preparing) GroupsByID(context.Context, []int) (map[int]model.Group, error) {
	return map[int]model.Group{2: {ID: 2, AddressList: "http://a/"}}, nil
}

// TestWhoIsBehindDoesNotPrepare: what is claimed ahead and waits would be claimed once more.
func TestWhoIsBehindDoesNotPrepare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &preparing{}
		d := New(st, st, config.Config{}.WithDefaults(), someNode{})
		now := time.Now().UnixMilli()
		runs := []model.Run{{ID: 10, JobID: 1, PlannedMS: now + 500}, {ID: 11, JobID: 1, PlannedMS: now + 500}}
		require.Equal(t, 2, d.ring.add(runs))
		d.ring.queue = nil // handed out
		late := &job{run: &model.Run{ID: 9, PlannedMS: now - 1001}}
		d.fast.push(late)
		d.prepareSome(t.Context(), []*model.Run{&runs[0], &runs[1]})
		require.Empty(t, st.claims)
		require.Len(t, d.ring.queue, 2, "they are rung at their instant")
		d.ring.queue = nil
		late.run.PlannedMS = now - 900
		d.prepareSome(t.Context(), []*model.Run{&runs[0], &runs[1]})
		require.Equal(t, []model.Claim{{RunID: 10, Address: "http://a/", Ahead: true}, {RunID: 11, Address: "http://a/", Ahead: true}}, st.claims)
		require.Empty(t, d.ring.queue)
	})
}
