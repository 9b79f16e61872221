package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// days reads what was written about a target.
func targetDays(t *testing.T, st *store.Store, id int, first, last string) model.TargetSum {
	t.Helper()
	sums, err := st.TargetSums(t.Context(), []int{id}, first, last)
	require.NoError(t, err)
	return sums[id]
}

// TestDaysOfTargetsAreLookedAt: after the time, and at the end of the day, each once; days
// that nobody looked at are made up; what was found outlives the runs.
func TestDaysOfTargetsAreLookedAt(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		at := func(s string) time.Time {
			v, err := time.Parse("2006-01-02 15:04", "2026-"+s)
			require.NoError(t, err)
			return v
		}
		g := storetest.Group(t, st, "billing", "http://a/")
		good, late := storetest.Job(t, st, g.ID, nil), storetest.Job(t, st, g.ID, func(j *model.Job) { j.Tags = "pay" })
		other := storetest.Job(t, st, storetest.Group(t, st, "other", "http://b/").ID, nil)
		fire := func(j model.Job, planned, done string) {
			storetest.Run(t, st, j, func(r *model.Run) {
				p, d := at(planned), at(done)
				r.TriggerTime, r.PlannedMS, r.SentMS, r.FinishedMS, r.Phase, r.TriggerCode, r.HandleCode = p, p.UnixMilli(), p.UnixMilli(), d.UnixMilli(), model.PhaseFinished, 200, 200
			})
		}
		for _, d := range []string{"03-01", "03-02", "03-03"} {
			fire(good, d+" 02:00", d+" 03:00")
			fire(late, d+" 02:00", d+" 07:00")
			fire(other, d+" 02:00", d+" 07:00")
		}
		fire(good, "03-03 23:00", "03-03 23:10")
		require.NoError(t, st.NoteCounted(ctx, "2026-03-01", ""))
		add := func(s model.TargetSettings) int {
			id, err := st.SaveTarget(ctx, model.Target{Name: "t", TargetSettings: s, Judged: "2026-02-28"})
			require.NoError(t, err)
			return id
		}
		group := add(model.TargetSettings{Scope: model.ScopeExecutor, GroupID: g.ID, Goal: 99_000, By: "06:00"})
		tag := add(model.TargetSettings{Scope: model.ScopeTag, Tag: "pay", Goal: 99_000, By: "08:00"})
		one := add(model.TargetSettings{Scope: model.ScopeJob, JobID: good.ID, Goal: 99_000, By: "06:00"})
		all := add(model.TargetSettings{Scope: model.ScopeAll, Goal: 99_000, By: "06:00"})
		none := add(model.TargetSettings{Scope: model.ScopeAll, Goal: 99_000})
		off := add(model.TargetSettings{Scope: model.ScopeAll, Goal: 99_000, By: "06:00", Off: true})

		leads := true
		pass := func(now time.Time) {
			t.Helper()
			fold(t, st, now)
			a := &report.Assessor{Store: st, Leads: func() bool { return leads }, Zone: time.UTC}
			require.NoError(t, a.Pass(ctx, now))
		}
		target := func(id int) model.Target {
			x, err := st.Target(ctx, id)
			require.NoError(t, err)
			return x
		}
		leads = false
		pass(at("03-03 06:01"))
		leads = true
		require.Zero(t, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		pass(at("03-03 06:01")) // two days are made up, the third one is not yet due
		require.Equal(t, model.TargetSum{Rated: 4, Good: 2}, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		require.Equal(t, "2026-03-02", target(group).Judged)
		pass(at("03-03 06:02"))
		require.Equal(t, "2026-03-03", target(group).Early)
		require.Equal(t, model.TargetSum{Rated: 6, Good: 3}, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		require.Equal(t, model.TargetSum{Rated: 2, Good: 2}, targetDays(t, st, tag, "2026-03-01", "2026-03-31"))
		pass(at("03-04 00:02"))
		for id, want := range map[int]model.TargetSum{group: {Rated: 6, Good: 3}, tag: {Rated: 3, Good: 3}, one: {Rated: 3, Good: 3}, all: {Rated: 9, Good: 3}, none: {}, off: {}} {
			require.Equal(t, want, targetDays(t, st, id, "2026-03-01", "2026-03-31"), id)
		}
		require.Equal(t, "2026-03-03", target(group).Judged)
		require.Equal(t, model.TargetSum{Rated: 2, Good: 1}, targetDays(t, st, group, "2026-03-02", "2026-03-02"))

		// A node that is behind, and one that read the target before it was changed, write nothing.
		was := target(group)
		behind := was
		behind.Judged = "2026-03-02"
		is := was
		is.Judged = "2026-03-04"
		require.NoError(t, st.JudgeTarget(ctx, behind, is, "2026-03-03", []model.TargetDay{{JobID: 77, Counts: true}}))
		require.Equal(t, was, target(group))
		// A new goal loses nothing; another time looks at the month anew.
		was.Goal, was.Name, was.Judged = 50_000, "new", "2026-03-02"
		_, err := st.SaveTarget(ctx, was)
		require.NoError(t, err)
		require.Equal(t, "2026-03-03", target(group).Judged)
		require.Equal(t, 50_000, target(group).Goal)
		was.By = "08:00"
		_, err = st.SaveTarget(ctx, was)
		require.NoError(t, err)
		require.Equal(t, model.TargetSum{Rated: 4, Good: 2}, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		pass(at("03-04 00:30"))
		require.Equal(t, model.TargetSum{Rated: 6, Good: 4}, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		// Deleted with its days; what is gone is not found.
		require.NoError(t, st.DeleteTarget(ctx, group))
		require.Zero(t, targetDays(t, st, group, "2026-03-01", "2026-03-31"))
		_, err = st.SaveTarget(ctx, was)
		require.Equal(t, model.CodeNotFound, model.CodeOf(err))
	})
}

// TestManyJobsOfATarget: more jobs than a step has are all looked at.
func TestManyJobsOfATarget(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		day := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
		g := storetest.Group(t, st, "billing", "http://a/")
		for range 230 {
			storetest.Run(t, st, storetest.Job(t, st, g.ID, nil), func(r *model.Run) {
				r.TriggerTime, r.PlannedMS, r.FinishedMS, r.Phase, r.TriggerCode, r.HandleCode = day, day.UnixMilli(), day.UnixMilli()+1000, model.PhaseFinished, 200, 200
			})
		}
		fold(t, st, day.AddDate(0, 0, 2))
		require.NoError(t, st.NoteCounted(t.Context(), "2026-03-01", ""))
		id, err := st.SaveTarget(t.Context(), model.Target{Name: "t", Judged: "2026-02-28", TargetSettings: model.TargetSettings{Scope: model.ScopeAll, Goal: 99_000, By: "06:00"}})
		require.NoError(t, err)
		a := &report.Assessor{Store: st, Leads: func() bool { return true }, Zone: time.UTC}
		require.NoError(t, a.Pass(t.Context(), day.AddDate(0, 0, 1)))
		require.Equal(t, model.TargetSum{Rated: 230, Good: 230}, targetDays(t, st, id, "2026-03-01", "2026-03-01"))
	})
}

// TestRunsOfADayComeByAnIndex: the runs of other days and jobs are not read.
func TestRunsOfADayComeByAnIndex(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "billing", "http://a/")
		j, other := storetest.Job(t, st, g.ID, nil), storetest.Job(t, st, g.ID, nil)
		first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for h := range 24 * 6 {
			for _, job := range []model.Job{j, other} {
				at := first.Add(time.Duration(h) * time.Hour)
				storetest.Run(t, st, job, func(r *model.Run) { r.TriggerTime, r.PlannedMS = at, at.UnixMilli() })
			}
		}
		runs, err := st.RunsOfDay(t.Context(), j.ID, first.AddDate(0, 0, 2), first.AddDate(0, 0, 3))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(runs), 24)
		require.LessOrEqual(t, len(runs), 24+6)
		for _, r := range runs {
			require.Equal(t, j.ID, r.JobID)
		}
		runs, err = st.RunsOfDay(t.Context(), j.ID, first.AddDate(0, 0, 5), first.AddDate(0, 0, 6)) // the newest one
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(runs), 24)
	})
}
