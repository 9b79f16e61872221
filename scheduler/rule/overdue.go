package rule

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Overdue splits planned runs that were taken over: those to be fired even
// though they are late, and those beyond the takeover window that the misfire
// rule of their job skips. Of a job that fires once after a misfire the newest
// instant stays. Runs that a person, a parent or a retry asked for are never
// skipped.
func Overdue(now time.Time, window time.Duration, runs []model.Run, jobs map[int]model.Job) (fire, miss []model.Run) {
	limit := now.Add(-window).UnixMilli()
	overdue := func(r *model.Run) bool {
		scheduled := r.TriggerType == model.TriggerCron || r.TriggerType == model.TriggerMisfire
		return scheduled && r.PlannedMS < limit
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
