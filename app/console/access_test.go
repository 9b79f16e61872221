package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// rule says who may use a route.
type rule struct {
	open      bool        // anybody, logged in or not
	admin     bool        // administrators only
	somewhere model.Level // with this level for any executor
	object    string      // job, run or executor in the path: with level for its executor
	level     model.Level
	form      string // what is sent, in the encoding of forms
}

// rules has one line for each route of the table. A route that is not here fails the test:
// whoever adds one says here who may use it.
func rules() map[string]rule {
	view, operate, edit, administer := model.LevelView, model.LevelOperate, model.LevelEdit, model.LevelAdminister
	managed := func(object, form string) rule {
		return rule{somewhere: administer, object: object, level: administer, form: form}
	}
	job := func(l model.Level, form string) rule { return rule{object: "job", level: l, form: form} }
	run := func(l model.Level) rule { return rule{object: "run", level: l} }
	admin, any := rule{admin: true}, rule{}
	return map[string]rule{
		"GET /login": {open: true}, "POST /login": {open: true}, "POST /logout": {open: true}, "POST /preferences": {open: true},
		"GET /link": {open: true}, "POST /link": {open: true, form: "do=x"},
		"GET /": any, "GET /help": any, "GET /search": any, "GET /password": any, "POST /password": any,
		"GET /profile": any, "POST /profile": any, "POST /profile/sessions/end": any,

		"GET /jobs": any, "GET /jobs/preview": any, "GET /jobs/export": any,
		"GET /jobs/new": {somewhere: edit}, "POST /jobs": any, // what is saved is checked by executor: TestWhatIsSavedNeedsItsRight
		"GET /jobs/import": {somewhere: edit}, "POST /jobs/import": {somewhere: edit},
		"GET /jobs/:id": job(view, ""), "POST /jobs/:id": job(edit, "version=1"), "GET /jobs/:id/edit": job(edit, ""),
		"GET /jobs/handlers": any, "GET /jobs/pick": any, "POST /login/kept": {open: true},
		"GET /jobs/:id/code": {object: "script", level: edit}, "GET /jobs/:id/code/diff": {object: "script", level: edit},
		"POST /jobs/:id/code": {object: "script", level: edit, form: "version=1"}, // saving is a right of its own: TestSaveScript
		"GET /jobs/:id/note":  job(operate, ""), "POST /jobs/:id/note": job(operate, "note=x"),
		"POST /jobs/:id/favourite": job(view, "on=1"),
		"GET /filters":             any, "POST /filters": {form: "list=jobs&name=x&query=q%3D1"}, "POST /filters/rename": {form: "list=jobs&old=x&name=x"},
		"POST /filters/delete": {form: "list=jobs&old=x"}, "POST /columns": {form: "list=jobs&column=id"},
		"POST /jobs/:id/start": job(operate, ""), "POST /jobs/:id/stop": job(operate, ""),
		"GET /jobs/:id/delete": job(edit, ""), "POST /jobs/:id/delete": job(edit, ""),
		"GET /jobs/:id/run": job(operate, ""), "POST /jobs/:id/run": job(operate, ""),

		"POST /jobs/batch": any, "POST /runs/batch": any, // each job and run has its own outcome: TestManyAtOnceNeedTheirRights

		"GET /runs": any, "GET /runs/export": any, "GET /timeline": any, "GET /timeline/load": any,
		"GET /reports": any, "GET /reports/csv": any, "GET /reports/xlsx": any,
		// What is saved is checked by executor: TestAlarmsAndReportsOfOneExecutor.
		"GET /reports/mails": {somewhere: administer}, "GET /reports/mails/new": {somewhere: administer}, "POST /reports/mails": {somewhere: administer, form: "name=r&kind=day&at=08:00&to=a@example.org"},
		"GET /reports/mails/:id/edit": managed("report-mail", ""), "POST /reports/mails/:id": managed("report-mail", "name=x&kind=day&at=08:00&to=a@example.org"),
		"GET /reports/mails/:id/delete": managed("report-mail", ""), "POST /reports/mails/:id/delete": managed("report-mail", ""),
		"GET /reports/targets": {admin: true}, "GET /reports/targets/new": {admin: true}, "POST /reports/targets": {admin: true, form: "name=r&scope=all&goal=99.5"},
		"GET /reports/targets/:id/edit": {admin: true, object: "target"}, "POST /reports/targets/:id": {admin: true, object: "target", form: "name=x&scope=all&goal=99"},
		"GET /reports/targets/:id/delete": {admin: true, object: "target"}, "POST /reports/targets/:id/delete": {admin: true, object: "target"},
		"GET /reports/mails/:id/preview": managed("report-mail", ""), "POST /reports/mails/:id/send": managed("report-mail", "address=a@example.org"),
		"GET /runs/clear": {somewhere: administer}, "POST /runs/clear": {admin: true, form: "kind=1"}, // of one executor: jobs.TestClearRuns
		"GET /runs/:id": run(view), "GET /runs/:id/log": run(view), "GET /runs/:id/log/stream": run(view),
		"GET /runs/:id/kill": run(operate), "POST /runs/:id/kill": run(operate),
		"GET /runs/:id/takeback": run(operate), "POST /runs/:id/takeback": run(operate),

		"GET /incidents": any, "GET /incidents/:id": {object: "incident", level: view},
		"POST /incidents/:id/ack": {object: "incident", level: operate}, "POST /incidents/:id/mute": {object: "incident", level: operate, form: "for=1h"},
		"POST /incidents/:id/comment": {object: "incident", level: operate, form: "comment=x"},

		"GET /retention": admin, "POST /retention": {admin: true, form: "keep_days=7"}, "GET /retention/run": admin, "POST /retention/run": admin,

		"GET /alarms": {somewhere: administer}, "POST /alarms/test": {admin: true, form: "address=x"},
		"GET /alarms/rules/new": {somewhere: administer}, "POST /alarms/rules": {somewhere: administer, form: "scope=job"},
		"GET /alarms/rules/:id/edit": managed("alarm-rule", ""), "POST /alarms/rules/:id": managed("alarm-rule", "scope=job"),
		"GET /alarms/rules/:id/delete": managed("alarm-rule", ""), "POST /alarms/rules/:id/delete": managed("alarm-rule", ""),
		"GET /alarms/channels/new": admin, "POST /alarms/channels": admin,
		"GET /alarms/channels/:id/edit": {admin: true, object: "alarm-channel"}, "POST /alarms/channels/:id": {admin: true, object: "alarm-channel"},
		"GET /alarms/channels/:id/delete": {admin: true, object: "alarm-channel"}, "POST /alarms/channels/:id/delete": {admin: true, object: "alarm-channel"},

		"GET /executors": {somewhere: administer}, "POST /executors": admin, "GET /executors/new": admin, "POST /executors/adopt": admin,
		"POST /executors/:id":       {somewhere: administer, object: "executor", level: administer, form: "title=t&address_type=1&address_list=http://10.0.0.1:9999/"},
		"GET /executors/:id/edit":   {somewhere: administer, object: "executor", level: administer},
		"POST /executors/:id/ping":  {somewhere: administer, object: "executor", level: administer, form: "address=http://own-or-foreign"},
		"POST /executors/:id/drain": {somewhere: administer, object: "executor", level: administer, form: "address=http://own-or-foreign"},
		"POST /executors/:id/take":  {somewhere: administer, object: "executor", level: administer, form: "address=http://own-or-foreign"},
		"GET /executors/:id/delete": {admin: true, object: "executor"}, "POST /executors/:id/delete": {admin: true, object: "executor"},

		"GET /users": admin, "GET /users/export": admin, "GET /users/new": admin, "POST /users": admin, "GET /users/sessions": admin,
		"GET /users/:id/edit": {admin: true, object: "user"}, "POST /users/:id": {admin: true, object: "user", form: "role=administer"},
		"GET /users/:id/delete": {admin: true, object: "user"}, "POST /users/:id/delete": {admin: true, object: "user"},
		"GET /users/:id/password": {admin: true, object: "user"}, "POST /users/:id/password": {admin: true, object: "user"},
		"GET /users/:id/sessions": {admin: true, object: "user"}, "POST /users/:id/sessions/end": {admin: true, object: "user"},

		"GET /system": admin,
		"GET /audit":  admin, "GET /audit/export": admin,
		"GET /*": any,
	}
}

