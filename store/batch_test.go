package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestSwitchJobs stops and starts many at once; what was planned ends as with one. A job
// that somebody else has changed meanwhile is left alone.
func TestSwitchJobs(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		var list []model.JobSwitch
		for range 450 {
			list = append(list, model.JobSwitch{ID: storetest.Job(t, st, g.ID, nil).ID, Version: 1, NextMS: t0.UnixMilli() + 60_000})
		}
		list[7].Version = 99
		done, err := st.SwitchJobs(ctx, list, model.JobRunning, t0)
		require.NoError(t, err)
		require.Len(t, done, 449)
		j, err := st.Job(ctx, list[0].ID)
		require.NoError(t, err)
		require.Equal(t, model.JobRunning, j.Status)
		require.Equal(t, list[0].NextMS, j.NextMS)
		require.EqualValues(t, 2, j.Version)
		other, err := st.Job(ctx, list[7].ID)
		require.NoError(t, err)
		require.Equal(t, model.JobStopped, other.Status)

		planned := storetest.Run(t, st, j, func(r *model.Run) { r.TriggerType = model.TriggerCron })
		byHand := storetest.Run(t, st, j, func(r *model.Run) { r.TriggerType = model.TriggerManual })
		for i := range list {
			list[i].Version, list[i].NextMS = 2, 0
		}
		done, err = st.SwitchJobs(ctx, list, model.JobStopped, t0)
		require.NoError(t, err)
		require.Len(t, done, 449)
		require.Equal(t, []model.RunPhase{model.PhaseMissed, model.PhasePlanned}, phases(t, st, []model.Run{planned, byHand}))
		l := account(t, st, t0)
		require.EqualValues(t, 1, l.NotSent)
	})
}
