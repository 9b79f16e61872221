package plan

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
	"github.com/stretchr/testify/require"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func everySecond(next time.Time) model.Job {
	return model.Job{ID: 7, GroupID: 1, ScheduleType: model.ScheduleCron, ScheduleConf: "* * * * * ?",
		NextMS: next.UnixMilli(), GlueType: model.GlueBean, Handler: "h", Status: model.JobRunning}
}

type boom struct{}

func (boom) Next(time.Time) time.Time { panic("boom") }

func TestOneBadJobIsQuarantinedAndStopsNothing(t *testing.T) {
	p := &Planner{Cfg: config.Config{}.WithDefaults(), Owners: func() []string { return []string{"a#1", "b#1"} }}
	good, bad, noHandler, panics := everySecond(t0), everySecond(t0), everySecond(t0), everySecond(t0)
	bad.ID, bad.ScheduleConf = 8, "not a cron"
	noHandler.ID, noHandler.Handler = 9, ""
	panics.ID, panics.ScheduleConf = 10, "boom"
	p.cache.m = map[[2]string]cron.Schedule{{"CRON", "boom"}: boom{}}
	plans := p.decide(t0, 0, []model.Job{bad, good, noHandler, panics}, nil)
	require.Equal(t, model.JobQuarantined, plans[0].Condition)
	require.Equal(t, model.JobNormal, plans[1].Condition)
	require.NotEmpty(t, plans[1].Runs)
	require.Equal(t, "broken_handler", plans[2].Reason.Code)
	require.Equal(t, "broken_internal", plans[3].Reason.Code)
}

func TestRunsAreSpreadEvenly(t *testing.T) {
	p := &Planner{Cfg: config.Config{}.WithDefaults(), Owners: func() []string { return []string{"a#1", "b#1"} }}
	var jobs []model.Job
	for i := range 100 {
		j := everySecond(t0.Add(5 * time.Second))
		j.ID = i + 1
		jobs = append(jobs, j)
	}
	n := map[string]int{}
	for _, plan := range p.decide(t0, 0, jobs, nil) {
		for _, r := range plan.Runs {
			n[r.Owner]++
		}
	}
	require.Equal(t, n["a#1"], n["b#1"])
}

// TestALockThatNobodyUsesIsAFault: another session holds the schedule lock and
// does not plan. A node that waits for a planning one is fine.
func TestALockThatNobodyUsesIsAFault(t *testing.T) {
	p := &Planner{began: t0.Add(-time.Hour)}
	require.NoError(t, p.someonePlans(t0, t0.Add(-3*time.Second).UnixMilli()))
	require.NoError(t, (&Planner{began: t0}).someonePlans(t0, 0), "nobody has planned yet")
	require.Error(t, p.someonePlans(t0, 0), "and nobody does")
	require.ErrorContains(t, p.someonePlans(t0, t0.Add(-time.Minute).UnixMilli()), "xxl_job_lock")
}

// TestAPageEndsAfterASecondOfComputing: it holds a transaction whose session the server
// ends when it is silent for long.
func TestAPageEndsAfterASecondOfComputing(t *testing.T) {
	now := t0
	cfg := config.Config{Now: func() time.Time { now = now.Add(300 * time.Millisecond); return now }}.WithDefaults()
	p := &Planner{Cfg: cfg, Owners: func() []string { return []string{"a#1"} }}
	var jobs []model.Job
	for i := range 100 {
		j := everySecond(t0)
		j.ID = i + 1
		jobs = append(jobs, j)
	}
	plans := p.decide(t0, 0, jobs, nil)
	require.NotEmpty(t, plans)
	require.Less(t, len(plans), 6)
}

// failing is a database that loses the session while a page of more than 50 is planned.
type failing struct{ pages []int }

func (f *failing) PlanDue(_ context.Context, _ int64, limit int, _ time.Time, _ func([]model.Job, map[int]model.Group) []model.JobPlan) (int, int, error) {
	f.pages = append(f.pages, limit)
	if limit > 50 {
		return 0, 0, errors.New("bad connection")
	}
	return 0, 0, nil
}
func (*failing) LockedJobs(context.Context, int64, int, time.Time) ([]int, error) { return nil, nil }
func (*failing) LastPlanMS(context.Context) (int64, error)                        { return 0, nil }

// TestAPageThatFailsIsHalved until pages work.
func TestAPageThatFailsIsHalved(t *testing.T) {
	st := &failing{}
	p := &Planner{Store: st, Cfg: config.Config{Now: func() time.Time { return t0 }}.WithDefaults(), Owners: func() []string { return []string{"a#1"} },
		Planned: func() {}, Noted: func(context.Context, time.Time) error { return nil }}
	for range 4 {
		require.Error(t, p.Plan(t.Context(), t0))
	}
	require.NoError(t, p.Plan(t.Context(), t0))
	require.Equal(t, []int{500, 250, 125, 62, 31}, st.pages)
}
