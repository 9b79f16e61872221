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

// crew works off a lane; each job takes as long as took says.
func crew(ctx context.Context, l *lane, took func(*job) time.Duration) (all *sync.WaitGroup, done func() int, most func() int) {
	var mu sync.Mutex
	var n, now, peak int
	all = &sync.WaitGroup{}
	all.Go(func() { l.watch(ctx) })
	l.open(func() {
		all.Go(func() {
			mu.Lock()
			now++
			peak = max(peak, now)
			mu.Unlock()
			for j := l.take(); j != nil; j = l.take() {
				time.Sleep(took(j))
				mu.Lock()
				n++
				mu.Unlock()
			}
			mu.Lock()
			now--
			mu.Unlock()
		})
	})
	locked := func(v *int) func() int {
		return func() int { mu.Lock(); defer mu.Unlock(); return *v }
	}
	return all, locked(&n), locked(&peak)
}

func burst(l *lane, n int, address string) {
	jobs := make([]*job, n)
	for i := range jobs {
		jobs[i] = &job{run: &model.Run{PlannedMS: l.now().UnixMilli()}, address: address}
	}
	l.push(jobs...)
}

func TestALaneIsAsWideAsItsCallsAreSlow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		took        time.Duration
		jobs        int
		least, most int
		within      time.Duration
	}{
		"answers in 9 ms: the fewest workers keep the pace": {9 * time.Millisecond, 4000, fewCalls, fewCalls, 330 * time.Millisecond},
		"answers in 100 ms: some more":                      {100 * time.Millisecond, 4000, 300, 512, 1200 * time.Millisecond},
		"answers in a second: all there may be":             {time.Second, 1000, 512, 512, 2200 * time.Millisecond},
		"few jobs: no more workers than jobs":               {time.Second, 20, 20, 20, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				l := newLane(time.Now, 512, 128)
				all, done, most := crew(ctx, l, func(*job) time.Duration { return c.took })
				burst(l, c.jobs, "x")
				time.Sleep(c.within)
				synctest.Wait()
				defer func() { cancel(); all.Wait() }()
				require.Equal(t, c.jobs, done(), "all are done in time")
				require.GreaterOrEqual(t, most(), c.least)
				require.LessOrEqual(t, most(), c.most)
				require.Zero(t, l.running, "nobody stands about")
				require.Equal(t, fewCalls, l.allowed, "the next burst begins with few")
			})
		})
	}
}

// An address that hangs may hold all workers that are always let in: the others come at once.
func TestAnAddressThatHangsLetsOthersIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLane(time.Now, 512, 128)
		all, done, _ := crew(ctx, l, func(j *job) time.Duration {
			if j.address == "hangs" {
				return 10 * time.Second
			}
			return time.Millisecond
		})
		burst(l, 128, "hangs") // what its gate lets through
		burst(l, 1000, "well")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1000, done())
		for range 5 { // and stay while it hangs
			burst(l, 100, "well")
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
		}
		require.Equal(t, 1500, done())
		cancel()
		all.Wait()
	})
}

// What waits before the lane is opened is worked off, and a stop ends the watch.
func TestALaneThatOpensLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLane(time.Now, 4, 1)
		burst(l, 10, "x")
		require.Equal(t, 10, l.len())
		all, done, most := crew(ctx, l, func(*job) time.Duration { return time.Second })
		cancel()
		all.Wait()
		require.Equal(t, 10, done(), "who is there empties the queue")
		require.Equal(t, 4, most())
	})
}
