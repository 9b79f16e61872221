package console

import (
	"context"
	"net/http"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) jobStart(r *request) error {
	return c.jobAction(r, c.svc.StartJob, "jobs.started", "/stop")
}

func (c *Console) jobStop(r *request) error {
	return c.jobAction(r, c.svc.StopJob, "jobs.stopped_done", "/start")
}

func (c *Console) jobDelete(r *request) error {
	return c.jobAction(r, c.svc.DeleteJob, "jobs.deleted", "")
}

// jobAction does something to a job and says so by its name, with the action that takes
// it back, if any. A line of the job list is answered with the line as it is now: what
// was clicked must never show what is over.
func (c *Console) jobAction(r *request, do func(context.Context, model.Actor, int) error, key, undo string) error {
	j, err := c.pathJob(r)
	if err != nil {
		return err
	}
	if err := do(r.Request().Context(), r.actor(), j.ID); err != nil {
		return err
	}
	toast := views.Toast{Kind: "ok", Text: r.loc.T(key, "Name", j.Name)}
	if undo == "" {
		return r.doneWith(c.path("/jobs"), toast)
	}
	toast.Undo, toast.Row = c.path("/jobs/"+strconv.Itoa(j.ID)+undo), views.JobRowID(j.ID)
	if r.Request().Header.Get("HX-Target") != toast.Row {
		return r.doneWith(c.path("/jobs"), toast)
	}
	row, err := c.svc.JobRow(r.Request().Context(), r.actor(), j.ID)
	if err != nil {
		return err
	}
	r.trigger(map[string]any{"carillon:toast": toast})
	return r.render(http.StatusOK, views.JobLine(views.Jobs{Page: r.page("jobs", "")}, c.jobRow(r, row)))
}

// pathJob loads the job named by the path.
func (c *Console) pathJob(r *request) (model.Job, error) {
	id, err := r.jobID()
	if err != nil {
		return model.Job{}, err
	}
	return c.svc.Job(r.Request().Context(), r.actor(), id)
}

func (c *Console) jobDeleteForm(r *request) error {
	j, err := c.pathJob(r)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Page: r.page("jobs", r.loc.T("jobs.delete_title")), Heading: r.loc.T("jobs.delete_title"),
		Text: r.loc.T("jobs.delete_text", "ID", j.ID, "Name", j.Name), Button: r.loc.T("action.delete"),
		Action: c.path("/jobs/" + strconv.Itoa(j.ID) + "/delete"), Cancel: c.path("/jobs"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

// runOnceForm asks for parameter and addresses. With from=RUN the parameter is
// the one of that run, so that it can be made again.
func (c *Console) runOnceForm(r *request) error {
	j, err := c.pathJob(r)
	if err != nil {
		return err
	}
	v := views.RunOnce{ID: j.ID, Name: j.Name, Param: j.Param}
	if from, err := strconv.ParseInt(r.QueryParam("from"), 10, 64); err == nil {
		d, err := c.svc.Run(r.Request().Context(), r.actor(), from)
		if err != nil {
			return err
		}
		if d.Run.JobID == j.ID {
			v.Param = d.Run.Param
		}
	}
	return c.drawRunOnce(r, http.StatusOK, v)
}

func (c *Console) drawRunOnce(r *request, status int, v views.RunOnce) error {
	v.Page = r.page("jobs", r.loc.T("runonce.title"))
	return r.pageOr(status, views.RunOncePage(v), views.RunOnceFragment(v))
}

// runOnce makes the run and leads to its page.
func (c *Console) runOnce(r *request) error {
	j, err := c.pathJob(r)
	if err != nil {
		return err
	}
	param := r.FormValue("param")
	run, err := c.svc.RunNow(r.Request().Context(), r.actor(), j.ID, jobs.RunInput{
		Param: &param, Addresses: r.FormValue("addresses"), Trigger: model.TriggerManual,
	})
	if model.CodeOf(err) == model.CodeInvalid {
		fields := fieldMessages(r.loc, err)
		v := views.RunOnce{
			ID: j.ID, Name: j.Name, Param: param, Addresses: r.FormValue("addresses"),
			ParamError: fields["param"], AddressesError: fields["addresses"],
		}
		if len(fields) == 0 {
			v.Message = message(r.loc, err)
		}
		return c.drawRunOnce(r, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	id := strconv.FormatInt(run, 10)
	return r.leave(c.path("/runs/"+id), r.loc.T("runonce.done", "ID", run))
}
