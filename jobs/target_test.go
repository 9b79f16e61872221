package jobs_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestTargetsOfAReport: measured over the month of its last day, the worst first, and
// only those whose jobs one may see in full.
func TestTargetsOfAReport(t *testing.T) {
	w := newWorld(t)
	w.now = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	foreign := storetest.Group(t, w.store, "app-two", "")
	mine := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Tags, j.Author = "pay", "li" })
	theirs := storetest.Job(t, w.store, foreign.ID, nil)
	runs := func(j model.Job, day string, good, bad int) {
		at, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		for n := range good + bad {
			storetest.Run(t, w.store, j, func(r *model.Run) {
				r.TriggerTime, r.PlannedMS, r.FinishedMS, r.Phase, r.TriggerCode, r.HandleCode = at, at.UnixMilli(), at.UnixMilli()+1, model.PhaseFinished, 200, 200
				if n < bad {
					r.HandleCode = 500
				}
			})
		}
	}
	runs(mine, "2026-02-28", 1, 30) // another month
	runs(mine, "2026-03-02", 97, 3)
	runs(theirs, "2026-03-02", 99, 1)
	for more := true; more; {
		var err error
		more, err = w.store.FoldCounts(t.Context(), w.now)
		require.NoError(t, err)
	}
	admin := model.Actor{Admin: true, Name: "root"}
	for name, s := range map[string]model.TargetSettings{
		"all": {Scope: model.ScopeAll}, "mine": {Scope: model.ScopeJob, JobID: mine.ID}, "tag": {Scope: model.ScopeTag, Tag: " PAY "},
		"executor": {Scope: model.ScopeExecutor, GroupID: foreign.ID}, "off": {Scope: model.ScopeAll, Off: true}, "by": {Scope: model.ScopeJob, JobID: mine.ID, By: "06:00"},
	} {
		s.Goal = 98_000
		require.NoError(t, w.SaveTarget(t.Context(), admin, model.Target{Name: name, TargetSettings: s}))
	}
	got := func(a model.Actor, in jobs.ReportAsk) (names []string, at map[string]model.TargetResult) {
		t.Helper()
		in.Kind = report.Day
		if in.Day == "" {
			in.Day = "2026-03-19"
		}
		p, err := w.Report(t.Context(), a, in)
		require.NoError(t, err)
		at = map[string]model.TargetResult{}
		for _, r := range p.Targets {
			names, at[r.Name] = append(names, r.Name), r
		}
		return names, at
	}
	names, at := got(admin, jobs.ReportAsk{})
	require.Equal(t, []string{"mine", "tag", "all", "executor", "by"}, names, "the worst first, what cannot be measured last")
	require.Equal(t, model.TargetSum{Rated: 200, Good: 196}, at["all"].TargetSum)
	require.Equal(t, model.TargetSum{Rated: 100, Good: 97}, at["mine"].TargetSum)
	require.Equal(t, model.TargetSum{Rated: 100, Good: 97}, at["tag"].TargetSum)
	require.Equal(t, model.TargetSum{Rated: 100, Good: 99}, at["executor"].TargetSum)
	require.Equal(t, "app-two", at["executor"].Of)
	require.EqualValues(t, []int64{-1, 0, 1}, []int64{at["mine"].Left(), at["all"].Left(), at["executor"].Left()})
	_, at = got(admin, jobs.ReportAsk{Day: "2026-02-28"})
	require.EqualValues(t, 31, at["mine"].Rated)

	// Whose executors are limited sees neither tags nor all, and nothing of others.
	names, _ = got(model.Actor{Name: "li", Groups: []int{w.group.ID}}, jobs.ReportAsk{})
	require.Equal(t, []string{"mine", "by"}, names)
	names, _ = got(model.Actor{Name: "li", Groups: []int{foreign.ID}}, jobs.ReportAsk{})
	require.Equal(t, []string{"executor"}, names)
	names, _ = got(model.Actor{Name: "nobody"}, jobs.ReportAsk{})
	require.Empty(t, names)
	// A report about something has the targets that are about nothing else.
	for _, tc := range []struct {
		in   jobs.ReportAsk
		want []string
	}{
		{jobs.ReportAsk{GroupID: foreign.ID}, []string{"executor"}}, {jobs.ReportAsk{GroupID: w.group.ID}, []string{"mine", "by"}},
		{jobs.ReportAsk{Tag: "pay"}, []string{"tag"}}, {jobs.ReportAsk{Owner: "li"}, []string{"mine", "by"}}, {jobs.ReportAsk{NoTargets: true}, nil},
	} {
		names, _ = got(admin, tc.in)
		require.Equal(t, tc.want, names, tc.in)
	}
}

// TestTargetsAreChecked: each mistake at its field; only administrators.
func TestTargetsAreChecked(t *testing.T) {
	w := newWorld(t)
	admin := model.Actor{Admin: true, Name: "root"}
	for _, tc := range []struct {
		t    model.Target
		want []string
	}{
		{model.Target{}, []string{"goal", "name", "scope"}},
		{model.Target{Name: "a", TargetSettings: model.TargetSettings{Scope: model.ScopeJob, JobID: 99, Goal: 100_001, By: "6:00"}}, []string{"by", "goal", "job"}},
		{model.Target{Name: "a", TargetSettings: model.TargetSettings{Scope: model.ScopeExecutor, GroupID: 99, Goal: 1, By: "00:00"}}, []string{"by", "executor"}},
		{model.Target{Name: "a", TargetSettings: model.TargetSettings{Scope: model.ScopeTag, Tag: " ", Goal: 1}}, []string{"tag"}},
	} {
		err := w.SaveTarget(t.Context(), admin, tc.t)
		require.Equal(t, model.CodeInvalid, model.CodeOf(err))
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, tc.want, slices.Sorted(maps.Keys(e.Fields)))
	}
	require.Equal(t, model.CodeForbidden, model.CodeOf(w.SaveTarget(t.Context(), model.Actor{Name: "x", Groups: []int{w.group.ID}}, model.Target{Name: "a"})))
	require.NoError(t, w.SaveTarget(t.Context(), admin, model.Target{Name: "a", TargetSettings: model.TargetSettings{Scope: model.ScopeAll, JobID: 5, Tag: "x", GroupID: 9, Goal: 99_500, By: "06:00"}}))
	p, err := w.Targets(t.Context(), admin)
	require.NoError(t, err)
	require.Equal(t, model.TargetSettings{Scope: model.ScopeAll, Goal: 99_500, By: "06:00"}, p.List[0].TargetSettings, "what its scope does not need is left out")
	require.Equal(t, "2025-12-31", p.List[0].Judged, "this month is looked at from its first day on")
}
