// Package rule holds the pure rules of planning: which runs a job gets, what is too late, and
// what follows from a run that has ended.
package rule

import (
	"cmp"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// PlanRules are the numbers that Plan needs.
type PlanRules struct {
	Horizon       time.Duration
	MisfireAfter  time.Duration // of jobs without a threshold of their own
	MaxMissedRows int
	Location      *time.Location
	// LastPlanMS is when a center planned last, epoch ms, 0 = never: what was
	// missed after it was missed because no center could plan.
	LastPlanMS int64
	// Unplanned says why nobody has planned since: ReasonCenterDown unless the planner
	// knows better.
	Unplanned string
	// LockedMS is since when another session had this job locked, epoch ms, 0 = it had not.
	LockedMS int64
}

// maxMissedScan bounds the walk through a long outage of a job that fires often.
const maxMissedScan = 20000

// Plan decides what becomes of one due job: every fire from its next one up to
// now + horizon, the misfire rule for those later than the threshold, and its
// new next fire. It is a pure function; owner says who rings the runs. A job
// whose definition cannot be followed is quarantined, one without a further
// fire is ended; neither is an error.
func Plan(now time.Time, job model.Job, group model.Group, sched cron.Schedule, owner string, rules PlanRules) model.JobPlan {
	p := model.JobPlan{JobID: job.ID, OldMS: job.NextMS, LastMS: job.LastMS, NextMS: job.NextMS}
	next := func(ms int64) int64 {
		t := sched.Next(time.UnixMilli(ms).In(rules.Location))
		if t.IsZero() {
			return 0
		}
		return t.UnixMilli()
	}
	if job.NextMS == 0 {
		// Switched on by others without a next fire: it begins now.
		p.NextMS = next(now.UnixMilli())
		return ended(p)
	}
	threshold := rules.MisfireAfter
	if job.MisfireAfterSec > 0 {
		threshold = time.Duration(job.MisfireAfterSec) * time.Second
	}
	horizon := now.Add(rules.Horizon).UnixMilli()
	nobody := unreachable(job, group)
	if nobody {
		horizon = now.UnixMilli() // until its instant an executor may register
	}
	late := now.Add(-threshold).UnixMilli()
	var lost misses
	var fires []int64
	at := job.NextMS
	for at != 0 && at <= horizon {
		if at >= late {
			fires = append(fires, at)
		} else if lost.add(at); len(lost.at) > maxMissedScan {
			// A long outage of a frequent job: jump to the threshold, in phase.
			at = lost.jump(job, sched, late, rules.Location)
			continue
		}
		at = next(at)
	}
	p.NextMS = at
	misfire := int64(0)
	if len(lost.at) > 0 && job.Misfire == model.MisfireFireOnce {
		// The newest missed instant is made now, in the name of all of them.
		if lost.newest != 0 {
			misfire = lost.newest
			lost.jumped = max(0, lost.jumped-1)
		} else {
			misfire, lost.at = lost.at[len(lost.at)-1], lost.at[:len(lost.at)-1]
		}
	}
	p.Runs = lost.rows(now, job, rules)
	turn := job.Turn
	fire := func(ms int64, trigger model.TriggerType) {
		turn++
		r := plannedRun(job, ms, trigger, owner)
		r.Turn = turn
		if nobody {
			refuse(&r, now, group)
		}
		p.Runs = append(p.Runs, expand(r, job, group)...)
		p.LastMS = ms
	}
	if misfire != 0 {
		fire(misfire, model.TriggerMisfire)
	}
	for _, ms := range fires {
		fire(ms, model.TriggerCron)
	}
	p.Turns = int(turn - job.Turn)
	return ended(p)
}

// unreachable reports whether the fires of a job can be decided where they are
// planned: its executor has no address, and no retry follows. Thousands of such jobs
// must not take the time of those that have an executor.
func unreachable(job model.Job, group model.Group) bool {
	return group.ID != 0 && job.RetryCount <= 0 && job.Route != model.RouteGlobalBusyover && len(group.Addresses()) == 0
}

// refuse ends a run that has nowhere to go.
func refuse(r *model.Run, now time.Time, group model.Group) {
	r.Phase, r.TriggerCode, r.Reason, r.FinishedMS, r.Owner = model.PhaseFinished, model.CodeFail, model.ReasonNoAddress, max(now.UnixMilli(), r.PlannedMS), ""
	r.Param = ""
	r.Note.Said = []model.Said{model.Say(model.ReasonNoAddress, "App", group.AppName)}
}

// misses are the instants of one job that are too late to be made.
type misses struct {
	at      []int64 // in order
	jumped  int     // further ones, after those in at, that were not walked
	atLeast bool    // there were more than could be counted
	newest  int64   // the last one of those that were not walked, 0 = all were walked
}

func (m *misses) add(ms int64) { m.at = append(m.at, ms) }

// jump gives the first fire at or after late without walking all before it.
func (m *misses) jump(job model.Job, sched cron.Schedule, late int64, loc *time.Location) int64 {
	last := m.at[len(m.at)-1]
	if job.ScheduleType == model.ScheduleFixRate {
		step := sched.Next(time.UnixMilli(last)).UnixMilli() - last
		n := (late - last + step - 1) / step
		m.jumped = int(n - 1)
		if m.jumped > 0 {
			m.newest = last + (n-1)*step
		}
		return last + n*step
	}
	m.atLeast = true
	m.newest = newestBefore(sched, last, late, loc)
	t := sched.Next(time.UnixMilli(late - 1).In(loc))
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// newestBefore finds the last fire in (after, late), 0 = there is none. Schedules only
// go forward, so it halves the reach: some forty steps, however long the outage was.
func newestBefore(sched cron.Schedule, after, late int64, loc *time.Location) int64 {
	next := func(ms int64) int64 {
		if t := sched.Next(time.UnixMilli(ms).In(loc)); !t.IsZero() {
			return t.UnixMilli()
		}
		return late
	}
	found := int64(0)
	for low, high := after, late; low < high; {
		middle := low + (high-low)/2
		if at := next(middle); at < late {
			found, low = at, at
		} else {
			high = middle
		}
	}
	return found
}

// rows lists what was missed: the newest one by one, all before them in one row
// that says how many they are.
func (m *misses) rows(now time.Time, job model.Job, rules PlanRules) []model.Run {
	var out []model.Run
	row := func(ms int64) *model.Run {
		r := plannedRun(job, ms, model.TriggerMisfire, "")
		r.Phase, r.TriggerCode, r.AlarmStatus, r.FinishedMS = model.PhaseMissed, model.CodeMissed, 1, now.UnixMilli()
		r.Param = "" // nobody gets it, and it may be large
		r.Reason = model.ReasonMisfire
		args := []any{"LateMS", now.Sub(time.UnixMilli(ms)).Milliseconds(), "Strategy", string(job.Misfire)}
		switch {
		case rules.LockedMS > 0 && ms >= rules.LockedMS-rules.Horizon.Milliseconds():
			r.Reason = model.ReasonLocked
			args = append(args, "FromAt", rules.LockedMS, "UntilAt", now.UnixMilli())
		case rules.LastPlanMS > 0 && ms >= rules.LastPlanMS:
			r.Reason = cmp.Or(rules.Unplanned, model.ReasonCenterDown)
			args = append(args, "FromAt", rules.LastPlanMS, "UntilAt", now.UnixMilli())
		}
		r.Note.Said = []model.Said{model.Say(r.Reason, args...)}
		out = append(out, r)
		return &out[len(out)-1]
	}
	at := m.at
	if extra := len(at) - rules.MaxMissedRows; extra > 0 || m.jumped > 0 || m.atLeast {
		if m.jumped > 0 || m.atLeast {
			extra = len(at) // what was not walked is newer than all of them
		}
		r := row(at[extra-1])
		r.MissedFires = extra + m.jumped
		code := "stands_for"
		if m.atLeast {
			code = "stands_for_at_least"
		}
		r.Note.Said = append(r.Note.Said, model.Say(code, "Count", r.MissedFires, "FromAt", at[0]))
		at = at[extra:]
	}
	for _, ms := range at {
		row(ms)
	}
	return out
}

// Quarantine is the plan for a job whose definition cannot be followed.
func Quarantine(job model.Job, reason model.Said) model.JobPlan {
	return model.JobPlan{
		JobID: job.ID, OldMS: job.NextMS, LastMS: job.LastMS,
		Condition: model.JobQuarantined, Reason: reason,
	}
}

func ended(p model.JobPlan) model.JobPlan {
	if p.NextMS == 0 {
		p.Condition, p.Reason = model.JobEnded, model.Say("schedule_ended")
	}
	return p
}

func plannedRun(job model.Job, ms int64, trigger model.TriggerType, owner string) model.Run {
	return model.Run{
		GroupID: job.GroupID, JobID: job.ID, Handler: job.Handler, Param: job.Param, RetryLeft: job.RetryCount,
		TriggerTime: time.UnixMilli(ms).Truncate(time.Second), PlannedMS: ms,
		Phase: model.PhasePlanned, TriggerType: trigger, Owner: owner, FireKey: fireKey(job.ID, ms, 0),
	}
}

// fireKey is unique per job, planned instant and shard.
func fireKey(jobID int, ms int64, shard int) string {
	return fmt.Sprintf("%d:%d:%d", jobID, ms, shard)
}

// expand makes one run per address of a broadcast when the addresses are known;
// otherwise the dispatcher does.
func expand(r model.Run, job model.Job, group model.Group) []model.Run {
	n := len(group.Taking())
	if job.Route != model.RouteBroadcast || n == 0 {
		return []model.Run{r}
	}
	out := make([]model.Run, n)
	for i := range out {
		out[i] = r
		out[i].Sharding = fmt.Sprintf("%d/%d", i, n)
		out[i].FireKey = fireKey(job.ID, r.PlannedMS, i)
		out[i].ShardKey = fmt.Sprintf("%d:%d", job.ID, r.PlannedMS)
	}
	return out
}

// ScheduleOf reads the schedule of a stored job leniently, as the original
// would. NONE has no schedule and is an error here: such a job is never due.
func ScheduleOf(job model.Job) (cron.Schedule, error) {
	switch job.ScheduleType {
	case model.ScheduleCron:
		return cron.ParseLenient(job.ScheduleConf)
	case model.ScheduleFixRate:
		return cron.ParseFixedRate(job.ScheduleConf)
	}
	return nil, fmt.Errorf("schedule type %q has no fire times", job.ScheduleType)
}

// Broken says why a stored job cannot be run; ok says that it can.
func Broken(job model.Job) (why model.Said, ok bool) {
	switch {
	case !job.GlueType.Known():
		return model.Say("broken_run_mode", "Value", string(job.GlueType)), false
	case job.Route != "" && !job.Route.Known():
		return model.Say("broken_route", "Value", string(job.Route)), false
	case job.GlueType == model.GlueBean && job.Handler == "":
		return model.Say("broken_handler"), false
	}
	return model.Said{}, true
}
