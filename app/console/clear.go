package console

import (
	"net/http"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// clearInput reads whose runs are meant, and which of them.
func clearInput(r *request, value func(string) string) jobs.ClearInput {
	before, _ := strconv.ParseInt(value("before"), 10, 64) // not a number: it is found out
	return jobs.ClearInput{
		Kind: model.ClearKind(numberOf(value("kind"))), GroupID: numberOf(value("executor")), JobID: numberOf(value("job")), BeforeID: max(0, before),
	}
}

// runClearForm asks which runs go. With a kind it says first how many those are.
func (c *Console) runClearForm(r *request) error {
	ctx := r.Request().Context()
	in := clearInput(r, r.QueryParam)
	v := views.Clear{Page: r.page("runs", r.loc.T("clear.title")), GroupID: in.GroupID, JobID: in.JobID, Kind: int(in.Kind)}
	page, err := c.svc.ListRuns(ctx, r.actor(), model.RunFilter{GroupID: in.GroupID, JobID: in.JobID, Limit: 1})
	if err != nil {
		return err
	}
	for _, g := range page.Groups {
		if r.actor().May(model.LevelAdminister, g.ID) {
			v.Groups = append(v.Groups, g)
		}
	}
	v.JobName, v.Everything = page.JobName, r.actor().Admin
	if in.Kind == 0 {
		return r.pageOr(http.StatusOK, views.ClearPage(v), views.ClearFragment(v))
	}
	count, err := c.svc.CountClear(ctx, r.actor(), in)
	if err != nil {
		return err
	}
	v.Counted, v.Runs, v.More, v.BeforeID = true, count.Runs, count.More, count.BeforeID
	return r.pageOr(http.StatusOK, views.ClearPage(v), views.ClearFragment(v))
}

// runClear removes them; what is left after a few seconds is offered again.
func (c *Console) runClear(r *request) error {
	in := clearInput(r, r.FormValue)
	done, err := c.svc.ClearRuns(r.Request().Context(), r.actor(), in)
	if err != nil {
		return err
	}
	text := r.loc.N("clear.done", done.Runs)
	if !done.More {
		return r.leave(c.path("/runs"), text)
	}
	v := views.Clear{
		Page: r.page("runs", r.loc.T("clear.title")), GroupID: in.GroupID, JobID: in.JobID, Kind: int(in.Kind), BeforeID: done.BeforeID,
		Counted: true, Text: text, More: true,
	}
	return r.pageOr(http.StatusOK, views.ClearPage(v), views.ClearFragment(v))
}
