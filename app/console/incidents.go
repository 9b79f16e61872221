package console

import (
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func incidentRow(r jobs.IncidentRow) views.IncidentRow {
	return views.IncidentRow{Incident: r.Incident, JobName: r.JobName, GroupTitle: r.GroupTitle, Jobs: r.Jobs}
}

func incidentRows(list []jobs.IncidentRow) []views.IncidentRow {
	out := make([]views.IncidentRow, len(list))
	for i, r := range list {
		out[i] = incidentRow(r)
	}
	return out
}

// incidentList shows what is in trouble, and what was.
func (c *Console) incidentList(r *request) error {
	before, _ := strconv.ParseInt(r.QueryParam("before"), 10, 64)
	p, err := c.svc.ListIncidents(r.Request().Context(), r.actor(), max(0, before))
	if err != nil {
		return err
	}
	v := views.Incidents{Page: r.page("incidents", r.loc.T("incidents.title")), Open: incidentRows(p.Open), Past: incidentRows(p.Past), Older: p.Older, MailSet: c.opt.MailSet}
	return r.pageOr(http.StatusOK, views.IncidentsPage(v), views.IncidentsPanel(v))
}

// incident shows one.
func (c *Console) incident(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	return c.drawIncident(r, http.StatusOK, id, "", "")
}

func (c *Console) drawIncident(r *request, status int, id int64, comment, problem string) error {
	d, err := c.svc.Incident(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	v := views.IncidentView{
		IncidentRow: incidentRow(d.IncidentRow), Members: incidentRows(d.Members), Notes: d.Notes, Told: d.Told, Run: d.Run, NextMS: d.NextMS, Success: d.SucceededMS,
		Comment: comment, Error: problem,
	}
	v.Page = r.page("incidents", r.loc.T("incidents.title"))
	v.Path = c.path("/incidents/" + strconv.FormatInt(id, 10))
	if d.Parent != nil {
		p := incidentRow(*d.Parent)
		v.Parent = &p
	}
	if d.Job != nil {
		v.Owner = d.Job.Author
	}
	if d.Run != nil {
		v.Theirs, v.Ours = views.Cause(r.loc, r.now.Location(), *d.Run, func(s string) string { return plainText(*d.Run, s) })
	}
	if v.NoteHTML, err = markdown(d.NoteText); err != nil {
		return err
	}
	return r.pageOr(status, views.IncidentPage(v), views.IncidentPanel(v))
}

// afterIncident draws the incident again, or leads to it.
func (c *Console) afterIncident(r *request, id int64, err error) error {
	if err != nil {
		return err
	}
	if r.htmx() {
		return c.drawIncident(r, http.StatusOK, id, "", "")
	}
	return r.Redirect(http.StatusSeeOther, c.path("/incidents/"+strconv.FormatInt(id, 10)))
}

func (c *Console) incidentAck(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	return c.afterIncident(r, id, c.svc.AckIncident(r.Request().Context(), r.actor(), id))
}

func (c *Console) incidentMute(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	var long time.Duration
	forGood := r.FormValue("for") == "good"
	if !forGood && r.FormValue("for") != "0" {
		if long, err = time.ParseDuration(r.FormValue("for")); err != nil || long <= 0 {
			return model.Errf(model.CodeInvalid, "error.invalid")
		}
	}
	return c.afterIncident(r, id, c.svc.MuteIncident(r.Request().Context(), r.actor(), id, long, forGood))
}

func (c *Console) incidentComment(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	text := r.FormValue("comment")
	err = c.svc.CommentIncident(r.Request().Context(), r.actor(), id, text)
	if model.CodeOf(err) == model.CodeInvalid {
		return c.drawIncident(r, statusOf(err), id, text, fieldMessages(r.loc, err)["comment"])
	}
	return c.afterIncident(r, id, err)
}

func openIncident(i *model.Incident) *views.IncidentRow {
	if i == nil {
		return nil
	}
	return &views.IncidentRow{Incident: *i}
}