// town is a console on the real use cases and a real database, with two executors and
// people of every role.
type town struct {
	*site
	st           *store.Store
	file         string // of the database
	own, foreign model.Group
	people       []model.User
	actors       map[string]model.Actor
	sessions     map[string]map[string]string
}

const foreignName = "Kept from others"

type nobodyOutside struct{}

func (nobodyOutside) Owner() string { return "n#1" }
func (nobodyOutside) Nudge()        {}
func (nobodyOutside) Complete(context.Context, []model.Handled) ([]model.HandledStatus, error) {
	return nil, nil
}
func (nobodyOutside) ReadLog(context.Context, string, int64, time.Time, int) (model.LogChunk, error) {
	return model.LogChunk{}, nil
}
func (nobodyOutside) Ping(context.Context, string) (model.LastCall, *model.Report) {
	return model.LastCall{}, nil
}
func (nobodyOutside) Kill(context.Context, string, int) error { return nil }

func newTown(t *testing.T) *town {
	file := filepath.Join(t.TempDir(), "x.db")
	st := storetest.OpenURL(t, "sqlite:"+file, time.UTC)
	svc := jobs.New(jobs.Options{Store: st, Ringer: nobodyOutside{}, Executors: nobodyOutside{}, Location: time.UTC})
	w := &town{st: st, file: file, actors: map[string]model.Actor{"nobody": {}}, sessions: map[string]map[string]string{"nobody": {}}}
	w.site = newSite(t, func(o *Options) { o.Service, o.Sessions = svc, st.Sessions() })
	w.own = storetest.Group(t, st, "own-app", "http://10.0.0.1:9999/")
	w.foreign = storetest.Group(t, st, "foreign-app", "http://10.0.0.2:9999/")
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	require.NoError(t, err)
	id := strconv.Itoa(w.own.ID)
	for _, u := range []model.User{
		{Name: "root", Role: model.RoleAdmin}, {Name: "root-hans", Role: model.RoleAdmin, Language: "zh-Hans"},
		{Name: "root-hant", Role: model.RoleAdmin, Language: "zh-Hant"}, {Name: "stranger"}, {Name: "viewer", Rights: id + "=view"},
		{Name: "operator", Rights: id + "=operate"}, {Name: "editor", Rights: id + "=edit"}, {Name: "java", Permission: id},
		{Name: "manager", Rights: id + "=administer"}, {Name: "auditor", Rights: "*=view"}, {Name: "dispatcher", Rights: "*=operate"},
		{Name: "everywhere", Rights: "*=edit+script"},
	} {
		u.PasswordHash, u.Language = string(hash), cmp.Or(u.Language, "en")
		u.ID, err = st.InsertUser(t.Context(), &u)
		require.NoError(t, err)
		w.cookie = map[string]string{}
		w.login(u.Name)
		w.people, w.actors[u.Name], w.sessions[u.Name] = append(w.people, u), u.Actor(), w.cookie
	}
	return w
}

