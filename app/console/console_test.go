package console

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2/memstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// testClock is a clock that jumps: whoever waits is served at once and the
// time has passed.
type testClock struct{ t time.Time }

func (c *testClock) Now() time.Time { return c.t }

func (c *testClock) After(d time.Duration) <-chan time.Time {
	c.t = c.t.Add(d)
	ch := make(chan time.Time, 1)
	ch <- c.t
	return ch
}

// site is a console with its fake service and one browser.
type site struct {
	t      *testing.T
	fake   *fake
	clock  *testClock
	c      *Console
	cookie map[string]string
}

func newSite(t *testing.T, change ...func(*Options)) *site {
	t.Helper()
	s := &site{t: t, fake: newFake(), clock: &testClock{time.Now()}, cookie: map[string]string{}}
	opt := Options{
		Service: s.fake, Sessions: memstore.NewWithCleanupInterval(0), Clock: s.clock, Version: "1.2.3",
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range change {
		f(&opt)
	}
	c, err := New(opt)
	require.NoError(t, err)
	s.c = c
	return s
}

// do sends a request as the browser would; headers as key-value pairs.
func (s *site) do(method, target string, form url.Values, header ...string) *http.Response {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, target, body)
	r.Header.Set("Accept-Language", "en")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for name, value := range s.cookie {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	s.c.ServeHTTP(w, r)
	res := w.Result()
	for _, ck := range res.Cookies() {
		if ck.MaxAge < 0 {
			delete(s.cookie, ck.Name)
		} else {
			s.cookie[ck.Name] = ck.Value
		}
	}
	return res
}

func (s *site) get(target string, header ...string) *http.Response {
	return s.do(http.MethodGet, target, nil, header...)
}

func (s *site) post(target string, kv ...string) *http.Response {
	form := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		form.Set(kv[i], kv[i+1])
	}
	return s.do(http.MethodPost, target, form)
}

func (s *site) login(name string) *site {
	s.t.Helper()
	res := s.post(s.c.path("/login"), "name", name, "password", password)
	require.Equal(s.t, http.StatusSeeOther, res.StatusCode)
	return s
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(raw)
}

func (s *site) doc(res *http.Response) *goquery.Document {
	s.t.Helper()
	d, err := goquery.NewDocumentFromReader(res.Body)
	require.NoError(s.t, err)
	return d
}

func testid(d *goquery.Document, id string) *goquery.Selection {
	return d.Find(`[data-testid="` + id + `"]`)
}

