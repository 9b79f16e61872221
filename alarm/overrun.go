package alarm

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// leastUnusual is how long a run may take however short those before it were.
const leastUnusual = time.Minute

// usually is how long the runs of a job take, as it was counted when a run of it became long.
type usually struct {
	run int64
	ms  int64 // 0 = too few are known
}

// overruns looks for runs that take too long: longer than the rule of their job allows, or
// many times as long as they usually do. Runs that are open since long are read from an index.
func (e *Engine) overruns(ctx context.Context, w *Work) error {
	least := int64(0)
	for _, r := range w.Rules {
		at := int64(0)
		switch {
		case r.Off:
		case r.OverrunTimes > 0:
			at = leastUnusual.Milliseconds()
		case r.OverrunMinutes > 0:
			at = int64(r.OverrunMinutes) * 60_000
		}
		if at > 0 && (least == 0 || at < least) {
			least = at
		}
	}
	if least == 0 {
		e.usual = nil
		return nil
	}
	now := w.Now.UnixMilli()
	open, err := e.Store.OpenRuns(ctx, now-least)
	if err != nil || len(open) == 0 {
		e.usual = nil
		return err
	}
	var ids []int
	for _, x := range open {
		ids = append(ids, x.JobID)
	}
	jobs, err := e.Store.JobsToWatch(ctx, ids)
	if err != nil {
		return err
	}
	if err := e.learn(ctx, w.Rules, open, jobs); err != nil {
		return err
	}
	for _, x := range open {
		job, there := jobs[x.JobID]
		if !there {
			continue
		}
		if reason, d := overrun(w.Rules.For(&job).AlarmSettings, x, e.usual[x.JobID].ms, now); reason != "" {
			w.Conditions = append(w.Conditions, Condition{Subject: model.WatchedJob(model.WatchOverrun, job.ID), JobID: job.ID, GroupID: job.GroupID, RunID: x.RunID, Reason: reason, Detail: d})
		}
	}
	return nil
}

// overrun says why a run takes too long, "" when it does not.
func overrun(s model.AlarmSettings, x model.OpenRun, usualMS, now int64) (reason string, d model.AlarmDetail) {
	takes := now - x.SentMS
	if limit := int64(s.OverrunMinutes) * 60_000; limit > 0 && takes > limit {
		return model.AlarmOverrun, model.AlarmDetail{SentMS: x.SentMS, LimitMS: limit, UsualMS: usualMS}
	}
	if limit := max(int64(s.OverrunTimes)*usualMS, leastUnusual.Milliseconds()); s.OverrunTimes > 0 && usualMS > 0 && takes > limit {
		return model.AlarmUnusual, model.AlarmDetail{SentMS: x.SentMS, LimitMS: limit, UsualMS: usualMS}
	}
	return "", model.AlarmDetail{}
}

// learn counts how long the runs of jobs usually take, once for each run that has become long.
func (e *Engine) learn(ctx context.Context, rules Rules, open []model.OpenRun, jobs map[int]model.Job) error {
	known := map[int]usually{}
	var fresh []int
	for _, x := range open {
		job, there := jobs[x.JobID]
		if !there || rules.For(&job).OverrunTimes == 0 {
			continue
		}
		if old, there := e.usual[x.JobID]; there && old.run == x.RunID {
			known[x.JobID] = old
			continue
		}
		fresh = append(fresh, x.JobID)
		known[x.JobID] = usually{run: x.RunID}
	}
	counted, err := e.Store.UsualDurations(ctx, fresh)
	if err != nil {
		return err
	}
	for id, ms := range counted {
		known[id] = usually{known[id].run, ms}
	}
	e.usual = known
	return nil
}
