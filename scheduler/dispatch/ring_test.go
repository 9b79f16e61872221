package dispatch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func at(id int64, ms int64) model.Run { return model.Run{ID: id, PlannedMS: ms} }

func TestRingFiresAtTheInstantAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing(time.Now, 100)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var fired []int64
		var when []time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx, nil, func(due []*model.Run) {
				for _, x := range due {
					fired = append(fired, x.ID)
					when = append(when, time.Since(start))
				}
			})
		}()
		base := start.UnixMilli()
		require.Equal(t, 2, r.add([]model.Run{at(2, base+2000), at(1, base+1500)}))
		require.Zero(t, r.add([]model.Run{at(1, base+1500)}), "known already")
		require.Equal(t, 1, r.add([]model.Run{at(3, base-60000)}), "however late")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, []int64{3, 1, 2}, fired)
		require.Equal(t, []time.Duration{0, 1500 * time.Millisecond, 2 * time.Second}, when)
		require.Zero(t, r.add([]model.Run{at(1, base)}), "still known until it is forgotten")
		r.forget(1)
		require.Equal(t, 98, r.room())
		require.Equal(t, 1, r.add([]model.Run{at(1, base)}))
		cancel()
		<-done
	})
}

func TestRingNoticesAStepOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		step := time.Duration(0)
		now := func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(step) }
		r := newRing(now, 100)
		ctx, cancel := context.WithCancel(t.Context())
		fired := make(chan int64, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx, nil, func(due []*model.Run) { fired <- due[0].ID })
		}()
		r.add([]model.Run{at(1, now().Add(time.Hour).UnixMilli())})
		mu.Lock()
		step = time.Hour // the wall clock jumps forward
		mu.Unlock()
		began := time.Now()
		require.EqualValues(t, 1, <-fired)
		require.LessOrEqual(t, time.Since(began), maxNap)
		cancel()
		<-done
	})
}

func TestGatesParkWhatIsTooMuchForOneAddress(t *testing.T) {
	g, l := newGates(), newLane(time.Now, 4, 1)
	at := func(address string) gateKey { return gateKey{l, address} }
	a, b := &job{}, &job{}
	require.Equal(t, entered, g.enter(at("x"), a))
	require.Equal(t, parked, g.enter(at("x"), b))
	require.Equal(t, entered, g.enter(at("y"), b), "another address is free")
	for range parkedPerPlace - 1 {
		require.Equal(t, parked, g.enter(at("x"), &job{}))
	}
	require.Equal(t, turnedAway, g.enter(at("x"), &job{}), "the rest waits on disk")
	require.Equal(t, parked, g.enter(at("x"), &job{claimedAt: time.Now()}), "what is claimed waits here")
	require.Same(t, b, g.leave(at("x")))
	require.Equal(t, at("x"), b.called)
	require.NotNil(t, g.next(at("x")), "b went elsewhere: another may come")
	require.Equal(t, entered, g.enter(gateKey{newLane(time.Now, 4, 1), "x"}, a), "another lane")
	require.Nil(t, g.leave(at("y")))
}

var t0 = time.UnixMilli(1_800_000_000_000)

func TestSlowness(t *testing.T) {
	s := slowness{threshold: 500 * time.Millisecond, limit: 10}
	for range 11 {
		require.False(t, s.slow(t0, 1))
		s.note(t0, 1, time.Second)
		s.note(t0, 2, time.Millisecond)
	}
	require.True(t, s.slow(t0, 1))
	require.False(t, s.slow(t0, 2))
	require.False(t, s.slow(t0.Add(time.Minute), 1), "a new minute begins")
}
