package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2/memstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func TestAWrongLoginTellsNothing(t *testing.T) {
	s := newSite(t)
	unknown := text(t, s.post("/login", "name", "nobody", "password", "x"))
	wrong := text(t, s.post("/login", "name", "admin", "password", "x"))
	assert.Equal(t, strings.ReplaceAll(unknown, "nobody", "admin"), wrong, "nothing tells which was wrong")
}

// TestTooManyLogins: who has to wait is told so, in words and for programs.
func TestTooManyLogins(t *testing.T) {
	s := newSite(t)
	s.fake.loginErr = model.Errf(model.CodeTooMany, "error.login_wait", "Wait", 12300*time.Millisecond)
	res := s.post("/login", "name", "admin", "password", password)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "13", res.Header.Get("Retry-After"))
	assert.Contains(t, testid(s.doc(res), "login-error").Text(), "Please wait 12 s")
	s.fake.loginErr = model.Errf(model.CodeTooMany, "error.login_busy", "Wait", 5*time.Second)
	res = s.post("/login", "name", "admin", "password", password)
	assert.Equal(t, "5", res.Header.Get("Retry-After"))
	assert.Contains(t, testid(s.doc(res), "login-error").Text(), "Too many people")

	s.fake.loginErr = nil
	s.login("olga")
	s.fake.loginErr = model.Errf(model.CodeTooMany, "error.login_wait", "Wait", time.Minute)
	res = s.post("/password", "old", "guess", "new", "longer one", "repeat", "longer one")
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "60", res.Header.Get("Retry-After"))
	assert.Contains(t, testid(s.doc(res), "form-error").Text(), "Please wait 1 m ")
}

// TestLoginTakesLittle: nobody who is not logged in sends much, or gets it back.
func TestLoginTakesLittle(t *testing.T) {
	s := newSite(t)
	res := s.post("/login", "name", strings.Repeat("A", 20_000), "password", "x")
	assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	res = s.post("/login", "name", strings.Repeat("A", 60), "password", "x")
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.NotContains(t, text(t, res), "AAAA")
}

// TestANewPasswordEndsOtherSessions, and the one it was set in goes on.
func TestANewPasswordEndsOtherSessions(t *testing.T) {
	s := newSite(t)
	s.login("olga")
	other := s.cookie["carillon_session"]
	delete(s.cookie, "carillon_session")
	s.login("olga")
	res := s.post("/password", "old", password, "new", "longer one", "repeat", "longer one")
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Equal(t, http.StatusOK, s.get("/help").StatusCode)
	s.cookie["carillon_session"] = other
	assert.Equal(t, http.StatusSeeOther, s.get("/help").StatusCode)
	s.login("olga")
	assert.Equal(t, http.StatusOK, s.get("/help").StatusCode, "a new login is of the new generation")
}

// TestLoginsAreLogged with user, address and request, but not without a bound.
func TestLoginsAreLogged(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	lines := func(msg string) (out []string) {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, msg) {
				out = append(out, line)
			}
		}
		return out
	}
	res := s.post("/login", "name", "admin", "password", "geheim")
	failed := lines(`level=WARN msg="login failed"`)
	require.Len(t, failed, 1)
	assert.Contains(t, failed[0], "user=admin ip=192.0.2.1 request_id="+res.Header.Get("X-Request-ID"))
	s.login("olga")
	require.Len(t, lines("level=INFO msg=login user=olga ip=192.0.2.1"), 1)
	s.post("/password", "old", password, "new", "longer one", "repeat", "longer one")
	require.Len(t, lines(`level=INFO msg="password changed" user=olga`), 1)
	s.post("/password", "old", "geheim", "new", "longer one", "repeat", "longer one")
	require.Len(t, lines(`level=WARN msg="change of password failed" user=olga`), 1)
	s.fake.loginErr = model.Errf(model.CodeTooMany, "error.login_wait", "Wait", time.Minute)
	s.post("/login", "name", "admin", "password", "geheim")
	require.Len(t, lines(`level=WARN msg="login refused: too many attempts" user=admin`), 1)
	s.fake.loginErr = nil

	for range 200 {
		s.post("/login", "name", strings.Repeat("x", 5000), "password", "geheim")
	}
	assert.Len(t, lines("login failed"), auditLines)
	s.clock.t = s.clock.t.Add(auditWindow)
	s.post("/login", "name", "admin", "password", "geheim")
	failed = lines("login failed")
	assert.Contains(t, failed[len(failed)-1], "lines_withheld=171")
	assert.NotContains(t, log.String(), "geheim")
	assert.Less(t, log.Len(), 20_000)
}

// awayStore is a session store whose database is away.
type awayStore struct {
	*memstore.MemStore
	find, commit error
}

func (s *awayStore) FindCtx(_ context.Context, token string) ([]byte, bool, error) {
	if s.find != nil {
		return nil, false, s.find
	}
	return s.Find(token)
}

func (s *awayStore) CommitCtx(_ context.Context, token string, b []byte, at time.Time) error {
	if s.commit != nil {
		return s.commit
	}
	return s.Commit(token, b, at)
}

