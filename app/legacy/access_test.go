package legacy

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// rule says what a call needs; a call that is not in the list fails the test.
type rule struct {
	open       bool // nobody need be logged in
	admin      bool
	object     string // job, run or executor: with the level for its executor
	level      model.Level
	form       string // beside the id; OWN is the executor of the object
	everything bool   // who sees all executors
	lists      bool   // gives what one may see
}

func rules() map[string]rule {
	view, operate, edit := model.LevelView, model.LevelOperate, model.LevelEdit
	add := "jobGroup=OWN&jobDesc=added&author=a&scheduleType=NONE&glueType=BEAN&executorHandler=h&executorRouteStrategy=FIRST&misfireStrategy=DO_NOTHING&executorBlockStrategy=SERIAL_EXECUTION"
	return map[string]rule{
		"/login": {open: true}, "/auth/doLogin": {open: true}, "/logout": {open: true}, "/auth/logout": {open: true},
		"/jobinfo/pageList": {lists: true, form: "jobGroup=-1"}, "/jobinfo/nextTriggerTime": {lists: true},
		"/jobinfo/add": {object: "group", level: edit, form: add}, "/jobinfo/insert": {object: "group", level: edit, form: add},
		"/jobinfo/update": {object: "job", level: edit, form: add}, "/jobcode/save": {object: "script", level: edit, form: "glueSource=echo+new&glueRemark=remark"},
		"/jobinfo/remove": {object: "job", level: edit}, "/jobinfo/delete": {object: "job", level: edit},
		"/jobinfo/start": {object: "job", level: operate}, "/jobinfo/stop": {object: "job", level: operate}, "/jobinfo/trigger": {object: "job", level: operate},
		"/joblog/pageList": {lists: true, form: "jobGroup=0&jobId=0&logStatus=-1"}, "/joblog/getJobsByGroup": {object: "group", level: view, form: "jobGroup=OWN"},
		"/joblog/logDetailCat": {object: "run", level: view, form: "fromLineNum=1"}, "/joblog/logKill": {object: "run", level: operate},
		"/joblog/clearLog": {object: "group", level: model.LevelAdminister, form: "jobGroup=OWN&jobId=0&type=9"},
		"/chartInfo":       {everything: true, form: "startDate=2026-01-01+00:00:00&endDate=2026-01-02+23:59:59"},
		"/user/add":        {admin: true}, "/user/insert": {admin: true}, "/user/update": {admin: true, object: "user", form: "role=0"},
		"/user/remove": {admin: true, object: "user"}, "/user/delete": {admin: true, object: "user"},
		"/user/updatePwd": {lists: true, form: "oldPassword=wrong&password=long+enough"}, "/auth/updatePwd": {lists: true, form: "oldPassword=wrong&password=long+enough"},
		"/jobgroup/pageList": {admin: true, lists: true}, "/jobgroup/loadById": {object: "group", level: view},
		"/jobgroup/save": {admin: true}, "/jobgroup/insert": {admin: true}, "/jobgroup/update": {admin: true, object: "group"},
		"/jobgroup/remove": {admin: true, object: "group"}, "/jobgroup/delete": {admin: true, object: "group"},
		"/user/pageList": {admin: true, lists: true},
	}
}

// people logs in whoever the cookie names.
type people map[string]*model.User

func (p people) Enter(*http.Request, string, string, bool) (string, error) {
	return "", model.Errf(model.CodeInvalid, "error.login")
}
func (p people) Visitor(_ context.Context, token string) (*model.User, error) { return p[token], nil }
func (p people) Leave(*http.Request, string) error                            { return nil }
func (p people) Origin(*http.Request) error                                   { return nil }
func (p people) From(*http.Request) string                                    { return "10.0.0.1" }
func (p people) Cookie(token string, _ bool) *http.Cookie {
	return &http.Cookie{Name: "carillon_session", Value: token}
}

type outside struct{}

func (outside) Owner() string { return "n#1" }
func (outside) Nudge()        {}
func (outside) Complete(context.Context, []model.Handled) ([]model.HandledStatus, error) {
	return nil, nil
}
func (outside) ReadLog(context.Context, string, int64, time.Time, int) (model.LogChunk, error) {
	return model.LogChunk{}, nil
}
func (outside) Ping(_ context.Context, address string) (model.LastCall, *model.Report) {
	return model.LastCall{Address: address}, nil
}

func (outside) Kill(context.Context, string, int) error { return nil }

