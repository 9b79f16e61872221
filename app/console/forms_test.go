package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

var goodJob = []string{
	"group", "1", "name", "Rates", "author", "olga", "schedule_type", "CRON", "schedule_conf", "0 0 8 * * ?",
	"zone", "Europe/London", "misfire", "DO_NOTHING", "glue_type", "BEAN", "handler", "h", "route", "FIRST",
	"block", "SERIAL_EXECUTION", "timeout", "0", "retry", "1", "version", "3",
}

func TestJobForm(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.get("/jobs/new"))
	for id, want := range map[string]string{"schedule_type": "CRON", "route": "FIRST", "misfire": "DO_NOTHING", "block": "SERIAL_EXECUTION", "glue_type": "BEAN"} {
		got, _ := d.Find("#" + id + " option[selected]").Attr("value")
		assert.Equal(t, want, got)
	}
	res := s.post("/jobs", goodJob...)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Len(t, s.fake.calls, 1)
	assert.Contains(t, s.fake.calls[0], "CRON_TZ=Europe/London 0 0 8 * * ?", "the zone travels inside the schedule")
	assert.Contains(t, s.fake.calls[0], "Version:3")
}

func TestJobFormIsRedrawnWithErrors(t *testing.T) {
	s := newSite(t).login("olga")
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	bad.AddField("name", "field.required")
	bad.AddField("schedule_conf", "field.cron", "Reason", "cron.err.two_days")
	s.fake.err = bad
	res := s.post("/jobs/1039", goodJob...)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	d := s.doc(res)
	assert.Equal(t, "Please fill this in.", testid(d, "error-name").Text())
	assert.Contains(t, testid(d, "error-schedule_conf").Text(), "one of day and weekday must be ?")
	focus, _ := d.Find("[autofocus]").Attr("id")
	assert.Equal(t, "name", focus, "the first bad field has the focus")
	author, _ := d.Find("#author").Attr("value")
	assert.Equal(t, "olga", author, "what was typed is kept")
	described, _ := d.Find("#name").Attr("aria-describedby")
	assert.Equal(t, "name-error", described)

	s.fake.err = bad
	rate := append([]string{}, goodJob...)
	rate = append(rate, "schedule_type", "FIX_RATE", "seconds", "0")
	d = s.doc(s.post("/jobs", rate...))
	assert.Equal(t, 1, testid(d, "error-seconds").Length(), "the error stands at the field that people see")

	d = s.doc(s.post("/jobs", append(append([]string{}, goodJob...), "timeout", "soon")...))
	assert.Equal(t, "Please type a whole number.", testid(d, "error-timeout").Text())
}

func TestJobFormTellsOfConflicts(t *testing.T) {
	s := newSite(t).login("olga")
	s.fake.err = model.Errf(model.CodeConflict, "error.conflict")
	res := s.post("/jobs/1039", goodJob...)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	d := s.doc(res)
	assert.Equal(t, 1, testid(d, "form-conflict").Length())
	version, _ := d.Find(`input[name="version"]`).Attr("value")
	assert.Equal(t, "3", version)
}

func TestRunOnceForm(t *testing.T) {
	s := newSite(t).login("olga")
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	bad.AddField("addresses", "field.address", "Value", "nonsense")
	s.fake.err = bad
	res := s.post("/jobs/1039/run", "param", "x=1", "addresses", "nonsense")
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	d := s.doc(res)
	assert.Contains(t, testid(d, "error-addresses").Text(), "nonsense")
	assert.Equal(t, "x=1", d.Find("#param").Text())
	d = s.doc(s.get("/jobs/1039/run?from=88214910"))
	assert.Empty(t, d.Find("#param").Text(), "run again takes the parameter of the run")
}

func TestExecutorForms(t *testing.T) {
	s := newSite(t).login("admin")
	res := s.post("/executors/adopt", "app_name", "mail-worker")
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Contains(t, s.fake.calls[0], "mail-worker")
	s.post("/executors/1", "app_name", "finance-core", "title", "Finance", "address_type", "1", "address_list", "http://a:1/\r\nhttp://b:2/ , ")
	assert.Contains(t, s.fake.calls[1], "http://a:1/,http://b:2/}")
	taken := model.Errf(model.CodeInvalid, "error.invalid")
	taken.AddField("app_name", "error.app_name_taken")
	s.fake.err = taken
	d := s.doc(s.post("/executors", "app_name", "finance-core", "title", "x"))
	assert.Equal(t, 1, testid(d, "error-app_name").Length())

	s.fake.groups = nil
	d = s.doc(s.get("/executors"))
	assert.Contains(t, testid(d, "command").Text(), "carillon executor --center")
	assert.NotContains(t, testid(d, "command").Text(), "--access-token", "everybody on a machine sees the flags of a process")
}

func TestPassword(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.post("/password", "old", password, "new", "longer one", "repeat", "other"))
	assert.Equal(t, 1, testid(d, "error-repeat").Length())
	d = s.doc(s.post("/password", "old", "wrong", "new", "longer one", "repeat", "longer one"))
	assert.Equal(t, "The old password is wrong.", testid(d, "error-old").Text())
	before := s.cookie["carillon_session"]
	res := s.post("/password", "old", password, "new", "longer one", "repeat", "longer one")
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.NotEqual(t, before, s.cookie["carillon_session"])
}

func TestPreferences(t *testing.T) {
	s := newSite(t)
	s.post("/preferences", "lang", "zh-Hant", "next", "/login")
	lang, _ := s.doc(s.get("/login")).Find("html").Attr("lang")
	assert.Equal(t, "zh-Hant", lang, "before login by cookie")
	s.login("olga")
	res := s.post("/preferences", "theme", "dark", "next", "//evil.example/")
	assert.Equal(t, "/", res.Header.Get("Location"))
	d := s.doc(s.get("/help"))
	theme, _ := d.Find("html").Attr("data-bs-theme")
	assert.Equal(t, "dark", theme)
	assert.Equal(t, "en", s.fake.users[1].Language, "the other preference stays")
}

