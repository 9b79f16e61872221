package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestClearRuns removes what was counted and nothing else: not what is in progress, not
// what others have, and not for people who do not administer it.
func TestClearRuns(t *testing.T) {
	w := newWorld(t)
	j := storetest.Job(t, w.store, w.group.ID, nil)
	other := storetest.Job(t, w.store, storetest.Group(t, w.store, "app-two", "").ID, nil)
	for i := range 30 {
		age := time.Duration(i) * 10 * 24 * time.Hour
		for _, x := range []model.Job{j, other} {
			storetest.Run(t, w.store, x, func(r *model.Run) {
				r.TriggerTime, r.PlannedMS = w.now.Add(-age), w.now.Add(-age).UnixMilli()
				r.Phase, r.TriggerCode, r.HandleCode = model.PhaseFinished, 200, 200
			})
		}
	}
	storetest.Run(t, w.store, j, func(r *model.Run) {
		r.TriggerTime, r.Phase, r.TriggerCode = w.now.AddDate(-2, 0, 0), model.PhaseAccepted, 200
	})
	in := jobs.ClearInput{Kind: model.ClearQuarter, GroupID: w.group.ID}
	n, err := w.CountClear(t.Context(), admin(), in)
	require.NoError(t, err)
	require.NotZero(t, n.Runs)
	done, err := w.ClearRuns(t.Context(), admin(), in)
	require.NoError(t, err)
	require.Equal(t, n.Runs, done.Runs)
	require.False(t, done.More)
	left := func(f model.RunFilter) int {
		f.Limit = 100
		list, err := w.store.Runs(t.Context(), f)
		require.NoError(t, err)
		return len(list)
	}
	require.Equal(t, 31-n.Runs, left(model.RunFilter{JobID: j.ID}))
	require.Equal(t, 1, left(model.RunFilter{JobID: j.ID, Status: model.RunsOpen}), "in progress")
	require.Equal(t, 30, left(model.RunFilter{JobID: other.ID}))

	none, err := w.ClearRuns(t.Context(), admin(), jobs.ClearInput{Kind: model.ClearKeep1k})
	require.NoError(t, err)
	require.Zero(t, none.Runs)
	olga := model.Actor{UserID: 4, Name: "olga", Groups: []int{w.group.ID}}
	for _, in := range []jobs.ClearInput{{Kind: model.ClearAll}, {Kind: model.ClearAll, GroupID: w.group.ID}, {Kind: model.ClearAll, JobID: j.ID}} {
		_, err = w.ClearRuns(t.Context(), olga, in)
		require.Equal(t, model.CodeForbidden, model.CodeOf(err))
	}
	_, err = w.ClearRuns(t.Context(), admin(), jobs.ClearInput{Kind: 10})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err))
	all, err := w.ClearRuns(t.Context(), admin(), jobs.ClearInput{Kind: model.ClearAll, JobID: other.ID})
	require.NoError(t, err)
	require.Equal(t, 30, all.Runs)
	require.Equal(t, 31-n.Runs, left(model.RunFilter{}))
}
