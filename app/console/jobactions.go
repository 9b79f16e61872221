package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) jobStart(r *request) error {
	return c.jobAction(r, c.svc.StartJob, model.LevelOperate, "job.start", "jobs.started", "/stop")
}

func (c *Console) jobStop(r *request) error {
	return c.jobAction(r, c.svc.StopJob, model.LevelOperate, "job.stop", "jobs.stopped_done", "/start")
}

func (c *Console) jobDelete(r *request) error {
	return c.jobAction(r, c.svc.DeleteJob, model.LevelEdit, "job.delete", "jobs.deleted", "")
}

// jobAction does something to a job and says so by its name, with the action that takes
// it back, if any. A line of the job list is answered with the line as it is now: what
// was clicked must never show what is over.
func (c *Console) jobAction(r *request, do func(context.Context, model.Actor, int) error, level model.Level, action, key, undo string) error {
	j, err := c.pathJob(r, level, action)
	if err != nil {
		return err
	}
	if err := do(r.Request().Context(), r.actor(), j.ID); err != nil {
		return err
	}
	toast := views.Toast{Kind: "ok", Text: r.loc.T(key, "Name", j.Name)}
	if undo == "" {
		if r.FormValue("from") == "job" { // its page is gone
			return r.leaveWith(c.path("/jobs"), toast)
		}
		return r.doneWith(c.path("/jobs"), toast)
	}
	toast.Undo, toast.Row = c.path("/jobs/"+strconv.Itoa(j.ID)+undo), views.JobRowID(j.ID)
	if r.Request().Header.Get("HX-Target") != toast.Row {
		to := c.path("/jobs")
		if from := r.FormValue("from"); from == "job" {
			to = c.path("/jobs/" + strconv.Itoa(j.ID))
		} else if run, ok := strings.CutPrefix(from, "run-"); ok {
			if id, err := strconv.ParseInt(run, 10, 64); err == nil && id > 0 {
				to = c.path("/runs/" + strconv.FormatInt(id, 10))
			}
		}
		return r.doneWith(to, toast)
	}
	row, err := c.svc.JobRow(r.Request().Context(), r.actor(), j.ID)
	if err != nil {
		return err
	}
	r.trigger(map[string]any{"carillon:toast": toast})
	return r.render(http.StatusOK, views.JobLine(views.Jobs{Page: r.page("jobs", "")}, c.jobRow(r, row)))
}

// pathJob loads the job named by the path, for an action that needs a level.
func (c *Console) pathJob(r *request, level model.Level, action string) (model.Job, error) {
	id, err := r.jobID()
	if err != nil {
		return model.Job{}, err
	}
	return c.svc.JobTo(r.Request().Context(), r.actor(), id, level, action)
}

// jobDeleteForm says what would go, what stays and which jobs are beside it.
func (c *Console) jobDeleteForm(r *request) error {
	j, err := c.pathJob(r, model.LevelEdit, "job.delete")
	if err != nil {
		return err
	}
	e, err := c.svc.JobEnd(r.Request().Context(), r.actor(), j.ID)
	if err != nil {
		return err
	}
	v := views.JobDelete{
		Page: r.page("jobs", r.loc.T("jobs.delete_title", "Name", e.Job.Name)), ID: e.Job.ID, Name: e.Job.Name, Running: e.Job.Status == model.JobRunning,
		Runs: e.Runs, RunsMore: e.RunsMore, RunsUntil: e.RunsUntil, Planned: e.Planned, FromPage: r.QueryParam("from") == "job",
		Parents: relatedJobs(e.Parents), Children: relatedJobs(e.Children),
	}
	return r.pageOr(http.StatusOK, views.JobDeletePage(v), views.JobDeleteFragment(v))
}
