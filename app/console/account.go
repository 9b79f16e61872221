package console

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) passwordForm(r *request) error {
	return r.render(http.StatusOK, views.PasswordPage(c.passwordView(r, localPath(r.QueryParam("next")))))
}

func (c *Console) passwordView(r *request, next string) views.Password {
	return views.Password{
		Page: r.page("password", r.loc.T("password.title")), Errors: map[string]string{}, Must: r.user.MustChange, Next: next, Kept: c.keptOf(r),
	}
}

// password changes the own password; the old one is asked for again.
func (c *Console) password(r *request) error {
	v := c.passwordView(r, localPath(r.FormValue("next")))
	if r.FormValue("new") != r.FormValue("repeat") {
		v.Errors["repeat"] = r.loc.T("password.differ")
		return r.render(http.StatusUnprocessableEntity, views.PasswordPage(v))
	}
	user, err := c.svc.ChangePassword(r.Request().Context(), r.user.ID, r.FormValue("old"), r.FormValue("new"), r.RealIP())
	if err != nil {
		c.audit.refused(r, "change of password", r.user.Name, err)
	}
	switch model.CodeOf(err) {
	case model.CodeTooMany:
		retryAfter(r, err)
		fallthrough
	case model.CodeInvalid:
		v.Errors = fieldMessages(r.loc, err)
		if len(v.Errors) == 0 {
			v.Message = message(r.loc, err)
		}
		return r.render(statusOf(err), views.PasswordPage(v))
	}
	if err != nil {
		return err
	}
	c.audit.note(r, slog.LevelInfo, "password changed", r.user.Name, slog.Int("user_id", r.user.ID))
	// All sessions of the user ended with the old password; this one goes on.
	if err := c.sessions.RenewToken(r.Request().Context()); err != nil {
		return err
	}
	c.sessions.Put(r.Request().Context(), keyGeneration, user.SessionGeneration)
	if v.Kept.Path != "" {
		return c.offerKept(r, v.Kept, c.startOf(&user, v.Next))
	}
	return r.leave(c.startOf(&user, v.Next), r.loc.T("password.done"))
}

// preferences sets language or theme: in a cookie for this browser, and with
// the account when somebody is logged in.
func (c *Console) preferences(r *request) error {
	lang, theme := r.FormValue("lang"), r.FormValue("theme")
	if !c.texts.Known(lang) {
		lang = ""
	}
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	for name, value := range map[string]string{languageCookie: lang, themeCookie: theme} {
		if value != "" {
			r.SetCookie(&http.Cookie{
				Name: name, Value: value, Path: c.path("/"), MaxAge: int(365 * 24 * time.Hour / time.Second),
				HttpOnly: true, Secure: c.opt.Secure, SameSite: http.SameSiteLaxMode,
			})
		}
	}
	if r.user != nil && (lang != "" || theme != "") {
		if lang == "" {
			lang = r.user.Language
		}
		if theme == "" {
			theme = r.user.Theme
		}
		if err := c.svc.SetPreferences(r.Request().Context(), r.user.ID, lang, theme); err != nil {
			return err
		}
	}
	return r.Redirect(http.StatusSeeOther, c.afterLogin(localPath(r.FormValue("next"))))
}

func (c *Console) help(r *request) error {
	return r.render(http.StatusOK, views.HelpPage(views.Help{
		Page: r.page("help", r.loc.T("help.title")), Version: c.opt.Version, Build: c.opt.Build,
		GoVersion: c.opt.GoVersion, SourceURL: c.opt.SourceURL, Licence: c.opt.Licence,
	}))
}
