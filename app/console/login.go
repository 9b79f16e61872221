package console

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// loginForm shows the login page; who is logged in already goes on.
func (c *Console) loginForm(r *request) error {
	next := localPath(r.QueryParam("next"))
	if r.user != nil {
		return r.Redirect(http.StatusSeeOther, c.startOf(r.user, next))
	}
	return c.drawLogin(r, http.StatusOK, views.Login{Next: next})
}

func (c *Console) drawLogin(r *request, status int, v views.Login) error {
	v.Page = r.page("", r.loc.T("login.title"))
	v.Path = c.path("/login")
	return r.render(status, views.LoginPage(v))
}

func (c *Console) afterLogin(next string) string {
	if next == "" {
		return c.path("/")
	}
	return next
}

// startOf is where a person begins: the page asked for, or the one of their choice.
func (c *Console) startOf(user *model.User, next string) string {
	if next == "" && slices.Contains(model.StartPages(), user.StartPage) {
		next = c.path(user.StartPage)
		if user.StartPage == "" {
			next = c.path("/")
		}
	}
	return c.afterLogin(next)
}

// longestName is what the column of the names holds; a longer one is nobody's.
const longestName = 50

// login checks name and password. An unknown user and a wrong password look
// the same, and guessing is slowed down.
func (c *Console) login(r *request) error {
	v := views.Login{
		Name: strings.TrimSpace(r.FormValue("name")), Next: localPath(r.FormValue("next")),
		Remember: r.FormValue("remember") != "", Kept: c.keptOf(r),
	}
	user, err := c.svc.Login(r.Request().Context(), v.Name, r.FormValue("password"), r.RealIP())
	if utf8.RuneCountInString(v.Name) > longestName {
		v.Name = ""
	}
	if err != nil {
		return c.loginFailed(r, v, err)
	}
	if err := c.enter(r, user, v.Remember); err != nil {
		return err
	}
	c.audit.note(r, slog.LevelInfo, "login", user.Name, slog.Int("user_id", user.ID))
	if user.MustChange && v.Kept.Path != "" { // the own password first, with what was typed
		r.user = &user
		return r.render(http.StatusOK, views.PasswordPage(c.passwordView(r, v.Next)))
	}
	if v.Kept.Path != "" {
		return c.offerKept(r, v.Kept, c.startOf(&user, v.Next))
	}
	return r.Redirect(http.StatusSeeOther, c.startOf(&user, v.Next))
}

// loginFailed draws the form again and says why.
func (c *Console) loginFailed(r *request, v views.Login, err error) error {
	c.audit.refused(r, "login", r.FormValue("name"), err)
	status := statusOf(err)
	switch status {
	case http.StatusUnprocessableEntity:
	case http.StatusTooManyRequests:
		retryAfter(r, err)
	default: // the database is away: nothing is wrong with what was typed
		if errors.Is(err, context.Canceled) {
			return err
		}
		c.log.LogAttrs(r.Request().Context(), slog.LevelError, "cannot check a login", slog.String("request_id", r.id), slog.Any("error", err))
		status, err = http.StatusServiceUnavailable, model.Errf(model.CodeUnavailable, "error.unavailable")
	}
	v.Error = message(r.loc, err)
	return c.drawLogin(r, status, v)
}

// retryAfter tells programs how long to wait.
func retryAfter(r *request, err error) {
	if e, ok := errors.AsType[*model.Error](err); ok {
		if wait, ok := e.Args["Wait"].(time.Duration); ok {
			r.Response().Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
	}
}

// logout ends the session here; other browsers stay logged in.
func (c *Console) logout(r *request) error {
	if err := c.sessions.Destroy(r.Request().Context()); err != nil {
		return err
	}
	if r.user != nil {
		c.svc.NoteLogout(r.Request().Context(), r.actor())
	}
	return r.Redirect(http.StatusSeeOther, c.path("/login"))
}