// TestJobListRemembersTheExecutor and nothing else: who searched for a job once wants to
// see all of them the next time.
func TestJobListRemembersTheExecutor(t *testing.T) {
	s := newSite(t).login("admin")
	s.get("/jobs?status=running&executor=1&q=zzzz&sort=name")
	res := s.get("/jobs")
	assert.Equal(t, "/jobs?executor=1", res.Header.Get("Location"))
	d := s.doc(s.get("/jobs?status=running&executor=1"))
	assert.Equal(t, 3, testid(d, "job-row").Length())
	assert.Equal(t, "5", testid(d, "segment-").Find(".count").Text(), "counts ignore the status")
	assert.Equal(t, 1, testid(d, "clear-filter").Length())
	s.get("/jobs?all=1")
	assert.Equal(t, http.StatusOK, s.get("/jobs").StatusCode, "and forgets it")
}

func TestFormAddressesAreShortened(t *testing.T) {
	s := newSite(t).login("admin")
	res := s.get("/jobs?all=1&status=running&size=25&q=", "HX-Request", "true")
	assert.Equal(t, "/jobs?status=running", res.Header.Get("HX-Push-Url"))
	assert.Empty(t, s.get("/jobs?status=running", "HX-Request", "true").Header.Get("HX-Push-Url"), "a refresh pushes nothing")
	res = s.get("/runs?preset=any&executor=1&status=", "HX-Request", "true")
	assert.Equal(t, "/runs?executor=1", res.Header.Get("HX-Push-Url"))
}

func TestBasePath(t *testing.T) {
	s := newSite(t, func(o *Options) { o.BasePath = "/ops/carillon/" }).login("admin")
	assert.Equal(t, http.StatusSeeOther, s.get("/ops/carillon").StatusCode)
	assert.Equal(t, http.StatusNotFound, s.get("/jobs").StatusCode)
	for _, p := range []string{"/", "/jobs?all=1", "/runs", "/runs/88214871", "/executors", "/users", "/help", "/jobs/new"} {
		d := s.doc(s.get("/ops/carillon" + p))
		d.Find("[href], [src], [action], [hx-get], [hx-post]").Each(func(_ int, e *goquery.Selection) {
			for _, name := range []string{"href", "src", "action", "hx-get", "hx-post"} {
				if v, ok := e.Attr(name); ok && len(v) > 0 && v[0] == '/' {
					assert.Regexp(t, "^/ops/carillon/", v)
				}
			}
		})
		d.Find("link[href], script[src]").Each(func(_ int, e *goquery.Selection) {
			u, ok := e.Attr("href")
			if !ok {
				u, _ = e.Attr("src")
			}
			w := httptest.NewRecorder()
			s.c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, u, nil))
			assert.Equal(t, http.StatusOK, w.Code, u)
		})
	}
}

// TestKeptForm: what is sent after the login ended is carried by the login page, bounded,
// and only for forms in which people type long.
func TestKeptForm(t *testing.T) {
	s := newSite(t)
	res := s.post("/jobs/1039", "name", "typed <b>", "version", "3", "use_cron", "x", "resume", "1")
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
	d := s.doc(res)
	form, _ := d.Find(`input[name="kept_form"]`).Attr("value")
	assert.Equal(t, "name=typed+%3Cb%3E&version=3", form)
	action, _ := testid(d, "login-form").Attr("action")
	assert.Equal(t, "/login/kept", action)
	d = s.doc(s.post("/login/kept", "name", "olga", "password", "wrong", "kept_form", form, "kept_path", "/jobs/1039"))
	again, _ := d.Find(`input[name="kept_form"]`).Attr("value")
	assert.Equal(t, form, again)
	d = s.doc(s.post("/login/kept", "name", "olga", "password", password, "kept_form", form, "kept_path", "/jobs/1039"))
	to, _ := testid(d, "resume").Attr("action")
	assert.Equal(t, "/jobs/1039", to)
	assert.Equal(t, "typed <b>", d.Find(`textarea[name="name"]`).Text())
	assert.Empty(t, s.fake.calls, "nothing is saved by it")
	d = s.doc(s.post("/jobs/1039", "name", "typed <b>", "version", "3", "resume", "1"))
	name, _ := d.Find("#name").Attr("value")
	assert.Equal(t, "typed <b>", name)
	assert.Empty(t, s.fake.calls)

	for _, bad := range []string{"//evil.example/", "/jobs/1039/delete", "/users/1/delete", "/password", "https://evil.example/jobs"} {
		s := newSite(t)
		res := s.post("/login/kept", "name", "olga", "password", password, "kept_form", form, "kept_path", bad)
		assert.Equal(t, http.StatusSeeOther, res.StatusCode, bad)
	}
	s = newSite(t)
	assert.Equal(t, http.StatusSeeOther, s.post("/jobs/1039/stop", "a", "b").StatusCode)
	assert.Equal(t, http.StatusSeeOther, s.post("/jobs", "param", strings.Repeat("x", maxKept+1)).StatusCode, "too long to be carried")
	assert.Equal(t, http.StatusNoContent, s.get("/jobs/preview?schedule_conf=x", "HX-Request", "true").StatusCode, "what comes by itself leads nowhere")
}

func TestCopyName(t *testing.T) {
	assert.Equal(t, "Rates (copy)", copyName("Rates", " (copy)"))
	assert.Len(t, []rune(copyName(strings.Repeat("任", 255), "（副本）")), 255)
}
