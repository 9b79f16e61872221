package console

import (
	"context"
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
	keyBegan      = "began"
	keyFrom       = "from"  // address at the login
	keyAgent      = "agent" // what the browser calls itself
	keyUser       = "user"
	keyGeneration = "generation" // of the user's password
	keySeen       = "seen"
	keyRemember   = "remember"
	keyFlashKind  = "flash_kind"
	keyFlashText  = "flash_text"
	keyJobs       = "jobs_filter"
	keyFlashUndo  = "flash_undo"
)

func newSessions(opt Options, base string, failed func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	// Not scs.New: that first starts the clean-up loop of an in-memory store.
	return &scs.SessionManager{
		Lifetime: rememberLifetime, Store: described(opt.Sessions), Codec: scs.GobCodec{}, HashTokenInStore: true, ErrorFunc: failed,
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
	if c.sessions.GetInt(ctx, keyUser) == 0 {
		return nil
	}
	user, err := c.person(ctx)
	if err != nil {
		return err
	}
	if user == nil {
		return c.sessions.Destroy(ctx)
	}
	if now := c.clock.Now(); now.Sub(c.lastSeen(ctx)) > seenStep {
		c.sessions.Put(ctx, keySeen, now.Unix())
	}
	r.user = user
	return nil
}

// person gives whose session the context carries; nil when it is over: too
// long idle, the account gone or disabled, the password another one.
func (c *Console) person(ctx context.Context) (*model.User, error) {
	if !c.sessions.GetBool(ctx, keyRemember) && c.clock.Now().Sub(c.lastSeen(ctx)) > idleLifetime {
		return nil, nil
	}
	user, err := c.svc.User(ctx, c.sessions.GetInt(ctx, keyUser))
	if model.CodeOf(err) == model.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if user.Disabled {
		return nil, nil
	}
	// Sessions of before the first change of the password carry no generation: 0.
	if user.SessionGeneration != c.sessions.GetInt64(ctx, keyGeneration) {
		return nil, nil
	}
	return &user, nil
}

func (c *Console) lastSeen(ctx context.Context) time.Time {
	return time.Unix(c.sessions.GetInt64(ctx, keySeen), 0)
}

// askAgain looks once more whether the person of a long request is still logged
// in, and what they may see by now; nil when they are not.
func (c *Console) askAgain(r *request) (*model.User, error) {
	ctx, err := c.sessions.Load(r.outer, c.sessions.Token(r.Request().Context()))
	if err != nil {
		return nil, err
	}
	if c.sessions.GetInt(ctx, keyUser) != r.user.ID {
		return nil, nil
	}
	return c.person(ctx)
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
	c.sessions.Put(ctx, keyGeneration, user.SessionGeneration)
	c.sessions.Put(ctx, keyBegan, c.clock.Now().Unix())
	c.sessions.Put(ctx, keyFrom, r.RealIP())
	c.sessions.Put(ctx, keyAgent, agentText(r.Request().UserAgent()))
	c.sessions.Put(ctx, keySeen, c.clock.Now().Unix())
	c.sessions.Put(ctx, keyRemember, remember)
	return nil
}

func (c *Console) putFlash(r *request, t views.Toast) {
	ctx := r.Request().Context()
	c.sessions.Put(ctx, keyFlashUndo, t.Undo)
	c.sessions.Put(ctx, keyFlashKind, t.Kind)
	c.sessions.Put(ctx, keyFlashText, t.Text)
}

func (c *Console) takeFlash(r *request) *views.Toast {
	ctx := r.Request().Context()
	if !c.sessions.Exists(ctx, keyFlashText) {
		return nil
	}
	return &views.Toast{
		Kind: c.sessions.PopString(ctx, keyFlashKind), Text: c.sessions.PopString(ctx, keyFlashText),
		Undo: c.sessions.PopString(ctx, keyFlashUndo),
	}
}

// rememberJobs keeps the executor and the number of rows of the job list for the next visit.
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
