package jobs

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// mostTags is how many tags are offered.
const mostTags = 200

// Tags lists the tags of jobs that the actor may see.
func (s *Service) Tags(ctx context.Context, actor model.Actor) ([]string, error) {
	return s.store.Tags(ctx, actor.GroupLimit(), mostTags)
}

// SetFavourite marks a job that the actor may see, or no longer.
func (s *Service) SetFavourite(ctx context.Context, actor model.Actor, id int, on bool) error {
	if _, err := s.Job(ctx, actor, id); err != nil {
		return err
	}
	return s.store.SetFavourite(ctx, actor.UserID, id, on)
}

// IsFavourite tells whether the actor has marked a job.
func (s *Service) IsFavourite(ctx context.Context, actor model.Actor, id int) (bool, error) {
	marked, err := s.store.Favourites(ctx, actor.UserID, []int{id})
	return marked[id], err
}

// Filters lists what the actor has kept for a list.
func (s *Service) Filters(ctx context.Context, actor model.Actor, list string) ([]model.SavedFilter, error) {
	return s.store.Filters(ctx, actor.UserID, list)
}

// SaveFilter keeps a filter under a name, in the place of one that has it.
func (s *Service) SaveFilter(ctx context.Context, actor model.Actor, f model.SavedFilter) error {
	f.Name = strings.Join(strings.Fields(f.Name), " ")
	if err := checkFilter(f.List, f.Name); err != nil {
		return err
	}
	if len(f.Query) > model.MaxFilterQuery {
		return model.Errf(model.CodeInvalid, "error.filter_long")
	}
	return s.store.SaveFilter(ctx, actor.UserID, f)
}

// RenameFilter gives a kept filter another name.
func (s *Service) RenameFilter(ctx context.Context, actor model.Actor, list, old, name string) error {
	name = strings.Join(strings.Fields(name), " ")
	if err := checkFilter(list, name); err != nil || old == name {
		return err
	}
	return s.store.RenameFilter(ctx, actor.UserID, list, old, name)
}

// DeleteFilter removes a kept filter.
func (s *Service) DeleteFilter(ctx context.Context, actor model.Actor, list, name string) error {
	return s.store.DeleteFilter(ctx, actor.UserID, list, name)
}

func checkFilter(list, name string) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if !slices.Contains(model.FilteredLists(), list) {
		return bad
	}
	line(bad, "name", name, model.MaxFilterName, true)
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// SetColumns keeps which columns of a list the actor wants to see.
func (s *Service) SetColumns(ctx context.Context, user model.User, list string, shown []string) error {
	if model.ListColumns(list) == nil {
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	return s.store.SetColumns(ctx, user.ID, user.Columns.With(list, shown))
}
