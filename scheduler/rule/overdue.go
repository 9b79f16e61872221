package rule

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Overdue splits planned runs that were taken over: those to be fired even
// though they are late, and those that the misfire rule of their job skips, later
// than the takeover window and than the threshold of their job. Of a job that fires
// once after a misfire the newest instant stays. Runs that a person, a parent or a
// retry asked for are never skipped, nor are those that wait on purpose until an
// executor is free.
func Overdue(now time.Time, window time.Duration, runs []model.Run, jobs map[int]model.Job) (fire, miss []model.Run) {
	overdue := func(r *model.Run) bool {
		job := jobs[r.JobID]
		scheduled := r.TriggerType == model.TriggerCron || r.TriggerType == model.TriggerMisfire
		limit := max(window, time.Duration(job.MisfireAfterSec)*time.Second)
		return scheduled && job.Route != model.RouteGlobalBusyover && r.PlannedMS < now.Add(-limit).UnixMilli()
	}
	newest := map[int]int64{}
	for i := range runs {
		r := &runs[i]
		if overdue(r) && jobs[r.JobID].Misfire == model.MisfireFireOnce {
			newest[r.JobID] = max(newest[r.JobID], r.PlannedMS)
		}
	}
	for _, r := range runs {
		if !overdue(&r) || newest[r.JobID] == r.PlannedMS {
			fire = append(fire, r)
		} else {
			miss = append(miss, r)
		}
	}
	return fire, miss
}
