package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestReportsOfMovedJobs: what a job did for an executor stays with that executor, but who
// sees no more than this one is not told how the job is called elsewhere, and whose it is.
func TestReportsOfMovedJobs(t *testing.T) {
	w := newWorld(t)
	elsewhere := storetest.Group(t, w.store, "app-two", "")
	j := storetest.Job(t, w.store, w.group.ID, nil)
	r := storetest.Run(t, w.store, j, func(r *model.Run) {
		r.TriggerTime, r.PlannedMS, r.Phase, r.TriggerCode = w.now, w.now.UnixMilli(), model.PhaseAccepted, 200
	})
	storetest.End(t, w.store, r, 200, "", "")
	j.GroupID, j.Name, j.Author = elsewhere.ID, "salaries", "boss"
	require.NoError(t, w.store.UpdateJob(t.Context(), &j, false, false, w.now))
	for more := true; more; {
		var err error
		more, err = w.store.FoldCounts(t.Context(), w.now)
		require.NoError(t, err)
	}
	ask := jobs.ReportAsk{Kind: report.Day, Day: w.now.Format("2006-01-02"), List: report.Busy}
	for name, actor := range map[string]model.Actor{"admin": admin(), "limited": {Name: "olga", Groups: []int{w.group.ID}}} {
		p, err := w.Report(t.Context(), actor, ask)
		require.NoError(t, err, name)
		require.Len(t, p.Jobs, 1, name)
		require.EqualValues(t, 1, p.Now.Succeeded, name)
		if name == "admin" {
			require.Equal(t, "salaries", p.Names[j.ID].Name)
		} else {
			require.NotContains(t, p.Names, j.ID)
			require.Empty(t, p.Owners)
		}
		ask := ask
		ask.Owner = "boss" // asking does not tell whose it is
		p, err = w.Report(t.Context(), actor, ask)
		require.NoError(t, err, name)
		require.Equal(t, map[string]int64{"admin": 1}[name], p.Now.Succeeded, name)
	}
}