// TestPages opens every page once, as everybody who may and somebody who may not.
func TestPages(t *testing.T) {
	const admin, olga, nobody = "admin", "olga", ""
	for _, c := range []struct {
		path, who string
		status    int
		has, not  []string // test ids or texts
	}{
		{"/login", nobody, 200, []string{"#login-form", "User name"}, []string{"#sidebar"}},
		{"/", admin, 200, []string{"#days", "#attention", "#next", "#centers", "gone: no beat", "#nav-executors", "#nav-users", "1,204,881"}, nil},
		{"/", olga, 200, []string{"#nav-jobs", "#nav-help", "#attention", "#next", "#tile"}, []string{"#nav-executors", "#nav-users", "#ledger", "#days", "#centers"}},
		{"/jobs?all=1", admin, 200, []string{"#job-row", "Warehouse export", "quarantined", "ended", "Europe/London", "#segment-running"}, nil},
		{"/jobs?all=1", olga, 200, []string{"Exchange rates"}, []string{"Warehouse export", "Business intelligence"}},
		{"/jobs?q=zzz", admin, 200, []string{"#empty", "Clear filter"}, []string{"#job-row"}},
		{"/jobs/new", olga, 200, []string{"#job-form", "Finance"}, []string{"Business intelligence"}},
		{"/jobs/new?copy=1031", admin, 200, []string{"Copy of Warehouse export", "echo &#34;export $1&#34;"}, nil},
		{"/jobs/1031", admin, 200, []string{"#job-name", "#job-strip", "#job-next", "#job-nodes", "#job-note", "#job-settings", "Warehouse export"}, nil},
		{"/jobs/1031", olga, 404, []string{"#error"}, []string{"Warehouse export"}},
		{"/jobs/1030/note", olga, 200, []string{"#note-form"}, nil},
		{"/jobs/1030/edit", admin, 200, []string{"Edit Invoice mail run", "Europe/London"}, nil},
		{"/jobs/1031/edit", olga, 404, []string{"#error"}, []string{"Warehouse export"}},
		{"/jobs/1031/code", admin, 200, []string{"#script-form", "#version", "#current", "codemirror.min.", "export $1"}, []string{"<b>now</b>"}},
		{"/jobs/1024/code?restore=1", olga, 200, []string{"#script-restored", "Restores 2026-11-20 13:03: first"}, []string{"echo 1\\n</textarea>"}},
		{"/jobs/1024/code?restore=9", olga, 404, []string{"#error"}, nil},
		{"/jobs/1024/code/diff?from=1", olga, 200, []string{"#diff", "#restore"}, []string{"echo 1\\n</textarea>"}},
		{"/jobs/1024/code/diff?from=1&to=1", olga, 200, []string{"#no-difference"}, nil},
		{"/jobs/1031/code", olga, 404, []string{"#error"}, []string{"export"}},
		{"/jobs/1031/code/diff?from=1", olga, 404, []string{"#error"}, []string{"echo"}},
		{"/jobs/1039/code", olga, 404, []string{"#error", "it has no script"}, nil},
		{"/jobs/1039/delete", olga, 200, []string{"#confirm", "Exchange rates"}, nil},
		{"/jobs/1039/run", olga, 200, []string{"#run-once-form", "Exchange rates", "source=ecb"}, nil},
		{"/jobs/preview?schedule_type=CRON&schedule_conf=0+30+1+*+*+%3F", olga, 200, []string{"every day at 01:30"}, []string{"<html"}},
		{"/jobs/preview?schedule_type=CRON&schedule_conf=99", olga, 200, []string{"cannot be read"}, []string{"cron.err"}},
		{"/runs", admin, 200, []string{"#run-row", "88214871", "#older"}, nil},
		{"/runs?executor=1&job=1039&status=failed&preset=custom", olga, 200, []string{"88214871", "datetime-local"}, nil},
		{"/runs/88214871", olga, 200, []string{"#timeline", "#run-facts", "#linked-run", "#log", "6 ms late", "duplicate key"}, []string{"#kill"}},
		{"/runs/88214999", admin, 200, []string{"#kill", "7/12", "data-live"}, nil},
		{"/runs/88214000", admin, 200, []string{"java.lang.IllegalStateException", "at Rates.run"}, []string{"00c0ef", "alert(9)", "<b>java"}},
		{"/runs/1031001", olga, 404, []string{"#error"}, nil},
		{"/runs/88214999/kill", admin, 200, []string{"#confirm", "Search index shards"}, nil},
		{"/runs/88214910", olga, 200, []string{"#take-back"}, []string{"#kill"}},
		{"/runs/88214910/takeback", olga, 200, []string{"#confirm", "has not been sent yet"}, nil},
		{"/runs/1031001/takeback", olga, 404, []string{"#error"}, nil},
		{"/runs/88214871/log", olga, 200, []string{"fetching daily reference rates"}, []string{"<html"}},
		{"/executors", admin, 200, []string{"#executor-row", "#unassigned", "mail-worker", "4 s ago", "not responding"}, nil},
		{"/executors", olga, 403, []string{"#error"}, []string{"mail-worker"}},
		{"/executors/new", admin, 200, []string{"#executor-form"}, nil},
		{"/executors/1/edit", admin, 200, []string{"finance-core"}, nil},
		{"/executors/1/delete", admin, 200, []string{"#confirm", "finance-core"}, nil},
		{"/executors/1/edit", olga, 403, []string{"#error"}, nil},
		{"/users", admin, 200, []string{"#user-row", "#add-user", "#reset-password", "#delete-user", "Search", "edit + scripts"}, nil},
		{"/users", olga, 403, nil, []string{"#user-row"}},
		{"/users/new", admin, 200, []string{"#user-form", "#grants", "Finance"}, []string{"#error-name"}},
		{"/users/2/edit", admin, 200, []string{"#user-form", "olga", "May change scripts"}, nil},
		{"/users/2/edit", olga, 403, nil, []string{"#user-form"}},
		{"/users/2/password", admin, 200, []string{"#reset-form"}, nil},
		{"/users/2/delete", admin, 200, []string{"#confirm", "olga"}, nil},
		{"/users/2/sessions", admin, 200, []string{"#session-row", "Firefox · Linux", "10.0.0.9"}, nil},
		{"/users/sessions", admin, 200, []string{"#session-row", "admin"}, nil},
		{"/users/sessions", olga, 403, nil, []string{"#session-row"}},
		{"/retention", admin, 200, []string{"#retention-now", "#removed"}, nil},
		{"/retention", olga, 403, nil, []string{"#retention-now"}},
		{"/audit", admin, 200, []string{"#audit-row", "Exchange rates", "#changes", "Retries", "#refused", "10.0.0.9"}, nil},
		{"/audit", olga, 403, nil, []string{"#audit-row"}},
		{"/profile", olga, 200, []string{"#profile-form", "#session-row"}, nil},
		{"/password", olga, 200, []string{"#password-form"}, nil},
		{"/help", olga, 200, []string{"1.2.3", "Esc"}, nil},
		{"/nothing", olga, 404, []string{"#error", "#sidebar"}, nil},
		{"/jobs/abc/edit", olga, 404, []string{"#error"}, nil},
		{"/jobs/99999999999/edit", olga, 404, []string{"#error"}, nil},
	} {
		t.Run(c.who+c.path, func(t *testing.T) {
			s := newSite(t)
			if c.who != "" {
				s.login(c.who)
			}
			res := s.get(c.path)
			assert.Equal(t, c.status, res.StatusCode)
			body := text(t, res)
			d, err := goquery.NewDocumentFromReader(strings.NewReader(body))
			require.NoError(t, err)
			find := func(want string) bool {
				if id, ok := strings.CutPrefix(want, "#"); ok {
					return testid(d, id).Length() > 0
				}
				return strings.Contains(body, want)
			}
			for _, want := range c.has {
				assert.True(t, find(want), "should have %s", want)
			}
			for _, want := range c.not {
				assert.False(t, find(want), "should not have %s", want)
			}
			if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
				checkMarkup(t, d, body)
			}
			assert.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'")
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		})
	}
}

