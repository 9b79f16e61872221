package crash

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	_ "github.com/carillon-scheduler/carillon/app" // what the binary is built from: results are not cached across changes
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

const token = "crash-test-token"

var (
	suite  storetest.Suite
	binary string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "carillon-crash-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "carillon")
	if out, err := exec.Command("go", "build", "-o", binary, "../..").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := suite.Run(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// center is one serve process that can be killed and started again.
type center struct {
	t    testing.TB
	url  string
	args []string
	cmd  *exec.Cmd
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newCenter(t testing.TB, database string) *center {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := l.Addr().String()
	require.NoError(t, l.Close())
	c := &center{t: t, url: "http://" + listen, log: &lockedBuffer{}, args: []string{
		"serve", "--listen", listen, "--database", database, "--access-token", token, "--timezone", "UTC",
	}}
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", c.url, c.log)
		}
	})
	return c
}

// start runs the process and waits until it can schedule.
func (c *center) start() {
	c.t.Helper()
	c.cmd = exec.Command(binary, c.args...)
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	require.NoError(c.t, c.cmd.Start())
	require.Eventually(c.t, func() bool {
		resp, err := http.Get(c.url + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond, "the center does not get ready")
}

// kill is kill -9.
func (c *center) kill() {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	c.cmd = nil
}

// api makes a call that must succeed and returns its value.
func (c *center) api(name, body string) string {
	c.t.Helper()
	reply, err := call(c.t.Context(), c.url, token, name, []byte(body))
	require.NoError(c.t, err)
	require.Equal(c.t, protocol.CodeSuccess, reply.Code, "%s: %s", name, reply.Msg)
	return strings.Trim(string(reply.Value), `"`)
}

// open reads the tables as a site's own scripts would.
func open(t testing.TB, database string) *sql.DB {
	driver, dsn := "sqlite", "file:"+strings.TrimPrefix(database, "sqlite:")+"?_pragma=busy_timeout(5000)"
	if strings.HasPrefix(database, "mysql:") {
		u, err := url.Parse(database)
		require.NoError(t, err)
		driver, dsn = "mysql", fmt.Sprintf("%s@tcp(%s)%s", u.User, u.Host, u.Path)
	}
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// addExecutor puts an executor with a typed address into the table.
func addExecutor(t testing.TB, db *sql.DB, address string) {
	_, err := db.ExecContext(t.Context(), `INSERT INTO xxl_job_group (app_name, title, address_type, address_list) VALUES ('counter', 'counter', 1, ?)`, address)
	require.NoError(t, err)
}

// addJobs creates and starts n jobs that fire each second.
func addJobs(c *center, n int, misfire string) {
	for i := range n {
		id := c.api("addJob", fmt.Sprintf(`{"jobGroup":1,"name":"%s %d","author":"crash","scheduleType":"CRON","scheduleConf":"* * * * * ?",
			"misfireStrategy":%q,"executorRouteStrategy":"FIRST","executorHandler":"count","executorBlockStrategy":"SERIAL_EXECUTION","glueType":"BEAN"}`, misfire, i, misfire))
		c.api("startJob", `{"id":`+id+`}`)
	}
}

func wait(t testing.TB, d time.Duration) {
	t.Helper()
	require.NoError(t, pause(t.Context(), d))
}

// stopJobs switches everything off and waits until every run has its outcome.
func stopJobs(t *testing.T, c *center, db *sql.DB) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id FROM xxl_job_info`)
	require.NoError(t, err)
	var ids []int
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Close())
	for _, id := range ids {
		c.api("stopJob", fmt.Sprintf(`{"id":%d}`, id))
	}
	var open int
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	for {
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM xxl_job_log WHERE run_state IN (1, 2, 3, 4)`).Scan(&open))
		if open == 0 {
			return
		}
		require.NoError(t, pause(ctx, 200*time.Millisecond), "%d runs have no outcome", open)
	}
}
