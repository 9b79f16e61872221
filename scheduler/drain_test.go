package scheduler

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// idleExec lives everywhere and is always idle.
type idleExec struct{ placeExec }

func (*idleExec) Beat(context.Context, string) error                    { return nil }
func (*idleExec) IdleBeat(context.Context, string, int64) (bool, error) { return true, nil }

// TestDrainedAddressesGetNoRuns, whatever the strategy, and also when a person named them.
func TestDrainedAddressesGetNoRuns(t *testing.T) {
	for _, route := range model.RouteStrategies() {
		t.Run(string(route), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.jobs[1] = model.Job{ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: route}
				m.groups[1] = model.Group{ID: 1, AppName: "app", AddressList: "http://a/,http://b/,http://c/", Draining: []string{"http://a/", "http://c/"}}
				exec := &idleExec{}
				s := New(m, exec, small())
				require.NoError(t, s.Start(t.Context()))
				defer s.Close(t.Context())
				for id := range int64(6) {
					m.put(planned(id + 1))
				}
				time.Sleep(10 * time.Second) // who waits for a place under GLOBAL_BUSYOVER asks each second
				calls := exec.called()
				require.Len(t, calls, 6)
				require.Equal(t, []string{"http://b/"}, slices.Compact(calls))

				chosen := planned(10)
				chosen.Address = "http://a/,http://b/"
				m.put(chosen)
				drained := planned(11)
				drained.Address = "http://c/"
				m.put(drained)
				time.Sleep(3 * time.Second)
				require.Equal(t, "http://b/", m.get(10).Address)
				require.Equal(t, model.ReasonDraining, m.get(11).Reason)
				require.Equal(t, 500, m.get(11).TriggerCode)

				m.mu.Lock()
				g := m.groups[1]
				g.Draining = g.Addresses()
				m.groups[1] = g
				m.mu.Unlock()
				m.put(planned(12))
				time.Sleep(3 * time.Second)
				require.Equal(t, model.ReasonDraining, m.get(12).Reason)
				require.Contains(t, m.get(12).TriggerMsg, "http://a/, http://b/, http://c/")

				m.mu.Lock()
				g.Draining = []string{"http://b/", "http://c/"}
				m.groups[1] = g
				m.mu.Unlock()
				m.put(planned(13))
				time.Sleep(3 * time.Second)
				require.Equal(t, "http://a/", m.get(13).Address, "given back")
				require.Len(t, exec.called(), 8)
			})
		})
	}
}

// TestLastCallsAreTold: what came of the last call to an address is written down once, again
// when it differs, and now and then while it stays.
func TestLastCallsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		exec := &placeExec{gone: map[string]bool{}}
		s := New(m, exec, small())
		require.NoError(t, s.Start(t.Context()))
		for id := range int64(4) {
			m.put(planned(id + 1))
			time.Sleep(2 * time.Second)
		}
		told := m.calls()
		require.Len(t, told, 1, "the same within ten seconds")
		require.Equal(t, "", told[0].Reason)
		exec.mu.Lock()
		exec.gone["http://a/"] = true
		exec.mu.Unlock()
		m.put(planned(9))
		time.Sleep(2 * time.Second)
		s.Close(t.Context())
		told = m.calls()
		require.Len(t, told, 2)
		require.Equal(t, model.ReasonUnreached, told[1].Reason)
		require.Equal(t, model.AskedRun, told[1].Asked)
		require.Equal(t, "connection refused", told[1].Text)
	})
}