var (
	inline   = regexp.MustCompile(`(?i)<[^>]+\s(style|on[a-z]+)\s*=`)
	rawKey   = regexp.MustCompile(`>\s*(error|field|jobs?|runs?|form|enum|exec|dash|nav)\.[a-z_.]+\s*<`)
	hxInline = regexp.MustCompile(`hx-on|hx-vals="js:|hx-vars`)
)

// checkMarkup holds for every page: nothing inline, nothing unescaped, labels
// that belong to a control, no id twice.
func checkMarkup(t *testing.T, d *goquery.Document, body string) {
	t.Helper()
	d.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			assert.False(t, a.Key == "style" || strings.HasPrefix(a.Key, "on"), "inline %s on %s", a.Key, e.Nodes[0].Data)
		}
	})
	d.Find("script").Each(func(_ int, e *goquery.Selection) {
		src, _ := e.Attr("src")
		assert.Contains(t, src, "/static/", "script without a source of ours: %s", e.Text())
	})
	assert.Zero(t, d.Find("style, iframe, object, img").Length())
	assert.False(t, hxInline.MatchString(body))
	assert.Empty(t, rawKey.FindString(body))
	assert.NotContains(t, body, "<no value>")
	assert.NotContains(t, body, "<script>alert")
	assert.NotContains(t, body, "<svg onload")
	ids := map[string]bool{}
	d.Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id, _ := e.Attr("id")
		assert.False(t, ids[id], "id %s is there twice", id)
		ids[id] = true
	})
	d.Find("label[for]").Each(func(_ int, e *goquery.Selection) {
		target, _ := e.Attr("for")
		assert.True(t, ids[target], "label for %s, which is not there", target)
	})
	if strings.Contains(body, "<html") {
		lang, _ := d.Find("html").Attr("lang")
		assert.NotEmpty(t, lang)
		assert.LessOrEqual(t, d.Find("h1").Length(), 1)
	}
}

func TestHostileTextsStayText(t *testing.T) {
	s := newSite(t).login("admin")
	for _, p := range []string{"/jobs?all=1", "/runs?executor=1&job=1001", "/jobs/1001/edit", "/jobs/1001/delete", "/jobs/1001/run", "/runs/1001000"} {
		body := text(t, s.get(p))
		assert.NotContains(t, body, "<script>alert", p)
		assert.NotContains(t, body, "<img", p)
		assert.Contains(t, body, "&lt;script&gt;alert(1)", p)
		assert.Empty(t, inline.FindString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(body, `""`)), p)
	}
	res := s.get("/runs/88214871/log")
	assert.Equal(t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
}