func (w *town) names() []string {
	out := []string{"nobody"}
	for _, u := range w.people {
		out = append(out, u.Name)
	}
	return out
}

// as sends a request in the name of somebody.
func (w *town) as(who, method, path, form string) *http.Response {
	w.cookie = map[string]string{}
	for k, v := range w.sessions[who] {
		w.cookie[k] = v
	}
	if method == http.MethodGet {
		return w.do(method, path, nil)
	}
	values, err := url.ParseQuery(form)
	require.NoError(w.t, err)
	return w.do(method, path, values)
}

// make gives a fresh object of an executor and a way to look at it.
func (w *town) make(object string, g model.Group) (id string, look func() string) {
	name := "Plain"
	if g.ID == w.foreign.ID {
		name = foreignName
	}
	ctx := w.t.Context()
	switch object {
	case "job", "run", "script":
		j := storetest.Job(w.t, w.st, g.ID, func(j *model.Job) {
			if j.Name = name; object == "script" {
				j.GlueType, j.GlueSource, j.Handler = model.GlueShell, "echo "+name, ""
			}
		})
		if object != "run" {
			return strconv.Itoa(j.ID), func() string {
				j, err := w.st.Job(ctx, j.ID)
				return fmt.Sprint(j, err)
			}
		}
		r := storetest.Run(w.t, w.st, j, nil)
		return strconv.FormatInt(r.ID, 10), func() string {
			r, err := w.st.Run(ctx, r.ID)
			return fmt.Sprint(r, err)
		}
	case "report-mail":
		id, err := w.st.SaveReportMail(ctx, model.ReportMail{Name: name, ReportMailSettings: model.ReportMailSettings{Kind: "day", At: "08:00", GroupID: g.ID, To: []string{"a@example.org"}}})
		require.NoError(w.t, err)
		return strconv.Itoa(id), func() string {
			list, err := w.st.ReportMails(ctx)
			return fmt.Sprint(list, err)
		}
	case "target":
		id, err := w.st.SaveTarget(ctx, model.Target{Name: name, Judged: "2026-01-01", TargetSettings: model.TargetSettings{Scope: model.ScopeAll, Goal: 99_000}})
		require.NoError(w.t, err)
		return strconv.Itoa(id), func() string {
			list, err := w.st.Targets(ctx)
			return fmt.Sprint(list, err)
		}
	case "alarm-rule":
		id, err := w.st.SaveAlarmRule(ctx, model.AlarmRule{Name: name, Scope: model.ScopeExecutor, GroupID: g.ID})
		require.NoError(w.t, err)
		return strconv.Itoa(id), func() string {
			list, err := w.st.AlarmRules(ctx)
			return fmt.Sprint(list, err)
		}
	case "alarm-channel":
		id, err := w.st.SaveChannel(ctx, model.Channel{Name: name, Kind: "webhook", URL: "https://example.org/x"})
		require.NoError(w.t, err)
		return strconv.Itoa(id), func() string {
			list, err := w.st.Channels(ctx)
			return fmt.Sprint(list, err)
		}
	case "incident":
		j := storetest.Job(w.t, w.st, g.ID, func(j *model.Job) { j.Name = name })
		inc := &model.Incident{Subject: "job:" + strconv.Itoa(j.ID), JobID: j.ID, GroupID: g.ID, Severity: model.SeverityCritical, Reason: model.ReasonError, Failed: 1, OpenedMS: 1, LastMS: 1}
		require.NoError(w.t, w.st.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{inc}}, time.UnixMilli(1)))
		return strconv.FormatInt(inc.ID, 10), func() string {
			i, err := w.st.Incident(ctx, inc.ID)
			n, _ := w.st.IncidentNotes(ctx, inc.ID, 10)
			return fmt.Sprint(i, n, err)
		}
	case "executor":
		return strconv.Itoa(g.ID), func() string {
			g, err := w.st.Group(ctx, g.ID)
			return fmt.Sprint(g, err)
		}
	case "user":
		u, err := w.st.UserByName(ctx, "stranger")
		require.NoError(w.t, err)
		return strconv.Itoa(u.ID), func() string {
			u, err := w.st.User(ctx, u.ID)
			return fmt.Sprint(u, err)
		}
	}
	return "", func() string { return "" }
}

