package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// TestLacking: a type is lacking when every address says which types it runs, and none of
// them that one. Where an address says nothing, nothing is known.
func TestLacking(t *testing.T) {
	w := newWorld(t)
	id, err := w.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "workers", Title: "Workers"})
	require.NoError(t, err)
	beat := func(address string, types ...model.GlueType) {
		t.Helper()
		reg := model.Registration{Group: "EXECUTOR", Key: "workers", Address: address}
		if types != nil {
			reg.Report = &model.Report{Types: types, Handlers: []string{"reported"}}
		}
		require.NoError(t, w.Register(t.Context(), reg))
	}
	lacking := func() []model.GlueType {
		t.Helper()
		m, err := w.Lacking(t.Context(), admin())
		require.NoError(t, err)
		require.Empty(t, m[w.group.ID], "typed, and never heard of")
		return m[id]
	}
	require.Empty(t, lacking(), "no address")
	beat("http://a/", model.GlueBean, model.GlueShell)
	require.Contains(t, lacking(), model.GluePHP)
	require.NotContains(t, lacking(), model.GlueShell)
	beat("http://b/", model.GlueBean, model.GluePHP)
	require.NotContains(t, lacking(), model.GluePHP, "some address runs it")
	require.NoError(t, w.Drain(t.Context(), admin(), id, "http://b/", true))
	require.Contains(t, lacking(), model.GluePHP, "it gets none")
	handlers, err := w.Handlers(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, []string{"reported"}, handlers)
	beat("http://stock/")
	require.Empty(t, lacking(), "an executor that says nothing may run all")
	m, err := w.Lacking(t.Context(), model.Actor{UserID: 7})
	require.NoError(t, err)
	require.Empty(t, m, "of executors that one may see")
}

// TestDrainNeedsItsRight, and an address of the executor; it is noted, and so is who may not.
func TestDrainNeedsItsRight(t *testing.T) {
	w := newWorld(t)
	const address = "http://10.0.0.1:9999/"
	of := func(level model.Level) model.Actor {
		return model.Actor{UserID: 7, Name: level.String(), Rights: model.Rights{Groups: map[int]model.Grant{w.group.ID: {Level: level}}}}
	}
	for _, level := range []model.Level{model.LevelView, model.LevelOperate, model.LevelEdit} {
		require.Equal(t, model.CodeForbidden, model.CodeOf(w.Drain(t.Context(), of(level), w.group.ID, address, true)))
		_, _, err := w.Ping(t.Context(), of(level), w.group.ID, address)
		require.Equal(t, model.CodeForbidden, model.CodeOf(err))
	}
	require.Equal(t, model.CodeNotFound, model.CodeOf(w.Drain(t.Context(), model.Actor{UserID: 8}, w.group.ID, address, true)))
	manager := of(model.LevelAdminister)
	for _, wrong := range []string{"", "http://10.0.0.2:9999/", "http://10.0.0.1:9999", "http://10.0.0.1:9999/,http://x/"} {
		require.Equal(t, model.CodeNotFound, model.CodeOf(w.Drain(t.Context(), manager, w.group.ID, wrong, true)), wrong)
	}
	require.NoError(t, w.Drain(t.Context(), manager, w.group.ID, address, true))
	require.NoError(t, w.Drain(t.Context(), manager, w.group.ID, address, true), "twice is no error, and noted once")
	page, err := w.Executors(t.Context(), manager)
	require.NoError(t, err)
	require.Equal(t, manager.Name, page.Rows[0].Nodes[0].Drain.By)
	_, err = w.RunNow(t.Context(), admin(), w.add(t, nil), jobs.RunInput{Addresses: address})
	require.ErrorContains(t, err, "field.draining")
	require.NoError(t, w.Drain(t.Context(), manager, w.group.ID, address, false))
	lines, err := w.Audit(t.Context(), admin(), model.AuditFilter{Kind: model.AuditExecutor, Outcome: model.AuditDone, Limit: 50})
	require.NoError(t, err)
	require.Len(t, lines.Rows, 2)
	require.Equal(t, []model.Change{{Field: "address", New: address}}, lines.Rows[0].Changes)
	lines, err = w.Audit(t.Context(), admin(), model.AuditFilter{Action: "executor.drain", Outcome: model.AuditRefused, Limit: 50})
	require.NoError(t, err)
	require.Len(t, lines.Rows, 4)
}
