package console

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// markdown makes HTML of what a person wrote: text, lists, tables and links. Pictures,
// forms and HTML of their own are left out.
func markdown(text string) (string, error) { return markdownFrom(text, nil) }

// markdownFrom makes links absolute, as they are on a page; nil = they stay as they are.
func markdownFrom(text string, page *url.URL) (string, error) {
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Table, extension.Strikethrough))
	if page != nil {
		md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(absolute{page}, 1000)))
	}
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

// absolute makes relative links absolute.
type absolute struct{ page *url.URL }

// Transform implements parser.ASTTransformer.
func (a absolute) Transform(doc *ast.Document, _ source.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := n.(*ast.Link); is && entering {
			if to, err := a.page.Parse(string(link.Destination)); err == nil { // else it is left out below
				link.Destination = []byte(to.String())
			}
		}
		return ast.WalkContinue, nil
	})
}

// Markdown makes harmless HTML of what a person wrote for who is on call. It is read elsewhere:
// links lead where they lead on the page with the given address.
func Markdown(text, page string) (string, error) {
	from, err := url.Parse(page)
	if err != nil {
		return "", err
	}
	return markdownFrom(text, from)
}

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
