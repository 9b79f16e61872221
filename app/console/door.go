package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// What follows lets another handler of the center use the logins of the console:
// the same check of passwords, the same sessions, the same rule on origins.

// Enter checks a password and starts an ordinary session, of which it gives the
// token. Errors are those of jobs.Service.Login.
func (c *Console) Enter(req *http.Request, name, password string, remember bool) (string, error) {
	r := c.visit(req)
	user, err := c.svc.Login(req.Context(), name, password, r.RealIP())
	if err != nil {
		c.audit.refused(r, "login", name, err)
		return "", err
	}
	ctx, err := c.sessions.Load(req.Context(), "")
	if err != nil {
		return "", err
	}
	r.SetRequest(req.WithContext(ctx))
	if err := c.enter(r, user, remember); err != nil {
		return "", err
	}
	token, _, err := c.sessions.Commit(ctx)
	if err == nil {
		c.audit.note(r, slog.LevelInfo, "login", user.Name, slog.Int("user_id", user.ID))
	}
	return token, err
}

// Visitor gives whose session a token is; nil when it is none, or over.
func (c *Console) Visitor(ctx context.Context, token string) (*model.User, error) {
	if token == "" {
		return nil, nil
	}
	ctx, err := c.sessions.Load(ctx, token)
	if err != nil || c.sessions.GetInt(ctx, keyUser) == 0 {
		return nil, err
	}
	user, err := c.person(ctx)
	if err != nil || user == nil {
		return nil, err
	}
	if now := c.clock.Now(); now.Sub(c.lastSeen(ctx)) > seenStep {
		c.sessions.Put(ctx, keySeen, now.Unix())
		_, _, err = c.sessions.Commit(ctx)
	}
	return user, err
}

// Leave ends the session of a token.
func (c *Console) Leave(req *http.Request, token string) error {
	ctx, err := c.sessions.Load(req.Context(), token)
	if err != nil {
		return err
	}
	id := c.sessions.GetInt(ctx, keyUser)
	if err := c.sessions.Destroy(ctx); err != nil || id == 0 {
		return err
	}
	if user, err := c.svc.User(ctx, id); err == nil { // an account that is gone has its own line
		actor := user.Actor()
		actor.From = c.From(req)
		c.svc.NoteLogout(ctx, actor)
	}
	return nil
}

// From is the address of whoever sent a request.
func (c *Console) From(req *http.Request) string { return c.opt.IPExtractor(req) }

// Origin refuses what a browser sends on behalf of another site.
func (c *Console) Origin(req *http.Request) error {
	if err := c.origins.Check(req); err != nil {
		return model.Errf(model.CodeForbidden, "error.cross_origin")
	}
	return nil
}

// Cookie is the cookie of a session, under the console's own name.
func (c *Console) Cookie(token string, remember bool) *http.Cookie {
	k := &http.Cookie{
		Name: c.sessions.Cookie.Name, Value: token, Path: c.sessions.Cookie.Path, HttpOnly: true, Secure: c.opt.Secure, SameSite: http.SameSiteLaxMode,
	}
	switch {
	case token == "":
		k.MaxAge = -1
	case remember:
		k.MaxAge = int(rememberLifetime / time.Second)
	}
	return k
}

// visit makes a request of the console out of one that is served elsewhere.
func (c *Console) visit(req *http.Request) *request {
	return &request{Context: c.echo.NewContext(req, nil), c: c, id: newRequestID(), started: c.clock.Now(), outer: req.Context()}
}
