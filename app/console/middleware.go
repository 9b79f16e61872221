package console

import (
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
)

const (
	// maxBody bounds what a form may send.
	maxBody = 1 << 20
	// policy forbids everything that a page of ours does not need.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// wrap puts everything around a handler that each request needs, from the
// outside in: headers, log line, body limit, session, then inside the session
// recovery, origin check, locale, permission and the error page.
func (c *Console) wrap(who access, do handler) echo.HandlerFunc {
	return func(e echo.Context) error {
		r := &request{Context: e, c: c, id: newRequestID(), started: c.clock.Now()}
		secure(e.Response().Header(), r.id)
		defer c.logLine(r)
		e.Request().Body = http.MaxBytesReader(e.Response(), e.Request().Body, maxBody)
		inner := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			outer := e.Response()
			e.SetRequest(req)
			e.SetResponse(echo.NewResponse(w, c.echo))
			defer func() {
				// The outer response knows the status for the log line.
				outer.Status, outer.Committed = e.Response().Status, e.Response().Committed
			}()
			if err := c.guarded(r, who, do); err != nil {
				c.fail(r, err)
			}
		})
		c.sessions.LoadAndSave(inner).ServeHTTP(e.Response(), e.Request())
		return nil
	}
}

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
	if err := c.identify(r); err != nil {
		return err
	}
	r.choose()
	if err := c.origins.Check(r.Request()); err != nil {
		return model.Errf(model.CodeForbidden, "error.cross_origin")
	}
	switch {
	case who == anybody:
	case r.user == nil && who != nobody:
		return c.askLogin(r)
	case who == users, who == admins && r.user.Role == model.RoleAdmin:
	default:
		return model.Errf(model.CodeForbidden, "error.forbidden")
	}
	// Read the form here, so that one that is too large is refused and not
	// taken for an empty one.
	if err := r.Request().ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return err
		}
		return echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
	}
	return do(r)
}

// askLogin sends a person to the login page and remembers where they wanted to go.
func (c *Console) askLogin(r *request) error {
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
		r.Response().Header().Set("HX-Redirect", to)
		return r.NoContent(http.StatusUnauthorized)
	}
	if r.Request().Header.Get("Accept") == "text/event-stream" {
		return r.NoContent(http.StatusUnauthorized)
	}
	return r.Redirect(http.StatusSeeOther, to)
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
