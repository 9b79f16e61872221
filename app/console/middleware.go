package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	// maxBody bounds what a form may send, maxOpenBody what somebody may send who
	// need not be logged in.
	maxBody = 1 << 20
	// maxBatchBody is work on ten thousand jobs with what takes it back.
	maxBatchBody = 4 << 20
	maxOpenBody  = 16 << 10
	// policy forbids everything that a page of ours does not need.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// wrap puts everything around a handler that each request needs, from the
// outside in: headers, log line, body limit, session, then inside the session
// recovery, origin check, locale, permission and the error page.
func (c *Console) wrap(who access, do handler) echo.HandlerFunc {
	return func(e echo.Context) error {
		r := &request{Context: e, c: c, id: newRequestID(), started: c.clock.Now(), outer: e.Request().Context()}
		outer := e.Response()
		secure(outer.Header(), r.id)
		defer c.logLine(r)
		limit := int64(maxBody)
		if who == anybody {
			limit = maxOpenBody
		}
		switch e.Path() {
		case c.base + importPath:
			limit = maxUpload
		case c.base + "/jobs/batch", c.base + "/runs/batch":
			limit = maxBatchBody
		case c.base + scriptPath:
			limit = maxScriptBody
		case c.base + keptLoginPath:
			limit = maxLoginBody
		}
		e.Request().Body = http.MaxBytesReader(outer, e.Request().Body, limit)
		inner := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			r.sessions = true
			e.SetRequest(req)
			e.SetResponse(echo.NewResponse(w, c.echo))
			defer func() {
				// The outer response knows the status for the log line.
				if answered := e.Response(); !r.failed {
					outer.Status, outer.Committed = answered.Status, answered.Committed
				}
				e.SetResponse(outer)
			}()
			if err := c.guarded(r, who, do); err != nil {
				c.fail(r, err)
			}
		})
		req := e.Request().WithContext(context.WithValue(r.outer, requestKey{}, r))
		c.sessions.LoadAndSave(inner).ServeHTTP(outer, req)
		return nil
	}
}

// requestKey is where the session store finds the request that it fails.
type requestKey struct{}

// sessionFailed answers when the session cannot be read or written. A page that
// is drawn already is worth more than what was to be noted about it.
func (c *Console) sessionFailed(w http.ResponseWriter, req *http.Request, err error) {
	r, ok := req.Context().Value(requestKey{}).(*request)
	if !ok {
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	c.log.LogAttrs(req.Context(), slog.LevelError, "session store failed", slog.String("request_id", r.id), slog.Any("error", err))
	if r.sessions && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
		return
	}
	inner := r.Response()
	if outer, ok := w.(*echo.Response); ok {
		r.SetResponse(outer)
		r.sessions, r.failed = false, true
		for _, h := range []string{"Location", "HX-Redirect", "HX-Trigger"} { // what the handler meant to say
			outer.Header().Del(h)
		}
		c.fail(r, model.Errf(model.CodeUnavailable, "error.unavailable"))
		// What the handler answers goes nowhere.
		outer.Writer, outer.Committed = nowhere{http.Header{}}, false
		r.SetResponse(inner)
	}
}

// nowhere takes an answer that must not be sent.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// guarded runs the handler if the person may, and turns a panic into an error.
func (c *Console) guarded(r *request, who access, do handler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	r.now = c.svc.Now()
	r.center = r.now.Location()
	if err := c.identify(r); err != nil {
		return err
	}
	r.choose()
	if err := c.Origin(r.Request()); err != nil {
		return err
	}
	if r.user == nil && who != anybody && who != nobody {
		return c.askLogin(r)
	}
	if !who.admits(r.actor()) {
		return model.Errf(model.CodeForbidden, "error.forbidden")
	}
	if r.user != nil && r.user.MustChange && who != anybody && r.Path() != c.base+passwordPath {
		return c.askOwnPassword(r)
	}
	// Read the form here, so that one that is too large is refused and not
	// taken for an empty one.
	if err := r.Request().ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return err
		}
		return echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
	}
	return c.doOnce(r, do)
}

// askLogin sends a person to the login page and remembers where they wanted to go.
func (c *Console) askLogin(r *request) error {
	if kept := c.keep(r); kept.Path != "" {
		if r.htmx() { // the login takes the place of the page, not of the dialog
			h := r.Response().Header()
			h.Set("HX-Retarget", "body")
			h.Set("HX-Reswap", "innerHTML")
			return c.drawLogin(r, http.StatusUnprocessableEntity, views.Login{Kept: kept}) // the page takes no 401
		}
		return c.drawLogin(r, http.StatusUnauthorized, views.Login{Kept: kept})
	}
	next := ""
	switch {
	case r.htmx():
		if u, err := url.Parse(r.Request().Header.Get("HX-Current-URL")); err == nil {
			next = u.RequestURI()
		}
	case r.Request().Method == http.MethodGet:
		next = r.Request().URL.RequestURI()
	}
	if next == c.path("/") {
		next = ""
	}
	to := c.path("/login")
	if next = localPath(next); next != "" {
		to += "?next=" + url.QueryEscape(next)
	}
	if r.htmx() {
		if c.besideForm(r) {
			return r.NoContent(http.StatusNoContent)
		}
		r.Response().Header().Set("HX-Redirect", to)
		return r.NoContent(http.StatusUnauthorized)
	}
	if r.Request().Header.Get("Accept") == "text/event-stream" {
		return r.NoContent(http.StatusUnauthorized)
	}
	return r.Redirect(http.StatusSeeOther, to)
}

// askOwnPassword leads whoever has a password that somebody else chose to the page on which
// they choose their own. Nothing else is done before.
func (c *Console) askOwnPassword(r *request) error {
	to := c.path(passwordPath)
	if next := r.Request().URL.RequestURI(); !r.htmx() && r.Request().Method == http.MethodGet && next != c.path("/") {
		to += "?next=" + url.QueryEscape(next)
	}
	if r.Request().Header.Get("Accept") == "text/event-stream" {
		return r.NoContent(http.StatusForbidden)
	}
	return r.goTo(to)
}

func secure(h http.Header, requestID string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-ID", requestID)
}

func newRequestID() string { return rand.Text()[:12] }

func (c *Console) logLine(r *request) {
	attrs := []slog.Attr{
		slog.String("request_id", r.id), slog.String("method", r.Request().Method),
		slog.String("path", r.Request().URL.Path), slog.Int("status", r.Response().Status),
		slog.Duration("took", c.clock.Now().Sub(r.started).Round(time.Microsecond)), slog.String("ip", r.RealIP()),
	}
	if r.user != nil {
		attrs = append(attrs, slog.Int("user_id", r.user.ID))
	}
	c.log.LogAttrs(r.Request().Context(), slog.LevelDebug, "console request", attrs...)
}
