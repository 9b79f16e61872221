package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) profileForm(r *request) error {
	return c.drawProfile(r, http.StatusOK, map[string]string{"language": r.user.Language, "theme": r.user.Theme, "start_page": r.user.StartPage, "zone": r.user.Zone, "mail": r.user.Mail}, nil)
}

func (c *Console) drawProfile(r *request, status int, values, problems map[string]string) error {
	v := views.Profile{Page: r.page("profile", r.loc.T("profile.title")), Values: values, Errors: problems}
	rows, err := c.sessionRows(r, r.user.ID, "/profile/sessions/end")
	if err != nil {
		return err
	}
	v.Sessions = views.Sessions{Page: v.Page, Rows: rows}
	return r.render(status, views.ProfilePage(v))
}

// profile stores what people choose for themselves.
func (c *Console) profile(r *request) error {
	values := map[string]string{}
	for _, name := range []string{"language", "theme", "start_page", "zone", "mail"} {
		values[name] = r.FormValue(name)
	}
	err := c.svc.SetProfile(r.Request().Context(), r.user.ID,
		model.Profile{Language: values["language"], Theme: values["theme"], StartPage: values["start_page"], Zone: values["zone"], Mail: values["mail"]})
	if model.CodeOf(err) == model.CodeInvalid {
		return c.drawProfile(r, http.StatusUnprocessableEntity, values, fieldMessages(r.loc, err))
	}
	if err != nil {
		return err
	}
	r.user.Language, r.user.Theme = values["language"], values["theme"]
	r.choose()
	return r.leave(c.path("/profile"), r.loc.T("profile.saved"))
}

// sessionID is how the list of sessions calls the one that asks.
func (c *Console) sessionID(ctx context.Context) string {
	sum := sha256.Sum256([]byte(c.sessions.Token(ctx)))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:16]
}

func (c *Console) sessionRows(r *request, userID int, end string) ([]views.SessionRow, error) {
	ctx := r.Request().Context()
	list, err := c.svc.UserSessions(ctx, r.actor(), userID)
	if err != nil {
		return nil, err
	}
	rows, own := make([]views.SessionRow, len(list)), c.sessionID(ctx)
	for i, s := range list {
		s.Current = s.ID == own
		rows[i] = views.SessionRow{Session: s, End: c.path(end)}
		if end == "" {
			rows[i].End = c.path("/users/" + strconv.Itoa(s.UserID) + "/sessions/end")
		}
	}
	return rows, nil
}

// sessionEnd ends one of the own logins.
func (c *Console) sessionEnd(r *request) error {
	if err := c.svc.EndSession(r.Request().Context(), r.actor(), r.user.ID, r.FormValue("session")); err != nil {
		return err
	}
	return r.leave(c.path("/profile"), r.loc.T("sessions.ended"))
}

// userSessions lists the logins of one person.
func (c *Console) userSessions(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	v := views.Sessions{Page: r.page("users", r.loc.T("sessions.of", "Name", u.Name)), Name: u.Name}
	if v.Rows, err = c.sessionRows(r, u.ID, ""); err != nil {
		return err
	}
	return r.render(http.StatusOK, views.SessionsPage(v))
}

// allSessions lists who is logged in.
func (c *Console) allSessions(r *request) error {
	ctx := r.Request().Context()
	v := views.Sessions{Page: r.page("users", r.loc.T("sessions.all")), Users: true}
	users, err := c.svc.Users(ctx, r.actor())
	if err != nil {
		return err
	}
	names := map[int]string{}
	for _, u := range users {
		names[u.ID] = u.Name
	}
	if v.Rows, err = c.sessionRows(r, 0, ""); err != nil {
		return err
	}
	for i := range v.Rows {
		v.Rows[i].Name = names[v.Rows[i].UserID]
	}
	return r.render(http.StatusOK, views.SessionsPage(v))
}

// userSessionEnd ends a login of somebody else.
func (c *Console) userSessionEnd(r *request) error {
	u, err := c.pathUser(r)
	if err != nil {
		return err
	}
	if err := c.svc.EndSession(r.Request().Context(), r.actor(), u.ID, r.FormValue("session")); err != nil {
		return err
	}
	return r.leave(c.path("/users/"+strconv.Itoa(u.ID)+"/sessions"), r.loc.T("sessions.ended"))
}
