package crash

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStopHandsOver stops one of two nodes under load as a service manager does:
// nothing is missed, nothing is made twice and nothing is late by more than two
// seconds.
func TestStopHandsOver(t *testing.T) {
	database := suite.URL(t, "mariadb")
	a, b := newCenter(t, database), newCenter(t, database)
	exec := newCounter(t, token, func() []string { return []string{b.url, a.url} })
	exec.delay = 30 * time.Millisecond // some runs are in flight when the stop comes
	a.start()
	b.start()
	db := open(t, database)
	addExecutor(t, db, exec.URL)
	const jobs = 300
	start := time.Now().Add(3 * time.Second).Truncate(time.Second).UnixMilli()
	var values []string
	for i := range jobs {
		values = append(values, fmt.Sprintf("(1,'s%d','x','FIX_RATE','1','DO_NOTHING','FIRST','count','','SERIAL_EXECUTION',0,0,'BEAN','',1,0,%d)", i, start))
	}
	_, err := db.ExecContext(t.Context(), `INSERT INTO xxl_job_info (job_group, job_desc, author, schedule_type, schedule_conf, misfire_strategy,
		executor_route_strategy, executor_handler, executor_param, executor_block_strategy, executor_timeout, executor_fail_retry_count, glue_type,
		child_jobid, trigger_status, trigger_last_time, trigger_next_time) VALUES `+strings.Join(values, ","))
	require.NoError(t, err)
	wait(t, time.Until(time.UnixMilli(start).Add(5*time.Second)))
	for round, c := range []*center{a, b} { // the planner is one of the two: both are stopped once
		exec.mu.Lock()
		exec.late = nil
		exec.mu.Unlock()
		waitForSecond(t, 20*time.Millisecond)
		began := time.Now()
		require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
		var ended sync.WaitGroup
		ended.Go(func() { _ = c.cmd.Wait() })
		ended.Wait()
		require.Less(t, time.Since(began), 10*time.Second)
		c.cmd = nil
		wait(t, 6*time.Second)
		exec.mu.Lock()
		var most time.Duration
		for _, l := range exec.late {
			most = max(most, l)
		}
		n := len(exec.late)
		exec.mu.Unlock()
		t.Logf("stop %d took %s; of %d runs around it the latest was late by %s", round+1, time.Since(began)-6*time.Second, n, most)
		require.Greater(t, n, 5*jobs)
		require.Less(t, most, 2*time.Second)
		c.start()
		wait(t, 3*time.Second)
	}
	stopJobs(t, a, db)
	sum := check(t, readRows(t, db), exec)
	require.Zero(t, sum.misfired)
	require.Greater(t, sum.made, 15*jobs)
}
