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
	LockedJobs(ctx context.Context, untilMS int64, limit int, now time.Time) ([]int, error)
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

	page     pageSize
	failedAt time.Time     // of the last pass that failed
	outAt    time.Time     // of the last pass that did not get the schedule lock
	locked   map[int]int64 // jobs that somebody else holds, since when (epoch ms)
	held     map[int]int64 // those of the pass before
	warned   map[int]bool
}

// Plan pages through everything that is due until nothing is left. Whoever does
// not get the lock skips this tick: another node is planning.
//
// Jobs are taken up when their next fire is nearer than half the horizon and
// planned to its end: a job that fires each second is touched every third second.
func (p *Planner) Plan(ctx context.Context, now time.Time) error {
	if p.began.IsZero() {
		p.began, p.warned = now, map[int]bool{}
	}
	last, err := p.Store.LastPlanMS(ctx)
	if err != nil {
		return fmt.Errorf("last plan: %w", err)
	}
	for {
		cut := false
		began, page := p.Cfg.Now(), p.page.size(p.Cfg.PlanPage)
		until := now.Add(p.Cfg.Horizon / 2).UnixMilli()
		read, written, err := p.Store.PlanDue(ctx, until, page, now,
			func(jobs []model.Job, groups map[int]model.Group) []model.JobPlan {
				plans := p.decide(now, last, jobs, groups)
				cut = len(plans) < len(jobs)
				return plans
			})
		if errors.Is(err, model.ErrLocked) {
			p.outAt = now
			return p.someonePlans(now, last)
		}
		if err != nil {
			p.page.failed(page)
			p.failedAt = now
			return fmt.Errorf("plan: %w", err)
		}
		p.page.worked(p.Cfg.Now().Sub(began))
		if written > 0 {
			p.Planned()
		}
		if read < page && !cut {
			return errors.Join(p.noteLocked(ctx, until, now), p.Noted(ctx, now))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now = p.Cfg.Now()
	}
}

// noteLocked remembers which jobs could not be planned as another session holds their
// rows, and says so once.
func (p *Planner) noteLocked(ctx context.Context, until int64, now time.Time) error {
	ids, err := p.Store.LockedJobs(ctx, until, lockedMax, now)
	if err != nil {
		return fmt.Errorf("locked jobs: %w", err)
	}
	held := make(map[int]int64, len(ids))
	for _, id := range ids {
		since, known := p.locked[id]
		if !known {
			since = now.UnixMilli()
		} else if age := now.UnixMilli() - since; age >= lockedWarn && !p.warned[id] {
			p.warned[id] = true
			p.Cfg.Logger.Warn("a job cannot be planned: another session has locked its row, look for a hanging transaction on xxl_job_info", "job_id", id)
		}
		held[id] = since
	}
	for id := range p.warned {
		if _, still := held[id]; !still {
			p.Cfg.Logger.Info("a job that was locked can be planned again", "job_id", id)
			delete(p.warned, id)
		}
	}
	p.held, p.locked = p.locked, held
	return nil
}

const (
	// lockedMax bounds the jobs that are remembered as locked.
	lockedMax = 1000
	// lockedWarn is for how long a job may be locked before somebody should look, in ms.
	lockedWarn = 3000
	// decideTime bounds the computing of one page: it happens inside a transaction whose
	// session the server ends when it is silent for some seconds.
	decideTime = time.Second
)

// pageSize follows what the database bears: a page that failed is halved until pages
// work, and grows again.
type pageSize struct{ n int }

func (p *pageSize) size(most int) int {
	if p.n == 0 || p.n > most {
		return most
	}
	return p.n
}

func (p *pageSize) failed(page int) { p.n = max(1, page/2) }

func (p *pageSize) worked(took time.Duration) {
	if p.n > 0 && took < decideTime {
		p.n *= 2
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

// unplanned says why nobody has planned since the last plan: this process was there
// all the time, or it was not.
func (p *Planner) unplanned(lastPlanMS int64) string {
	switch {
	case p.began.IsZero() || p.began.UnixMilli() > lastPlanMS:
		return model.ReasonCenterDown
	case p.failedAt.UnixMilli() >= lastPlanMS:
		return model.ReasonNoDatabase
	}
	if p.outAt.UnixMilli() >= lastPlanMS {
		return model.ReasonLocked
	}
	return model.ReasonStarved
}

func (p *Planner) decide(now time.Time, lastPlanMS int64, jobs []model.Job, groups map[int]model.Group) []model.JobPlan {
	owners := p.Owners()
	rules := rule.PlanRules{
		Horizon: p.Cfg.Horizon, MisfireAfter: p.Cfg.MisfireAfter, MaxMissedRows: p.Cfg.MaxMissedRows, Location: p.Cfg.Location,
		LastPlanMS: lastPlanMS, Unplanned: p.unplanned(lastPlanMS),
	}
	began := p.Cfg.Now()
	plans := make([]model.JobPlan, 0, len(jobs))
	rows := 0
	for _, job := range jobs {
		if rows > maxPlanRows || len(plans) > 0 && p.Cfg.Now().Sub(began) > decideTime {
			break // the rest is due still: the next page
		}
		rules.LockedMS = max(p.locked[job.ID], p.held[job.ID])
		plans = append(plans, p.decideOne(now, job, groups[job.GroupID], owners[p.turn.Add(1)%uint64(len(owners))], rules))
		rows += len(plans[len(plans)-1].Runs)
	}
	return plans
}

// decideOne keeps one bad job from stopping the loop, whatever is wrong with it.
func (p *Planner) decideOne(now time.Time, job model.Job, group model.Group, owner string, rules rule.PlanRules) (plan model.JobPlan) {
	defer func() {
		if x := recover(); x != nil {
			plan = rule.Quarantine(job, model.Say("broken_internal", "Text", fmt.Sprint(x)))
		}
		if plan.Condition != model.JobNormal {
			p.Cfg.Logger.Warn("job stopped by the scheduler", "job_id", job.ID, "condition", plan.Condition, "reason", model.PlainWords(plan.Reason))
		}
	}()
	if reason, ok := rule.Broken(job); !ok {
		return rule.Quarantine(job, reason)
	}
	sched, err := p.cache.get(job)
	if err != nil {
		return rule.Quarantine(job, model.Say("broken_schedule", "Value", job.ScheduleConf, "Text", err.Error()))
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