// expected gives the status with which somebody is refused, 0 when they are not.
func (u rule) expected(a model.Actor, group int) int {
	switch {
	case u.open:
		return 0
	case a.UserID == 0:
		return http.StatusSeeOther // to the login
	case u.admin && !a.Admin, u.somewhere > 0 && !a.MaySomewhere(u.somewhere):
		return http.StatusForbidden
	case u.object == "user" || u.object == "" || a.May(u.level, group):
		return 0
	case !a.Sees(group):
		return http.StatusNotFound
	}
	return http.StatusForbidden
}

// TestEveryRouteEveryRole walks all routes as everybody, with objects that are theirs and
// with those of others. Who is refused changes nothing and learns no name.
func TestEveryRouteEveryRole(t *testing.T) {
	w := newTown(t)
	known := rules()
	for _, r := range w.c.table() {
		key := r.method + " " + r.path
		u, ok := known[key]
		if !assert.True(t, ok, "%s has no rule: say in rules() who may use it", key) {
			continue
		}
		delete(known, key)
		for _, who := range w.names() {
			for _, g := range []model.Group{w.own, w.foreign} {
				if strings.HasPrefix(who, "root") && u.object == "user" && r.method == http.MethodPost {
					continue // would end the session of the next ones; TestAccounts does it
				}
				if strings.HasSuffix(r.path, "/logout") || r.path == "/executors/:id/delete" && r.method == http.MethodPost && strings.HasPrefix(who, "root") {
					continue // ends what others need
				}
				id, look := w.make(u.object, g)
				before := look()
				path := strings.Replace(strings.ReplaceAll(r.path, ":id", id), "*", "nothing-here", 1)
				now, err := w.st.Group(t.Context(), g.ID)
				require.NoError(t, err)
				res := w.as(who, r.method, path, strings.ReplaceAll(u.form, "http://own-or-foreign", now.AddressList))
				body := text(t, res)
				label := fmt.Sprintf("%s as %s of %s", key, who, g.AppName)
				want := u.expected(w.actors[who], g.ID)
				if want == 0 {
					assert.NotContains(t, []int{401, 403, 500, 503}, res.StatusCode, label)
					assert.False(t, who != "nobody" && strings.Contains(res.Header.Get("Location"), "/login"), label)
					if r.path != "/*" {
						assert.NotEqual(t, http.StatusNotFound, res.StatusCode, label)
					}
				} else {
					if who == "nobody" && res.StatusCode == http.StatusUnauthorized { // the login, with what was typed
						assert.Contains(t, body, "/login/kept", label)
						want = res.StatusCode
					}
					assert.Equal(t, want, res.StatusCode, label)
					assert.Equal(t, before, look(), "%s: refused and done nevertheless", label)
				}
				if !w.actors[who].Sees(w.foreign.ID) {
					assert.NotContains(t, body, foreignName, label)
				}
				if r.path == "/password" || r.path == "/preferences" || r.path == "/login" {
					break // no object
				}
			}
		}
	}
	assert.Empty(t, known, "rules of routes that are no more")
}

