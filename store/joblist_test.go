package store_test

import (
	"testing"
	"time"

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

// TestWhatIsCountedIsListed: the numbers above a list and the length of the list are one, for
// each status and with each way to narrow it.
func TestWhatIsCountedIsListed(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		now := t0.UnixMilli()
		for i := range 12 {
			j := storetest.Job(t, st, g.ID, func(in *model.Job) {
				in.Name, in.Author = []string{"import", "export"}[i%2], []string{"li", "chen", "wei"}[i%3]
				if i%4 == 0 {
					in.ScheduleType, in.ScheduleConf = model.ScheduleNone, ""
				}
			})
			if i%4 != 0 && i%3 != 0 {
				j = running(t, st, j, t0.Add(time.Hour))
			}
			if i%5 == 0 {
				storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, now-1 })
			}
			if i%3 == 1 {
				write(t, st, `INSERT INTO carillon_failing (job_id, since_at, first_run) VALUES (?, ?, 1)`, j.ID, now)
			}
			if i == 3 || i == 6 {
				write(t, st, `UPDATE xxl_job_info SET carillon_condition = 'ended' WHERE id = ?`, j.ID)
			}
		}
		status := func(s model.JobStatus) *model.JobStatus { return &s }
		all := map[string]int{}
		for name, by := range map[string]model.JobFilter{
			"all": {}, "running": {Status: status(model.JobRunning)}, "stopped": {Status: status(model.JobStopped), Scheduled: true},
			"on demand": {OnDemand: true}, "failing": {Failing: true}, "ended": {Ended: true}, "waiting": {Waiting: true},
		} {
			for _, narrow := range []model.JobFilter{{}, {Text: "import"}, {Author: "e"}, {GroupID: g.ID, Name: "exp"}, {Groups: []int{}}} {
				f := by
				f.DueMS, f.Limit, f.Text, f.Author, f.Name, f.GroupID, f.Groups = now, 100, narrow.Text, narrow.Author, narrow.Name, narrow.GroupID, narrow.Groups
				counts, err := st.CountJobs(ctx, f)
				require.NoError(t, err)
				list, total, err := st.Jobs(ctx, f)
				require.NoError(t, err)
				require.Len(t, list, total)
				n, known := counts.Of(f)
				require.True(t, known)
				require.Equal(t, total, n, "%s of %+v", name, narrow)
				all[name] += n
			}
		}
		for name, n := range all {
			require.Positive(t, n, name)
		}
		_, known := model.JobCounts{}.Of(model.JobFilter{Failing: true, Ended: true})
		require.False(t, known)
	})
}
