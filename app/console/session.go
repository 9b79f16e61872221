package console

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// How long a login lasts: without "keep me logged in" until twelve hours after
// the last click or the end of the browser, with it a week from the login.
const (
	idleLifetime     = 12 * time.Hour
	rememberLifetime = 7 * 24 * time.Hour
	// seenStep keeps a page that refreshes itself from writing the session
	// every few seconds.
	seenStep = 5 * time.Minute
)

// Keys in the session.
const (
	keyUser      = "user"
	keySeen      = "seen"
	keyRemember  = "remember"
	keyFlashKind = "flash_kind"
	keyFlashText = "flash_text"
	keyJobs      = "jobs_filter"
)

func newSessions(opt Options, base string) *scs.SessionManager {
	// Not scs.New: that first starts the clean-up loop of an in-memory store.
	return &scs.SessionManager{
		Lifetime: rememberLifetime, Store: opt.Sessions, Codec: scs.GobCodec{}, HashTokenInStore: true,
		ErrorFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			opt.Logger.LogAttrs(r.Context(), slog.LevelError, "session store failed", slog.Any("error", err))
			http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		},
		Cookie: scs.SessionCookie{
			Name: "carillon_session", Path: base + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
			Secure: opt.Secure, Persist: false,
		},
	}
}

// identify loads the person behind the session. Role and permissions are read
// for each request, so taking them away works at once.
func (c *Console) identify(r *request) error {
	ctx := r.Request().Context()
	id := c.sessions.GetInt(ctx, keyUser)
	if id == 0 {
		return nil
	}
	now := c.clock.Now()
	seen := time.Unix(c.sessions.GetInt64(ctx, keySeen), 0)
	if !c.sessions.GetBool(ctx, keyRemember) && now.Sub(seen) > idleLifetime {
		return c.sessions.Destroy(ctx)
	}
	user, err := c.svc.User(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		return c.sessions.Destroy(ctx)
	}
	if err != nil {
		return err
	}
	if now.Sub(seen) > seenStep {
		c.sessions.Put(ctx, keySeen, now.Unix())
	}
	r.user = &user
	return nil
}

// enter starts the session of a person under a fresh token.
func (c *Console) enter(r *request, user model.User, remember bool) error {
	ctx := r.Request().Context()
	if err := c.sessions.Clear(ctx); err != nil {
		return err
	}
	if err := c.sessions.RenewToken(ctx); err != nil {
		return err
	}
	c.sessions.RememberMe(ctx, remember)
	c.sessions.Put(ctx, keyUser, user.ID)
	c.sessions.Put(ctx, keySeen, c.clock.Now().Unix())
	c.sessions.Put(ctx, keyRemember, remember)
	return nil
}

func (c *Console) putFlash(r *request, t views.Toast) {
	ctx := r.Request().Context()
	c.sessions.Put(ctx, keyFlashKind, t.Kind)
	c.sessions.Put(ctx, keyFlashText, t.Text)
}

func (c *Console) takeFlash(r *request) *views.Toast {
	ctx := r.Request().Context()
	if !c.sessions.Exists(ctx, keyFlashText) {
		return nil
	}
	return &views.Toast{Kind: c.sessions.PopString(ctx, keyFlashKind), Text: c.sessions.PopString(ctx, keyFlashText)}
}

// rememberJobs keeps the filter of the job list for the next visit.
func (c *Console) rememberJobs(r *request, self string) {
	ctx := r.Request().Context()
	_, query, _ := strings.Cut(self, "?")
	if query == "all=1" {
		query = ""
	}
	if c.sessions.GetString(ctx, keyJobs) != query {
		c.sessions.Put(ctx, keyJobs, query)
	}
}
