package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestDashboardShowsWhatOneMaySee: people who see some executors get numbers and lists of
// those only, and none of the whole center.
func TestDashboardShowsWhatOneMaySee(t *testing.T) {
	w := newWorld(t)
	other := storetest.Group(t, w.store, "app-two", "http://10.0.0.2:9999/,http://10.0.0.3:9999/")
	mine := w.get(t, w.add(t, nil))
	theirs := storetest.Job(t, w.store, other.ID, nil)
	for _, j := range []model.Job{mine, theirs} {
		require.NoError(t, w.store.SetJobStatus(t.Context(), j.ID, w.get(t, j.ID).Version, model.JobRunning, w.now.Add(time.Hour).UnixMilli(), w.now))
		r := storetest.Run(t, w.store, j, func(r *model.Run) { r.Phase, r.TriggerTime = model.PhaseAccepted, w.now })
		_, err := w.store.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: 500, Msg: "broken", AtMS: 5}}, w.now, nil)
		require.NoError(t, err)
	}
	olga := model.Actor{UserID: 4, Name: "olga", Groups: []int{w.group.ID}}
	d, err := w.Dashboard(t.Context(), olga, model.DayRange{})
	require.NoError(t, err)
	require.Equal(t, 1, d.Jobs.All)
	require.Equal(t, 1, d.NodesKnown)
	require.Equal(t, 1, d.Jobs.Failing)
	require.Len(t, d.Troubles, 1)
	require.Equal(t, mine.ID, d.Troubles[0].ID)
	require.Equal(t, 1, d.Troubles[0].Count)
	require.Equal(t, "broken", d.Troubles[0].Last.HandleMsg)
	require.Len(t, d.Next, 1)
	require.Equal(t, mine.ID, d.Next[0].ID)
	require.Empty(t, d.Centers)
	require.Empty(t, d.Days)
	require.Zero(t, d.Today.Expected)
	require.Zero(t, d.RunsTotal)
	all, err := w.Dashboard(t.Context(), admin(), model.DayRange{})
	require.NoError(t, err)
	require.Equal(t, []int{2, 3, 2, 2, 7}, []int{all.Jobs.All, all.NodesKnown, len(all.Troubles), len(all.Next), len(all.Days)})
	require.EqualValues(t, 2, all.Today.Expected)
}

// TestAttentionIsForFires: what was tried again needs none, what failed for good does.
func TestAttentionIsForFires(t *testing.T) {
	w := newWorld(t)
	j := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.RetryCount, j.ScheduleType, j.ScheduleConf = 1, model.ScheduleNone, "" })
	r := storetest.Run(t, w.store, j, func(r *model.Run) { r.Phase, r.RetryLeft, r.TriggerTime = model.PhaseSending, 1, w.now })
	fail := func(id int64) {
		_, err := w.store.StoreHandled(t.Context(), []model.Handled{{RunID: id, Code: 500, AtMS: 5}}, w.now, rule.Follower(w.now, "n#1"))
		require.NoError(t, err)
	}
	failed := func() (ids []int64) {
		d, err := w.Dashboard(t.Context(), admin(), model.DayRange{})
		require.NoError(t, err)
		for _, x := range d.Troubles {
			ids = append(ids, x.Last.ID)
		}
		return ids
	}
	fail(r.ID)
	require.Empty(t, failed(), "its retry waits")
	list, err := w.store.Runs(t.Context(), model.RunFilter{JobID: j.ID, Limit: 1})
	require.NoError(t, err)
	_, err = w.store.ClaimRuns(t.Context(), "n#1", []model.Claim{{RunID: list[0].ID, Address: "a"}}, 1)
	require.NoError(t, err)
	fail(list[0].ID)
	require.Equal(t, []int64{list[0].ID}, failed())
}

func TestDaysOfTheDashboard(t *testing.T) {
	w := newWorld(t) // it is 1 January 2026
	days := func(first, last string) (out []string) {
		t.Helper()
		d, err := w.Dashboard(t.Context(), admin(), model.DayRange{First: first, Last: last})
		require.NoError(t, err)
		require.Equal(t, "2026-01-01", d.Today.Day, "whatever days are shown")
		for _, l := range d.Days {
			out = append(out, l.Day)
		}
		return out
	}
	week := days("", "")
	require.Equal(t, []string{"2025-12-26", "2026-01-01"}, []string{week[0], week[6]})
	require.Equal(t, []string{"2025-12-31"}, days("2025-12-31", "2025-12-31"))
	require.Len(t, days("2025-12-01", "2025-12-31"), 31)
	require.Equal(t, "2026-01-01", days("2025-12-30", "2026-02-01")[2], "nothing that is still to come")
	require.Len(t, days("1999-01-01", "2026-01-01"), 366)
	for _, bad := range [][2]string{{"2026-01-02", "2026-01-03"}, {"2025-12-31", "2025-12-01"}, {"x", "2026-01-01"}, {"2025-02-30", "2025-03-01"}, {"0000-01-01", "0000-01-02"}} {
		require.Equal(t, week, days(bad[0], bad[1]), "%v: the usual ones", bad)
	}
}
