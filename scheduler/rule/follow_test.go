package rule

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/stretchr/testify/require"
)

// TestAStepOfTheClockNeitherLosesNorRepeats: the wall clock is set forward and
// back between passes of the planner. Each second is decided exactly once.
func TestAStepOfTheClockNeitherLosesNorRepeats(t *testing.T) {
	for _, steps := range [][]time.Duration{
		{time.Second, 10 * time.Minute, time.Second, time.Second},
		{time.Second, -10 * time.Minute, time.Second, 10 * time.Minute, time.Second},
		{time.Second, -time.Hour, 2 * time.Hour, -time.Hour, time.Second, time.Second},
	} {
		for _, misfire := range []model.MisfireStrategy{model.MisfireSkip, model.MisfireFireOnce} {
			job := model.Job{ID: 1, ScheduleType: model.ScheduleFixRate, ScheduleConf: "1", Misfire: misfire, Status: model.JobRunning, NextMS: t0.UnixMilli()}
			sched, err := ScheduleOf(job)
			require.NoError(t, err)
			decided := map[int64]int{}
			now := t0
			for _, step := range steps {
				if job.NextMS <= now.Add(5*time.Second).UnixMilli() {
					p := Plan(now, job, model.Group{}, sched, "n#1", PlanRules{Horizon: 5 * time.Second, MisfireAfter: 5 * time.Second, MaxMissedRows: 10000, Location: time.UTC})
					for _, r := range p.Runs {
						decided[r.PlannedMS] += r.Fires()
					}
					job.NextMS, job.LastMS = p.NextMS, p.LastMS
				}
				now = now.Add(step)
			}
			first, last := t0.UnixMilli(), job.NextMS
			for at := first; at < last; at += 1000 {
				require.Equal(t, 1, decided[at], "second %d of %d, steps %v", (at-first)/1000, (last-first)/1000, steps)
			}
			require.Len(t, decided, int((last-first)/1000))
		}
	}
}

// TestRetriesWait: fixed or growing, never longer than the limit.
func TestRetriesWait(t *testing.T) {
	for name, tc := range map[string]struct {
		job  model.Job
		want []time.Duration // after the first, second, … failure
	}{
		"at once by default": {model.Job{RetryCount: 2}, []time.Duration{0, 0}},
		"fixed":              {model.Job{RetryCount: 3, RetryDelaySec: 30}, []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second}},
		"growing": {model.Job{RetryCount: 4, RetryDelaySec: 10, RetryGrowing: true},
			[]time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}},
		"growing stops at the limit": {model.Job{RetryCount: 2, RetryDelaySec: model.MaxRetryDelaySec - 1, RetryGrowing: true},
			[]time.Duration{(model.MaxRetryDelaySec - 1) * time.Second, model.MaxRetryDelaySec * time.Second}},
		"a billion growing retries": {model.Job{RetryCount: 1_000_000_000, RetryDelaySec: 1, RetryGrowing: true}, []time.Duration{time.Second, 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.job.ID = 1
			run := model.Run{ID: 5, JobID: 1, HandleCode: 500, RetryLeft: tc.job.RetryCount}
			for i, want := range tc.want {
				got := Follower(t0, "n#1")(run, map[int]model.Job{1: tc.job})
				require.Len(t, got, 1)
				require.Equal(t, t0.Add(want).UnixMilli(), got[0].PlannedMS, "after failure %d", i+1)
				run = model.Run{ID: run.ID + 1, FirstID: 5, JobID: 1, HandleCode: 500, RetryLeft: got[0].RetryLeft}
			}
		})
	}
}

// TestCyclesStopAtRunTime: somebody wrote into the table that 1 starts 2 and 2
// starts 1. The chain ends with a missed row that says why.
func TestCyclesStopAtRunTime(t *testing.T) {
	jobs := map[int]model.Job{1: {ID: 1, ChildIDs: "2"}, 2: {ID: 2, ChildIDs: "1"}}
	follow := Follower(t0, "n#1")
	first := follow(model.Run{ID: 10, JobID: 1, HandleCode: 200}, jobs)
	require.Equal(t, model.PhasePlanned, first[0].Phase)
	first[0].ID, first[0].HandleCode = 11, 200
	second := follow(first[0], jobs)
	require.Len(t, second, 1)
	require.Equal(t, model.PhaseMissed, second[0].Phase)
	require.Equal(t, model.ReasonCycle, second[0].Reason)
	require.Equal(t, "1 > 2 > 1", second[0].Note.Said[0].Args["Chain"])

	// A long chain without a circle ends too, some day.
	long := map[int]model.Job{}
	for i := 1; i <= 100; i++ {
		long[i] = model.Job{ID: i, ChildIDs: fmt.Sprint(i + 1)}
	}
	run, n := model.Run{ID: 1, JobID: 1, HandleCode: 200}, 1
	for {
		next := follow(run, long)
		require.Len(t, next, 1)
		require.LessOrEqual(t, len(next[0].Lineage), 255)
		if next[0].Phase == model.PhaseMissed {
			break
		}
		n++
		run = next[0]
		run.ID, run.HandleCode = int64(n), 200
	}
	require.Equal(t, maxGenerations, n)
}
