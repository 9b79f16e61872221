package jobs

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// ImportJobs makes the center as a plan says. A plan with an error in it, or one that
// is not the plan of the digest any more, changes nothing. Jobs are written one after
// the other; each item says whether it was done, so that an import that is cut off
// can be made again: what is done is the same then.
func (s *Service) ImportJobs(ctx context.Context, actor model.Actor, docs []model.JobDoc, o ImportOptions, digest string) (ImportPlan, error) {
	p, err := s.PlanImport(ctx, actor, docs, o)
	if err != nil {
		return p, err
	}
	if p.Bad > 0 {
		return p, model.Errf(model.CodeInvalid, "import.nothing_done", "Count", p.Bad)
	}
	if digest != "" && digest != p.Digest {
		return p, model.Errf(model.CodeConflict, "import.stale")
	}
	// New jobs first, without children: these may be new as well.
	for i := range p.Items {
		if it := &p.Items[i]; it.Kind == ImportNew {
			in := it.in
			in.ChildIDs = ""
			it.ID, it.Err = s.AddJob(ctx, actor, in)
		}
	}
	b, err := s.bookOf(ctx, actor, docs)
	if err != nil {
		return p, err
	}
	for i := range p.Items {
		it := &p.Items[i]
		if it.Kind == ImportSame {
			it.Done = true
			continue
		}
		if it.Err == nil {
			it.Err = s.finish(ctx, actor, b, it)
		}
		it.Done = it.Err == nil
	}
	s.log.Info("jobs imported", "new", p.New, "changed", p.Changed, "same", p.Same, "user", actor.Name)
	s.note(ctx, actor, "job.import", thing{kind: model.AuditJob}, nil,
		model.Change{Field: "new", New: itoa(p.New)}, model.Change{Field: "changed", New: itoa(p.Changed)}, model.Change{Field: "same", New: itoa(p.Same)})
	return p, nil
}

// finish gives a job its fields and children, and starts or stops it.
func (s *Service) finish(ctx context.Context, actor model.Actor, b *book, it *ImportItem) error {
	in := it.in
	if it.doc.Gives("children") {
		var ids []string
		var old *model.Job
		if list := b.stored[b.canonical(it.Key)]; len(list) == 1 {
			old = &list[0]
		}
		for _, c := range it.doc.Children {
			found := b.child(c, old)
			if len(found) != 1 {
				return model.Errf(model.CodeInvalid, "import.child_missing", "Name", c.String())
			}
			ids = append(ids, itoa(found[0]))
		}
		in.ChildIDs = strings.Join(ids, ",")
	}
	if it.Kind == ImportNew {
		in.Version = 1 // as AddJob writes it
	}
	if it.Kind == ImportChanged && !it.onlyStatus() || it.Kind == ImportNew && in.ChildIDs != "" {
		if err := s.UpdateJob(ctx, actor, it.ID, in); err != nil {
			return err
		}
	}
	switch {
	case !it.status:
		return nil
	case it.doc.Running:
		return s.StartJob(ctx, actor, it.ID)
	}
	return s.StopJob(ctx, actor, it.ID)
}

func (it *ImportItem) onlyStatus() bool {
	return len(it.Changes) == 1 && it.Changes[0].Field == "status"
}

// circles marks the items whose children would lead back to them, over jobs that are
// stored and jobs that are new.
func (s *Service) circles(ctx context.Context, b *book, items []ImportItem) error {
	next := map[model.JobKey][]model.JobKey{} // as it will be
	byKey := map[model.JobKey]*ImportItem{}
	for i := range items {
		it := &items[i]
		k := b.canonical(it.Key)
		byKey[k] = it
		if it.Kind == ImportBad || !it.doc.Gives("children") {
			continue
		}
		next[k] = []model.JobKey{}
		for _, c := range it.doc.Children {
			next[k] = append(next[k], b.canonical(c))
		}
	}
	if len(next) == 0 {
		return nil
	}
	known := map[int]bool{}
	var level []int
	for _, list := range b.stored {
		for _, j := range list {
			level = append(level, j.ID)
		}
	}
	for len(level) > 0 && len(known) < maxChildDepth {
		jobs, err := s.store.JobsByID(ctx, level)
		if err != nil {
			return err
		}
		list := make([]model.Job, 0, len(jobs))
		for _, j := range jobs {
			known[j.ID] = true
			list = append(list, j)
		}
		n, err := s.jobKeys(ctx, list)
		if err != nil {
			return err
		}
		level = nil
		for _, j := range list {
			children, _ := model.ChildIDList(j.ChildIDs) // what cannot be read names nobody
			for _, c := range children {
				if !known[c] {
					level = append(level, c)
				}
			}
			if k := n.jobs[j.ID]; next[k] == nil {
				next[k] = n.children(j.ChildIDs)
			}
		}
	}
	for k, it := range byKey {
		if it.Kind != ImportBad && it.doc.Gives("children") && !walkFrom(k, next) {
			it.Kind, it.Changes = ImportBad, nil
			bad := model.Errf(model.CodeInvalid, "error.invalid")
			bad.AddField("children", "error.child_cycle")
			it.Err = bad
		}
	}
	return nil
}

// walkFrom reports whether nothing that a job starts starts the job again.
func walkFrom(k model.JobKey, next map[model.JobKey][]model.JobKey) bool {
	seen := map[model.JobKey]bool{}
	todo := slices.Clone(next[k])
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == k {
			return false
		}
		if !seen[at] {
			seen[at] = true
			todo = append(todo, next[at]...)
		}
	}
	return true
}
