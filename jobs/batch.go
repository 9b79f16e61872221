package jobs

import (
	"context"
	"errors"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// BatchItem is what became of one of many.
type BatchItem struct {
	ID   int64
	Name string
	// Changed says that something was done: a job that runs already need not be started.
	Changed bool
	Err     error // what people may be told, nil = it is as wanted
	NewID   int64 // of the run that was made, if any
	// Was is what a change replaced, for JobChange.Back.
	Was string
}

// mostBatch is how many jobs one request changes, mostBatchRuns how many runs it makes
// or ends: each of those is a call or a row of its own.
const (
	mostBatch     = 10_000
	mostBatchRuns = 500
)

// SwitchMany starts or stops jobs, in order of the ids. Each has its own outcome; nothing
// is done to jobs that the actor may not operate.
func (s *Service) SwitchMany(ctx context.Context, actor model.Actor, ids []int, status model.JobStatus) ([]BatchItem, error) {
	if len(ids) > mostBatch {
		return nil, model.Errf(model.CodeInvalid, "error.batch_size", "Max", mostBatch)
	}
	action := "job.stop"
	if status == model.JobRunning {
		action = "job.start"
	}
	items := make([]BatchItem, 0, len(ids))
	defer func() { // also when it breaks off: what was done is noted
		var changed []thing
		for _, item := range items {
			if item.Changed {
				changed = append(changed, thing{model.AuditJob, item.ID, item.Name})
			}
		}
		s.writeAll(ctx, actor, action, changed, model.AuditDone, nil)
		s.log.Info("jobs switched", "jobs", len(items), "changed", len(changed), "running", status == model.JobRunning, "user", actor.Name)
	}()
	at := map[int]int{}
	for _, id := range compactIDs(ids) {
		at[id] = len(items)
		items = append(items, BatchItem{ID: int64(id), Err: model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)})
	}
	left := compactIDs(ids)
	for try := 0; len(left) > 0 && try < statusTries+2; try++ { // others may hold or change some for a moment
		var list []model.JobSwitch
		now := s.Now()
		for part := range slices.Chunk(left, 1000) {
			jobs, err := s.store.JobsOf(ctx, model.JobFilter{Groups: actor.GroupLimit(), IDs: part, Limit: len(part)})
			if err != nil {
				return items, err
			}
			for i := range jobs {
				j, item := &jobs[i], &items[at[jobs[i].ID]]
				item.Name, item.Err = j.Name, nil
				if !actor.May(model.LevelOperate, j.GroupID) {
					item.Err = forbidden()
					s.note(ctx, actor, action, jobThing(j), item.Err)
					continue
				}
				x := model.JobSwitch{ID: j.ID, Version: j.Version}
				switch {
				case status == model.JobStopped && j.Status == model.JobStopped && j.Condition == model.JobNormal,
					status == model.JobRunning && j.Status == model.JobRunning && j.NextMS != 0:
					continue // as it is wanted
				case status == model.JobRunning:
					if x.NextMS, err = s.firstFire(j, now); err != nil {
						if _, told := errors.AsType[*model.Error](err); !told {
							return items, err
						}
						item.Err = err
						continue
					}
				}
				item.Err = model.Errf(model.CodeConflict, "error.conflict")
				list = append(list, x)
			}
		}
		if len(list) == 0 {
			break
		}
		done, err := s.store.SwitchJobs(ctx, list, status, now)
		for _, id := range done {
			items[at[id]].Changed, items[at[id]].Err = true, nil
		}
		if err != nil {
			return items, err
		}
		left = nil
		for _, x := range list {
			if !items[at[x.ID]].Changed {
				left = append(left, x.ID)
			}
		}
	}
	return items, nil
}

// EachJob does something to many jobs, one after the other, until ctx ends.
func (s *Service) EachJob(ctx context.Context, actor model.Actor, ids []int, level model.Level, action string, do func(ctx context.Context, j model.Job) (int64, error)) ([]BatchItem, error) {
	if len(ids) > mostBatchRuns {
		return nil, model.Errf(model.CodeInvalid, "error.batch_size", "Max", mostBatchRuns)
	}
	var items []BatchItem
	for _, id := range compactIDs(ids) {
		item := BatchItem{ID: int64(id)}
		j, err := s.jobFor(ctx, actor, id, level, action)
		if err == nil {
			item.Name = j.Name
			item.NewID, err = do(ctx, j)
		}
		if err := item.take(ctx, err); err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

// DeleteMany deletes jobs, RunMany makes a run of each.
func (s *Service) DeleteMany(ctx context.Context, actor model.Actor, ids []int) ([]BatchItem, error) {
	return s.EachJob(ctx, actor, ids, model.LevelEdit, "job.delete", func(ctx context.Context, j model.Job) (int64, error) { return 0, s.DeleteJob(ctx, actor, j.ID) })
}

// RunMany makes a run of each job, with its own parameter.
func (s *Service) RunMany(ctx context.Context, actor model.Actor, ids []int) ([]BatchItem, error) {
	return s.EachJob(ctx, actor, ids, model.LevelOperate, "job.run", func(ctx context.Context, j model.Job) (int64, error) {
		return s.RunNow(ctx, actor, j.ID, RunInput{Trigger: model.TriggerManual})
	})
}

// RunsOp is what can be done to many runs.
type RunsOp string

// What can be done to many runs.
const (
	RunsRetry    RunsOp = "retry" // a new run of the same job, with the same parameter
	RunsKill     RunsOp = "kill"
	RunsTakeBack RunsOp = "takeback"
)

// EachRun does the same to many runs.
func (s *Service) EachRun(ctx context.Context, actor model.Actor, ids []int64, op RunsOp) ([]BatchItem, error) {
	if len(ids) > mostBatchRuns {
		return nil, model.Errf(model.CodeInvalid, "error.batch_size", "Max", mostBatchRuns)
	}
	slices.Sort(ids)
	var items []BatchItem
	for _, id := range slices.Compact(ids) {
		item := BatchItem{ID: id}
		r, err := s.run(ctx, actor, id)
		if err == nil {
			named := []model.Run{r}
			if err = s.nameRuns(ctx, actor, named); err == nil {
				item.Name = named[0].JobName
				item.NewID, err = s.doRun(ctx, actor, r, op)
			}
		}
		if err := item.take(ctx, err); err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

func (s *Service) doRun(ctx context.Context, actor model.Actor, r model.Run, op RunsOp) (int64, error) {
	switch op {
	case RunsRetry:
		return s.RunNow(ctx, actor, r.JobID, RunInput{Param: &r.Param, Trigger: model.TriggerManual})
	case RunsKill:
		return 0, s.KillRun(ctx, actor, r.ID)
	case RunsTakeBack:
		return 0, s.TakeBackRun(ctx, actor, r.ID)
	}
	return 0, model.Errf(model.CodeInvalid, "error.invalid")
}

// take keeps an error that people may be told with its item; any other ends the batch.
func (b *BatchItem) take(ctx context.Context, err error) error {
	if err == nil {
		b.Changed = true
		return ctx.Err()
	}
	if _, told := errors.AsType[*model.Error](err); !told || ctx.Err() != nil {
		return err
	}
	b.Err = err
	return nil
}

func compactIDs(ids []int) []int {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}