func TestLoginLeadsBack(t *testing.T) {
	for _, c := range []struct{ next, want string }{
		{"/runs/88214871?x=1", "/runs/88214871?x=1"}, {"", "/"}, {"//evil.example", "/"}, {"https://evil.example", "/"},
		{`/\evil.example`, "/"}, {`\\evil.example`, "/"}, {"javascript:alert(1)", "/"}, {"/\tevil", "/"}, {"/%2f/ok", "/"},
	} {
		s := newSite(t)
		res := s.post("/login", "name", "admin", "password", password, "next", c.next)
		assert.Equal(t, http.StatusSeeOther, res.StatusCode)
		assert.Equal(t, c.want, res.Header.Get("Location"), c.next)
	}
	s := newSite(t)
	res := s.get("/runs?job=3")
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Equal(t, "/login?next=%2Fruns%3Fjob%3D3", res.Header.Get("Location"))
	res = s.get("/jobs", "HX-Request", "true", "HX-Current-URL", "http://example.com/jobs?status=running")
	assert.Equal(t, http.StatusUnauthorized, res.StatusCode)
	assert.Equal(t, "/login?next=%2Fjobs%3Fstatus%3Drunning", res.Header.Get("HX-Redirect"))
	assert.Equal(t, http.StatusUnauthorized, s.get("/runs/1/log/stream", "Accept", "text/event-stream").StatusCode)
}

func TestSessions(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Secure = true })
	res := s.post("/login", "name", "admin", "password", password)
	ck := res.Cookies()[0]
	assert.Equal(t, "carillon_session", ck.Name)
	assert.True(t, ck.HttpOnly && ck.Secure && ck.SameSite == http.SameSiteLaxMode)
	assert.Zero(t, ck.MaxAge, "ends with the browser")
	before := ck.Value
	require.Equal(t, http.StatusOK, s.get("/help").StatusCode)
	s.login("admin")
	assert.NotEqual(t, before, s.cookie["carillon_session"], "each login has a fresh token")
	s.clock.t = s.clock.t.Add(13 * time.Hour)
	assert.Equal(t, http.StatusSeeOther, s.get("/help").StatusCode, "idle for too long")

	res = s.post("/login", "name", "admin", "password", password, "remember", "1")
	assert.Positive(t, res.Cookies()[0].MaxAge)
	s.clock.t = s.clock.t.Add(24 * time.Hour)
	assert.Equal(t, http.StatusOK, s.get("/help").StatusCode, "remembered")

	s.post("/logout")
	assert.Equal(t, http.StatusSeeOther, s.get("/help").StatusCode)

	s.login("olga")
	s.fake.users = s.fake.users[:1]
	assert.Equal(t, http.StatusSeeOther, s.get("/help").StatusCode, "the account is gone")
}

func TestTextsSayWhatHappens(t *testing.T) {
	s := newSite(t).login("admin")
	assert.Contains(t, text(t, s.get("/jobs/1042/delete")), "Its 129 runs stay", "a deleted job keeps its history")
}

// TestALongSearchIsCut: the database refuses long patterns, and the session
// keeps the filter.
func TestALongSearchIsCut(t *testing.T) {
	s := newSite(t).login("admin")
	res := s.get("/jobs?q=" + strings.Repeat("x", 70_000))
	assert.Equal(t, http.StatusOK, res.StatusCode)
	value, _ := s.doc(res).Find("input[name=q]").Attr("value")
	assert.Len(t, value, longestSearch)
	assert.Equal(t, http.StatusOK, s.get("/jobs?q=%ff").StatusCode)
}

func TestOtherSitesAreRefused(t *testing.T) {
	s := newSite(t).login("admin")
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}} {
		res := s.do(http.MethodPost, "/jobs/1039/stop", url.Values{}, h...)
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
	}
	assert.Empty(t, s.fake.calls)
	assert.Equal(t, http.StatusMethodNotAllowed, s.do(http.MethodPut, "/jobs", url.Values{}).StatusCode)
	assert.NotEqual(t, http.StatusOK, s.get("/jobs/1039/stop").StatusCode, "nothing changes by GET")
}

