package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// PlanRules are the numbers that Plan needs.
type PlanRules struct {
	Horizon       time.Duration
	MisfireAfter  time.Duration
	MaxMissedRows int
	Location      *time.Location
}

// maxMissedScan bounds the walk through a long outage of a job that fires often.
const maxMissedScan = 5000

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
	horizon := now.Add(rules.Horizon).UnixMilli()
	late := now.Add(-rules.MisfireAfter).UnixMilli()
	var missed, fires []int64
	skipped := 0
	at := job.NextMS
	for at != 0 && at <= horizon {
		if at >= late {
			fires = append(fires, at)
		} else if missed = append(missed, at); len(missed) > maxMissedScan {
			// A long outage of a frequent job: jump to the threshold, in phase.
			skipped = len(missed) - rules.MaxMissedRows
			missed = missed[skipped:]
			at = jump(job, sched, at, late, rules.Location)
			continue
		}
		at = next(at)
	}
	p.NextMS = at
	misfire := int64(0)
	if len(missed) > 0 && job.Misfire == model.MisfireFireOnce {
		// The newest missed instant is made now, in the name of all of them.
		misfire, missed = missed[len(missed)-1], missed[:len(missed)-1]
	}
	if extra := len(missed) - rules.MaxMissedRows; extra > 0 {
		skipped += extra
		missed = missed[extra:]
	}
	for i, ms := range missed {
		r := plannedRun(job, ms, model.TriggerMisfire, "")
		r.Phase, r.TriggerCode, r.Reason, r.AlarmStatus = model.PhaseMissed, model.CodeMissed, model.ReasonMisfire, 1
		r.FinishedMS = now.UnixMilli()
		r.TriggerMsg = fmt.Sprintf("not made: %s later than planned, misfire strategy %s",
			now.Sub(time.UnixMilli(ms)).Truncate(time.Second), job.Misfire)
		if i == 0 && skipped > 0 {
			r.TriggerMsg += fmt.Sprintf("; at least %d earlier fires were missed as well", skipped)
		}
		p.Runs = append(p.Runs, r)
	}
	if misfire != 0 {
		p.Runs = append(p.Runs, expand(plannedRun(job, misfire, model.TriggerMisfire, owner), job, group)...)
		p.LastMS = misfire
	}
	for _, ms := range fires {
		p.Runs = append(p.Runs, expand(plannedRun(job, ms, model.TriggerCron, owner), job, group)...)
		p.LastMS = ms
	}
	return ended(p)
}

// Quarantine is the plan for a job whose definition cannot be followed.
func Quarantine(job model.Job, reason string) model.JobPlan {
	return model.JobPlan{
		JobID: job.ID, OldMS: job.NextMS, LastMS: job.LastMS,
		Condition: model.JobQuarantined, Reason: reason,
	}
}

func ended(p model.JobPlan) model.JobPlan {
	if p.NextMS == 0 {
		p.Condition, p.Reason = model.JobEnded, "the schedule has no further fire"
	}
	return p
}

// jump gives the first fire at or after late without walking all before it.
func jump(job model.Job, sched cron.Schedule, at, late int64, loc *time.Location) int64 {
	if job.ScheduleType == model.ScheduleFixRate {
		step := sched.Next(time.UnixMilli(at)).UnixMilli() - at
		return at + (late-at+step-1)/step*step
	}
	t := sched.Next(time.UnixMilli(late - 1).In(loc))
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
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
	n := len(group.Addresses())
	if job.Route != model.RouteBroadcast || n == 0 {
		return []model.Run{r}
	}
	out := make([]model.Run, n)
	for i := range out {
		out[i] = r
		out[i].Sharding = fmt.Sprintf("%d/%d", i, n)
		out[i].FireKey = fireKey(job.ID, r.PlannedMS, i)
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

// Broken says why a stored job cannot be run, or "".
func Broken(job model.Job) string {
	switch {
	case !job.GlueType.Known():
		return fmt.Sprintf("unknown run mode %q", job.GlueType)
	case job.Route != "" && !job.Route.Known():
		return fmt.Sprintf("unknown routing strategy %q", job.Route)
	case job.GlueType == model.GlueBean && job.Handler == "":
		return "no handler"
	}
	return ""
}
