package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	scriptPath = "/jobs/:id/code"
	// maxScriptBody bounds the form of a script: 4 MiB of it may triple on the way.
	maxScriptBody = 13 << 20
	// diffShown is how many lines of a comparison are shown.
	diffShown = 2000
)

// script shows the editor. With restore=VERSION the text of that version is in it, with
// run=RUN the log of that run below.
func (c *Console) script(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	var v views.ScriptView
	if n := r.queryInt("restore"); n > 0 {
		old, err := c.svc.ScriptVersion(r.Request().Context(), r.actor(), id, n)
		if err != nil {
			return err
		}
		v.Restored, v.Source = &old, old.Source
		v.Remark = r.loc.T("script.restore_remark", "When", old.AddTime.In(r.now.Location()).Format("2006-01-02 15:04"), "Remark", old.Remark)
		if runes := []rune(v.Remark); len(runes) > 100 {
			v.Remark = string(runes[:100])
		}
	}
	return c.drawScript(r, http.StatusOK, id, v)
}

func (c *Console) drawScript(r *request, status, id int, v views.ScriptView) error {
	ctx := r.Request().Context()
	var err error
	if v.Job, v.Versions, err = c.svc.Script(ctx, r.actor(), id); err != nil {
		return err
	}
	v.MayEdit = r.actor().Scripts(v.Job.GroupID)
	lacking, err := c.svc.Lacking(ctx, r.actor())
	if err != nil {
		return err
	}
	if slices.Contains(lacking[v.Job.GroupID], v.Job.GlueType) {
		g, err := c.svc.Executor(ctx, r.actor(), v.Job.GroupID)
		if err != nil {
			return err
		}
		v.Lacking = g.Title
	}
	if len(v.Versions) == 0 { // of a Java admin that has saved none yet
		now, err := c.svc.ScriptVersion(ctx, r.actor(), id, 0)
		if err != nil {
			return err
		}
		v.Versions = []model.ScriptVersion{now}
	}
	v.Page = r.page("jobs", r.loc.T("script.of", "Name", v.Job.Name))
	v.Path = c.path("/jobs/" + strconv.Itoa(id) + "/code")
	if v.Restored == nil && !v.Kept && status == http.StatusOK {
		v.Source = v.Job.GlueSource
	}
	if v.Version == 0 {
		v.Version = v.Job.Version
	}
	if v.Conflict {
		v.Theirs, _ = foldedDiff(v.Job.GlueSource, v.Source)
	}
	if run, err := strconv.ParseInt(r.QueryParam("run"), 10, 64); err == nil && r.Request().Method == http.MethodGet {
		d, err := c.svc.Run(ctx, r.actor(), run)
		if err != nil && model.CodeOf(err) != model.CodeNotFound {
			return err
		}
		if err == nil && d.Run.JobID == id {
			of := views.RunView{Page: v.Page, Run: d.Run, Job: d.Job}
			of.Theirs, of.Ours = views.Cause(r.loc, r.now.Location(), d.Run, func(s string) string { return plainText(d.Run, s) })
			v.Run = &of
		}
	}
	switch part := r.QueryParam("part"); {
	case !r.htmx() || v.Run == nil:
		return r.render(status, views.ScriptPage(v))
	case part == "log":
		return r.render(status, views.ScriptRunLog(v))
	default:
		return r.render(status, views.ScriptRunState(v))
	}
}

// scriptSave makes a new version, and with then=run a run of it.
func (c *Console) scriptSave(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	in := jobs.ScriptInput{Source: strings.ReplaceAll(r.FormValue("glue_source"), "\r\n", "\n"), Remark: r.FormValue("glue_remark"), Version: -1}
	if n, err := strconv.ParseInt(r.FormValue("version"), 10, 64); err == nil {
		in.Version = n
	}
	ctx := r.Request().Context()
	if r.FormValue("resume") != "" {
		return c.drawScript(r, http.StatusOK, id, views.ScriptView{Source: in.Source, Remark: in.Remark, Version: in.Version, Kept: true})
	}
	saved, err := c.svc.SaveScript(ctx, r.actor(), id, in)
	v := views.ScriptView{Source: in.Source, Remark: in.Remark}
	switch model.CodeOf(err) {
	case model.CodeConflict:
		v.Conflict = true
		return c.drawScript(r, http.StatusConflict, id, v)
	case model.CodeInvalid:
		fields := fieldMessages(r.loc, err)
		v.Version = in.Version
		v.SourceError, v.RemarkError = fields["glue_source"], fields["glue_remark"]
		return c.drawScript(r, http.StatusUnprocessableEntity, id, v)
	}
	if err != nil {
		return err
	}
	to, said := c.path("/jobs/"+strconv.Itoa(id)+"/code"), r.loc.T("script.saved")
	if !saved {
		said = r.loc.T("script.unchanged")
	}
	if r.FormValue("then") == "run" {
		run, err := c.svc.RunNow(ctx, r.actor(), id, jobs.RunInput{Trigger: model.TriggerManual})
		if err != nil {
			return err
		}
		to += "?run=" + strconv.FormatInt(run, 10)
		said += " " + r.loc.T("runonce.done", "ID", run)
	}
	return r.leave(to, said)
}

// scriptDiff compares two versions; 0 is the current text.
func (c *Console) scriptDiff(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	var v views.ScriptDiff
	if v.Job, v.Versions, err = c.svc.Script(ctx, r.actor(), id); err != nil {
		return err
	}
	if v.From, err = c.svc.ScriptVersion(ctx, r.actor(), id, r.queryInt("from")); err != nil {
		return err
	}
	if v.To, err = c.svc.ScriptVersion(ctx, r.actor(), id, r.queryInt("to")); err != nil {
		return err
	}
	v.Page = r.page("jobs", r.loc.T("script.compare_title")+" · "+v.Job.Name)
	v.Lines, v.Cut = foldedDiff(v.From.Source, v.To.Source)
	return r.render(http.StatusOK, views.ScriptDiffPage(v))
}

func foldedDiff(old, new string) ([]views.DiffLine, bool) {
	lines := jobs.DiffLines(old, new)
	out := make([]views.DiffLine, len(lines))
	for i, l := range lines {
		out[i] = views.DiffLine(l)
	}
	return views.FoldDiff(out, diffShown)
}
