package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestEndedAndWaitingJobs are found, and counted beside the other states.
func TestEndedAndWaitingJobs(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		ended := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		waits := storetest.Job(t, st, g.ID, nil)
		later := storetest.Job(t, st, g.ID, nil)
		_, _, err := st.PlanDue(ctx, t0.UnixMilli()+60_000, 10, t0, func(jobs []model.Job, _ map[int]model.Group) []model.JobPlan {
			return []model.JobPlan{{JobID: jobs[0].ID, OldMS: jobs[0].NextMS, Condition: model.JobEnded}}
		})
		require.NoError(t, err)
		now := t0.UnixMilli()
		storetest.Run(t, st, waits, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, now-1 })
		storetest.Run(t, st, waits, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, now })
		storetest.Run(t, st, later, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, now+1 })
		storetest.Run(t, st, later, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhaseAccepted, now-1 })

		counts, err := st.CountJobs(ctx, model.JobFilter{DueMS: now, Waiting: true})
		require.NoError(t, err)
		require.Equal(t, model.JobCounts{All: 3, Stopped: 3, Ended: 1, Waiting: 1}, counts)
		for job, f := range map[int]model.JobFilter{ended.ID: {Ended: true}, waits.ID: {Waiting: true, DueMS: now}} {
			for _, by := range []model.JobSort{"", model.JobsByDuration} {
				f.Limit, f.Sort = 5, by
				list, total, err := st.Jobs(ctx, f)
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.Equal(t, 1, total)
				require.Equal(t, job, list[0].ID)
			}
		}
	})
}
