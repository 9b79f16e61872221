package console

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) Tags(_ context.Context, a model.Actor) (out []string, _ error) {
	for _, j := range f.jobs {
		if a.Sees(j.GroupID) {
			out = append(out, model.TagList(j.Tags)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (f *fake) SetFavourite(ctx context.Context, a model.Actor, id int, on bool) error {
	if _, err := f.Job(ctx, a, id); err != nil {
		return err
	}
	return f.note("favourite %d %t", id, on)
}

func (f *fake) IsFavourite(context.Context, model.Actor, int) (bool, error) { return false, nil }

func (f *fake) Filters(context.Context, model.Actor, string) ([]model.SavedFilter, error) {
	return nil, nil
}

func (f *fake) SaveFilter(_ context.Context, _ model.Actor, s model.SavedFilter) error {
	return f.note("keep %s %q %s", s.List, s.Name, s.Query)
}

func (f *fake) RenameFilter(_ context.Context, _ model.Actor, list, old, name string) error {
	return f.note("rename %s %q %q", list, old, name)
}

func (f *fake) DeleteFilter(_ context.Context, _ model.Actor, list, name string) error {
	return f.note("forget %s %q", list, name)
}

func (f *fake) SetColumns(_ context.Context, _ model.User, list string, shown []string) error {
	return f.note("columns %s %v", list, shown)
}

func (f *fake) CheckChange(_ context.Context, _ model.Actor, c jobs.JobChange) (jobs.JobChange, error) {
	return c, nil
}

func (f *fake) ChangeMany(_ context.Context, _ model.Actor, ids []int, c jobs.JobChange) ([]jobs.BatchItem, error) {
	return nil, f.note("change %v %s %s", ids, c.Do, c.Value)
}