// TestWhatIsSavedNeedsItsRight: jobs are added where one may edit, and scripts are a right of their own.
func TestWhatIsSavedNeedsItsRight(t *testing.T) {
	w := newTown(t)
	form := func(g model.Group, script string) string {
		in := jobs.NewJobInput()
		in.GroupID, in.Name, in.Author, in.ScheduleConf, in.Handler = g.ID, "new", "x", "0 0 0 * * ?", "h"
		in.Version = 1
		if script != "" {
			in.GlueType, in.GlueSource, in.GlueRemark = model.GlueShell, script, "r"
		}
		q := url.Values{}
		for k, v := range formOf(in) {
			q.Set(k, v)
		}
		return q.Encode()
	}
	for _, who := range w.names()[1:] {
		a := w.actors[who]
		for _, g := range []model.Group{w.own, w.foreign} {
			for _, script := range []string{"", "echo hi"} {
				label := fmt.Sprint(who, g.AppName, script)
				may := a.May(model.LevelEdit, g.ID) && (script == "" || a.Scripts(g.ID))
				list, _, err := w.st.Jobs(t.Context(), model.JobFilter{Limit: 1000})
				require.NoError(t, err)
				res := w.as(who, http.MethodPost, "/jobs", form(g, script))
				after, _, err := w.st.Jobs(t.Context(), model.JobFilter{Limit: 1000})
				require.NoError(t, err)
				if may {
					assert.Equal(t, http.StatusSeeOther, res.StatusCode, label)
					assert.Len(t, after, len(list)+1, label)
				} else {
					assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, label)
					assert.Len(t, after, len(list), label)
				}
				// An existing script
				j := storetest.Job(t, w.st, g.ID, func(j *model.Job) {
					if script != "" {
						j.GlueType, j.GlueSource, j.Handler = model.GlueShell, "echo old", ""
					}
				})
				w.as(who, http.MethodPost, "/jobs/"+strconv.Itoa(j.ID), form(g, script))
				now, err := w.st.Job(t.Context(), j.ID)
				require.NoError(t, err)
				assert.Equal(t, may, now.Name == "new", label)
				assert.Equal(t, may && script != "", now.GlueSource == "echo hi", label)
			}
		}
	}
	// Who may edit without the right to scripts changes everything else of a script job, but
	// cannot move the script to another executor.
	j := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.GlueType, j.GlueSource, j.Handler = model.GlueShell, "echo hi", "" })
	res := w.as("editor", http.MethodPost, "/jobs/"+strconv.Itoa(j.ID), form(w.own, "echo hi"))
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	lines, err := w.st.Audit(t.Context(), model.AuditFilter{User: "editor", Outcome: model.AuditRefused, Limit: 100})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(lines, func(e model.AuditEntry) bool { return e.Action == "job.add" }), "refusals are noted")
}

