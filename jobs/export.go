package jobs

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// mostExported bounds what one file holds.
const mostExported = 20_000

// ExportJobs gives the jobs of a filter as files carry them. Children that the actor
// may not see are named nevertheless when they exist: a job may keep them.
func (s *Service) ExportJobs(ctx context.Context, actor model.Actor, f model.JobFilter) ([]model.JobDoc, error) {
	f.Groups, f.Offset, f.Limit = actor.GroupLimit(), 0, mostExported
	f.DueMS = s.now().UnixMilli()
	list, total, err := s.store.Jobs(ctx, f)
	if err != nil {
		return nil, err
	}
	if total > mostExported {
		return nil, model.Errf(model.CodeInvalid, "error.too_many_jobs", "Max", mostExported, "Count", total)
	}
	if err := s.AddSources(ctx, actor, list); err != nil {
		return nil, err
	}
	keys, err := s.jobKeys(ctx, list)
	if err != nil {
		return nil, err
	}
	docs := make([]model.JobDoc, len(list))
	for i := range list {
		docs[i] = docOf(&list[i], keys)
	}
	return docs, nil
}

// names are the keys of jobs and the app names of executors by number.
type names struct {
	jobs map[int]model.JobKey
	apps map[int]string
}

// jobKeys names all jobs of a list and their children.
func (s *Service) jobKeys(ctx context.Context, list []model.Job) (names, error) {
	n := names{jobs: map[int]model.JobKey{}, apps: map[int]string{}}
	groups, err := s.store.Groups(ctx, nil)
	if err != nil {
		return n, err
	}
	for _, g := range groups {
		n.apps[g.ID] = g.AppName
	}
	var missing []int
	for i := range list {
		n.jobs[list[i].ID] = model.JobKey{Executor: n.apps[list[i].GroupID], Name: list[i].Name}
	}
	for i := range list {
		children, _ := model.ChildIDList(list[i].ChildIDs) // what cannot be read names nobody
		for _, id := range children {
			if _, ok := n.jobs[id]; !ok {
				missing = append(missing, id)
			}
		}
	}
	slices.Sort(missing)
	for part := range slices.Chunk(slices.Compact(missing), 50) {
		more, err := s.store.JobsByID(ctx, part)
		if err != nil {
			return n, err
		}
		for id, j := range more {
			n.jobs[id] = model.JobKey{Executor: n.apps[j.GroupID], Name: j.Name}
		}
	}
	return n, nil
}

func docOf(j *model.Job, n names) model.JobDoc {
	d := model.JobDoc{
		Executor: n.apps[j.GroupID], Name: j.Name, Author: j.Author, AlarmEmail: j.AlarmEmail, ScheduleType: j.ScheduleType,
		ScheduleConf: j.ScheduleConf, Misfire: j.Misfire, Route: j.Route, Block: j.Block, GlueType: j.GlueType, Handler: j.Handler, Param: j.Param,
		GlueSource: j.GlueSource, GlueRemark: j.GlueRemark, TimeoutSec: j.TimeoutSec, RetryCount: j.RetryCount,
		Tags: j.Tags, RetryDelaySec: j.RetryDelaySec, RetryGrowing: j.RetryGrowing, MisfireAfterSec: j.MisfireAfterSec, Keep: j.Keep, Running: j.Status == model.JobRunning,
	}
	d.Children = n.children(j.ChildIDs)
	return d
}

// children names the children that exist.
func (n names) children(ids string) []model.JobKey {
	var out []model.JobKey
	list, _ := model.ChildIDList(ids) // what cannot be read names nobody
	for _, id := range list {
		if k, ok := n.jobs[id]; ok {
			out = append(out, k)
		}
	}
	return out
}
