package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/carillon-scheduler/carillon/views"
)

// What somebody typed for minutes is not lost because their login ran out meanwhile: the
// login page carries it, and after the login it is offered again. Nothing of it is kept
// on the server, so nobody can fill it from outside.

const (
	previewPath  = "/jobs/preview"
	handlersPath = "/jobs/handlers"
	pickPath     = "/jobs/pick"

	// keptLoginPath takes a login with a kept form; the ordinary one takes little.
	keptLoginPath = "/login/kept"
	// maxKept bounds the form that is carried; a longer one is not.
	maxKept = 128 << 10
	// maxLoginBody is a login with a kept form, which may triple on its way.
	maxLoginBody = maxOpenBody + 3*maxKept
)

// keepable are the forms in which people type long; their handlers know resume=1.
var keepable = regexp.MustCompile(`^/(?:jobs(?:/[0-9]+(?:/(?:code|note|run))?)?|executors(?:/[0-9]+)?|users(?:/[0-9]+)?)$`)

// typedAtLength are the fields of these forms for whose sake they are kept.
func typedAtLength(form url.Values) bool {
	for _, name := range []string{"name", "glue_source", "note", "param", "addresses", "title", "role"} {
		if strings.TrimSpace(form.Get(name)) != "" {
			return true
		}
	}
	return false
}

// besideForm reports whether a request comes by itself from a page on which somebody
// types. It must not lead away from what they typed: saving will.
func (c *Console) besideForm(r *request) bool {
	switch r.Path() {
	case c.base + previewPath, c.base + handlersPath, c.base + pickPath, c.base + scriptPath:
		return r.Request().Method == http.MethodGet
	}
	return false
}

// keep gives the form that somebody sent who is not logged in any more, "" when there is
// none that is worth it.
func (c *Console) keep(r *request) views.Kept {
	req := r.Request()
	path, ours := strings.CutPrefix(req.URL.Path, c.base)
	if req.Method != http.MethodPost || !ours || !keepable.MatchString(path) {
		return views.Kept{}
	}
	req.Body = http.MaxBytesReader(r.Response(), req.Body, maxKept)
	if err := req.ParseForm(); err != nil || !typedAtLength(req.PostForm) {
		return views.Kept{}
	}
	form := url.Values{}
	for name, values := range req.PostForm {
		switch name {
		case "resume", "then", "use_cron", "use", "once": // what was to be done, not what was typed
		case "password": // is not shown, so it is typed again
		default:
			form[name] = values
		}
	}
	return views.Kept{Path: c.path(path), Form: form.Encode()}
}

// keptOf reads what the login page carried.
func (c *Console) keptOf(r *request) views.Kept {
	k := views.Kept{Path: r.FormValue("kept_path"), Form: r.FormValue("kept_form")}
	path, ours := strings.CutPrefix(k.Path, c.base)
	if _, err := url.ParseQuery(k.Form); err != nil || !ours || k.Form == "" || !keepable.MatchString(path) {
		return views.Kept{}
	}
	return k
}

// offerKept shows after the login that the form is still there.
func (c *Console) offerKept(r *request, k views.Kept, next string) error {
	fields, err := url.ParseQuery(k.Form)
	if err != nil {
		return err
	}
	v := views.Resume{Page: r.page("jobs", r.loc.T("resume.title")), Path: k.Path, Next: next, Fields: fields}
	return r.render(http.StatusOK, views.ResumePage(v))
}
