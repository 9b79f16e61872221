package console

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const auditPageSize = 50

// bindAudit reads the filter of the audit from the address.
func bindAudit(r *request) (views.AuditFilter, model.AuditFilter) {
	f := views.AuditFilter{
		User: searchText(r.QueryParam("user")), Object: searchText(r.QueryParam("object")), Action: r.QueryParam("action"),
		Outcome: r.QueryParam("outcome"), From: r.QueryParam("from"), To: r.QueryParam("to"),
	}
	if !slices.Contains(model.AuditActions(), f.Action) {
		f.Action = ""
	}
	if f.Outcome != string(model.AuditDone) && f.Outcome != string(model.AuditRefused) {
		f.Outcome = ""
	}
	zone := r.zoneOf(r.QueryParams())
	f.From, f.To = r.ownClock(f.From, zone), r.ownClock(f.To, zone)
	f.Before, _ = strconv.ParseInt(r.QueryParam("before"), 10, 64) // not a number is no key
	f.Before = max(0, f.Before)
	m := model.AuditFilter{
		User: f.User, Object: f.Object, Action: f.Action, Outcome: model.AuditOutcome(f.Outcome), Before: f.Before, Limit: auditPageSize,
		From: localTime(f.From, r.now.Location()), To: localTime(f.To, r.now.Location()),
	}
	if m.From.IsZero() {
		f.From = ""
	}
	if m.To.IsZero() {
		f.To = ""
	}
	return f, m
}

func (c *Console) auditList(r *request) error {
	f, m := bindAudit(r)
	page, err := c.svc.Audit(r.Request().Context(), r.actor(), m)
	if err != nil {
		return err
	}
	v := views.Audit{Page: r.page("audit", r.loc.T("audit.title")), Filter: f, Rows: page.Rows, Older: page.Older}
	return r.render(http.StatusOK, views.AuditPage(v))
}

// auditExport gives the lines of the current filter as a table, newest first.
func (c *Console) auditExport(r *request) error {
	_, m := bindAudit(r)
	m.Before, m.Limit = 0, csvPage
	ctx := r.Request().Context()
	page, err := c.svc.Audit(ctx, r.actor(), m)
	if err != nil {
		return err
	}
	t, err := c.startTable(r, "audit", "at", "user", "from", "action", "kind", "object_id", "object", "outcome", "changes")
	for n := 0; err == nil; {
		for _, e := range page.Rows {
			if err = t.line(e.At.In(r.now.Location()).Format("2006-01-02 15:04:05.000"), e.User, e.From, e.Action, string(e.Kind),
				strconv.FormatInt(e.ObjectID, 10), e.Object, string(e.Outcome), changesText(e.Changes)); err != nil {
				break
			}
		}
		if n += len(page.Rows); err != nil || !page.Older || len(page.Rows) == 0 {
			break
		}
		if n >= mostRows {
			err = t.line(r.loc.T("export.cut", "Max", mostRows))
			break
		}
		if err = t.send(); err != nil {
			break
		}
		m.Before = page.Rows[len(page.Rows)-1].ID
		var lost error
		if page, lost = c.svc.Audit(ctx, r.actor(), m); lost != nil { // the head is sent already: say it in the table
			err = t.line(r.loc.T("export.failed", "ID", r.id))
			c.log.LogAttrs(ctx, slog.LevelError, "a table of the audit was cut off", slog.String("request_id", r.id), slog.Any("error", lost))
			break
		}
	}
	if err == nil {
		err = t.send()
	}
	if err != nil && ctx.Err() == nil {
		c.log.LogAttrs(ctx, slog.LevelInfo, "a table was not taken to its end", slog.String("request_id", r.id), slog.Any("error", err))
	}
	return nil
}

// changesText writes changes as one cell.
func changesText(list []model.Change) string {
	out := make([]string, len(list))
	for i, c := range list {
		switch out[i] = c.Field; {
		case c.Old != "":
			out[i] += ": " + c.Old + " → " + c.New
		case c.New != "":
			out[i] += ": " + c.New
		}
	}
	return strings.Join(out, "\n")
}
