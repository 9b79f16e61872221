package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// loginForm shows the login page; who is logged in already goes on.
func (c *Console) loginForm(r *request) error {
	next := localPath(r.QueryParam("next"))
	if r.user != nil {
		return r.Redirect(http.StatusSeeOther, c.afterLogin(next))
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

// login checks name and password. An unknown user and a wrong password look
// the same, and guessing is slowed down for each pair of user and address.
func (c *Console) login(r *request) error {
	v := views.Login{
		Name: strings.TrimSpace(r.FormValue("name")), Next: localPath(r.FormValue("next")),
		Remember: r.FormValue("remember") != "",
	}
	key := strings.ToLower(v.Name) + "\x00" + r.RealIP()
	if wait := c.throttle.wait(key); wait > 0 {
		v.Error = r.loc.T("error.login_wait", "Wait", r.loc.Duration(wait.Round(time.Second)))
		return c.drawLogin(r, http.StatusTooManyRequests, v)
	}
	user, err := c.svc.Login(r.Request().Context(), v.Name, r.FormValue("password"))
	switch code := model.CodeOf(err); {
	case code == model.CodeUnavailable || err != nil && code == "":
		return err
	case err != nil:
		c.throttle.failed(key)
		v.Error = r.loc.T("error.login")
		return c.drawLogin(r, http.StatusUnprocessableEntity, v)
	}
	c.throttle.passed(key)
	if err := c.enter(r, user, v.Remember); err != nil {
		return err
	}
	return r.Redirect(http.StatusSeeOther, c.afterLogin(v.Next))
}

// logout ends the session here; other browsers stay logged in.
func (c *Console) logout(r *request) error {
	if err := c.sessions.Destroy(r.Request().Context()); err != nil {
		return err
	}
	return r.Redirect(http.StatusSeeOther, c.path("/login"))
}
