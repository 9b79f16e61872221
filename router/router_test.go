package router

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

var three = []string{"http://10.0.0.1:9999/", "http://10.0.0.2:9999/", "http://10.0.0.3:9999/"}

// pick picks n times for job 1 and counts.
func pick(t *testing.T, r *Router, s model.RouteStrategy, addresses []string, n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range n {
		a, why, err := told(r, t.Context(), Request{Strategy: s, JobID: 1, Addresses: addresses})
		require.NoError(t, err)
		require.Empty(t, why, "nothing to tell")
		counts[a]++
	}
	return counts
}

func TestSimpleStrategies(t *testing.T) {
	r := New()
	require.Equal(t, map[string]int{three[0]: 5}, pick(t, r, model.RouteFirst, three, 5))
	require.Equal(t, map[string]int{three[2]: 5}, pick(t, r, model.RouteLast, three, 5))
	for a, n := range pick(t, r, model.RouteRandom, three, 3000) {
		require.InDelta(t, 1000, n, 250, a)
	}
	a, why, err := told(r, t.Context(), Request{Strategy: "NEAREST", Addresses: three})
	require.NoError(t, err)
	require.Equal(t, three[0], a)
	require.Contains(t, why, "NEAREST")
}

func TestNoAddress(t *testing.T) {
	for _, s := range append(model.RouteStrategies(), "?") {
		_, _, err := told(New(), t.Context(), Request{Strategy: s})
		var e *model.Error
		require.ErrorAs(t, err, &e, s)
		require.Equal(t, KeyNoAddress, e.Key)
		require.Equal(t, model.CodeUnavailable, e.Code)
	}
}

func TestFairness(t *testing.T) {
	for _, s := range []model.RouteStrategy{model.RouteRound, model.RouteLFU, model.RouteLRU} {
		t.Run(string(s), func(t *testing.T) {
			r := New()
			for a, n := range pick(t, r, s, three, 300) {
				require.InDelta(t, 100, n, 2, a)
			}
			two := three[:2]
			for a, n := range pick(t, r, s, two, 100) { // one has gone
				require.InDelta(t, 50, n, 2, a)
			}
			back := pick(t, r, s, three, 30)
			require.InDelta(t, 10, back[three[2]], 2, "not flooded when it is back")
		})
	}
}

func TestRoundStartsAnywhereAndGoesInOrder(t *testing.T) {
	r := newRouter(func(int) int { return 4 })
	for i := range 6 {
		a, _, err := told(r, t.Context(), Request{Strategy: model.RouteRound, Addresses: three})
		require.NoError(t, err)
		require.Equal(t, three[(4+i)%3], a)
	}
}

func TestLeastRecentlyUsedOrder(t *testing.T) {
	r := New()
	next := func(addresses ...string) string {
		a, _, err := told(r, t.Context(), Request{Strategy: model.RouteLRU, Addresses: addresses})
		require.NoError(t, err)
		return a
	}
	require.Equal(t, "a", next("a", "b"))
	require.Equal(t, "b", next("c", "a", "b"))
	require.Equal(t, "a", next("c", "a", "b"))
	require.Equal(t, "c", next("c", "a", "b"))
	require.Equal(t, "b", next("c", "b"))
}

// TestConsistentHash is the vector of reference: scheduler.md 6.
func TestConsistentHash(t *testing.T) {
	const vector = "1:3 2:3 3:1 4:3 5:1 6:3 7:2 8:2 9:1 10:1 11:1 12:1 13:3 14:3 15:1 16:2 17:2 18:1 19:1 20:1 " +
		"42:2 100:3 1000:3 123456:1"
	r := New()
	for item := range strings.FieldsSeq(vector) {
		var job, want int
		_, err := fmt.Sscanf(item, "%d:%d", &job, &want)
		require.NoError(t, err)
		a, _, err := told(r, t.Context(), Request{Strategy: model.RouteConsistentHash, JobID: job, Addresses: three})
		require.NoError(t, err)
		require.Equal(t, three[want-1], a, "job %d", job)
	}
}

func TestConsistentHashKeepsJobsInPlace(t *testing.T) {
	r := New()
	for job := range 500 {
		q := Request{Strategy: model.RouteConsistentHash, JobID: job, Addresses: three}
		before, _, err := told(r, t.Context(), q)
		require.NoError(t, err)
		q.Addresses = three[:2]
		after, _, err := told(r, t.Context(), q)
		require.NoError(t, err)
		if before != three[2] {
			require.Equal(t, before, after)
		}
	}
}

func TestBroadcast(t *testing.T) {
	for index, want := range map[int]int{0: 0, 2: 2, 3: 0, -1: 0} {
		a, why, err := told(New(), t.Context(), Request{Strategy: model.RouteBroadcast, Addresses: three, ShardIndex: index})
		require.NoError(t, err)
		require.Equal(t, three[want], a)
		if index != want {
			require.Contains(t, why, fmt.Sprintf("Shard=%d", index))
		}
	}
}

func TestMemoryIsBoundedAndShared(t *testing.T) {
	r := New()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for job := range maxJobs / 2 {
				_, _, _ = told(r, t.Context(), Request{Strategy: model.RouteRound, JobID: w*maxJobs + job, Addresses: three})
			}
		})
	}
	wg.Wait()
	require.Len(t, r.jobs, maxJobs)
	for i := range maxRings + 10 {
		_, _, _ = told(r, t.Context(), Request{Strategy: model.RouteConsistentHash, Addresses: []string{fmt.Sprint(i)}})
	}
	require.Len(t, r.rings, maxRings)
}
