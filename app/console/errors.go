package console

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// statusOf turns an error into an HTTP status.
func statusOf(err error) int {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok && tooLarge != nil {
		return http.StatusRequestEntityTooLarge
	}
	switch model.CodeOf(err) {
	case model.CodeInvalid:
		return http.StatusUnprocessableEntity
	case model.CodeNotFound:
		return http.StatusNotFound
	case model.CodeForbidden:
		return http.StatusForbidden
	case model.CodeConflict:
		return http.StatusConflict
	case model.CodeUnavailable:
		return http.StatusServiceUnavailable
	case model.CodeTooMany:
		return http.StatusTooManyRequests
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok {
		return e.Code
	}
	return http.StatusInternalServerError
}

// message gives the line that people may see, "" for internal errors.
func message(l *i18n.Localizer, err error) string {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return l.Error(e.Key, shortArgs(e.Args))
	}
	return ""
}

// fieldMessages translates what is wrong with each field.
func fieldMessages(l *i18n.Localizer, err error) map[string]string {
	out := map[string]string{}
	if e, ok := errors.AsType[*model.Error](err); ok {
		for name, f := range e.Fields {
			out[name] = l.Error(f.Key, shortArgs(f.Args))
		}
	}
	return out
}

// longestArg is how much of what was typed a message repeats.
const longestArg = 200

// shortArgs cuts what was typed, so that a message stays one.
func shortArgs(args map[string]any) map[string]any {
	out := maps.Clone(args)
	for name, v := range out {
		if text, ok := v.(string); ok && len(text) > longestArg {
			runes := []rune(text)
			out[name] = string(runes[:min(len(runes), longestArg)]) + "…"
		}
	}
	return out
}

// fail answers an error: a toast for htmx, a page otherwise. What is not meant
// for people is logged and shown as a number to ask for.
func (c *Console) fail(r *request, err error) {
	if r.Response().Committed || errors.Is(err, context.Canceled) && r.Request().Context().Err() != nil {
		return // nobody is listening any more
	}
	if r.loc == nil {
		r.choose()
	}
	status := statusOf(err)
	text, id := message(r.loc, err), ""
	if status == http.StatusInternalServerError {
		id = r.id
		c.log.LogAttrs(r.Request().Context(), slog.LevelError, "console request failed", slog.String("request_id", r.id),
			slog.String("path", r.Request().URL.Path), slog.Any("error", err))
	}
	if r.htmx() {
		if id != "" {
			text = r.loc.T("error.internal", "ID", id)
		}
		if text == "" {
			text = r.loc.T("error.unknown")
		}
		r.trigger(map[string]any{"carillon:toast": views.Toast{Kind: "bad", Text: text}})
		_ = r.NoContent(status)
		return
	}
	p := r.page("", r.loc.T("error.title", "Status", status))
	page := views.ErrorPage(views.ErrorView{Page: p, Status: status, Text: text, RequestID: id})
	if err := r.render(status, page); err != nil {
		c.log.LogAttrs(r.Request().Context(), slog.LevelError, "console error page failed", slog.String("request_id", r.id), slog.Any("error", err))
	}
}

// lastResort answers what never reached a handler: unknown methods and paths
// outside the site.
func (c *Console) lastResort(err error, e echo.Context) {
	if e.Response().Committed {
		return
	}
	r := &request{Context: e, c: c, id: newRequestID(), now: c.svc.Now()}
	secure(e.Response().Header(), r.id)
	r.choose()
	status := statusOf(err)
	page := views.Page{L: r.loc, Base: c.base, Asset: c.files.URL, Now: r.now, Title: r.loc.T("error.title", "Status", status), Path: c.path("/"), Theme: r.theme}
	if err := r.render(status, views.ErrorPage(views.ErrorView{Page: page, Status: status})); err != nil {
		_ = e.NoContent(status)
	}
}
