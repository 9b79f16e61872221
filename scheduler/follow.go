package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Follower gives the function that decides what follows from a finished run:
// the children of a success, a retry of a failure. The runs are due at now and
// belong to owner. Their fire keys name the run they come from, so each
// follows exactly once whatever is repeated.
func Follower(now time.Time, owner string) model.Follow {
	return func(run model.Run, jobs map[int]model.Job) []model.Run {
		job, ok := jobs[run.JobID]
		if !ok {
			return nil // deleted meanwhile
		}
		if run.HandleCode == model.CodeSuccess {
			return children(now, owner, run, job, jobs)
		}
		if run.RetryLeft <= 0 || run.Reason == model.ReasonKilled {
			return nil
		}
		r := followRun(now, owner)
		r.TriggerType, r.RetryLeft = model.TriggerRetry, run.RetryLeft-1
		r.GroupID, r.JobID, r.Handler, r.Param, r.Sharding = job.GroupID, job.ID, job.Handler, run.Param, run.Sharding
		r.FireKey = fmt.Sprintf("r:%d", run.ID)
		r.ParentID = run.ParentID
		if r.FirstID = run.FirstID; r.FirstID == 0 {
			r.FirstID = run.ID
		}
		return []model.Run{r}
	}
}

func children(now time.Time, owner string, run model.Run, job model.Job, jobs map[int]model.Job) []model.Run {
	ids, err := model.ChildIDList(job.ChildIDs)
	if err != nil {
		return nil // refused at save; a Java admin may have written it
	}
	var out []model.Run
	for _, id := range ids {
		child, ok := jobs[id]
		if !ok || id == job.ID {
			continue
		}
		r := followRun(now, owner)
		r.TriggerType, r.RetryLeft = model.TriggerParent, child.RetryCount
		r.GroupID, r.JobID, r.Handler, r.Param = child.GroupID, child.ID, child.Handler, child.Param
		r.FireKey = fmt.Sprintf("c:%d:%d", run.ID, id)
		r.ParentID = run.ID
		out = append(out, r)
	}
	return out
}

func followRun(now time.Time, owner string) model.Run {
	return model.Run{
		TriggerTime: now.Truncate(time.Second), PlannedMS: now.UnixMilli(), Phase: model.PhasePlanned, Owner: owner,
	}
}
