package console

import (
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// breaks matches the tags that stand for a new line in texts of a Java admin.
var breaks = regexp.MustCompile(`(?i)<br\s*/?>|</?(?:p|div|li)\b[^>]*>`)

// plainText gives a stored message as text. Rows of a Java admin hold HTML;
// our own are text, in which a tag is just what the executor wrote.
func plainText(run model.Run, s string) string {
	if run.Phase != model.PhaseForeign {
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

// runMessage is the line that explains a run in a list.
func runMessage(l *i18n.Localizer, run model.Run) string {
	if run.HandleMsg != "" {
		return plainText(run, run.HandleMsg)
	}
	if run.Reason != "" {
		if key := "reason." + run.Reason; l.Has(key) {
			return l.T(key)
		}
		return l.T("reason.other")
	}
	if run.Result() == model.ResultFailed {
		return plainText(run, run.TriggerMsg)
	}
	return ""
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
		Linked: d.Linked, AverageMS: d.AverageMS, Fragment: r.htmx(),
		TriggerText: plainText(d.Run, d.Run.TriggerMsg), HandleText: plainText(d.Run, d.Run.HandleMsg),
	}
	if r.htmx() && r.QueryParam("wait") == "log" && v.HasLog() {
		r.Response().Header().Set("HX-Refresh", "true")
		return r.NoContent(http.StatusNoContent)
	}
	return r.pageOr(http.StatusOK, views.RunPage(v), views.RunLive(v))
}

func (c *Console) runKillForm(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	d, err := c.svc.Run(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	name := d.Run.JobName
	if d.Job != nil {
		name = d.Job.Name
	}
	path := c.path("/runs/" + strconv.FormatInt(id, 10))
	v := views.Confirm{
		Page: r.page("runs", r.loc.T("run.kill_title")), Heading: r.loc.T("run.kill_title"),
		Text: r.loc.T("run.kill_text", "ID", id, "Name", name), Button: r.loc.T("run.kill"),
		Action: path + "/kill", Cancel: path,
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) runKill(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	if err := c.svc.KillRun(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.done(c.path("/runs/"+strconv.FormatInt(id, 10)), r.loc.T("run.killed", "ID", id))
}
