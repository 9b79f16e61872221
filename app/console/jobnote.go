package console

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// markdown makes HTML of what a person wrote: text, lists, tables and links. Pictures,
// forms and HTML of their own are left out.
func markdown(text string) (string, error) {
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Table, extension.Strikethrough))
	if err := md.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote",
		"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	return string(p.SanitizeBytes(b.Bytes())), nil
}

// Markdown makes harmless HTML of what a person wrote for who is on call.
func Markdown(text string) (string, error) { return markdown(text) }

func (c *Console) jobNoteForm(r *request) error {
	j, err := c.pathJob(r, model.LevelOperate, "job.note")
	if err != nil {
		return err
	}
	n, err := c.svc.JobNote(r.Request().Context(), r.actor(), j.ID)
	if err != nil {
		return err
	}
	return c.drawNote(r, http.StatusOK, j, views.JobNote{Text: n.Text, Seen: n.Seen})
}

func (c *Console) drawNote(r *request, status int, j model.Job, v views.JobNote) error {
	v.Page, v.ID, v.Name = r.page("jobs", r.loc.T("jobnote.title", "Name", j.Name)), j.ID, j.Name
	return r.render(status, views.JobNotePage(v))
}

func (c *Console) jobNote(r *request) error {
	j, err := c.pathJob(r, model.LevelOperate, "job.note")
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	v := views.JobNote{Text: r.FormValue("note"), Seen: r.FormValue("seen")}
	if r.FormValue("resume") != "" {
		return c.drawNote(r, http.StatusOK, j, v)
	}
	err = c.svc.SetJobNote(ctx, r.actor(), j.ID, v.Text, v.Seen)
	switch model.CodeOf(err) {
	case model.CodeInvalid:
		v.Error = fieldMessages(r.loc, err)["note"]
	case model.CodeConflict:
		// The next save is about the text that is shown now, beside one's own.
		n, err := c.svc.JobNote(ctx, r.actor(), j.ID)
		if err != nil {
			return err
		}
		v.Theirs, v.Seen, v.Conflict = n.Text, n.Seen, true
	default:
		if err != nil {
			return err
		}
		return r.leave(c.path("/jobs/"+strconv.Itoa(j.ID)), r.loc.T("jobnote.saved", "Name", j.Name))
	}
	return c.drawNote(r, statusOf(err), j, v)
}
