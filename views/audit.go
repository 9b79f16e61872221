package views

import (
	"net/url"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// Audit is the list of who did what.
type Audit struct {
	Page
	Filter AuditFilter
	Rows   []model.AuditEntry
	Older  bool
}

// AuditFilter is the filter as it stands in the address.
type AuditFilter struct {
	User, Action, Object, Outcome, From, To string
	Before                                  int64
}

func (f AuditFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"user": f.User, "action": f.Action, "object": f.Object, "outcome": f.Outcome, "from": f.From, "to": f.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func (v Audit) filtered() bool { return len(v.Filter.query()) > 0 }

func (v Audit) address(path string, before int64) string {
	q := v.Filter.query()
	if zone := v.zoneFor(v.Filter.From, v.Filter.To); zone != "" {
		q.Set("zone", zone)
	}
	if before > 0 {
		q.Set("before", id64(before))
	}
	if len(q) == 0 {
		return v.URL(path)
	}
	return v.URL(path) + "?" + q.Encode()
}

func (v Audit) olderURL() string { return v.address("/audit", v.Rows[len(v.Rows)-1].ID) }

func (p Page) auditAction(code string) string {
	if key := "audit.act." + code; p.L.Has(key) {
		return p.T(key)
	}
	return code
}

// auditField names a field of a change.
func (p Page) auditField(name string) string {
	if key := "audit.field." + name; p.L.Has(key) {
		return p.T(key)
	}
	return name
}

// auditURL leads to what was done something to; "" when there is no page of it.
func (p Page) auditURL(e model.AuditEntry) string {
	id := id64(e.ObjectID)
	switch {
	case e.ObjectID <= 0 || e.Action == "job.delete" || e.Action == "executor.delete" || e.Action == "user.delete":
		return ""
	case e.Kind == model.AuditJob:
		return p.URL("/jobs/" + id)
	case e.Kind == model.AuditRun:
		return p.URL("/runs/" + id)
	case e.Kind == model.AuditExecutor && p.Admin:
		return p.URL("/executors/" + id + "/edit")
	case (e.Kind == model.AuditUser || e.Kind == model.AuditSession) && p.Admin:
		return p.URL("/users/" + id + "/edit")
	}
	return ""
}

func auditName(e model.AuditEntry) string {
	switch {
	case e.Kind == model.AuditRun:
		return "#" + id64(e.ObjectID) + " " + e.Object
	case e.Object != "":
		return e.Object
	case e.ObjectID > 0:
		return id64(e.ObjectID)
	}
	return "–"
}

func (p Page) auditActions() []Option {
	out := []Option{{"", p.T("audit.all_actions")}}
	for _, a := range model.AuditActions() {
		out = append(out, Option{a, p.auditAction(a)})
	}
	return out
}

// restorable reports whether a change of a job has old values that are kept.
func restorable(e model.AuditEntry) bool {
	return e.Kind == model.AuditJob && e.Outcome == model.AuditDone && (e.Action == "job.edit" || e.Action == "job.import") &&
		slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.Old != "" || c.New != "" })
}
