package jobs

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	// auditTime bounds the wait for a thousand lines of the audit: the action is done by then.
	auditTime = 3 * time.Second
	// mostRefusals is how many refusals are written within refusalWindow, so that nobody
	// fills the database by asking for what is refused. The next line counts the others.
	mostRefusals  = 60
	refusalWindow = time.Minute
	// longestChange is how much of a value a line keeps, in bytes.
	longestChange = 2000
)

// refusals counts what was refused lately.
type refusals struct {
	mu          sync.Mutex
	began       time.Time
	n, withheld int
}

func (r *refusals) room(now time.Time) (withheld int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.began) >= refusalWindow {
		r.began, r.n = now, 0
	}
	if r.n >= mostRefusals {
		r.withheld++
		return 0, false
	}
	r.n++
	withheld, r.withheld = r.withheld, 0
	return withheld, true
}

// thing is what somebody did something to.
type thing struct {
	kind model.AuditKind
	id   int64
	name string
}

func jobThing(j *model.Job) thing { return thing{model.AuditJob, int64(j.ID), j.Name} }
func userThing(u *model.User) thing {
	return thing{model.AuditUser, int64(u.ID), u.Name}
}
func incidentThing(i *model.Incident) thing {
	return thing{model.AuditIncident, i.ID, i.Subject}
}
func groupThing(g *model.Group) thing {
	return thing{model.AuditExecutor, int64(g.ID), g.Title}
}

// note writes down what was done, right after it, or that it was refused for want of
// rights. Wishes that failed for other reasons changed nothing and are not noted.
// A line that cannot be written is logged and breaks nothing.
func (s *Service) note(ctx context.Context, actor model.Actor, action string, what thing, err error, changes ...model.Change) {
	outcome := model.AuditDone
	switch {
	case model.CodeOf(err) == model.CodeForbidden:
		outcome, changes = model.AuditRefused, nil
	case lacksRights(err): // told at the field of a form
		outcome, changes = model.AuditRefused, nil
	case err != nil:
		return
	}
	s.write(ctx, actor, action, what, outcome, changes)
}

// lacksRights reports whether a field was refused for want of rights.
func lacksRights(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return false
	}
	for _, f := range e.Fields {
		if f.Key == "field.no_scripts" || f.Key == "field.no_edit" || f.Key == "field.admin_only" {
			return true
		}
	}
	return false
}

func (s *Service) write(ctx context.Context, actor model.Actor, action string, what thing, outcome model.AuditOutcome, changes []model.Change) {
	now := s.Now()
	if outcome == model.AuditRefused {
		counts := &s.refused
		if action == "login" { // anybody can cause these: they take no room from the others
			counts = &s.refusedLogins
		}
		withheld, ok := counts.room(now)
		if !ok {
			return
		}
		if withheld > 0 {
			changes = append(changes, model.Change{Field: "withheld", New: itoa(withheld)})
		}
	}
	for i := range changes {
		changes[i].Old, changes[i].New = shortChange(changes[i].Old), shortChange(changes[i].New)
	}
	s.writeAll(ctx, actor, action, []thing{what}, outcome, changes)
}

// writeAll writes a line for each of many objects.
func (s *Service) writeAll(ctx context.Context, actor model.Actor, action string, whats []thing, outcome model.AuditOutcome, changes []model.Change) {
	if len(whats) == 0 {
		return
	}
	list, now := make([]model.AuditEntry, len(whats)), s.Now()
	for i, what := range whats {
		list[i] = model.AuditEntry{
			At: now, UserID: actor.UserID, User: strings.ToValidUTF8(actor.Name, "?"), From: actor.From, Action: action, Kind: what.kind,
			ObjectID: what.id, Object: strings.ToValidUTF8(what.name, "?"), Outcome: outcome, Changes: changes,
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime*time.Duration(1+len(list)/1000))
	defer cancel()
	if err := s.store.InsertAudit(ctx, list); err != nil {
		s.log.Error("lines of the audit could not be written", "action", action, "user", actor.Name, "kind", whats[0].kind, "object_id", whats[0].id,
			"lines", len(list), "error", err)
	}
}

func shortChange(text string) string {
	if len(text) > longestChange {
		return strings.ToValidUTF8(text[:longestChange], "") + "…"
	}
	return text
}

// jobChanges lists what an edit changes. Of scripts it says only that they changed.
func jobChanges(old, new *model.Job) []model.Change {
	var out []model.Change
	add := func(field, was, is string) {
		if was != is {
			out = append(out, model.Change{Field: field, Old: was, New: is})
		}
	}
	add("group", itoa(old.GroupID), itoa(new.GroupID))
	add("name", old.Name, new.Name)
	was, is := docOf(old, names{}), docOf(new, names{})
	if !old.GlueType.IsScript() { // a handler has neither
		was.GlueSource, was.GlueRemark, is.GlueSource, is.GlueRemark = "", "", "", ""
	}
	for _, c := range changes(&was, &is, false) {
		if c.Field == "glue_source" {
			c.Old, c.New = "", ""
		}
		out = append(out, c)
	}
	add("child_ids", old.ChildIDs, new.ChildIDs)
	return out
}

// AuditPage is one page of the audit, newest first.
type AuditPage struct {
	Rows  []model.AuditEntry
	Older bool // there are lines after the last one
}

const mostAudit = 1000

// Audit lists who did what; only administrators may.
func (s *Service) Audit(ctx context.Context, actor model.Actor, f model.AuditFilter) (AuditPage, error) {
	if !actor.Admin {
		err := forbidden()
		s.note(ctx, actor, "audit.read", thing{}, err)
		return AuditPage{}, err
	}
	return s.auditPage(ctx, f)
}

func (s *Service) auditPage(ctx context.Context, f model.AuditFilter) (AuditPage, error) {
	if f.Limit <= 0 || f.Limit > mostAudit {
		f.Limit = 50
	}
	f.Limit++
	rows, err := s.store.Audit(ctx, f)
	p := AuditPage{Rows: rows, Older: len(rows) == f.Limit}
	if p.Older {
		p.Rows = rows[:f.Limit-1]
	}
	return p, err
}

// AuditOf lists what was done to one job, newest first, at most 50 lines, for whoever may see the
// job; to other objects, for administrators. Addresses of others are for
// administrators only.
func (s *Service) AuditOf(ctx context.Context, actor model.Actor, kind model.AuditKind, id int64) ([]model.AuditEntry, error) {
	if kind == model.AuditJob && id <= model.MaxID {
		if _, err := s.Job(ctx, actor, int(id)); err != nil {
			return nil, err
		}
	} else if !actor.Admin {
		return nil, forbidden()
	}
	p, err := s.auditPage(ctx, model.AuditFilter{Kind: kind, ObjectID: id})
	if !actor.Admin {
		for i := range p.Rows {
			p.Rows[i].From = ""
		}
	}
	return p.Rows, err
}

// NoteLogout writes down that somebody has left.
func (s *Service) NoteLogout(ctx context.Context, actor model.Actor) {
	s.note(ctx, actor, "logout", thing{model.AuditUser, int64(actor.UserID), actor.Name}, nil)
}
