package console

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/microcosm-cc/bluemonday"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// breaks matches the tags that stand for a new line in texts of a Java admin.
var breaks = regexp.MustCompile(`(?i)<br\s*/?>|</?(?:p|div|li)\b[^>]*>`)

// plainText gives a stored message as text. Rows of a Java admin, and results that one
// took, hold HTML; our own are text, in which a tag is just what the executor wrote.
func plainText(run model.Run, s string) string {
	if run.Phase != model.PhaseForeign && !slices.ContainsFunc(run.Note.Said, func(x model.Said) bool { return x.Code == "closed_elsewhere" }) {
		return s
	}
	s = breaks.ReplaceAllString(s, "\n")
	s = html.UnescapeString(bluemonday.StrictPolicy().Sanitize(s))
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// PlainText gives a stored message of a run as text.
func PlainText(run model.Run, s string) string { return plainText(run, s) }

// runMessage is the text that explains a run in a list: the executor's own words
// first, then what the center says.
func runMessage(l *i18n.Localizer, zone *time.Location, run model.Run) string {
	theirs, ours := views.Cause(l, zone, run, func(s string) string { return plainText(run, s) })
	return strings.Trim(theirs+"\n"+ours, "\n")
}

func (c *Console) run(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	d, err := c.svc.Run(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	v := views.RunView{
		Page: r.page("runs", r.loc.T("run.title", "ID", id)), Run: d.Run, Job: d.Job, GroupTitle: d.GroupTitle,
		Linked: d.Linked, AverageMS: d.AverageMS, Place: d.Place, PlaceOf: d.Of, Fragment: r.htmx(),
		TriggerText: plainText(d.Run, d.Run.TriggerMsg),
		FailingMS:   d.FailingMS, FailingRuns: d.FailingRuns, FailingMore: d.FailingRuns >= jobs.MostFailures, SucceededMS: d.SucceededMS,
	}
	v.Title = v.PageTitle()
	v.Theirs, v.Ours = views.Cause(r.loc, r.now.Location(), d.Run, func(s string) string { return plainText(d.Run, s) })
	if r.htmx() && r.QueryParam("wait") == "log" && (v.HasLog() || !d.Run.Open()) {
		r.Response().Header().Set("HX-Refresh", "true")
		return r.NoContent(http.StatusNoContent)
	}
	return r.pageOr(http.StatusOK, views.RunPage(v), views.RunLive(v))
}

func (c *Console) runKillForm(r *request) error { return c.runConfirm(r, "kill", "run.kill") }

func (c *Console) runKill(r *request) error { return c.runEnd(r, c.svc.KillRun, "run.killed") }

func (c *Console) runTakeBackForm(r *request) error {
	return c.runConfirm(r, "takeback", "run.take_back")
}

func (c *Console) runTakeBack(r *request) error {
	return c.runEnd(r, c.svc.TakeBackRun, "run.taken_back")
}

// runConfirm asks whether a run is to be ended; key and those beside it have the words.
func (c *Console) runConfirm(r *request, action, key string) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	d, err := c.svc.Run(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	if !r.actor().May(model.LevelOperate, d.Run.GroupID) {
		return model.Errf(model.CodeForbidden, "error.forbidden")
	}
	name := d.Run.JobName
	if d.Job != nil {
		name = d.Job.Name
	}
	path := c.path("/runs/" + strconv.FormatInt(id, 10))
	title := r.loc.T(key + "_title")
	v := views.Confirm{
		Page: r.page("runs", title), Heading: title, Text: r.loc.T(key+"_text", "ID", id, "Name", name), Button: r.loc.T(key),
		Action: path + "/" + action, Cancel: path,
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

// runEnd ends a run in the given way and says done.
func (c *Console) runEnd(r *request, end func(context.Context, model.Actor, int64) error, done string) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	if err := end(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.done(c.path("/runs/"+strconv.FormatInt(id, 10)), r.loc.T(done, "ID", id))
}
