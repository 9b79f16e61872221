// Package plan is the loop that writes the runs that are due soon down as rows.
package plan

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
)

// Store is what planning needs from the database.
type Store interface {
	PlanDue(ctx context.Context, untilMS int64, limit int, now time.Time,
		plan func([]model.Job, map[int]model.Group) []model.JobPlan) (jobs, runs int, err error)
	LastPlanMS(ctx context.Context) (int64, error)
}

// Planner writes the runs that are due soon down as rows.
type Planner struct {
	Store   Store
	Cfg     config.Config
	Owners  func() []string                        //  living nodes, this one included
	Planned func()                                 // called after new runs were written
	Noted   func(context.Context, time.Time) error // called after everything due was planned
	turn    atomic.Uint64                          // spreads runs evenly over the owners
	began   time.Time                              // of the first pass
	cache   scheduleCache
}

// Plan pages through everything that is due until nothing is left. Whoever does
// not get the lock skips this tick: another node is planning.
//
// Jobs are taken up when their next fire is nearer than half the horizon and
// planned to its end: a job that fires each second is touched every third second.
func (p *Planner) Plan(ctx context.Context, now time.Time) error {
	if p.began.IsZero() {
		p.began = now
	}
	last, err := p.Store.LastPlanMS(ctx)
	if err != nil {
		return fmt.Errorf("last plan: %w", err)
	}
	for {
		cut := false
		read, written, err := p.Store.PlanDue(ctx, now.Add(p.Cfg.Horizon/2).UnixMilli(), p.Cfg.PlanPage, now,
			func(jobs []model.Job, groups map[int]model.Group) []model.JobPlan {
				plans := p.decide(now, last, jobs, groups)
				cut = len(plans) < len(jobs)
				return plans
			})
		if errors.Is(err, model.ErrLocked) {
			return p.someonePlans(now, last)
		}
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if written > 0 {
			p.Planned()
		}
		if read < p.Cfg.PlanPage && !cut {
			return p.Noted(ctx, now)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now = p.Cfg.Now()
	}
}

// maxPlanRows bounds the rows of one transaction after a long outage: beats and
// claims must get through between two of them.
const maxPlanRows = 10000

// lockedTooLong is after how long without a plan a locked lock is a fault.
const lockedTooLong = 15 * time.Second

// someonePlans is the outcome of a pass that did not get the lock: fine while the
// one who has it plans.
func (p *Planner) someonePlans(now time.Time, lastPlanMS int64) error {
	last := p.began
	if at := time.UnixMilli(lastPlanMS); at.After(last) {
		last = at
	}
	if now.Sub(last) < lockedTooLong {
		return nil
	}
	return fmt.Errorf("the schedule lock or a due job is locked by another session and nobody has planned since %s: look for a hanging transaction on xxl_job_lock and xxl_job_info",
		last.Format(time.RFC3339))
}

func (p *Planner) decide(now time.Time, lastPlanMS int64, jobs []model.Job, groups map[int]model.Group) []model.JobPlan {
	owners := p.Owners()
	rules := rule.PlanRules{
		Horizon: p.Cfg.Horizon, MisfireAfter: p.Cfg.MisfireAfter, MaxMissedRows: p.Cfg.MaxMissedRows, Location: p.Cfg.Location,
		LastPlanMS: lastPlanMS,
	}
	plans := make([]model.JobPlan, 0, len(jobs))
	rows := 0
	for _, job := range jobs {
		if rows > maxPlanRows {
			break // the rest is due still: the next page
		}
		plans = append(plans, p.decideOne(now, job, groups[job.GroupID], owners[p.turn.Add(1)%uint64(len(owners))], rules))
		rows += len(plans[len(plans)-1].Runs)
	}
	return plans
}

// decideOne keeps one bad job from stopping the loop, whatever is wrong with it.
func (p *Planner) decideOne(now time.Time, job model.Job, group model.Group, owner string, rules rule.PlanRules) (plan model.JobPlan) {
	defer func() {
		if x := recover(); x != nil {
			plan = rule.Quarantine(job, fmt.Sprintf("internal error: %v", x))
		}
		if plan.Condition != model.JobNormal {
			p.Cfg.Logger.Warn("job stopped by the scheduler", "job_id", job.ID, "condition", plan.Condition, "reason", plan.Reason)
		}
	}()
	if reason := rule.Broken(job); reason != "" {
		return rule.Quarantine(job, reason)
	}
	sched, err := p.cache.get(job)
	if err != nil {
		return rule.Quarantine(job, err.Error())
	}
	return rule.Plan(now, job, group, sched, owner, rules)
}

// scheduleCache keeps parsed schedules by their text. It is used by the Planner
// loop alone.
type scheduleCache struct {
	m map[[2]string]cron.Schedule
}

const scheduleCacheSize = 20000

func (c *scheduleCache) get(job model.Job) (cron.Schedule, error) {
	key := [2]string{string(job.ScheduleType), job.ScheduleConf}
	if s, ok := c.m[key]; ok {
		return s, nil
	}
	s, err := rule.ScheduleOf(job)
	if err != nil {
		return nil, err
	}
	if c.m == nil || len(c.m) >= scheduleCacheSize {
		c.m = map[[2]string]cron.Schedule{}
	}
	c.m[key] = s
	return s, nil
}
