package alarm

import (
	"context"

	"github.com/carillon-scheduler/carillon/model"
)

// lates looks for fires that are not sent although their time is over for longer than the rule
// of their job allows: runs that wait, and fires that nobody has written down.
func (e *Engine) lates(ctx context.Context, w *Work) error {
	least := int64(0)
	for _, r := range w.Rules {
		if at := int64(r.LateMinutes) * 60_000; !r.Off && at > 0 && (least == 0 || at < least) {
			least = at
		}
	}
	if least == 0 {
		return nil
	}
	now := w.Now.UnixMilli()
	list, err := e.Store.LateFires(ctx, now-least)
	if err != nil || len(list) == 0 {
		return err
	}
	var ids []int
	for _, x := range list {
		ids = append(ids, x.JobID)
	}
	jobs, err := e.Store.JobsToWatch(ctx, ids)
	if err != nil {
		return err
	}
	for _, x := range list {
		job, there := jobs[x.JobID]
		if !there {
			continue
		}
		if limit := int64(w.Rules.For(&job).LateMinutes) * 60_000; limit > 0 && now-x.DueMS > limit {
			w.Conditions = append(w.Conditions, Condition{Subject: model.WatchedJob(model.WatchLate, job.ID), JobID: job.ID, GroupID: job.GroupID, RunID: x.RunID, SinceMS: x.DueMS, Reason: model.AlarmLate,
				Detail: model.AlarmDetail{DueMS: x.DueMS, LimitMS: limit}})
		}
	}
	return nil
}
