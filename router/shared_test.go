package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestRoundFollowsTheTurn: nodes that know nothing of each other agree.
func TestRoundFollowsTheTurn(t *testing.T) {
	nodes := []*Router{New(), New(), New()}
	counts := map[string]int{}
	for turn := int64(1); turn <= 300; turn++ {
		a, _, err := told(nodes[turn*7%3], t.Context(), Request{Strategy: model.RouteRound, JobID: 5, Turn: turn, Addresses: three})
		require.NoError(t, err)
		counts[a]++
	}
	for _, a := range three {
		require.Equal(t, 100, counts[a])
	}
	first := map[string]int{} // the first fires of many jobs do not all meet
	for job := range 300 {
		a, _, err := told(nodes[0], t.Context(), Request{Strategy: model.RouteRound, JobID: job, Turn: 1, Addresses: three})
		require.NoError(t, err)
		first[a]++
	}
	require.Equal(t, 100, first[three[0]])
}

// shared is the table that nodes share.
type shared map[string]model.Pick

func (s shared) exchange(r *Router) {
	picks, gone := r.Take(1000)
	for _, p := range gone {
		delete(s, fmt.Sprint(p.JobID, p.Address))
	}
	var before []int64
	for _, p := range s {
		if len(before) == 0 || p.Picks < before[0] {
			before = []int64{p.Picks}
		}
	}
	for _, p := range picks {
		key := fmt.Sprint(p.JobID, p.Address)
		all, ok := s[key]
		if !ok {
			all = model.Pick{JobID: p.JobID, Address: p.Address, Picks: p.Base}
			for _, x := range before { // as the store does: not less than the others of the job
				all.Picks = x
			}
		}
		all.Picks, all.UsedMS = all.Picks+p.Picks, max(all.UsedMS, p.UsedMS)
		s[key] = all
	}
	var list []model.Pick
	for _, p := range s {
		list = append(list, p)
	}
	r.Merge(list)
}

// TestLeastUsedIsFairAcrossNodes: two nodes, of which one dispatches three times
// as much, one of them restarted in between, and an address that joins late.
func TestLeastUsedIsFairAcrossNodes(t *testing.T) {
	for _, strategy := range []model.RouteStrategy{model.RouteLFU, model.RouteLRU} {
		t.Run(string(strategy), func(t *testing.T) {
			table := shared{}
			nodes := []*Router{New(), New()}
			now := time.UnixMilli(1_700_000_000_000)
			counts := map[string]int{}
			round := func(addresses []string, n int) {
				for i := range n {
					now = now.Add(100 * time.Millisecond)
					node := nodes[min(1, i%4)] // a quarter to the first
					a, _, err := told(node, t.Context(), Request{Strategy: strategy, JobID: 1, Addresses: addresses, Now: now})
					require.NoError(t, err)
					counts[a]++
					if i%10 == 9 { // about once a second
						for _, x := range nodes {
							table.exchange(x)
						}
					}
				}
			}
			round(three, 300)
			for _, a := range three {
				require.InDelta(t, 100, counts[a], 12, a)
			}
			nodes[0] = New() // restarted
			clear(counts)
			four := append([]string{"http://10.0.0.0:9999/"}, three...)
			round(four, 400)
			for _, a := range four {
				require.InDelta(t, 100, counts[a], 15, "%s: neither flooded nor starved", a)
			}
			require.Len(t, table, 4)
			round(three, 40)
			require.Len(t, table, 3, "who left is forgotten")
		})
	}
}

func TestWhatWasNotToldIsToldAgain(t *testing.T) {
	r := New()
	_, _, err := told(r, t.Context(), Request{Strategy: model.RouteLFU, JobID: 1, Addresses: []string{"a"}})
	require.NoError(t, err)
	picks, gone := r.Take(10)
	require.Len(t, picks, 1)
	require.EqualValues(t, 1, picks[0].Picks)
	r.PutBack(picks, gone)
	again, _ := r.Take(10)
	require.Equal(t, picks, again)
	nothing, _ := r.Take(10)
	require.Empty(t, nothing)
}

// TestIllAddressesAreAvoided: who refused is chosen last, longer each time.
func TestIllAddressesAreAvoided(t *testing.T) {
	r, now := New(), time.UnixMilli(1_700_000_000_000)
	pick := func(s model.RouteStrategy, exclude ...string) (string, string) {
		a, why, err := told(r, t.Context(), Request{Strategy: s, JobID: 1, Addresses: []string{"a", "b"}, Exclude: exclude, Now: now})
		require.NoError(t, err)
		return a, why
	}
	r.NoteRefused("a", now)
	for _, s := range []model.RouteStrategy{model.RouteFirst, model.RouteLast, model.RouteRandom, model.RouteRound, model.RouteConsistentHash, model.RouteLFU, model.RouteLRU} {
		a, why := pick(s)
		require.Equal(t, "b", a, s)
		require.Contains(t, why, "route_avoids Addresses=a")
	}
	a, why := pick(model.RouteFirst, "b")
	require.Equal(t, "a", a, "better than none")
	require.Empty(t, why)
	now = now.Add(illFirst)
	a, _ = pick(model.RouteFirst)
	require.Equal(t, "a", a, "tried again after a while")
	r.NoteRefused("a", now)
	now = now.Add(illFirst)
	a, _ = pick(model.RouteFirst)
	require.Equal(t, "b", a, "the second time it is longer")
	r.NoteAnswered("a")
	a, _ = pick(model.RouteFirst)
	require.Equal(t, "a", a, "it answers again")

	_, _, err := told(r, t.Context(), Request{Strategy: model.RouteFirst, Addresses: []string{"a"}, Exclude: []string{"a"}, Now: now})
	require.Error(t, err)
}
