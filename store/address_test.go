package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestDrains: what drains is known wherever executors are read, once, and goes with its executor.
func TestDrains(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://a/,http://b/,http://A/")
		other := storetest.Group(t, st, "app-two", "http://a/")
		for _, news := range []bool{true, false} {
			changed, err := st.SetDrain(ctx, model.Drain{GroupID: g.ID, Address: "http://a/", SinceMS: 7, By: "olga"}, true)
			require.NoError(t, err)
			require.Equal(t, news, changed)
		}
		_, err := st.SetDrain(ctx, model.Drain{GroupID: g.ID, Address: "http://b/", SinceMS: 8, By: "olga"}, true)
		require.NoError(t, err)
		list, err := st.Drains(ctx)
		require.NoError(t, err)
		require.Equal(t, model.Drain{GroupID: g.ID, Address: "http://a/", SinceMS: 7, By: "olga"}, list[0])

		got, err := st.Group(ctx, g.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"http://A/"}, got.Taking(), "addresses are compared to the letter")
		all, err := st.Groups(ctx, nil)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, []string{"http://a/", "http://b/"}, all[0].Draining)
		require.Equal(t, []string{"http://a/"}, all[1].Taking(), "of the other executor")
		byID, err := st.GroupsByID(ctx, []int{g.ID, other.ID})
		require.NoError(t, err)
		require.Len(t, byID, 2)
		require.Len(t, byID[g.ID].Draining, 2)

		for _, news := range []bool{true, false} {
			changed, err := st.SetDrain(ctx, model.Drain{GroupID: g.ID, Address: "http://a/"}, false)
			require.NoError(t, err)
			require.Equal(t, news, changed)
		}
		require.NoError(t, st.DeleteGroup(ctx, g.ID))
		list, err = st.Drains(ctx)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestTheLastExecutorStays(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		one, two := storetest.Group(t, st, "app-one", "http://a/"), storetest.Group(t, st, "app-two", "http://a/")
		require.NoError(t, st.DeleteGroup(t.Context(), one.ID))
		err := st.DeleteGroup(t.Context(), two.ID)
		require.Equal(t, model.CodeInvalid, model.CodeOf(err))
		_, err = st.Group(t.Context(), two.ID)
		require.NoError(t, err)
	})
}

// TestLastCalls: one line for each address, the newest.
func TestLastCalls(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		long := "語" + strings.Repeat("x", 3000) + "\xff"
		require.NoError(t, st.NoteCalls(ctx, []model.LastCall{
			{Address: "http://b/", AtMS: 5, Asked: "run", Reason: model.ReasonUnreached, Text: long, TookMS: 3},
			{Address: "http://a/", AtMS: 5, Asked: "beat", Code: 200},
		}))
		require.NoError(t, st.NoteCalls(ctx, []model.LastCall{{Address: "http://a/", AtMS: 9, Asked: "run", Reason: model.ReasonRefused, Code: 500, Text: "no", TookMS: 2}}))
		require.NoError(t, st.NoteCalls(ctx, nil))
		calls, err := st.LastCalls(ctx)
		require.NoError(t, err)
		require.Len(t, calls, 2)
		require.Equal(t, model.LastCall{Address: "http://a/", AtMS: 9, Asked: "run", Reason: model.ReasonRefused, Code: 500, Text: "no", TookMS: 2}, calls["http://a/"])
		require.LessOrEqual(t, len(calls["http://b/"].Text), 1000)
	})
}

// TestAddressLoads counts what addresses have got and not ended.
func TestAddressLoads(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://a/,http://b/")
		j := storetest.Job(t, st, g.ID, nil)
		for phase, address := range map[model.RunPhase]string{
			model.PhasePlanned: "http://a/", model.PhaseSending: "http://a/", model.PhaseUnknown: "http://a/", model.PhaseAccepted: "http://a/",
			model.PhaseFinished: "http://a/", model.PhaseMissed: "http://b/",
		} {
			storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.Address = phase, address })
		}
		loads, err := st.AddressLoads(t.Context())
		require.NoError(t, err)
		require.Equal(t, []model.AddressLoad{{GroupID: g.ID, Address: "http://a/", Open: 3}}, loads)
	})
}

// TestReports: what executors say of themselves goes with their beats, and with their address.
func TestReports(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx, now := t.Context(), time.Unix(1767225600, 0)
		report := &model.Report{Version: "1.2", Language: "go1.26", Handlers: []string{"a", "ä"}, Types: []model.GlueType{model.GlueBean}, Running: 1}
		reg := model.Registration{Group: "EXECUTOR", Key: "app-one", Address: "http://a/", Beat: now, Report: report}
		require.NoError(t, st.Register(ctx, reg, now))
		stock := reg
		stock.Address, stock.Report = "http://b/", nil
		require.NoError(t, st.Register(ctx, stock, now))
		regs, err := st.Registrations(ctx)
		require.NoError(t, err)
		require.Equal(t, report, regs[0].Report)
		require.Nil(t, regs[1].Report)
		reg.Report = &model.Report{Version: "1.3"}
		require.NoError(t, st.Register(ctx, reg, now))
		reg.Report = nil // an older SDK came back at the address
		regs, err = st.AppRegistrations(ctx, "app-one")
		require.NoError(t, err)
		require.Equal(t, "1.3", regs[0].Report.Version)
		require.NoError(t, st.Register(ctx, reg, now))
		regs, err = st.Registrations(ctx)
		require.NoError(t, err)
		require.Nil(t, regs[0].Report)
	})
}

// TestForgetAddresses: what is old and of nobody goes, the rest stays.
func TestForgetAddresses(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx, now := t.Context(), time.Unix(1767225600, 0)
		g := storetest.Group(t, st, "app-one", "http://listed/")
		require.NoError(t, st.Register(ctx, model.Registration{Group: "EXECUTOR", Key: "app-one", Address: "http://beats/", Beat: now}, now))
		for address, since := range map[string]int64{"http://listed/": 1, "http://beats/": 1, "http://gone/": 1, "http://young/": 100} {
			_, err := st.SetDrain(ctx, model.Drain{GroupID: g.ID, Address: address, SinceMS: since, By: "x"}, true)
			require.NoError(t, err)
			require.NoError(t, st.NoteCalls(ctx, []model.LastCall{{Address: address, AtMS: since, Asked: "run"}}))
		}
		require.NoError(t, st.ForgetAddresses(ctx, 50))
		list, err := st.Drains(ctx)
		require.NoError(t, err)
		var left []string
		for _, d := range list {
			left = append(left, d.Address)
		}
		require.Equal(t, []string{"http://beats/", "http://listed/", "http://young/"}, left)
		calls, err := st.LastCalls(ctx)
		require.NoError(t, err)
		require.Len(t, calls, 1)
	})
}

// TestDatabaseInfo names the engine that is really there.
func TestDatabaseInfo(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		info, err := st.DatabaseInfo(t.Context())
		require.NoError(t, err)
		require.Equal(t, st.Engine(), info.Engine)
		require.Regexp(t, `^\d+\.\d+`, info.Version)
		require.Positive(t, info.Latency)
		require.Positive(t, info.Open)
		require.GreaterOrEqual(t, info.Most, info.Open)
	})
}
