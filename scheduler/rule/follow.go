package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Follower gives the function that decides what follows from a finished run:
// the children of a success, a retry of a failure. The runs belong to owner;
// children are due at now, a retry when its wait is over. Their fire keys name
// the run (of a retried one the first attempt, of a broadcast the whole) they
// come from, so each follows exactly once whatever is repeated.
func Follower(now time.Time, owner string) model.Follow {
	return func(run model.Run, jobs map[int]model.Job) []model.Run {
		job, ok := jobs[run.JobID]
		if !ok {
			return nil // deleted meanwhile
		}
		if run.HandleCode == model.CodeSuccess {
			return children(now, owner, run, job, jobs)
		}
		if run.RetryLeft <= 0 || !retried(run.Reason) {
			return nil
		}
		r := followRun(now.Add(retryDelay(job, run.RetryLeft)), owner)
		r.TriggerType, r.RetryLeft = model.TriggerRetry, run.RetryLeft-1
		r.GroupID, r.JobID, r.Handler, r.Param, r.Sharding = job.GroupID, job.ID, job.Handler, run.Param, run.Sharding
		r.FireKey, r.RetryOf = fmt.Sprintf("r:%d", run.ID), run.ID
		r.ParentID, r.FirstID, r.ShardKey, r.Lineage = run.ParentID, run.FirstAttempt(), run.ShardKey, run.Lineage
		return []model.Run{r}
	}
}

// retried reports whether a run that ended for the reason is tried again. What a
// person or a later run ended is not: it would end that later run in turn.
func retried(reason string) bool {
	info, known := model.ReasonOf(reason)
	return reason != model.ReasonKillAsked && (!known || !info.Final)
}

// retryDelay is the wait before the next attempt; left is how many attempts the
// failed run had left.
func retryDelay(job model.Job, left int) time.Duration {
	sec := min(max(0, job.RetryDelaySec), model.MaxRetryDelaySec)
	if job.RetryGrowing {
		for range max(0, job.RetryCount-left) {
			if sec = min(2*sec, model.MaxRetryDelaySec); sec == model.MaxRetryDelaySec || sec == 0 {
				break
			}
		}
	}
	return time.Duration(sec) * time.Second
}

// maxGenerations bounds a chain of children; the lineage column holds as many.
const maxGenerations = 20

// children gives the runs that a success starts. A broadcast starts them once,
// with the success of its last shard. A child that is among its own ancestors is
// a missed run: it would start itself for ever.
func children(now time.Time, owner string, run model.Run, job model.Job, jobs map[int]model.Job) []model.Run {
	if run.ShardsLeft > 0 {
		return nil
	}
	ids, err := model.ChildIDList(job.ChildIDs)
	if err != nil {
		return nil // refused at save; a Java admin may have written it
	}
	from := strconv.FormatInt(run.FirstAttempt(), 10)
	if run.ShardKey != "" {
		from = run.ShardKey
	}
	lineage := run.Lineage
	if lineage == "" {
		lineage = strconv.Itoa(job.ID)
	}
	ancestors := strings.Split(lineage, ">")
	var out []model.Run
	for _, id := range ids {
		child, ok := jobs[id]
		if !ok || id == job.ID || slices.ContainsFunc(out, func(r model.Run) bool { return r.JobID == id }) {
			continue
		}
		r := followRun(now, owner)
		r.TriggerType, r.RetryLeft = model.TriggerParent, child.RetryCount
		r.GroupID, r.JobID, r.Handler, r.Param = child.GroupID, child.ID, child.Handler, child.Param
		r.FireKey = fmt.Sprintf("c:%s:%d", from, id)
		r.ParentID, r.Lineage = run.ID, lineage+">"+strconv.Itoa(id)
		if slices.Contains(ancestors, strconv.Itoa(id)) || len(ancestors) >= maxGenerations {
			r.Lineage, r.Owner = lineage, ""
			r.Phase, r.TriggerCode, r.Reason, r.AlarmStatus, r.FinishedMS = model.PhaseMissed, model.CodeMissed, model.ReasonCycle, 1, now.UnixMilli()
			r.Note.Said = []model.Said{model.Say(model.ReasonCycle, "Chain", fmt.Sprintf("%s > %d", strings.ReplaceAll(lineage, ">", " > "), id), "Max", maxGenerations)}
		}
		out = append(out, r)
	}
	return out
}

func followRun(due time.Time, owner string) model.Run {
	return model.Run{
		TriggerTime: due.Truncate(time.Second), PlannedMS: due.UnixMilli(), Phase: model.PhasePlanned, Owner: owner,
	}
}
