package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// ran writes a run that began so long before now and took so long; 0 = it goes on.
func (w *world) ran(t *testing.T, id int, ago, took time.Duration, code int) model.Run {
	t.Helper()
	at := w.now.Add(-ago)
	return storetest.Run(t, w.store, w.get(t, id), func(r *model.Run) {
		r.Phase, r.TriggerCode, r.TriggerType = model.PhaseAccepted, model.CodeSuccess, model.TriggerCron
		r.TriggerTime, r.PlannedMS, r.SentMS, r.Address = at, at.UnixMilli(), at.UnixMilli(), "http://10.0.0.1:9999/"
		if took > 0 {
			r.Phase, r.HandleCode, r.FinishedMS = model.PhaseFinished, code, at.Add(took).UnixMilli()
		}
	})
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	day := jobs.TimelineInput{From: w.now.Add(-24 * time.Hour), To: w.now, By: jobs.ByJob}
	look := func(a model.Actor, in jobs.TimelineInput) jobs.Timeline {
		t.Helper()
		tl, err := w.Timeline(t.Context(), a, in)
		require.NoError(t, err)
		return tl
	}
	require.Empty(t, look(admin(), day).Lanes)

	quick := w.add(t, func(in *jobs.JobInput) { in.Name = "quick" })
	long := w.add(t, func(in *jobs.JobInput) { in.Name = "long" })
	for i := range 60 { // too close to each other to be told apart on the picture of a day
		w.ran(t, quick, time.Hour-time.Duration(i)*time.Second, 10*time.Millisecond, 200)
	}
	w.ran(t, quick, time.Hour-30*time.Second, 10*time.Millisecond, 500)
	w.ran(t, long, 50*time.Hour, 0, 0) // began before the period, longer ago than is looked back
	into := w.ran(t, long, 25*time.Hour, 2*time.Hour, 200)
	w.ran(t, long, 24*time.Hour+30*time.Minute, time.Hour, 500) // beside it
	goesOn := w.ran(t, long, 2*time.Hour, 0, 0)
	storetest.Run(t, w.store, w.get(t, long), func(r *model.Run) { r.TriggerTime = w.now.Add(-time.Second) }) // planned

	tl := look(admin(), day)
	require.Len(t, tl.Lanes, 2)
	l := tl.Lanes[0]
	require.Equal(t, "long", l.Title, "the busiest one first")
	require.Len(t, l.Bars, 3, "what is only planned did not run")
	require.Equal(t, 2, l.Tracks, "two of them overlap")
	require.Equal(t, jobs.Bar{FromMS: day.From.UnixMilli(), ToMS: w.now.Add(-23 * time.Hour).UnixMilli(), Class: model.ClassSucceeded, Runs: 1, RunID: into.ID}, l.Bars[0], "cut at the begin of the period")
	require.Equal(t, 1, l.Bars[1].Track)
	require.Equal(t, jobs.Bar{FromMS: w.now.Add(-2 * time.Hour).UnixMilli(), ToMS: w.now.UnixMilli(), Class: model.ClassOpen, Runs: 1, RunID: goesOn.ID}, l.Bars[2], "it goes on")
	l = tl.Lanes[1]
	require.Equal(t, 61, l.Runs)
	require.Equal(t, 1, l.Failed)
	runs := 0
	var failed []jobs.Bar
	for _, b := range l.Bars {
		runs += b.Runs
		if b.Class == model.ClassFailed {
			failed = append(failed, b)
		}
	}
	require.Equal(t, 61, runs, "each run is in one bar")
	require.Less(t, len(l.Bars), 5)
	require.Len(t, failed, 1, "a failure does not vanish among successes")

	hour := jobs.TimelineInput{From: w.now.Add(-time.Hour), To: w.now.Add(-59 * time.Minute), By: jobs.ByJob, JobID: quick}
	tl = look(admin(), hour)
	require.Equal(t, "quick", tl.JobName)
	require.Len(t, tl.Lanes[0].Bars, 61, "on a picture of a minute each is seen")

	day.By = jobs.ByAddress
	tl = look(admin(), day)
	require.Len(t, tl.Lanes, 1)
	require.Equal(t, "http://10.0.0.1:9999/", tl.Lanes[0].Address)
	day.By = jobs.ByExecutor
	require.Equal(t, w.group.Title, look(admin(), day).Lanes[0].Title)
	require.Empty(t, look(model.Actor{Name: "chen"}, day).Lanes, "runs of an executor that she may not see")
}

func TestLoadOfTheNextDay(t *testing.T) {
	w := newWorld(t)
	load := func(a model.Actor) jobs.Load {
		t.Helper()
		l, err := w.Load(t.Context(), a)
		require.NoError(t, err)
		require.Zero(t, l.Left)
		return l
	}
	require.Zero(t, load(admin()).Jobs)
	start := func(kind model.ScheduleType, conf string) int {
		id := w.add(t, func(in *jobs.JobInput) { in.ScheduleType, in.ScheduleConf, in.Name = kind, conf, conf })
		require.NoError(t, w.StartJob(t.Context(), admin(), id))
		return id
	}
	for range 6 {
		start(model.ScheduleCron, "0 0 0 * * ?")
	}
	start(model.ScheduleCron, "0 30 * * * ?")
	start(model.ScheduleFixRate, "20")
	start(model.ScheduleFixRate, "3600")
	start(model.ScheduleCron, "30 30 12 1 1 ? 2090")
	w.add(t, func(in *jobs.JobInput) { in.ScheduleConf = "* * * * * ?" }) // stopped

	l := load(admin())
	require.Equal(t, 10, l.Jobs)
	require.Len(t, l.Minutes, 25*60)
	require.InDelta(t, 6+24+3*24*60+24, l.Total, 2)
	require.Equal(t, "00:00", l.Peaks[0].At.Format("15:04"))
	require.GreaterOrEqual(t, l.Peaks[0].Fires, 9.0)
	require.Equal(t, 6, l.Peaks[0].Of)
	require.Len(t, l.Peaks[0].Jobs, 4, "the first ones by name")
	half := 0
	for i, n := range l.Minutes {
		if l.From.Add(time.Duration(i)*time.Minute).Minute() == 30 && n >= 4 {
			half++
		}
	}
	require.Equal(t, 24, half)
	require.Zero(t, load(model.Actor{Name: "chen"}).Jobs)
}
