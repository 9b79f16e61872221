package jobs_test

import (
	"testing"
	"time"

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

// TestADayIsComparedWithUsualOnes: with the same day of the last four weeks, each job by itself;
// what is new is compared with nothing.
func TestADayIsComparedWithUsualOnes(t *testing.T) {
	w := newWorld(t)
	old, fresh := storetest.Job(t, w.store, w.group.ID, nil), storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name = "fresh" })
	var ends []model.Handled
	day := func(j model.Job, back, good, bad int, took time.Duration) {
		at := w.now.AddDate(0, 0, -back)
		for n := range good + bad {
			at := at.Add(time.Duration(n) * time.Minute)
			r := storetest.Run(t, w.store, j, func(r *model.Run) {
				r.TriggerTime, r.PlannedMS, r.Phase, r.TriggerCode = at, at.UnixMilli(), model.PhaseAccepted, 200
			})
			code := 200
			if n < bad {
				code = 500
			}
			ends = append(ends, model.Handled{RunID: r.ID, Code: code, AtMS: at.Add(took).UnixMilli()})
		}
	}
	for back, bad := range map[int]int{28: 0, 21: 9, 14: 1, 7: 1, 1: 30} { // the day before is another weekday
		day(old, back, 30, bad, 10*time.Second)
	}
	day(old, 0, 30, 6, 30*time.Second)
	day(fresh, 7, 5, 0, 10*time.Second)
	day(fresh, 0, 5, 0, 30*time.Second)
	db, done, err := w.store.MigrationDB()
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `UPDATE xxl_job_log SET sent_time = planned_time, accepted_time = planned_time`)
	require.NoError(t, err)
	require.NoError(t, done())
	_, err = w.store.StoreHandled(t.Context(), ends, w.now, func(model.Run, map[int]model.Job) []model.Run { return nil })
	require.NoError(t, err)
	w.now = w.now.AddDate(0, 0, 1)
	for more := true; more; {
		var err error
		more, err = w.store.FoldCounts(t.Context(), w.now)
		require.NoError(t, err)
	}
	lines := func(list report.List) (jobs.ReportPage, map[int]report.Line) {
		p, err := w.Report(t.Context(), admin(), jobs.ReportAsk{Kind: report.Day, Day: w.now.AddDate(0, 0, -1).Format(time.DateOnly), List: list})
		require.NoError(t, err)
		out := map[int]report.Line{}
		for _, l := range p.Jobs {
			out[l.JobID] = l
		}
		return p, out
	}
	p, of := lines(report.Busy)
	require.EqualValues(t, 1, p.Then.Failed, "the median of 0, 9, 1 and 1 or of all executors together")
	require.True(t, p.Usual.Known())
	require.True(t, p.Usual.Odd(p.Usual.Failed, p.Now.Failed))
	require.True(t, p.Usual.OddRate(p.Now))
	require.EqualValues(t, 1, of[old.ID].Then.Failed)
	require.True(t, of[old.ID].Usual.Known())
	require.EqualValues(t, 120, of[old.ID].Then.TookRuns, "durations of all four days")
	require.False(t, of[fresh.ID].Usual.Known())
	require.True(t, of[fresh.ID].Then.Zero())
	_, of = lines(report.Slower)
	require.Contains(t, of, old.ID)
	require.NotContains(t, of, fresh.ID, "it was there once only")
	p, err = w.Report(t.Context(), admin(), jobs.ReportAsk{Kind: report.Week, Day: w.now.Format(time.DateOnly), List: report.Busy})
	require.NoError(t, err)
	require.Nil(t, p.Usual)
	require.EqualValues(t, 31+5, p.Then.Expected, "the week before")
	w.now = w.now.AddDate(0, 0, -1)
	p, err = w.Report(t.Context(), admin(), jobs.ReportAsk{Kind: report.Day, Day: w.now.Format(time.DateOnly), List: report.Busy})
	require.NoError(t, err)
	require.True(t, p.Usual.Known())
	require.False(t, p.Usual.Odd(p.Usual.Failed, p.Now.Failed), "the day is not over")
}

// TestWhatAWeekIsComparedWith: a page reads the numbers of the week before from packs, a workbook
// all of them; they are the same.
func TestWhatAWeekIsComparedWith(t *testing.T) {
	w := newWorld(t)
	mine := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Author = "mei" })
	other := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name, j.Author = "other", "bo" })
	for back := range 21 {
		for n, j := range []model.Job{mine, mine, other} {
			at := w.now.AddDate(0, 0, -back)
			r := storetest.Run(t, w.store, j, func(r *model.Run) {
				r.TriggerTime, r.PlannedMS, r.Phase, r.TriggerCode = at, at.UnixMilli(), model.PhaseAccepted, 200
			})
			storetest.End(t, w.store, r, []int{200, 500}[(back+n)%2], "", "")
		}
	}
	for more := true; more; {
		var err error
		more, err = w.store.FoldCounts(t.Context(), w.now)
		require.NoError(t, err)
	}
	for owner, want := range map[string]int64{"": 21, "mei": 14, "bo": 7} {
		ask := jobs.ReportAsk{Kind: report.Week, Day: w.now.AddDate(0, 0, -7).Format(time.DateOnly), Owner: owner, List: report.Busy}
		page, err := w.Report(t.Context(), admin(), ask)
		require.NoError(t, err)
		ask.Length = 1000
		book, err := w.Report(t.Context(), admin(), ask)
		require.NoError(t, err)
		require.Equal(t, want, page.Then.Expected, owner)
		numbers := func(c *model.Counter) []int64 {
			return []int64{c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS}
		}
		require.Equal(t, numbers(book.Then), numbers(page.Then), owner)
		require.Positive(t, page.Then.Failed)
	}
}
