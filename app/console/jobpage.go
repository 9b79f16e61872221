package console

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// jobPage shows one job. What changes by itself is drawn again and again for htmx; the
// jobs beside it are read for the whole page only.
func (c *Console) jobPage(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	d, err := c.svc.JobDetail(ctx, r.actor(), id)
	if err != nil {
		return err
	}
	v := views.JobView{
		Page: r.page("jobs", d.Job.Name), Row: c.jobRow(r, jobs.JobRow{Job: d.Job, GroupTitle: d.Group.Title}), AppName: d.Group.AppName,
		Fires: d.Fires, FireZone: d.FireZone, Recent: d.Recent, Streak: d.Streak, Incident: openIncident(d.Incident),
		Total: d.Waiting.Total, Due: d.Waiting.Due, Fragment: r.htmx(),
	}
	if v.Row.Favourite, err = c.svc.IsFavourite(ctx, r.actor(), id); err != nil {
		return err
	}
	if v.Streak.Last.ID > 0 {
		v.Why = runMessage(r.loc, r.now.Location(), v.Streak.Last)
	}
	v.Last, v.Waiting = r.runRows(d.Last), r.runRows(d.Waiting.Runs)
	for _, n := range d.Nodes {
		v.Nodes = append(v.Nodes, views.ExecutorNode(n))
	}
	if v.Fragment {
		return r.renderLive(http.StatusOK, views.JobLive(v))
	}
	rel, err := c.svc.JobRelatives(ctx, r.actor(), d.Job)
	if err != nil {
		return err
	}
	note, err := c.svc.JobNote(ctx, r.actor(), id)
	if err != nil {
		return err
	}
	if v.NoteHTML, err = markdown(note.Text); err != nil {
		return err
	}
	v.Parents, v.Children = relatedJobs(rel.Parents), relatedJobs(rel.Children)
	if v.History, err = c.svc.AuditOf(ctx, r.actor(), model.AuditJob, int64(id)); err != nil {
		return err
	}
	return r.render(http.StatusOK, views.JobPage(v))
}

// runRows words what happened to runs.
func (r *request) runRows(list []model.Run) (out []views.RunRow) {
	for _, run := range list {
		out = append(out, views.RunRow{Run: run, Message: runMessage(r.loc, r.now.Location(), run)})
	}
	return out
}

func relatedJobs(list []model.Job) (out []views.RelatedJob) {
	for _, j := range list {
		rel := views.RelatedJob{ID: j.ID}
		if j.GroupID != 0 {
			rel.Row = &views.JobRow{Job: j}
		}
		out = append(out, rel)
	}
	return out
}
