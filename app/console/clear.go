package console

import (
	"math"
	"net/http"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// clearInput reads whose runs are meant, and which of them. What is no number is an error:
// no executor would mean all of them.
func clearInput(value func(string) string) (in jobs.ClearInput, err error) {
	number := func(name string, most int64) int64 {
		text := value(name)
		if text == "" {
			return 0
		}
		n, bad := strconv.ParseInt(text, 10, 64)
		if bad != nil || n < 0 || n > most {
			err = model.Errf(model.CodeInvalid, "field.unknown_value", "Value", text)
		}
		return n
	}
	in = jobs.ClearInput{
		Kind: model.ClearKind(number("kind", model.MaxID)), GroupID: int(number("executor", model.MaxID)), JobID: int(number("job", model.MaxID)),
		BeforeID: number("before", math.MaxInt64),
	}
	return in, err
}

// runClearForm asks which runs go. With a kind it says first how many those are.
func (c *Console) runClearForm(r *request) error {
	ctx := r.Request().Context()
	in, err := clearInput(r.QueryParam)
	if err != nil {
		return err
	}
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
	in, err := clearInput(r.FormValue)
	if err != nil {
		return err
	}
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
