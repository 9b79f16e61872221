package rule

import (
	"cmp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func rules() PlanRules {
	return PlanRules{Horizon: 5 * time.Second, MisfireAfter: 5 * time.Second, MaxMissedRows: 100, Location: time.UTC, LastPlanMS: t0.UnixMilli()}
}

func everySecond(next time.Time, misfire model.MisfireStrategy) model.Job {
	return model.Job{ID: 7, GroupID: 1, ScheduleType: model.ScheduleCron, ScheduleConf: "* * * * * ?", Misfire: misfire,
		NextMS: next.UnixMilli(), GlueType: model.GlueBean, Handler: "h", Param: "p", RetryCount: 2, Status: model.JobRunning}
}

func planOf(t *testing.T, now time.Time, j model.Job, g model.Group) model.JobPlan {
	t.Helper()
	s, err := ScheduleOf(j)
	require.NoError(t, err)
	return Plan(now, j, g, s, "n#1", rules())
}

// seconds gives the planned instants relative to t0, by phase.
func seconds(p model.JobPlan, phase model.RunPhase) (out []int) {
	for _, r := range p.Runs {
		if r.Phase == phase {
			out = append(out, int((r.PlannedMS-t0.UnixMilli())/1000))
		}
	}
	return out
}

func TestPlanFillsTheHorizon(t *testing.T) {
	p := planOf(t, t0, everySecond(t0.Add(time.Second), model.MisfireSkip), model.Group{})
	require.Equal(t, []int{1, 2, 3, 4, 5}, seconds(p, model.PhasePlanned))
	require.Equal(t, t0.Add(6*time.Second).UnixMilli(), p.NextMS)
	require.Equal(t, t0.Add(5*time.Second).UnixMilli(), p.LastMS)
	require.Equal(t, "7:"+strconv.FormatInt(t0.Add(time.Second).UnixMilli(), 10)+":0", p.Runs[0].FireKey)
	require.Equal(t, 2, p.Runs[0].RetryLeft)
	require.Equal(t, "p", p.Runs[0].Param)
}

func TestPlanLateWithinThresholdMakesEveryFire(t *testing.T) {
	p := planOf(t, t0, everySecond(t0.Add(-3*time.Second), model.MisfireSkip), model.Group{})
	require.Equal(t, []int{-3, -2, -1, 0, 1, 2, 3, 4, 5}, seconds(p, model.PhasePlanned))
	require.Empty(t, seconds(p, model.PhaseMissed))
}

