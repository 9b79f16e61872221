package app_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/jobs"
)

// sampleExecutor runs an executor with the sample handlers until the end of the test.
func sampleExecutor(t *testing.T, center, name string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ex, err := executor.New(executor.Options{
		Centers: []string{center}, AppName: name, AccessToken: token, Listener: listener, DataDir: t.TempDir(),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	executor.RegisterSamples(ex)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- ex.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

// TestScriptsOfOld runs scripts that were written for the known console, one of
// each generation, as they are.
func TestScriptsOfOld(t *testing.T) {
	for name, tc := range map[string]struct{ script, base, path string }{
		"2.4":              {"generation2.py", "", "xxl-job-admin"},
		"2.4 at the root":  {"generation2.py", "", ""},
		"2.4 in its place": {"generation2.py", "/xxl-job-admin", ""},
		"3.3":              {"generation3.py", "", "xxl-job-admin"},
		"3.4":              {"generation3.py", "/carillon", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			cfg.NodeName, cfg.BasePath = "scripts", tc.base
			c := start(t, cfg)
			root := c.URL
			if tc.base != "" {
				root = strings.TrimSuffix(c.URL, tc.base[1:]+"/")
			}
			sampleExecutor(t, root, "legacy-app")
			// The known console refuses to delete the last executor, and so do we: there was another.
			_, err := c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "another-app", Title: "Another"})
			require.NoError(t, err)
			base := c.URL
			if tc.path != "" {
				base = root + tc.path
			}
			out, err := exec.CommandContext(t.Context(), "python3", "legacy/testdata/"+tc.script, base, "admin", "test-password", "legacy-app").CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "ok\n", string(out))
		})
	}
}

// TestOldAddresses: bookmarks and links in old mails lead to the page that shows
// the same, under each context path.
func TestOldAddresses(t *testing.T) {
	for _, base := range []string{"/", "/carillon", "/xxl-job-admin"} {
		t.Run(base, func(t *testing.T) {
			cfg := testConfig(t)
			cfg.BasePath = base
			cfg.NodeName = "old-addresses"
			c := start(t, cfg)
			ours := strings.TrimSuffix(base, "/")
			root := strings.TrimSuffix(strings.TrimSuffix(c.URL, "/"), ours)
			browser := visitor(t)
			for old, to := range map[string]string{
				"/jobinfo":                       "/jobs?all=1",
				"/jobinfo?jobGroup=3":            "/jobs?executor=3",
				"/jobinfo/?jobGroup=0":           "/jobs?all=1",
				"/joblog":                        "/runs",
				"/joblog?jobId=7":                "/runs?job=7",
				"/joblog?jobGroup=3&jobId=7":     "/runs?executor=3&job=7",
				"/joblog?jobId=%3Cscript%3E":     "/runs",
				"/joblog?jobId=99999999999999":   "/runs",
				"/joblog?logStatus=2":            "/runs?status=failed",
				"/joblog/logDetailPage?id=91":    "/runs/91",
				"/jobgroup":                      "/executors",
				"/user":                          "/users",
				"/jobcode?jobId=12":              "/jobs/12/code",
				"/jobcode?jobId=//evil.example/": "/jobs",
				"/toLogin":                       "/login",
				"/auth/login":                    "/login",
				"/dashboard":                     "/",
				"/jobinfo?jobDesc=a%26b%3Dc&x=y": "/jobs?q=a%26b%3Dc",
				"/joblog?filterTime=2026-01-02%2003:04:05%20-%202026-01-03%2000:00:00": "/runs?from=2026-01-02T03%3A04%3A05&preset=custom&to=2026-01-03T00%3A00%3A01",
			} {
				for _, prefix := range []string{"", "/xxl-job-admin", ours} {
					resp, err := browser.Get(root + prefix + old)
					require.NoError(t, err)
					require.NoError(t, resp.Body.Close())
					require.Equal(t, http.StatusFound, resp.StatusCode, prefix+old)
					require.Equal(t, ours+to, resp.Header.Get("Location"), prefix+old)
				}
			}
			// Our own pages stay what they are.
			resp, err := browser.Get(c.URL + "login")
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", "test-password", ""))
			require.Equal(t, http.StatusOK, page(t, browser, c, "jobs?all=1"))
			if base != "/xxl-job-admin" {
				resp, err = browser.Get(root + "/xxl-job-admin/")
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, ours+"/", resp.Header.Get("Location"))
			}
		})
	}
}

