package jobs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// mostTargets bounds the targets.
const mostTargets = 100

// TargetPage is what the pages about targets show.
type TargetPage struct {
	List   []model.TargetResult // without figures
	Groups []model.Group
}

// Targets lists the targets with the names of what they are about, for administrators.
func (s *Service) Targets(ctx context.Context, actor model.Actor) (TargetPage, error) {
	if !actor.Admin {
		return TargetPage{}, forbidden()
	}
	list, err := s.store.Targets(ctx)
	if err != nil {
		return TargetPage{}, err
	}
	groups, err := s.store.Groups(ctx, nil)
	if err != nil {
		return TargetPage{}, err
	}
	out := TargetPage{Groups: groups}
	out.List, _, err = s.named(ctx, list, groups)
	return out, err
}

// named gives targets the names of their jobs and executors, and the jobs themselves.
func (s *Service) named(ctx context.Context, list []model.Target, groups []model.Group) ([]model.TargetResult, map[int]model.Job, error) {
	var ids []int
	for _, t := range list {
		if t.Scope == model.ScopeJob {
			ids = append(ids, t.JobID)
		}
	}
	jobs, err := s.store.JobTitles(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	out := make([]model.TargetResult, len(list))
	for i, t := range list {
		out[i].Target = t
		switch t.Scope {
		case model.ScopeJob:
			out[i].Of = jobs[t.JobID].Name
		case model.ScopeExecutor:
			if at := slices.IndexFunc(groups, func(g model.Group) bool { return g.ID == t.GroupID }); at >= 0 {
				out[i].Of = groups[at].Title
			}
		}
	}
	return out, jobs, nil
}

// Target gives one, for administrators.
func (s *Service) Target(ctx context.Context, actor model.Actor, id int) (model.Target, error) {
	if !actor.Admin {
		return model.Target{}, forbidden()
	}
	return s.store.Target(ctx, id)
}

// SaveTarget checks and writes a target, a new one when it has no id. Days of one with a
// time are looked at from the beginning of this month on.
func (s *Service) SaveTarget(ctx context.Context, actor model.Actor, t model.Target) error {
	if !actor.Admin {
		return forbidden()
	}
	if err := s.checkTarget(ctx, &t); err != nil {
		return err
	}
	t.Judged = model.UnitMonth.Start(model.Date(s.Now())).AddDate(0, 0, -1).Format(time.DateOnly)
	id, err := s.store.SaveTarget(ctx, t)
	s.note(ctx, actor, "report.target", thing{id: int64(cmp.Or(t.ID, id)), name: t.Name}, err)
	return err
}

func (s *Service) checkTarget(ctx context.Context, t *model.Target) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	t.Name = strings.TrimSpace(t.Name)
	line(bad, "name", t.Name, 100, true)
	missing := func(field string, err error) error {
		if model.CodeOf(err) == model.CodeNotFound {
			bad.AddField(field, "field.not_found")
			return nil
		}
		return err
	}
	job, tag, group := t.JobID, t.Tag, t.GroupID
	t.JobID, t.Tag, t.GroupID = 0, "", 0
	var err error
	switch t.Scope {
	case model.ScopeJob:
		t.JobID = job
		_, err = s.store.Job(ctx, job)
		err = missing("job", err)
	case model.ScopeTag:
		t.Tag = strings.TrimSpace(tag)
		line(bad, "tag", t.Tag, 40, true) // before it becomes small: that hides what is no text
		t.Tag = strings.ToLower(t.Tag)
	case model.ScopeExecutor:
		t.GroupID = group
		_, err = s.store.Group(ctx, group)
		err = missing("executor", err)
	case model.ScopeAll:
	default:
		bad.AddField("scope", "field.invalid")
	}
	if err != nil {
		return err
	}
	if t.Goal <= 0 || t.Goal > model.GoalWhole {
		bad.AddField("goal", "field.goal")
	}
	if t.By != "" && (!clockForm.MatchString(t.By) || t.By == "00:00") {
		bad.AddField("by", "field.target_by")
	}
	if t.ID == 0 {
		list, err := s.store.Targets(ctx)
		if err != nil {
			return err
		}
		if len(list) >= mostTargets {
			bad.AddField("name", "field.too_many", "Max", mostTargets)
		}
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// DeleteTarget removes a target with its days.
func (s *Service) DeleteTarget(ctx context.Context, actor model.Actor, id int) error {
	t, err := s.Target(ctx, actor, id)
	if err != nil {
		return err
	}
	err = s.store.DeleteTarget(ctx, id)
	s.note(ctx, actor, "report.target", thing{id: int64(id), name: t.Name}, err)
	return err
}

// targetResults measures the targets that a report shows to the actor, the worst first.
// Who does not see all executors sees those whose jobs are all their own; a report about
// an executor, an owner or a tag has those that are about nothing else.
func (s *Service) targetResults(ctx context.Context, actor model.Actor, month report.Period, f model.CounterFilter) ([]model.TargetResult, error) {
	all, err := s.store.Targets(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	groups, err := s.store.Groups(ctx, nil)
	if err != nil {
		return nil, err
	}
	list, jobs, err := s.named(ctx, all, groups)
	if err != nil {
		return nil, err
	}
	whole := actor.GroupLimit() == nil
	list = slices.DeleteFunc(list, func(t model.TargetResult) bool {
		job, tag, group := jobs[t.JobID], t.Tag, t.GroupID
		if t.Scope == model.ScopeJob {
			group = job.GroupID
		}
		seen := whole || group != 0 && actor.Sees(group)
		return t.Off || !seen || f.GroupID != 0 && f.GroupID != group || f.Tag != "" && f.Tag != tag || f.Owner != "" && f.Owner != job.Author
	})
	var timed []int
	for _, t := range list {
		if t.Timed() {
			timed = append(timed, t.ID)
		}
	}
	first, last := month.First.Format(time.DateOnly), month.Last.Format(time.DateOnly)
	days, err := s.store.TargetSums(ctx, timed, first, last)
	if err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		if t.Timed() {
			t.TargetSum = days[t.ID]
			continue
		}
		counters, err := s.store.CountersByUnit(ctx, model.Span{Unit: model.UnitMonth, First: first, Last: first}, t.Filter())
		if err != nil {
			return nil, err
		}
		for _, c := range counters {
			t.Rated, t.Good = t.Rated+c.Rated(), t.Good+c.Succeeded
		}
	}
	slices.SortStableFunc(list, func(a, b model.TargetResult) int {
		return cmp.Or(cmp.Compare(b.Burn(), a.Burn()), cmp.Compare(min(b.Rated, 1), min(a.Rated, 1)), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