// TestWhatOneMayNotIsNotDrawn: buttons stand only where they work.
func TestWhatOneMayNotIsNotDrawn(t *testing.T) {
	w := newTown(t)
	j := storetest.Job(t, w.st, w.own.ID, nil)
	page := "/jobs/" + strconv.Itoa(j.ID)
	for who, ids := range map[string][2][]string{
		"viewer":   {{}, {"run-once", "start-job", "edit-job", "copy-job", "delete-job", "edit-note"}},
		"operator": {{"run-once", "start-job", "edit-note"}, {"edit-job", "copy-job", "delete-job"}},
		"editor":   {{"run-once", "start-job", "edit-job", "copy-job", "delete-job", "edit-note"}, {}},
	} {
		for _, path := range []string{page, "/jobs"} {
			d := w.doc(w.as(who, http.MethodGet, path, ""))
			for _, id := range ids[0] {
				if path == page || id == "run-once" || id == "start-job" || id == "delete-job" {
					assert.Positive(t, testid(d, id).Length(), "%s %s %s", who, path, id)
				}
			}
			for _, id := range ids[1] {
				assert.Zero(t, testid(d, id).Length(), "%s %s %s", who, path, id)
			}
		}
	}
	require.NoError(t, w.st.SetJobStatus(t.Context(), j.ID, 1, model.JobRunning, 1, time.Now()))
	r := storetest.Run(t, w.st, j, func(r *model.Run) { r.Phase, r.SentMS = model.PhaseAccepted, r.PlannedMS })
	storetest.End(t, w.st, r, 500, "", "broken")
	failed := "/runs/" + strconv.FormatInt(r.ID, 10)
	for who, n := range map[string]int{"viewer": 0, "operator": 1} {
		d := w.doc(w.as(who, http.MethodGet, failed, ""))
		require.Equal(t, 1, d.Find(".state.bad").Length(), who)
		assert.Equal(t, n, testid(d, "stop-job").Length(), who)
		assert.Equal(t, n, testid(d, "run-again").Length(), who)
	}
	assert.Equal(t, failed, w.as("operator", http.MethodPost, "/jobs/"+strconv.Itoa(j.ID)+"/stop", "from=run-"+strconv.FormatInt(r.ID, 10)).Header.Get("Location"))
	d := w.doc(w.as("operator", http.MethodGet, failed, ""))
	assert.Equal(t, 1, testid(d, "start-job").Length(), "what was stopped can be started again")
	d = w.doc(w.as("viewer", http.MethodGet, "/jobs", ""))
	assert.Zero(t, testid(d, "add-job").Length()+testid(d, "import-jobs").Length())
	d = w.doc(w.as("stranger", http.MethodGet, "/jobs", ""))
	assert.Contains(t, testid(d, "empty").Text(), "Ask an administrator")
	assert.Zero(t, testid(d, "add-job").Length())
	assert.Contains(t, text(t, w.as("stranger", http.MethodGet, "/jobs/new", "")), "Ask an administrator")
	assert.Positive(t, testid(w.doc(w.as("manager", http.MethodGet, "/", "")), "nav-executors").Length())
	assert.Zero(t, testid(w.doc(w.as("editor", http.MethodGet, "/", "")), "nav-executors").Length())
	assert.Contains(t, text(t, w.as("manager", http.MethodGet, "/executors", "")), "own-app")
	assert.NotContains(t, text(t, w.as("manager", http.MethodGet, "/executors", "")), "foreign-app")
}

