package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// What people arrange for themselves: favourites, filters under a name, columns.

// jobFavourite marks a job, or no longer. The line of the job list is answered by itself.
func (c *Console) jobFavourite(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	if err := c.svc.SetFavourite(ctx, r.actor(), id, r.FormValue("on") == "1"); err != nil {
		return err
	}
	switch {
	case r.Request().Header.Get("HX-Target") == views.JobRowID(id):
		row, err := c.svc.JobRow(ctx, r.actor(), id)
		if err != nil {
			return err
		}
		return r.render(http.StatusOK, views.JobLine(views.Jobs{Page: r.page("jobs", "")}, c.jobRow(r, row)))
	case r.htmx():
		r.trigger(map[string]any{"carillon:refresh": ""})
		return r.NoContent(http.StatusNoContent)
	case r.FormValue("from") == "job":
		return r.Redirect(http.StatusSeeOther, c.path("/jobs/"+strconv.Itoa(id)))
	}
	return r.Redirect(http.StatusSeeOther, c.cameFrom(r, "/jobs"))
}

// cameFrom is the list on which a form without scripts was sent, with its filter.
func (c *Console) cameFrom(r *request, list string) string {
	if u, err := url.Parse(r.Request().Referer()); err == nil && u.Host == r.Request().Host && u.Path == c.path(list) {
		return u.RequestURI()
	}
	return c.path(list)
}

// listName is the list that a form is about.
func listName(r *request) (string, error) {
	list := r.FormValue("list")
	if !slices.Contains(model.FilteredLists(), list) {
		return "", model.Errf(model.CodeInvalid, "error.invalid")
	}
	return list, nil
}

func (c *Console) filterList(r *request) error {
	list := r.QueryParam("list")
	if !slices.Contains(model.FilteredLists(), list) {
		list = model.FilteredLists()[0]
	}
	return c.drawFilters(r, http.StatusOK, list, views.Filters{})
}

// drawFilters lists what is kept, with what is wrong.
func (c *Console) drawFilters(r *request, status int, list string, v views.Filters) error {
	saved, err := c.svc.Filters(r.Request().Context(), r.actor(), list)
	if err != nil {
		return err
	}
	v.List, v.Saved, v.Page = list, saved, r.page(list, r.loc.T("filters.of."+list))
	return r.pageOr(status, views.FiltersPage(v), views.FiltersFragment(v))
}

// filterProblem draws a complaint about a name beside it; other errors are those of pages.
func (c *Console) filterProblem(r *request, list, of string, err error) error {
	text := fieldMessages(r.loc, err)["name"]
	if text == "" {
		text = message(r.loc, err)
	}
	switch model.CodeOf(err) {
	case model.CodeInvalid, model.CodeConflict:
		return c.drawFilters(r, http.StatusUnprocessableEntity, list, views.Filters{
			ListTools: views.ListTools{Query: r.FormValue("query")}, Of: of, Name: r.FormValue("name"), Error: text,
		})
	}
	return err
}

// canonicalFilter is a filter as its list writes it: nothing else is kept.
func (c *Console) canonicalFilter(r *request, list, query string) (string, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return "", model.Errf(model.CodeInvalid, "error.invalid")
	}
	p := views.Page{Base: c.base, Now: r.now, Center: r.center}
	self := ""
	if list == "runs" {
		f := readRunFilter(r, q)
		f.Before, f.After = 0, 0
		self = views.Runs{Page: p, Filter: f}.SelfURL()
	} else {
		f := readJobFilter(q)
		f.Page = 1
		self = views.Jobs{Page: p, Filter: f}.SelfURL()
	}
	_, query, _ = strings.Cut(self, "?")
	return query, nil
}

// filterSave keeps the filter that is shown under a name.
func (c *Console) filterSave(r *request) error {
	list, err := listName(r)
	if err != nil {
		return err
	}
	f := model.SavedFilter{List: list, Name: strings.Join(strings.Fields(r.FormValue("name")), " ")}
	if f.Query, err = c.canonicalFilter(r, list, r.FormValue("query")); err != nil {
		return err
	}
	if err := c.svc.SaveFilter(r.Request().Context(), r.actor(), f); err != nil {
		return c.filterProblem(r, list, "", err)
	}
	return r.leave(c.path("/"+list+"?"+f.Query), r.loc.T("filters.saved", "Name", f.Name))
}

func (c *Console) filterRename(r *request) error {
	list, err := listName(r)
	if err != nil {
		return err
	}
	if err := c.svc.RenameFilter(r.Request().Context(), r.actor(), list, r.FormValue("old"), r.FormValue("name")); err != nil {
		return c.filterProblem(r, list, r.FormValue("old"), err)
	}
	return c.filtersChanged(r, list)
}

func (c *Console) filterDelete(r *request) error {
	list, err := listName(r)
	if err != nil {
		return err
	}
	if err := c.svc.DeleteFilter(r.Request().Context(), r.actor(), list, r.FormValue("old")); err != nil {
		return err
	}
	return c.filtersChanged(r, list)
}

func (c *Console) filtersChanged(r *request, list string) error {
	if !r.htmx() {
		return r.Redirect(http.StatusSeeOther, c.path("/filters?list="+list))
	}
	r.trigger(map[string]any{"carillon:refresh": ""})
	return c.drawFilters(r, http.StatusOK, list, views.Filters{})
}

// columns keeps which columns of a list the person wants.
func (c *Console) columns(r *request) error {
	list, err := listName(r)
	if err != nil {
		return err
	}
	if err := c.svc.SetColumns(r.Request().Context(), *r.user, list, r.Request().PostForm["column"]); err != nil {
		return err
	}
	next := localPath(r.FormValue("next"))
	if !strings.HasPrefix(next, c.path("/"+list)) {
		next = c.path("/" + list)
	}
	return r.Redirect(http.StatusSeeOther, next)
}