// ask makes one call of old and gives status and envelope.
func ask(t *testing.T, browser *http.Client, c *app.Center, path string, form url.Values, header ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := browser.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	out := map[string]any{}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		require.NoError(t, json.Unmarshal(raw, &out), "%s", raw)
	}
	return resp.StatusCode, out
}

func enterOld(t *testing.T, browser *http.Client, c *app.Center, name, password string) map[string]any {
	_, out := ask(t, browser, c, "auth/doLogin", url.Values{"userName": {name}, "password": {password}})
	return out
}

// TestOldCallsObeyTheRules: the session is an ordinary one, other sites are refused,
// rights are those of the console, nothing changes by GET, guesses are slowed down.
func TestOldCallsObeyTheRules(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, job := addJob(t, c)
	foreign, err := c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "foreign-app", Title: "Foreign"})
	require.NoError(t, err)
	addUser(t, cfg, "normal", "normal-password", fmt.Sprint(foreign))
	before := dump(t, cfg)

	boss := visitor(t)
	require.EqualValues(t, 200, enterOld(t, boss, c, "admin", "test-password")["code"])
	require.Equal(t, http.StatusOK, page(t, boss, c, "help"), "the session is one of the console too")
	code, out := ask(t, boss, c, "jobinfo/start", url.Values{"id": {fmt.Sprint(job)}}, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, code)
	require.EqualValues(t, 500, out["code"])
	code, _ = ask(t, visitor(t), c, "auth/doLogin", url.Values{"userName": {"admin"}, "password": {"test-password"}}, "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, code)
	for _, path := range []string{"jobinfo/delete?id=" + fmt.Sprint(job), "jobinfo/trigger?id=" + fmt.Sprint(job), "auth/logout", "auth/doLogin?userName=admin&password=test-password"} {
		resp, err := boss.Get(c.URL + path)
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(raw), "POST", path)
	}

	normal := visitor(t)
	require.EqualValues(t, 200, enterOld(t, normal, c, "normal", "normal-password")["code"])
	id := fmt.Sprint(job)
	for path, form := range map[string]url.Values{
		"jobinfo/pageList":      {"jobGroup": {fmt.Sprint(group)}},
		"jobinfo/start":         {"id": {id}},
		"jobinfo/stop":          {"ids[]": {id}},
		"jobinfo/delete":        {"ids[]": {id}},
		"jobinfo/trigger":       {"id": {id}},
		"jobinfo/update":        {"id": {id}, "jobDesc": {"taken"}},
		"jobcode/save":          {"id": {id}, "glueSource": {"rm"}},
		"jobinfo/insert":        {"jobGroup": {fmt.Sprint(group)}, "jobDesc": {"x"}, "author": {"x"}, "glueType": {"BEAN"}, "executorHandler": {"x"}, "scheduleType": {"NONE"}},
		"joblog/pageList":       {"jobGroup": {fmt.Sprint(group)}},
		"joblog/getJobsByGroup": {"jobGroup": {fmt.Sprint(group)}},
		"joblog/logDetailCat":   {"logId": {"1"}},
		"joblog/logKill":        {"id": {"1"}},
		"joblog/clearLog":       {"jobGroup": {fmt.Sprint(group)}, "jobId": {"0"}, "type": {"9"}},
		"chartInfo":             {"startDate": {"2026-01-01 00:00:00"}, "endDate": {"2026-01-02 00:00:00"}},
		"user/insert":           {"username": {"new"}, "password": {"long enough"}, "role": {"1"}},
		"user/update":           {"id": {"1"}, "role": {"0"}},
		"user/delete":           {"ids[]": {"1"}},
		"auth/updatePwd":        {"oldPassword": {"wrong"}, "password": {"long enough"}},
		"jobgroup/pageList":     {},
		"jobgroup/loadById":     {"id": {fmt.Sprint(group)}},
		"jobgroup/insert":       {"appname": {"their-app"}, "title": {"x"}},
		"jobgroup/update":       {"id": {fmt.Sprint(group)}, "title": {"x"}},
		"jobgroup/delete":       {"id": {fmt.Sprint(group)}},
		"user/pageList":         {},
	} {
		_, out := ask(t, normal, c, path, form)
		require.EqualValues(t, 500, out["code"], path)
		require.NotEmpty(t, out["msg"], path)
		require.NotContains(t, out["msg"], "error.", path)
	}
	_, out = ask(t, normal, c, "jobinfo/pageList", url.Values{"jobGroup": {"0"}, "offset": {"0"}})
	require.EqualValues(t, 0, out["data"].(map[string]any)["total"], "jobs of others are not shown")
	_, out = ask(t, normal, c, "jobgroup/loadById", url.Values{"id": {fmt.Sprint(foreign)}})
	require.Equal(t, "foreign-app", out["data"].(map[string]any)["appname"])
	for path, form := range map[string]url.Values{
		"jobinfo/start":    {"id": {"1", "2"}},
		"jobinfo/stop":     {},
		"jobinfo/trigger":  {"id": {"99999999999"}},
		"joblog/pageList":  {"filterTime": {"yesterday"}},
		"jobinfo/update":   {"id": {id}, "jobGroup": {"x"}},
		"jobinfo/insert":   {"jobDesc": {strings.Repeat("x", 6<<20)}},
		"jobgroup/insert":  {"appname": {"!"}, "title": {""}},
		"user/insert":      {"username": {"<script>"}, "password": {"x"}, "role": {"7"}, "permission": {"x,-1,99999999999"}},
		"user/update":      {"id": {"1"}, "role": {"0"}},
		"user/updatePwd":   {"password": {"long enough"}},
		"joblog/clearLog":  {"jobGroup": {"everything"}, "type": {"9"}},
		"chartInfo":        {"startDate": {"9999999-01-01 00:00:00"}},
		"jobinfo/pageList": {"jobGroup": {"4711"}, "length": {"-5"}, "start": {"-1"}, "offset": {"x"}},
	} {
		_, out := ask(t, boss, c, path, form)
		if path != "jobinfo/pageList" {
			require.EqualValues(t, 500, out["code"], path)
		}
		require.NotContains(t, fmt.Sprint(out["msg"]), "legacy.", path)
	}
	require.Equal(t, before, dump(t, cfg), "something was changed")

	for range 6 {
		out = enterOld(t, visitor(t), c, "admin", "wrong")
	}
	require.Contains(t, out["msg"], "wait", "the gate of the console")
	require.Equal(t, http.StatusTooManyRequests, login(t, visitor(t), c, "admin", "wrong", ""), "counted together")
}

// TestOldCallsCanBeSwitchedOff: then those addresses are pages that do not exist.
func TestOldCallsCanBeSwitchedOff(t *testing.T) {
	cfg := testConfig(t)
	cfg.LegacyConsole = false
	c := start(t, cfg)
	browser := visitor(t)
	require.NotEqual(t, http.StatusFound, page(t, browser, c, "jobinfo"))
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", "test-password", ""))
	require.Equal(t, http.StatusNotFound, page(t, browser, c, "joblog?jobId=7"))
	require.Equal(t, http.StatusNotFound, page(t, browser, c, "jobinfo/pageList"))
	code, out := ask(t, browser, c, "login", url.Values{"userName": {"admin"}, "password": {"test-password"}})
	require.Equal(t, http.StatusUnprocessableEntity, code, "a login without our fields")
	require.Empty(t, out)
}

// addUser writes an account as a Java admin does.
func addUser(t *testing.T, cfg app.ServeCmd, name, password, groups string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(cfg.Database, "sqlite:")+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	hash := sha256.Sum256([]byte(password))
	_, err = db.ExecContext(t.Context(), "INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, ?)", name, hex.EncodeToString(hash[:]), groups)
	require.NoError(t, err)
}
