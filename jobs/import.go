package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// ImportKind says what an import does with a job.
type ImportKind string

// Kinds of an item.
const (
	ImportNew     ImportKind = "new"
	ImportChanged ImportKind = "changed"
	ImportSame    ImportKind = "same"
	ImportBad     ImportKind = "bad"
)

// ImportItem is one job of a file and what becomes of it.
type ImportItem struct {
	Key     model.JobKey
	Line    int
	Kind    ImportKind
	ID      int // of the stored job; after ImportJobs also of a new one
	Changes []FieldChange
	Err     error // why it cannot be, or was not done
	Done    bool  // after ImportJobs: it is as the file says

	doc    model.JobDoc
	in     JobInput
	status bool // it is to be started or stopped
}

// FieldChange is one field that an import changes, by its key in JobInput; status is
// running or stopped.
type FieldChange = model.Change

// ImportPlan is what an import would do.
type ImportPlan struct {
	Items                   []ImportItem
	New, Changed, Same, Bad int
	// Digest stands for the plan: another one means that something changed meanwhile.
	Digest string
}

// ImportOptions say how a file is taken.
type ImportOptions struct {
	// Status also starts and stops jobs as the file says. Without it new jobs are
	// stopped, and others stay as they are.
	Status bool
}

// PlanImport says job by job what an import of the file would change, and writes
// nothing. Jobs are found by executor and name; a job that the file does not name is
// not touched. What the form would refuse is refused here.
func (s *Service) PlanImport(ctx context.Context, actor model.Actor, docs []model.JobDoc, o ImportOptions) (ImportPlan, error) {
	p := ImportPlan{Items: make([]ImportItem, len(docs))}
	b, err := s.bookOf(ctx, actor, docs)
	if err != nil {
		return p, err
	}
	for i := range docs {
		it := &p.Items[i]
		*it = ImportItem{Key: docs[i].Key(), Line: docs[i].Line, doc: docs[i]}
		if err := s.planJob(ctx, actor, b, it, o); err != nil {
			return p, err
		}
	}
	if err := s.circles(ctx, b, p.Items); err != nil {
		return p, err
	}
	sum := sha256.New()
	for i := range p.Items {
		it := &p.Items[i]
		switch it.Kind {
		case ImportNew:
			p.New++
		case ImportChanged:
			p.Changed++
		case ImportSame:
			p.Same++
		default:
			p.Bad++
		}
		fmt.Fprintf(sum, "%q %q %s %d %d %q\n", it.Key.Executor, it.Key.Name, it.Kind, it.ID, it.in.Version, it.Changes)
	}
	p.Digest = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// book is what a plan knows of the center.
type book struct {
	groups map[string]model.Group // by app name in small letters, those the actor sees
	stored map[model.JobKey][]model.Job
	names  names
	inFile map[model.JobKey]bool
}

// canonical writes a key as the center does: app names differ in case only by mistake.
func (b *book) canonical(k model.JobKey) model.JobKey {
	if g, ok := b.groups[strings.ToLower(strings.TrimSpace(k.Executor))]; ok {
		k.Executor = g.AppName
	}
	k.Name = strings.TrimSpace(k.Name)
	return k
}

func (s *Service) bookOf(ctx context.Context, actor model.Actor, docs []model.JobDoc) (*book, error) {
	b := &book{groups: map[string]model.Group{}, stored: map[model.JobKey][]model.Job{}, inFile: map[model.JobKey]bool{}}
	groups, err := s.store.Groups(ctx, actor.GroupLimit())
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		b.groups[strings.ToLower(g.AppName)] = g
	}
	wanted := map[int][]string{}
	want := func(k model.JobKey) {
		if g, ok := b.groups[strings.ToLower(k.Executor)]; ok {
			wanted[g.ID] = append(wanted[g.ID], k.Name)
		}
	}
	for i := range docs {
		k := b.canonical(docs[i].Key())
		b.inFile[k] = true
		want(k)
		for _, c := range docs[i].Children {
			want(b.canonical(c))
		}
	}
	var all []model.Job
	for id, list := range wanted {
		slices.Sort(list)
		found, err := s.store.JobsByName(ctx, id, slices.Compact(list))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if b.names, err = s.jobKeys(ctx, all); err != nil {
		return nil, err
	}
	for _, j := range all {
		k := b.names.jobs[j.ID]
		b.stored[k] = append(b.stored[k], j)
	}
	return b, nil
}

// child finds the stored jobs of a key. One that the job has already may be kept by
// who cannot see it.
func (b *book) child(k model.JobKey, old *model.Job) []int {
	var ids []int
	for _, j := range b.stored[b.canonical(k)] {
		ids = append(ids, j.ID)
	}
	if len(ids) == 0 && old != nil {
		had, _ := model.ChildIDList(old.ChildIDs) // what cannot be read names nobody
		for _, id := range had {
			if name, ok := b.names.jobs[id]; ok && name == k {
				return []int{id}
			}
		}
	}
	return ids
}

// planJob decides about one job.
func (s *Service) planJob(ctx context.Context, actor model.Actor, b *book, it *ImportItem, o ImportOptions) error {
	bad := func(key string, kv ...any) error {
		it.Kind, it.Err = ImportBad, model.Errf(model.CodeInvalid, key, kv...)
		return nil
	}
	key := b.canonical(it.Key)
	g, ok := b.groups[strings.ToLower(key.Executor)]
	if !ok {
		return bad("import.no_executor", "Executor", it.Key.Executor)
	}
	stored := b.stored[key]
	if len(stored) > 1 {
		return bad("import.ambiguous", "Count", len(stored))
	}
	in, old := NewJobInput(), (*model.Job)(nil)
	if len(stored) == 1 {
		old = &stored[0]
		in, it.ID = InputOf(old), old.ID
	}
	in.GroupID = g.ID
	fill(&it.doc, &in)
	var children []string
	if it.doc.Gives("children") {
		for _, c := range it.doc.Children {
			switch ids := b.child(c, old); {
			case len(ids) > 1:
				return bad("import.child_ambiguous", "Name", c.String())
			case len(ids) == 1:
				children = append(children, itoa(ids[0]))
			case !b.inFile[b.canonical(c)]:
				return bad("import.child_missing", "Name", c.String())
			}
		}
		in.ChildIDs = strings.Join(children, ",")
	}
	j, err := s.checkJob(ctx, actor, in, old)
	if e, ok := errors.AsType[*model.Error](err); ok && e.Code == model.CodeInvalid {
		it.Kind, it.Err = ImportBad, e
		return nil
	}
	if err != nil {
		return err
	}
	it.in = in
	wish := docOf(j, b.names)
	wish.Children = b.names.children(j.ChildIDs)
	if it.doc.Gives("children") {
		wish.Children = nil
		for _, c := range it.doc.Children {
			wish.Children = append(wish.Children, b.canonical(c))
		}
	}
	wish.Running = old != nil && old.Status == model.JobRunning
	if o.Status && it.doc.Gives("status") {
		wish.Running = it.doc.Running
	}
	if wish.Running && j.ScheduleType == model.ScheduleNone {
		return bad("error.schedule_none")
	}
	fresh := NewJobInput()
	before := docOf(&model.Job{
		ScheduleType: fresh.ScheduleType, Misfire: fresh.Misfire, Route: fresh.Route, Block: fresh.Block, GlueType: fresh.GlueType,
		RetryDelaySec: fresh.RetryDelaySec, RetryGrowing: fresh.RetryGrowing,
	}, b.names)
	if old != nil {
		before = docOf(old, b.names)
		// A remark belongs to a version of the script, and a handler has none.
		if !old.GlueType.IsScript() {
			before.GlueSource, before.GlueRemark = "", ""
		}
		if before.GlueSource == wish.GlueSource {
			wish.GlueRemark = before.GlueRemark
		}
	}
	it.Changes = changes(&before, &wish, old == nil)
	it.status = before.Running != wish.Running
	switch {
	case old == nil:
		it.Kind = ImportNew
	case len(it.Changes) > 0:
		it.Kind = ImportChanged
	default:
		it.Kind = ImportSame
	}
	return nil
}

// changes lists what differs, in the order of the form. Of a new job it lists what is
// not as the form offers it, and always what it runs and when.
func changes(old, new *model.JobDoc, fresh bool) []FieldChange {
	var out []FieldChange
	o, n := fieldsOf(old), fieldsOf(new)
	for i := range n {
		switch c := (FieldChange{Field: n[i].Field, Old: o[i].New, New: n[i].New}); {
		case fresh && (c.Old != c.New || c.Field == "schedule_type" || c.Field == "glue_type"):
			if c.Field != "status" {
				c.Old = ""
			}
			out = append(out, c)
		case c.Old != c.New:
			out = append(out, c)
		}
	}
	return out
}

func fieldsOf(d *model.JobDoc) []FieldChange {
	status := "stopped"
	if d.Running {
		status = "running"
	}
	var children []string
	for _, c := range d.Children {
		children = append(children, c.String())
	}
	field := func(name, value string) FieldChange { return FieldChange{Field: name, New: value} }
	return []FieldChange{
		field("author", d.Author), field("alarm_email", d.AlarmEmail), field("schedule_type", string(d.ScheduleType)),
		field("schedule_conf", d.ScheduleConf), field("misfire", string(d.Misfire)), field("misfire_after", itoa(d.MisfireAfterSec)),
		field("keep_days", d.Keep.Succeeded.String()), field("keep_failed_days", d.Keep.Failed.String()),
		field("glue_type", string(d.GlueType)), field("handler", d.Handler), field("param", d.Param), field("glue_source", d.GlueSource),
		field("glue_remark", d.GlueRemark), field("route", string(d.Route)), field("block", string(d.Block)), field("timeout", itoa(d.TimeoutSec)),
		field("retry", itoa(d.RetryCount)), field("retry_delay", itoa(d.RetryDelaySec)), field("retry_growing", strconv.FormatBool(d.RetryGrowing)),
		field("children", strings.Join(children, "\n")), field("tags", d.Tags), field("status", status),
	}
}

// InputOf is a stored job as a form that nobody has changed.
func InputOf(j *model.Job) JobInput {
	return JobInput{
		GroupID: j.GroupID, Name: j.Name, Author: j.Author, AlarmEmail: j.AlarmEmail, ScheduleType: j.ScheduleType,
		ScheduleConf: j.ScheduleConf, Misfire: j.Misfire, Route: j.Route, Handler: j.Handler, Param: j.Param, Block: j.Block,
		TimeoutSec: j.TimeoutSec, RetryCount: j.RetryCount, RetryDelaySec: j.RetryDelaySec, RetryGrowing: j.RetryGrowing,
		MisfireAfterSec: j.MisfireAfterSec, KeepDays: j.Keep.Succeeded, KeepFailedDays: j.Keep.Failed, GlueType: j.GlueType, GlueSource: j.GlueSource, GlueRemark: j.GlueRemark,
		ChildIDs: j.ChildIDs, Tags: j.Tags, Version: j.Version,
	}
}

// fill puts what a file gives into the input.
func fill(d *model.JobDoc, in *JobInput) {
	give(d, "author", &in.Author, d.Author)
	give(d, "alarm_email", &in.AlarmEmail, d.AlarmEmail)
	give(d, "schedule_type", &in.ScheduleType, d.ScheduleType)
	give(d, "schedule_conf", &in.ScheduleConf, d.ScheduleConf)
	give(d, "misfire", &in.Misfire, d.Misfire)
	give(d, "route", &in.Route, d.Route)
	give(d, "block", &in.Block, d.Block)
	give(d, "glue_type", &in.GlueType, d.GlueType)
	give(d, "handler", &in.Handler, d.Handler)
	give(d, "param", &in.Param, d.Param)
	give(d, "glue_source", &in.GlueSource, d.GlueSource)
	give(d, "glue_remark", &in.GlueRemark, d.GlueRemark)
	give(d, "timeout", &in.TimeoutSec, d.TimeoutSec)
	give(d, "retry", &in.RetryCount, d.RetryCount)
	give(d, "retry_delay", &in.RetryDelaySec, d.RetryDelaySec)
	give(d, "retry_growing", &in.RetryGrowing, d.RetryGrowing)
	give(d, "misfire_after", &in.MisfireAfterSec, d.MisfireAfterSec)
	give(d, "keep_days", &in.KeepDays, d.Keep.Succeeded)
	give(d, "keep_failed_days", &in.KeepFailedDays, d.Keep.Failed)
	give(d, "tags", &in.Tags, d.Tags)
	in.Name = d.Name
}

func give[T any](d *model.JobDoc, field string, dst *T, v T) {
	if d.Gives(field) {
		*dst = v
	}
}