// TestEveryCallEveryRole: the calls of scripts obey the rights of the person who logged in.
func TestEveryCallEveryRole(t *testing.T) {
	st := storetest.OpenURL(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), time.UTC)
	own, foreign := storetest.Group(t, st, "own-app", ""), storetest.Group(t, st, "foreign-app", "")
	id := strconv.Itoa(own.ID)
	who := people{}
	for i, u := range []model.User{
		{Name: "root", Role: model.RoleAdmin}, {Name: "stranger"}, {Name: "viewer", Rights: id + "=view"}, {Name: "operator", Rights: id + "=operate"},
		{Name: "editor", Rights: id + "=edit"}, {Name: "java", Permission: id}, {Name: "everywhere", Rights: "*=edit+script"},
	} {
		u.ID = i + 1
		who[u.Name] = &u
	}
	for i := range len(who) { // their accounts: nobody's own is the one that is changed
		_, err := st.InsertUser(t.Context(), &model.User{Name: fmt.Sprint("account", i), PasswordHash: "x"})
		require.NoError(t, err)
	}
	h := New(Options{
		Service: jobs.New(jobs.Options{Store: st, Ringer: outside{}, Executors: outside{}, Location: time.UTC}), Logins: who,
		Logger: slog.New(slog.DiscardHandler), Text: func(e *model.Error) string { return e.Error() }, Next: http.NotFoundHandler(),
	})
	ask := func(path, name, form string) (code int, body string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: thirdCookie, Value: name})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var envelope struct{ Code int }
		_ = json.Unmarshal(w.Body.Bytes(), &envelope)
		return envelope.Code, w.Body.String()
	}
	state := func() string {
		list, total, err := st.Jobs(t.Context(), model.JobFilter{Limit: 10_000})
		require.NoError(t, err)
		runs, err := st.CountRuns(t.Context(), model.RunFilter{}, 10_000)
		require.NoError(t, err)
		groups, err := st.Groups(t.Context(), nil)
		require.NoError(t, err)
		users, err := st.Users(t.Context())
		require.NoError(t, err)
		return fmt.Sprint(list, total, runs, groups, users)
	}
	known := rules()
	for path := range h.calls {
		u, ok := known[path]
		if !assert.True(t, ok, "%s has no rule: say in rules() who may call it", path) {
			continue
		}
		delete(known, path)
		if u.open {
			continue
		}
		code, _ := ask(path, "nobody", "")
		assert.NotEqual(t, 200, code, "%s without a login", path) // the older generation is sent to the login
		for name, user := range who {
			for _, g := range []model.Group{own, foreign} {
				desc := "plain"
				if g.ID == foreign.ID {
					desc = "kept-from-others"
				}
				j := storetest.Job(t, st, g.ID, func(j *model.Job) {
					j.Name = desc
					if u.object == "script" {
						j.GlueType, j.GlueSource, j.Handler = model.GlueShell, "echo old", ""
					}
				})
				r := storetest.Run(t, st, j, nil)
				account, err := st.InsertUser(t.Context(), &model.User{Name: fmt.Sprint("victim", r.ID), PasswordHash: "x"})
				require.NoError(t, err)
				q, err := url.ParseQuery(strings.ReplaceAll(u.form, "OWN", strconv.Itoa(g.ID)))
				require.NoError(t, err)
				switch u.object {
				case "job", "script":
					q.Set("id", strconv.Itoa(j.ID))
				case "run":
					q.Set("id", strconv.FormatInt(r.ID, 10))
					q.Set("logId", q.Get("id"))
				case "user":
					q.Set("id", strconv.Itoa(account))
				case "group":
					if strings.HasPrefix(path, "/jobgroup") {
						q.Set("id", strconv.Itoa(g.ID))
					}
				}
				before := state()
				code, body := ask(path, name, q.Encode())
				actor, label := user.Actor(), fmt.Sprintf("%s as %s of %s: %s", path, name, g.AppName, body)
				may := u.lists || actor.May(u.level, g.ID)
				if u.object == "script" {
					may = may && actor.Scripts(g.ID)
				}
				if u.everything {
					may = actor.GroupLimit() == nil
				}
				if u.admin {
					may = actor.Admin
				}
				switch {
				case !may:
					assert.Equal(t, 500, code, label)
					assert.Equal(t, before, state(), "%s: refused and done nevertheless", path)
				case u.level > model.LevelView && path != "/joblog/logKill": // a run that was not sent cannot be killed
					assert.Equal(t, 200, code, label)
				default:
					assert.NotContains(t, body, "forbidden", label)
					assert.NotContains(t, body, "not_found", label)
				}
				if !actor.Sees(foreign.ID) {
					assert.NotContains(t, body, "kept-from-others", label)
				}
			}
		}
	}
	assert.Empty(t, known, "rules of calls that are no more")
}
