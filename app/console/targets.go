package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// targets lists the targets of reports.
func (c *Console) targets(r *request) error {
	p, err := c.svc.Targets(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	return r.render(http.StatusOK, views.TargetsPage(views.Targets{Page: r.page("reports", r.loc.T("target.title")), List: p.List}))
}

func (c *Console) targetNew(r *request) error {
	v := map[string]string{"scope": model.ScopeAll, "goal": "99.5"}
	for field, name := range map[string]string{"job": "job", "tag": "tag", "executor": "executor"} { // from a page about one
		if text := searchText(r.QueryParam(name)); text != "" {
			v["scope"], v[field] = field, text
		}
	}
	return c.drawTarget(r, http.StatusOK, views.TargetForm{Values: v})
}

func (c *Console) drawTarget(r *request, status int, v views.TargetForm) error {
	title := "target.add"
	if v.ID > 0 {
		title = "target.edit"
	}
	p, err := c.svc.Targets(r.Request().Context(), r.actor()) // has the executors
	if err != nil {
		return err
	}
	v.Page, v.Groups = r.page("reports", r.loc.T(title)), p.Groups
	return r.render(status, views.TargetFormPage(v))
}

func (c *Console) targetEdit(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	t, err := c.svc.Target(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	all, err := c.svc.Targets(r.Request().Context(), r.actor()) // has the names of their jobs
	if err != nil {
		return err
	}
	var name string
	for _, one := range all.List {
		if one.ID == id && t.JobID > 0 {
			name = one.Of
		}
	}
	v := views.TargetForm{ID: id, Values: map[string]string{
		"name": t.Name, "scope": t.Scope, "job": shownJob(t.JobID, name), "tag": t.Tag, "executor": shownNumber(t.GroupID), "goal": model.GoalText(t.Goal), "by": t.By,
	}}
	if t.Off {
		v.Values["off"] = "1"
	}
	return c.drawTarget(r, http.StatusOK, v)
}

// targetSave binds the form, saves, and draws it again when something is wrong.
func (c *Console) targetSave(r *request) error {
	f := r.readForm("name", "scope", "job", "tag", "executor", "goal", "by", "off")
	v := views.TargetForm{Values: f.Values, Errors: f.Errors}
	if r.Param("id") != "" {
		var err error
		if v.ID, err = r.jobID(); err != nil {
			return err
		}
	}
	goal, _ := model.ParseGoal(v.Values["goal"]) // 0 is refused
	t := model.Target{ID: v.ID, Name: v.Values["name"], TargetSettings: model.TargetSettings{
		Scope: v.Values["scope"], Tag: v.Values["tag"], Goal: goal, By: strings.TrimSpace(v.Values["by"]), Off: f.set("off"),
	}}
	switch t.Scope {
	case model.ScopeExecutor:
		t.GroupID = f.number("executor")
	case model.ScopeJob:
		var err error
		if t.JobID, err = f.job(c, "job"); err != nil {
			return err
		}
	}
	if len(v.Errors) == 0 {
		err := c.svc.SaveTarget(r.Request().Context(), r.actor(), t)
		if model.CodeOf(err) != model.CodeInvalid {
			if err != nil {
				return err
			}
			return r.leave(c.path("/reports/targets"), r.loc.T("target.saved"))
		}
		v.Errors = fieldMessages(r.loc, err)
	}
	return c.drawTarget(r, http.StatusUnprocessableEntity, v)
}

func (c *Console) targetDeleteForm(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	t, err := c.svc.Target(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Page: r.page("reports", r.loc.T("target.delete")), Heading: r.loc.T("target.delete"), Text: r.loc.T("target.delete_text", "Name", t.Name), Button: r.loc.T("action.delete"),
		Action: c.path("/reports/targets/" + strconv.Itoa(id) + "/delete"), Cancel: c.path("/reports/targets"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) targetDelete(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if err := c.svc.DeleteTarget(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.leave(c.path("/reports/targets"), r.loc.T("target.deleted"))
}