// TestManyAtOnceNeedTheirRights: what is done to many is done to those that one may.
func TestManyAtOnceNeedTheirRights(t *testing.T) {
	w := newTown(t)
	for _, who := range w.names()[1:] {
		for _, g := range []model.Group{w.own, w.foreign} {
			for do, level := range map[string]model.Level{"start": model.LevelOperate, "stop": model.LevelOperate, "run": model.LevelOperate, "delete": model.LevelEdit} {
				id, look := w.make("job", g)
				n, _ := strconv.Atoi(id)
				if do == "stop" {
					require.NoError(t, w.st.SetJobStatus(t.Context(), n, 1, model.JobRunning, 1, time.Now()))
				}
				runs := func() int {
					n, err := w.st.CountRuns(t.Context(), model.RunFilter{JobID: n}, 10)
					require.NoError(t, err)
					return n
				}
				before := look()
				body := text(t, w.as(who, http.MethodPost, "/jobs/batch", "sure=1&do="+do+"&id="+id))
				may := w.actors[who].May(level, g.ID)
				label := fmt.Sprint(who, " ", do, " ", g.AppName)
				if do == "run" {
					assert.Equal(t, may, runs() == 1, label)
				} else {
					assert.Equal(t, may, before != look(), label)
				}
				if !w.actors[who].Sees(g.ID) {
					assert.NotContains(t, body, foreignName, label)
				}
			}
			for _, do := range []string{"takeback", "retry"} {
				id, look := w.make("run", g)
				before := look()
				jobsRuns, err := w.st.CountRuns(t.Context(), model.RunFilter{GroupID: g.ID}, 10_000)
				require.NoError(t, err)
				w.as(who, http.MethodPost, "/runs/batch", "sure=1&do="+do+"&id="+id)
				after, err := w.st.CountRuns(t.Context(), model.RunFilter{GroupID: g.ID}, 10_000)
				require.NoError(t, err)
				done := before != look() || after != jobsRuns
				assert.Equal(t, w.actors[who].May(model.LevelOperate, g.ID), done, "%s %s %s", who, do, g.AppName)
			}
		}
	}
	for _, action := range []string{"job.start", "job.stop", "job.run", "run.takeback"} {
		for outcome, want := range map[model.AuditOutcome]string{model.AuditDone: "operator", model.AuditRefused: "viewer"} {
			lines, err := w.st.Audit(t.Context(), model.AuditFilter{Action: action, Outcome: outcome, User: want, Limit: 10})
			require.NoError(t, err)
			assert.NotEmpty(t, lines, "%s %s %s", action, outcome, want)
		}
	}
}
