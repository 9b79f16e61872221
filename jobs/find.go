package jobs

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// What a program gets with one question, which pages by number and counts all.
const (
	mostFound       = 10_000
	mostFoundRuns   = 1000 // they have texts
	mostCountedRuns = 1_000_000
	mostSourceBytes = 64 << 20
)

// FindJobs gives jobs that the actor may see without what the list shows beside
// them, at most 10,000, and how many match.
func (s *Service) FindJobs(ctx context.Context, actor model.Actor, f model.JobFilter) ([]model.Job, int, error) {
	f.Groups, f.Limit, f.Offset = actor.GroupLimit(), min(max(f.Limit, 1), mostFound), max(0, f.Offset)
	f.DueMS = s.now().UnixMilli()
	return s.store.Jobs(ctx, f)
}

// AddSources reads the scripts of jobs that the actor was given by FindJobs. More
// than 64 MiB of them are an error.
func (s *Service) AddSources(ctx context.Context, actor model.Actor, list []model.Job) error {
	total, at := 0, map[int]int{}
	var ids []int
	for i, j := range list {
		if j.GlueType.IsScript() && actor.Sees(j.GroupID) {
			ids, at[j.ID] = append(ids, j.ID), i
		}
	}
	for part := range slices.Chunk(ids, 50) {
		full, err := s.store.JobsByID(ctx, part)
		if err != nil {
			return err
		}
		for id, j := range full {
			if total += len(j.GlueSource); total > mostSourceBytes {
				return model.Errf(model.CodeInvalid, "error.too_many_scripts", "Max", mostSourceBytes>>20)
			}
			list[at[id]].GlueSource = j.GlueSource
		}
	}
	return nil
}

// FindRuns gives runs that the actor may see, newest first, at most 1000,
// and how many match, counted up to a million.
func (s *Service) FindRuns(ctx context.Context, actor model.Actor, f model.RunFilter) ([]model.Run, int, error) {
	f.Groups, f.Limit = actor.GroupLimit(), min(max(f.Limit, 1), mostFoundRuns)
	f.Offset = min(max(0, f.Offset), mostCountedRuns)
	total, err := s.store.CountRuns(ctx, f, mostCountedRuns)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.store.Runs(ctx, f)
	return list[:min(len(list), f.Limit)], total, err
}
