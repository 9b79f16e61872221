// Package interop runs executors on client libraries that we did not write
// against a real center.
package interop

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

const (
	token    = "interop-token"
	patience = 20 * time.Second
)

func admin() model.Actor { return model.Actor{Name: "interop", Admin: true} }

// startCenter runs a center on an empty database.
func startCenter(t *testing.T) *app.Center {
	c, err := app.Start(t.Context(), app.ServeCmd{
		Listen: "127.0.0.1:0", DatabaseFlags: app.DatabaseFlags{Database: "sqlite:" + filepath.Join(t.TempDir(), "c.db"), Timezone: "UTC"},
		AccessToken: token, BasePath: "/", Lang: "en", Migrate: true, RegistryTimeout: 90 * time.Second, ExecutorTimeout: 3 * time.Second,
	}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop(t.Context())) })
	return c
}

// startNode runs the foreign executor; the returned function ends it as a
// service manager would.
func startNode(t *testing.T, center string) (stop func()) {
	node, err := exec.LookPath("node")
	require.NoError(t, err, "the interoperability test needs Node.js: run make setup")
	modules, err := filepath.Abs("../../.tools/node_modules")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(modules, "xxl-job-nodejs"))
	require.NoError(t, err, "the foreign client is missing: run make setup")
	script, err := filepath.Abs("executor.mjs")
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())

	cmd := exec.Command(node, script, modules, fmt.Sprint(port), center, token)
	cmd.Dir = t.TempDir() // it writes its logs where it stands
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	ended := false
	stop = func() {
		if !ended {
			ended = true
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			require.NoError(t, cmd.Wait())
		}
	}
	t.Cleanup(func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return stop
}

// TestForeignExecutor takes the npm client through everything that an executor
// does: it registers, is rung by the clock and by hand, calls back, shows its
// log and leaves.
func TestForeignExecutor(t *testing.T) {
	c := startCenter(t)
	ctx := t.Context()
	stop := startNode(t, c.URL+"xxl-job-admin") // the address as the field's files have it
	executors := func() jobs.ExecutorPage {
		p, err := c.Jobs.Executors(ctx, admin())
		require.NoError(t, err)
		return p
	}
	require.Eventually(t, func() bool { return len(executors().Unassigned) == 1 }, patience, 20*time.Millisecond, "it does not register")
	require.Equal(t, "foreign-node", executors().Unassigned[0].AppName)
	group, err := c.Jobs.AddExecutor(ctx, admin(), jobs.ExecutorInput{AppName: "foreign-node", Title: "Foreign"})
	require.NoError(t, err)
	require.Len(t, executors().Rows[0].Addresses(), 1, "adopted with its address")

	add := func(handler string, retries int) int {
		in := jobs.NewJobInput()
		in.GroupID, in.Name, in.Author, in.ScheduleConf, in.Handler, in.Param = group, handler, "interop", "* * * * * ?", handler, "world"
		in.RetryCount = retries
		id, err := c.Jobs.AddJob(ctx, admin(), in)
		require.NoError(t, err)
		return id
	}
	runsOf := func(job int, status model.RunStatus) []model.Run {
		p, err := c.Jobs.ListRuns(ctx, admin(), model.RunFilter{JobID: job, Status: status, Limit: 100})
		require.NoError(t, err)
		return p.Rows
	}

	hello := add("hello", 0)
	require.NoError(t, c.Jobs.StartJob(ctx, admin(), hello))
	require.Eventually(t, func() bool { return len(runsOf(hello, model.RunsSucceeded)) >= 3 }, patience, 50*time.Millisecond, "it is not rung by the clock")
	require.NoError(t, c.Jobs.StopJob(ctx, admin(), hello))

	run := runsOf(hello, model.RunsSucceeded)[0]
	require.Equal(t, `{"greeted":"world"}`, run.HandleMsg)
	require.Contains(t, run.Address, "/job", "it registers below a path")
	text := readLog(t, c, run.ID)
	// The client answers with the whole log whatever line is asked for.
	require.Equal(t, 1, strings.Count(text, fmt.Sprintf("hello world, run %d", run.ID)), text)

	// A client that still cleans up after a run refuses the next one of its job: more
	// retries than needed.
	fail := add("fail", 5)
	_, err = c.Jobs.RunNow(ctx, admin(), fail, jobs.RunInput{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		made := 0
		for _, r := range runsOf(fail, model.RunsFailed) {
			if strings.Contains(r.HandleMsg, "this one fails") {
				made++
			}
		}
		return made >= 2
	}, patience, 50*time.Millisecond, "a failure and a retry that the client took")

	unknown := add("nobody", 0)
	_, err = c.Jobs.RunNow(ctx, admin(), unknown, jobs.RunInput{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(runsOf(unknown, model.RunsFailed)) == 1 }, patience, 50*time.Millisecond)
	refused := runsOf(unknown, model.RunsFailed)[0]
	require.Equal(t, model.ReasonRefused, refused.Reason)
	require.Contains(t, refused.TriggerMsg, "nobody")

	nap := add("nap", 1)
	_, err = c.Jobs.RunNow(ctx, admin(), nap, jobs.RunInput{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		open := runsOf(nap, model.RunsOpen)
		return len(open) == 1 && open[0].Result() == model.ResultRunning
	}, patience, 20*time.Millisecond, "it does not begin")
	require.NoError(t, c.Jobs.KillRun(ctx, admin(), runsOf(nap, model.RunsOpen)[0].ID))
	require.Eventually(t, func() bool { return len(runsOf(nap, model.RunsFailed)) == 1 }, patience, 20*time.Millisecond, "it is not killed")
	require.Equal(t, model.ResultKilled, runsOf(nap, model.RunsAll)[0].Result())
	require.Len(t, runsOf(nap, model.RunsAll), 1, "what a person ended is not tried again")

	stop()
	require.Empty(t, executors().Rows[0].Addresses(), "gone at once")
}

// readLog reads the log to its end, as the run page does.
func readLog(t *testing.T, c *app.Center, run int64) string {
	text := ""
	for from := 1; from < 1000; {
		chunk, err := c.Jobs.ReadLog(t.Context(), admin(), run, from)
		require.NoError(t, err)
		text += chunk.Content
		if chunk.End {
			return text
		}
		from = chunk.To + 1
	}
	t.Fatal("the log does not end")
	return ""
}