func TestActions(t *testing.T) {
	for _, c := range []struct{ path, call, to string }{
		{"/jobs/1039/start", "start 1039", "/jobs"}, {"/jobs/1039/stop", "stop 1039", "/jobs"},
		{"/jobs/1039/delete", "delete 1039", "/jobs"}, {"/jobs/1039/run", "run 1039  ", "/runs/88214999"},
		{"/runs/88214999/kill", "kill 88214999", "/runs/88214999"},
		{"/runs/88214910/takeback", "take back 88214910", "/runs/88214910"}, {"/executors/1/delete", "delete executor 1", "/executors"},
	} {
		s := newSite(t).login("admin")
		res := s.post(c.path)
		assert.Equal(t, http.StatusSeeOther, res.StatusCode, c.path)
		assert.Equal(t, c.to, res.Header.Get("Location"))
		assert.Equal(t, []string{c.call}, s.fake.calls)
		d := s.doc(s.get("/help"))
		assert.Equal(t, 1, testid(d, "toast").Length(), "the toast is shown after the redirect")
		assert.Zero(t, testid(s.doc(s.get("/help")), "toast").Length(), "once")

		s = newSite(t).login("admin")
		res = s.do(http.MethodPost, c.path, url.Values{}, "HX-Request", "true")
		assert.Equal(t, http.StatusNoContent, res.StatusCode, c.path)
		if to := res.Header.Get("HX-Redirect"); to == "" {
			assert.Contains(t, res.Header.Get("HX-Trigger"), "carillon:toast")
			assert.Contains(t, res.Header.Get("HX-Trigger"), "carillon:refresh")
		} else {
			assert.Equal(t, c.to, to)
		}
	}
	s := newSite(t).login("olga")
	assert.Equal(t, http.StatusNotFound, s.post("/jobs/1031/start").StatusCode, "a job of others")
	assert.Equal(t, http.StatusForbidden, s.post("/executors", "app_name", "some-app").StatusCode)
	assert.Empty(t, s.fake.calls)
}

func TestHeaderTextsAreASCII(t *testing.T) {
	s := newSite(t).login("chen")
	s.fake.users[2].Language, s.fake.users[2].Role = "zh-Hans", model.RoleAdmin
	res := s.do(http.MethodPost, "/jobs/1039/stop", url.Values{}, "HX-Request", "true")
	trigger := res.Header.Get("HX-Trigger")
	assert.Contains(t, trigger, `\u5df2`)
	for _, c := range trigger {
		require.Less(t, c, rune(0x80))
	}
}

func TestErrors(t *testing.T) {
	s := newSite(t).login("admin")
	s.fake.err = assert.AnError
	res := s.post("/jobs/1039/start")
	assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
	body := text(t, res)
	assert.NotContains(t, body, assert.AnError.Error())
	assert.Contains(t, body, res.Header.Get("X-Request-Id"))

	s.fake.err = model.Errf(model.CodeInvalid, "error.schedule_none")
	res = s.do(http.MethodPost, "/jobs/1039/start", url.Values{}, "HX-Request", "true")
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Header.Get("HX-Trigger"), "run it by hand")

	big := url.Values{"name": {strings.Repeat("x", maxBody+1)}}
	assert.Equal(t, http.StatusRequestEntityTooLarge, s.do(http.MethodPost, "/jobs", big).StatusCode)
	assert.Empty(t, slices.DeleteFunc(s.fake.calls, func(c string) bool { return c == "start 1039" }))
}

// TestIconsAreInTheSprite compares what the views ask for with what is there.
func TestIconsAreInTheSprite(t *testing.T) {
	s := newSite(t)
	sprite := text(t, s.get(s.c.files.URL("icons.svg")))
	files, err := filepath.Glob("../../views/*.templ")
	require.NoError(t, err)
	files = append(files, "../../views/page.go")
	used := regexp.MustCompile(`@icon\([^,]+, "([a-z0-9-]+)"|@(?:empty|toggle|tile)\([^)]*?"([a-z0-9]+(?:-[a-z0-9]+)+)"|"/[a-z]*", "([a-z-]+)"\}`)
	seen := 0
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range used.FindAllStringSubmatch(string(raw), -1) {
			seen++
			name := m[1] + m[2] + m[3]
			assert.True(t, strings.Contains(sprite, `<symbol id="`+name+`"`), "%s wants icon %s", f, name)
		}
	}
	assert.Greater(t, seen, 30)
	all := ""
	files, err = filepath.Glob("../../views/*")
	require.NoError(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		all += string(raw)
	}
	for _, m := range regexp.MustCompile(`<symbol id="([^"]+)"`).FindAllStringSubmatch(sprite, -1) {
		assert.True(t, strings.Contains(all, `"`+m[1]+`"`), "nobody uses icon %s", m[1])
	}
}

func TestFragments(t *testing.T) {
	s := newSite(t).login("admin")
	for path, id := range map[string]string{
		"/": "dashboard", "/jobs": "jobs-panel", "/runs": "runs-panel", "/executors": "executors-panel", "/runs/88214999": "run-head",
	} {
		res := s.get(path, "HX-Request", "true")
		assert.Contains(t, res.Header.Values("Vary"), "HX-Request")
		body := text(t, res)
		assert.NotContains(t, body, "<html", path)
		assert.Contains(t, body, `id="`+id+`"`, path)
		body = text(t, s.get(path, "HX-Request", "true", "HX-History-Restore-Request", "true"))
		assert.Contains(t, body, "<html", path)
	}
}