func TestPlanMisfire(t *testing.T) {
	t.Run("DO_NOTHING writes each skipped fire down with its reason", func(t *testing.T) {
		p := planOf(t, t0, everySecond(t0.Add(-8*time.Second), model.MisfireSkip), model.Group{})
		require.Equal(t, []int{-8, -7, -6}, seconds(p, model.PhaseMissed))
		require.Equal(t, -5, seconds(p, model.PhasePlanned)[0])
		require.Equal(t, model.ReasonMisfire, p.Runs[0].Reason)
		require.Equal(t, []model.Said{model.Say(model.ReasonMisfire, "LateMS", int64(8000), "Strategy", "DO_NOTHING")}, p.Runs[0].Note.Said)
	})
	t.Run("FIRE_ONCE_NOW makes the newest missed instant", func(t *testing.T) {
		p := planOf(t, t0, everySecond(t0.Add(-8*time.Second), model.MisfireFireOnce), model.Group{})
		require.Equal(t, []int{-8, -7}, seconds(p, model.PhaseMissed))
		require.Equal(t, -6, seconds(p, model.PhasePlanned)[0])
		for _, r := range p.Runs {
			if r.PlannedMS == t0.Add(-6*time.Second).UnixMilli() {
				require.Equal(t, model.TriggerMisfire, r.TriggerType)
			}
		}
	})
	t.Run("an outage of a year ends soon, in phase, and says how much is not listed", func(t *testing.T) {
		p := planOf(t, t0, everySecond(t0.AddDate(-1, 0, 0), model.MisfireSkip), model.Group{})
		require.Len(t, seconds(p, model.PhaseMissed), 1)
		require.Greater(t, p.Runs[0].Fires(), 10000, "the first row stands for all before")
		require.Equal(t, "stands_for_at_least", p.Runs[0].Note.Said[1].Code)
		require.Equal(t, t0.Add(6*time.Second).UnixMilli(), p.NextMS)
	})
	t.Run("an outage over silent times is walked in no time", func(t *testing.T) {
		j := everySecond(t0, model.MisfireFireOnce)
		// A Saturday; the schedule is silent since Wednesday evening.
		now := time.Date(2026, 1, 3, 15, 0, 0, 0, time.UTC)
		j.ScheduleConf, j.NextMS = "* * 8-17 ? * MON-WED", now.AddDate(0, 0, -31).UnixMilli()
		counted := &counting{}
		s, err := ScheduleOf(j)
		require.NoError(t, err)
		counted.Schedule = s
		p := Plan(now, j, model.Group{}, counted, "n#1", rules())
		require.Less(t, counted.n, maxMissedScan+200, "steps")
		last := p.Runs[len(p.Runs)-1]
		require.Equal(t, model.TriggerMisfire, last.TriggerType)
		require.Equal(t, time.Date(2025, 12, 31, 17, 59, 59, 0, time.UTC).UnixMilli(), last.PlannedMS)
	})
	t.Run("FIX_RATE keeps its phase", func(t *testing.T) {
		j := everySecond(t0.AddDate(-1, 0, 0).Add(3*time.Second), model.MisfireSkip)
		j.ScheduleType, j.ScheduleConf = model.ScheduleFixRate, "7"
		start := j.NextMS
		p := planOf(t, t0, j, model.Group{})
		require.Zero(t, (p.NextMS-start)%7000)
		require.Greater(t, p.NextMS, t0.Add(5*time.Second).UnixMilli())
		require.LessOrEqual(t, p.NextMS, t0.Add(12*time.Second).UnixMilli())
	})
}

// counting counts how often a schedule is asked.
type counting struct {
	cron.Schedule
	n int
}

func (c *counting) Next(t time.Time) time.Time { c.n++; return c.Schedule.Next(t) }

// TestNobodyToRing: the executor has no address. Such a fire is decided where it is
// planned, at its instant and not before.
func TestNobodyToRing(t *testing.T) {
	j, empty := everySecond(t0.Add(-2*time.Second), model.MisfireSkip), model.Group{ID: 1, AppName: "app"}
	j.RetryCount = 0
	p := planOf(t, t0, j, empty)
	require.Equal(t, []int{-2, -1, 0}, seconds(p, model.PhaseFinished))
	require.Empty(t, seconds(p, model.PhasePlanned))
	require.Equal(t, t0.Add(time.Second).UnixMilli(), p.NextMS)
	for _, r := range p.Runs {
		require.Equal(t, model.ReasonNoAddress, r.Outcome())
		require.Empty(t, r.Owner)
	}
	j.RetryCount = 1
	require.Len(t, seconds(planOf(t, t0, j, empty), model.PhasePlanned), 8, "its retry follows from the row")
	j.RetryCount, j.Route = 0, model.RouteGlobalBusyover
	require.Len(t, seconds(planOf(t, t0, j, empty), model.PhasePlanned), 8, "waits for an executor")
}

// TestWhyNobodyPlanned: rows of one outage by what the planner knows of it.
func TestWhyNobodyPlanned(t *testing.T) {
	j := everySecond(t0.Add(-20*time.Second), model.MisfireSkip)
	s, err := ScheduleOf(j)
	require.NoError(t, err)
	r := rules()
	r.LastPlanMS = t0.Add(-10 * time.Second).UnixMilli()
	for _, want := range []string{"", model.ReasonStarved, model.ReasonNoDatabase, model.ReasonLocked} {
		r.Unplanned = want
		p := Plan(t0, j, model.Group{}, s, "n#1", r)
		require.Equal(t, model.ReasonMisfire, p.Runs[0].Reason, "planned too late by a center that was there")
		require.Equal(t, cmp.Or(want, model.ReasonCenterDown), p.Runs[14].Reason)
	}
	r.LockedMS = t0.Add(-12 * time.Second).UnixMilli()
	p := Plan(t0, j, model.Group{}, s, "n#1", r)
	require.Equal(t, model.ReasonMisfire, p.Runs[0].Reason)
	require.Equal(t, model.ReasonLocked, p.Runs[14].Reason, "somebody held the job itself")
}

