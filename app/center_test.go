package app_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

const token = "test-token"

func admin() model.Actor { return model.Actor{Name: "test", Admin: true} }

// testConfig is what serve gets by default, on a free port and an own database.
func testConfig(t *testing.T) app.ServeCmd {
	return app.ServeCmd{
		Listen: "127.0.0.1:0", AccessToken: token, AdminPassword: "test-password", BasePath: "/", Lang: "en", Migrate: true, LegacyConsole: true,
		DatabaseFlags:   app.DatabaseFlags{Database: "sqlite:" + filepath.Join(t.TempDir(), "c.db"), Timezone: "UTC"},
		RegistryTimeout: 90 * time.Second, ExecutorTimeout: time.Second, NodeName: t.Name(),
	}
}

// start runs a center until the end of the test.
func start(t *testing.T, cfg app.ServeCmd) *app.Center {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{t}, nil))
	c, err := app.Start(t.Context(), cfg, log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop(t.Context())) })
	return c
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// post makes one API call and returns the envelope.
func post(t *testing.T, c *app.Center, path, tok, body string) protocol.Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(c.URL, "/")+path, strings.NewReader(body))
	require.NoError(t, err)
	if tok != "" {
		req.Header.Set(protocol.HeaderToken, tok)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, "clients of the field read the code in the body only")
	require.Contains(t, resp.Header.Get("Content-Type"), "application/json")
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	reply, err := protocol.ParseReply(raw)
	require.NoError(t, err, "%s", raw)
	return reply
}

// dump writes all rows that a call could change.
func dump(t *testing.T, cfg app.ServeCmd) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(cfg.Database, "sqlite:")+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	var b bytes.Buffer
	for _, table := range []string{"xxl_job_group", "xxl_job_registry", "xxl_job_info", "xxl_job_log", "xxl_job_logglue", "xxl_job_log_report", "xxl_job_user"} {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY 1")
		require.NoError(t, err)
		names, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			require.NoError(t, rows.Scan(values...))
			fmt.Fprint(&b, table)
			for _, v := range values {
				fmt.Fprintf(&b, "|%v", *v.(*any))
			}
			b.WriteByte('\n')
		}
		require.NoError(t, rows.Close())
	}
	return b.String()
}

// addJob creates an executor without addresses and a job of it.
func addJob(t *testing.T, c *app.Center) (group, job int) {
	t.Helper()
	group, err := c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "test-app", Title: "Test"})
	require.NoError(t, err)
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleType, in.Handler = group, "job", "ops", model.ScheduleNone, "h"
	job, err = c.Jobs.AddJob(t.Context(), admin(), in)
	require.NoError(t, err)
	return group, job
}
