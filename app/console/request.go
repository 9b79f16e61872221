package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	languageCookie = "carillon_lang"
	themeCookie    = "carillon_theme"
)

// request is one request with what the middleware found out about it.
type request struct {
	echo.Context
	c       *Console
	id      string
	outer   context.Context // without the session
	started time.Time

	sessions bool // the session was read
	failed   bool // the session could not be written, and that was answered

	now    time.Time // in the zone in which the person reads times
	center *time.Location
	user   *model.User // nil when nobody is logged in
	loc    *i18n.Localizer
	theme  string
}

// choose finds language and theme.
func (r *request) choose() {
	var lang string
	if r.user != nil {
		lang, r.theme = r.user.Language, r.user.Theme
		if zone, err := time.LoadLocation(r.user.Zone); err == nil && r.user.Zone != "" { // else this program does not know it
			r.now = r.now.In(zone)
		}
	}
	r.loc = r.c.texts.Choose(lang, r.cookie(languageCookie), r.Request().Header.Get("Accept-Language"))
	if r.theme == "" {
		r.theme = r.cookie(themeCookie)
	}
	if r.theme != "light" && r.theme != "dark" {
		r.theme = ""
	}
}

func (r *request) cookie(name string) string {
	if ck, err := r.Request().Cookie(name); err == nil {
		return ck.Value
	}
	return ""
}

// actor is who asks, for the service.
func (r *request) actor() model.Actor {
	if r.user == nil {
		return model.Actor{}
	}
	a := r.user.Actor()
	a.From = r.RealIP()
	return a
}

// htmx reports whether a fragment is wanted.
func (r *request) htmx() bool {
	h := r.Request().Header
	return h.Get("HX-Request") == "true" && h.Get("HX-History-Restore-Request") != "true"
}

// idParam gives the id in the path; anything but a positive number is not found.
func (r *request) idParam() (int64, error) {
	n, err := strconv.ParseInt(r.Param("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, model.Errf(model.CodeNotFound, "error.not_found")
	}
	return n, nil
}

func (r *request) jobID() (int, error) {
	n, err := r.idParam()
	if err == nil && n > model.MaxID {
		return 0, model.Errf(model.CodeNotFound, "error.not_found")
	}
	return int(n), err
}

// queryInt gives a number of the query, or 0.
func (r *request) queryInt(name string) int { return numberOf(r.QueryParam(name)) }

func numberOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > model.MaxID {
		return 0
	}
	return n
}

// page gives what every page needs. The toast of the last action is taken out
// of the session, so it is shown once.
func (r *request) page(nav, title string) views.Page {
	p := views.Page{
		L: r.loc, Base: r.c.base, Asset: r.c.files.URL, Now: r.now, Center: r.center, Title: title, Nav: nav,
		Path: r.Request().URL.RequestURI(), Theme: r.theme,
	}
	if r.user != nil {
		p.User, p.Admin, p.Actor, p.Columns = r.user.Name, r.user.Role == model.RoleAdmin, r.user.Actor(), r.user.Columns
	}
	if r.Request().Method != http.MethodGet {
		p.Path = r.c.path("/" + nav)
	}
	if !r.htmx() && r.sessions {
		p.Toast = r.c.takeFlash(r)
	}
	return p
}

// render draws into a buffer first, so that a failure can still become an
// error page with its proper status.
func (r *request) render(status int, component templ.Component) error {
	html, err := draw(r.Request().Context(), component)
	if err != nil {
		return err
	}
	return r.send(status, html)
}

// worthPacking is from how many bytes on HTML is compressed.
const worthPacking = 1000

// send sends HTML, compressed for who takes it.
func (r *request) send(status int, html []byte) error {
	h := r.Response().Header()
	if h.Get("Content-Security-Policy") != "" { // else it is no page
		h.Add("Vary", "HX-Request")
		h.Add("Vary", "Accept-Encoding")
	}
	if len(html) < worthPacking || !strings.Contains(r.Request().Header.Get("Accept-Encoding"), "gzip") {
		return r.HTMLBlob(status, html)
	}
	var b bytes.Buffer
	z := r.c.packers.Get().(*gzip.Writer)
	defer r.c.packers.Put(z)
	z.Reset(&b)
	if _, err := z.Write(html); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	h.Set("Content-Encoding", "gzip")
	return r.HTMLBlob(status, b.Bytes())
}

// pageOr draws the fragment for htmx and the page for everyone else.
func (r *request) pageOr(status int, page, fragment templ.Component) error {
	if r.htmx() {
		return r.renderLive(status, fragment)
	}
	return r.render(status, page)
}

// canonical puts the shortest address of a list into the address bar when a
// form asked for a longer one. Lists that refresh themselves ask for exactly
// that address, so they push nothing.
func (r *request) canonical(self string) {
	if r.htmx() && r.Request().URL.RequestURI() != self {
		r.Response().Header().Set("HX-Push-Url", self)
	}
}

// done ends an action that leaves the person where they are: a toast and fresh
// lists for htmx, else a redirect and the toast on the next page.
func (r *request) done(to, text string) error {
	return r.doneWith(to, views.Toast{Kind: "ok", Text: text})
}

// doneWith is done with a toast that may offer to take the action back.
func (r *request) doneWith(to string, toast views.Toast) error {
	if r.htmx() {
		r.trigger(map[string]any{"carillon:toast": toast, "carillon:refresh": "", "carillon:close": ""})
		return r.NoContent(http.StatusNoContent)
	}
	return r.leaveWith(to, toast)
}

// leave ends an action by going to another page.
func (r *request) leave(to, text string) error {
	return r.leaveWith(to, views.Toast{Kind: "ok", Text: text})
}

func (r *request) leaveWith(to string, toast views.Toast) error {
	r.c.putFlash(r, toast)
	return r.goTo(to)
}

// goTo leads to another address, or lets the browser take a file from there.
func (r *request) goTo(to string) error {
	if r.htmx() {
		r.Response().Header().Set("HX-Redirect", to)
		return r.NoContent(http.StatusNoContent)
	}
	return r.Redirect(http.StatusSeeOther, to)
}

// trigger sends events to the page. Header values are ASCII only.
func (r *request) trigger(events map[string]any) {
	raw, err := json.Marshal(events)
	if err != nil {
		return // plain strings always marshal
	}
	r.Response().Header().Set("HX-Trigger", asciiJSON(raw))
}

func asciiJSON(raw []byte) string {
	var b strings.Builder
	for _, c := range string(raw) {
		if c < 0x80 {
			b.WriteRune(c)
			continue
		}
		for _, u := range utf16.Encode([]rune{c}) {
			b.WriteString(`\u`)
			h := strconv.FormatUint(uint64(u), 16)
			b.WriteString(strings.Repeat("0", 4-len(h)) + h)
		}
	}
	return b.String()
}

// path puts the base path before a path of ours.
func (c *Console) path(p string) string { return c.base + p }

// localPath gives s if it is a path on this site, else "". It refuses all that
// a browser might take for another host.
func localPath(s string) string {
	if len(s) == 0 || s[0] != '/' || strings.HasPrefix(s, "//") || strings.Contains(s, `\`) {
		return ""
	}
	for _, c := range s {
		if c < 0x20 || c == 0x7f {
			return ""
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Host != "" || u.Scheme != "" || strings.HasPrefix(u.Path, "//") {
		return ""
	}
	return s
}