func TestPlanEnds(t *testing.T) {
	j := everySecond(t0.Add(2*time.Second), model.MisfireSkip)
	j.ScheduleConf = "2 0 12 1 1 ? 2026"
	p := planOf(t, t0, j, model.Group{})
	require.Equal(t, []int{2}, seconds(p, model.PhasePlanned), "the last fire is made")
	require.Equal(t, model.JobEnded, p.Condition)
}

func TestPlanWithoutNextFireBegins(t *testing.T) {
	j := everySecond(time.Time{}, model.MisfireSkip)
	j.NextMS = 0 // a script of the field wrote trigger_status = 1 itself
	p := planOf(t, t0, j, model.Group{})
	require.Empty(t, p.Runs)
	require.Equal(t, t0.Add(time.Second).UnixMilli(), p.NextMS)
}

func TestPlanBroadcast(t *testing.T) {
	j := everySecond(t0.Add(5*time.Second), model.MisfireSkip)
	j.Route = model.RouteBroadcast
	p := planOf(t, t0, j, model.Group{AddressList: "http://a/,http://b/,http://c/"})
	require.Len(t, p.Runs, 3)
	require.Equal(t, "2/3", p.Runs[2].Sharding)
	require.NotEqual(t, p.Runs[0].FireKey, p.Runs[2].FireKey)
	p = planOf(t, t0, j, model.Group{})
	require.Len(t, p.Runs, 1, "without addresses the dispatcher expands")
	require.Empty(t, p.Runs[0].Sharding)
}

func TestOverdue(t *testing.T) {
	jobs := map[int]model.Job{1: {ID: 1, Misfire: model.MisfireSkip}, 2: {ID: 2, Misfire: model.MisfireFireOnce}}
	run := func(id int64, job int, age time.Duration, trigger model.TriggerType) model.Run {
		return model.Run{ID: id, JobID: job, PlannedMS: t0.Add(-age).UnixMilli(), TriggerType: trigger}
	}
	fire, miss := Overdue(t0, time.Minute, []model.Run{
		run(1, 1, 59*time.Second, model.TriggerCron), run(2, 1, 61*time.Second, model.TriggerCron),
		run(3, 2, 62*time.Second, model.TriggerCron), run(4, 2, 61*time.Second, model.TriggerCron),
		run(5, 1, time.Hour, model.TriggerManual), run(6, 1, time.Hour, model.TriggerRetry), run(7, 1, time.Hour, model.TriggerParent),
	}, jobs)
	ids := func(runs []model.Run) (out []int64) {
		for _, r := range runs {
			out = append(out, r.ID)
		}
		return out
	}
	require.Equal(t, []int64{1, 4, 5, 6, 7}, ids(fire))
	require.Equal(t, []int64{2, 3}, ids(miss))
}

