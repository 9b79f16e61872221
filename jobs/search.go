package jobs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Found is what a search over everything gives, each kind for those who may see it.
type Found struct {
	Jobs      []model.Job
	Marked    []model.Job // favourites of the actor; they are not in Jobs
	Run       *model.Run  // with exactly that id
	Executors []model.Group
	Users     []model.User
}

// foundOfEach is how many of each kind are given.
const foundOfEach = 7

// Search finds jobs, the run of an id, executors and users.
func (s *Service) Search(ctx context.Context, actor model.Actor, text string) (Found, error) {
	var f Found
	text = strings.TrimSpace(text)
	var err error
	if actor.UserID != 0 {
		if f.Marked, err = s.store.JobsOf(ctx, model.JobFilter{Groups: actor.GroupLimit(), Text: text, Marked: actor.UserID, Sort: model.JobsByName, Limit: foundOfEach}); err != nil {
			return f, err
		}
	}
	if text == "" {
		return f, nil
	}
	if f.Jobs, err = s.store.JobsOf(ctx, model.JobFilter{Groups: actor.GroupLimit(), Text: text, Limit: foundOfEach}); err != nil {
		return f, err
	}
	f.Jobs = slices.DeleteFunc(f.Jobs, func(j model.Job) bool {
		return slices.ContainsFunc(f.Marked, func(m model.Job) bool { return m.ID == j.ID })
	})
	if id, e := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64); e == nil && id > 0 {
		r, err := s.run(ctx, actor, id)
		switch {
		case err == nil:
			runs := []model.Run{r}
			if err := s.nameRuns(ctx, actor, runs); err != nil {
				return f, err
			}
			f.Run = &runs[0]
		case model.CodeOf(err) != model.CodeNotFound:
			return f, err
		}
	}
	if !actor.Admin { // as the pages of executors and users
		return f, nil
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
				return true
			}
		}
		return false
	}
	groups, err := s.store.Groups(ctx, nil)
	if err != nil {
		return f, err
	}
	for _, g := range groups {
		if len(f.Executors) < foundOfEach && has(g.AppName, g.Title) {
			f.Executors = append(f.Executors, g)
		}
	}
	users, err := s.store.Users(ctx)
	for _, u := range users {
		if len(f.Users) < foundOfEach && has(u.Name) {
			f.Users = append(f.Users, u)
		}
	}
	return f, err
}

// handlersOffered is how many names are suggested.
const handlersOffered = 200

// Handlers gives the names of handlers that jobs of an executor use, the most used first.
// Of an executor that the actor may not see there are none.
func (s *Service) Handlers(ctx context.Context, actor model.Actor, groupID int) ([]string, error) {
	if !actor.Sees(groupID) {
		return nil, nil
	}
	used, err := s.store.Handlers(ctx, groupID, handlersOffered)
	if err != nil {
		return nil, err
	}
	reported, err := s.reportedHandlers(ctx, groupID)
	if err != nil && model.CodeOf(err) != model.CodeNotFound {
		return nil, err
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(used, reported...))))
	return all[:min(len(all), 2*handlersOffered)], nil
}