func (s *awayStore) DeleteCtx(_ context.Context, token string) error { return s.Delete(token) }

// TestTheDatabaseIsAway: a page says so in words, one that could be read is shown.
func TestTheDatabaseIsAway(t *testing.T) {
	store := &awayStore{MemStore: memstore.NewWithCleanupInterval(0)}
	s := newSite(t, func(o *Options) {
		o.Sessions, o.Logger = store, slog.New(slog.NewTextHandler(io.Discard, nil))
	}).login("admin")
	const says = "Something needed does not answer"

	store.find = errors.New("no connection")
	res := s.get("/help")
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	page := text(t, res)
	assert.Contains(t, page, says)
	assert.Contains(t, page, "<html")
	store.find = nil

	store.commit = errors.New("disk full")
	s.clock.t = s.clock.t.Add(time.Hour) // the visit is to be noted in the session
	res = s.get("/help")
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Contains(t, text(t, res), "data-testid=\"version\"")
	res = s.post("/login", "name", "admin", "password", password)
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.Contains(t, text(t, res), says)
	assert.Empty(t, res.Header.Get("Location"))
	store.commit = nil

	s.fake.loginErr = errors.New("no connection")
	res = s.post("/login", "name", "admin", "password", password)
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.Contains(t, text(t, res), says)
}

// TestPagesAnswerHead: load balancers and link checkers ask so.
func TestPagesAnswerHead(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, http.StatusOK, s.do(http.MethodHead, "/login", nil).StatusCode)
	s.login("admin")
	assert.Equal(t, http.StatusOK, s.do(http.MethodHead, "/jobs?all=1", nil).StatusCode)
	assert.Equal(t, http.StatusNotFound, s.do(http.MethodHead, "/logout", nil).StatusCode, "as with GET")
	r := httptest.NewRequest(http.MethodHead, "/runs/88214871/log/stream", nil)
	w := httptest.NewRecorder()
	s.c.ServeHTTP(w, r)
	assert.NotEqual(t, http.StatusOK, w.Code, "a stream has no head of its own")
}

// TestAnOwnPasswordFirst: whoever has a password that somebody else chose sees one page,
// learns why, chooses an own one and goes on to where they wanted. What was typed before is
// still there.
func TestAnOwnPasswordFirst(t *testing.T) {
	s := newSite(t).login("olga")
	s.fake.users[1].MustChange = true
	for _, p := range []string{"/", "/jobs?all=1", "/runs/88214871", "/profile", "/help", "/search", "/nowhere"} {
		res := s.get(p)
		require.Equal(t, http.StatusSeeOther, res.StatusCode, p)
		require.True(t, strings.HasPrefix(res.Header.Get("Location"), "/password"), p)
	}
	require.Equal(t, "/password", s.get("/jobs", "HX-Request", "true").Header.Get("HX-Redirect"))
	require.Equal(t, http.StatusForbidden, s.get("/runs/88214871/log/stream", "Accept", "text/event-stream").StatusCode)
	before := len(s.fake.calls)
	require.Equal(t, "/password", s.post("/jobs/1039/stop").Header.Get("Location"))
	require.Len(t, s.fake.calls, before, "nothing is done before")
	require.Equal(t, http.StatusSeeOther, s.post("/preferences", "lang", "en", "next", "/password").StatusCode, "the language may be chosen")

	d := page(s, "/password?next=/runs%3Fstatus%3Dfailed")
	require.Contains(t, testid(d, "must-change").Text(), "Choose one of your own")
	require.Equal(t, "logout-form", d.Find("[data-testid=password-form] button").First().AttrOr("form", ""), "Enter saves")
	require.Equal(t, "/runs?status=failed", d.Find("[data-testid=password-form] input[name=next]").AttrOr("value", ""))
	res := s.post("/password", "old", password, "new", "short", "repeat", "short", "next", "/runs?status=failed")
	require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	d = s.doc(res)
	require.Equal(t, 1, testid(d, "must-change").Length())
	require.Equal(t, "/runs?status=failed", d.Find("[data-testid=password-form] input[name=next]").AttrOr("value", ""))
	res = s.post("/password", "old", password, "new", "my own password", "repeat", "my own password", "next", "/runs?status=failed")
	require.Equal(t, "/runs?status=failed", res.Header.Get("Location"))
	require.Equal(t, http.StatusOK, s.get("/jobs").StatusCode)
	require.Zero(t, testid(page(s, "/password"), "must-change").Length())

	kept := newSite(t)
	kept.fake.users[1].MustChange = true
	form := []string{"kept_path", "/jobs/1039/note", "kept_form", "note=Call+Ada"}
	d = kept.doc(kept.post("/login/kept", append(form, "name", "olga", "password", password)...))
	require.Equal(t, "note=Call+Ada", d.Find("input[name=kept_form]").AttrOr("value", ""))
	d = kept.doc(kept.post("/password", append(form, "old", password, "new", "my own password", "repeat", "my own password")...))
	require.Contains(t, testid(d, "resume").Find("textarea[name=note]").Text(), "Call Ada")
}