func TestFollower(t *testing.T) {
	jobs := map[int]model.Job{
		1: {ID: 1, GroupID: 5, ChildIDs: "2, 3,1,99", Handler: "h"},
		2: {ID: 2, GroupID: 6, Handler: "c", Param: "own", RetryCount: 4},
		3: {ID: 3, GroupID: 6, Handler: "c"},
	}
	follow := Follower(t0, "n#1")
	t.Run("children of a success, with their own parameter", func(t *testing.T) {
		got := follow(model.Run{ID: 10, JobID: 1, HandleCode: 200}, jobs)
		require.Len(t, got, 2, "not itself, not a missing one")
		require.Equal(t, model.TriggerParent, got[0].TriggerType)
		require.Equal(t, "own", got[0].Param)
		require.Equal(t, 4, got[0].RetryLeft)
		require.EqualValues(t, 10, got[0].ParentID)
		require.Equal(t, "c:10:2", got[0].FireKey)
	})
	t.Run("retry keeps parameter and shard and is linked to the first attempt", func(t *testing.T) {
		got := follow(model.Run{ID: 11, FirstID: 9, JobID: 1, HandleCode: 500, RetryLeft: 2, Param: "x", Sharding: "1/3"}, jobs)
		require.Len(t, got, 1)
		require.Equal(t, 1, got[0].RetryLeft)
		require.Equal(t, "x", got[0].Param)
		require.Equal(t, "1/3", got[0].Sharding)
		require.EqualValues(t, 9, got[0].FirstID)
		require.Equal(t, "r:11", got[0].FireKey)
	})
	require.Empty(t, follow(model.Run{ID: 12, JobID: 1, HandleCode: 500}, jobs), "no retries left")
	require.Empty(t, follow(model.Run{ID: 13, JobID: 1, HandleCode: 500, RetryLeft: 1, Reason: model.ReasonKilled}, jobs), "killed is not failed")
	require.Empty(t, follow(model.Run{ID: 14, JobID: 77, HandleCode: 500, RetryLeft: 1}, jobs), "job deleted")
}

// TestMisfireThresholdOfAJob: the job's own one counts.
// TestOverdueObeysTheJob: a job that may be an hour late is not thrown away after a
// restart of some seconds, and what waits for an idle executor waits on.
func TestOverdueObeysTheJob(t *testing.T) {
	jobs := map[int]model.Job{1: {ID: 1, MisfireAfterSec: 3600}, 2: {ID: 2, Route: model.RouteGlobalBusyover}, 3: {ID: 3, MisfireAfterSec: 1}}
	run := func(job int, age time.Duration) model.Run {
		return model.Run{JobID: job, PlannedMS: t0.Add(-age).UnixMilli(), TriggerType: model.TriggerCron}
	}
	fire, miss := Overdue(t0, time.Minute, []model.Run{
		run(1, 15*time.Minute), run(1, 61*time.Minute), run(2, 5*time.Hour), run(3, 59*time.Second), run(3, 61*time.Second),
	}, jobs)
	require.Len(t, fire, 3)
	require.Len(t, miss, 2)
}

func TestMisfireThresholdOfAJob(t *testing.T) {
	j := everySecond(t0.Add(-20*time.Second), model.MisfireSkip)
	require.Len(t, seconds(planOf(t, t0, j, model.Group{}), model.PhaseMissed), 15, "the center's threshold")
	j.MisfireAfterSec = 60
	p := planOf(t, t0, j, model.Group{})
	require.Empty(t, seconds(p, model.PhaseMissed))
	require.Len(t, seconds(p, model.PhasePlanned), 26)
}

// TestALongOutageMakesTheNewestFire: more fires were missed than are walked.
func TestALongOutageMakesTheNewestFire(t *testing.T) {
	for _, kind := range []model.ScheduleType{model.ScheduleCron, model.ScheduleFixRate} {
		j := everySecond(t0.Add(-10*time.Hour), model.MisfireFireOnce)
		if j.ScheduleType = kind; kind == model.ScheduleFixRate {
			j.ScheduleConf = "1"
		}
		p := planOf(t, t0, j, model.Group{})
		var made []int64
		missed := 0
		for _, r := range p.Runs {
			if r.TriggerType == model.TriggerMisfire && r.Phase == model.PhasePlanned {
				made = append(made, r.PlannedMS)
			}
			if r.Phase == model.PhaseMissed {
				missed += r.Fires()
			}
		}
		require.Equal(t, []int64{t0.Add(-6 * time.Second).UnixMilli()}, made, kind)
		if kind == model.ScheduleFixRate {
			require.Equal(t, 10*3600-5-1, missed)
		} else {
			require.GreaterOrEqual(t, missed, maxMissedScan)
		}
	}
}
