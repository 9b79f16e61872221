package crash

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/store/storetest"
)

// row is what the table says about one planned instant.
type row struct {
	id          int64
	job         int
	planned     int64
	triggerType string
	state       int
	handle      int
	reason      sql.NullString
}

func readRows(t *testing.T, db *sql.DB) []row {
	rows, err := db.QueryContext(t.Context(), `SELECT id, job_id, planned_time, trigger_type, run_state, handle_code, run_reason FROM xxl_job_log ORDER BY job_id, planned_time, id`)
	require.NoError(t, err)
	defer rows.Close()
	var out []row
	for rows.Next() {
		var r row
		require.NoError(t, rows.Scan(&r.id, &r.job, &r.planned, &r.triggerType, &r.state, &r.handle, &r.reason))
		out = append(out, r)
	}
	require.NoError(t, rows.Err())
	return out
}

// tally is the checker's result.
type tally struct{ made, misfired, cancelled int }

// check compares the table with what reached the executor: per job every second
// from the first to the last is one row; what was made was rung exactly once;
// what was not made has a reason and was not rung.
func check(t *testing.T, rows []row, c *counter) tally {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum tally
	last := map[int]int64{}
	for _, r := range rows {
		if r.reason.String == "paused" { // the end of the test stopped the job
			sum.cancelled++
			require.Empty(t, c.rings[r.id], "run %d was cancelled and rung", r.id)
			continue
		}
		if before, ok := last[r.job]; ok {
			require.EqualValues(t, 1000, r.planned-before, "job %d: after second %d comes %d: a hole or two rows", r.job, before, r.planned)
		}
		last[r.job] = r.planned
		rings := len(c.rings[r.id])
		switch {
		case r.state == 5 && r.handle == 200:
			require.Equal(t, 1, rings, "run %d (job %d, %d) was made", r.id, r.job, r.planned)
			sum.made++
		case r.state == 6:
			require.Equal(t, "center_down", r.reason.String, "run %d", r.id)
			require.Zero(t, rings, "run %d was missed and rung", r.id)
			sum.misfired++
		default:
			t.Errorf("run %d (job %d, %d) has no good outcome: state %d, result %d, reason %q", r.id, r.job, r.planned, r.state, r.handle, r.reason.String)
		}
	}
	require.Len(t, c.rings, sum.made, "the executor was rung for runs that are not in the table")
	return sum
}

// settled counts runs about which the executor had to be asked, or whose
// callback came before the answer to the call was recorded.
func settled(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM xxl_job_log WHERE run_state = 5
		AND (trigger_msg LIKE 'settled%' OR accepted_time IS NULL)`).Scan(&n))
	return n
}

func (c *counter) lateness() (p50, p99, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := slices.Sorted(slices.Values(c.late))
	return s[len(s)/2], s[len(s)*99/100], s[len(s)-1]
}

// TestKill kills the only center three times and starts it again. The last
// pause is longer than horizon and misfire threshold together, so that the
// misfire rule has something to decide.
func TestKill(t *testing.T) {
	for _, engine := range storetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			database := suite.URL(t, engine)
			c := newCenter(t, database)
			exec := newCounter(t, token, func() []string { return []string{c.url} })
			exec.delay = 60 * time.Millisecond
			c.start()
			db := open(t, database)
			addExecutor(t, db, exec.URL)
			addJobs(c, 10, "DO_NOTHING")
			addJobs(c, 10, "FIRE_ONCE_NOW")
			for _, away := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 13 * time.Second} {
				wait(t, 5*time.Second)
				waitForCalls(t, exec)
				c.kill()
				wait(t, away)
				c.start()
			}
			wait(t, 4*time.Second)
			stopJobs(t, c, db)
			rows := readRows(t, db)
			sum := check(t, rows, exec)
			require.Greater(t, sum.made, 20*20)
			require.NotZero(t, sum.misfired, "the long pause swallowed fires")
			checkMisfires(t, rows)
			require.NotZero(t, settled(t, db), "the kills left runs whose answer was not recorded")
			p50, p99, _ := exec.lateness()
			t.Logf("made %d, misfired %d, cancelled %d; lateness p50 %s p99 %s", sum.made, sum.misfired, sum.cancelled, p50, p99)
		})
	}
}

// waitForCalls waits until the executor has runs that it has not answered: a kill leaves them
// without an answer that is written down, however late everything is.
func waitForCalls(t *testing.T, exec *counter) {
	t.Helper()
	require.Eventually(t, func() bool { return exec.holds() > 0 }, 20*time.Second, time.Millisecond)
}

// waitForSecond waits until the given time after the next whole second: the
// runs of that second are then in flight.
func waitForSecond(t *testing.T, after time.Duration) {
	t.Helper()
	now := time.Now()
	wait(t, now.Truncate(time.Second).Add(time.Second+after).Sub(now))
}

// checkMisfires wants exactly one catch-up run per FIRE_ONCE_NOW job (11 to 20)
// and none for the others.
func checkMisfires(t *testing.T, rows []row) {
	t.Helper()
	caught := map[int]int{}
	for _, r := range rows {
		if r.triggerType == "MISFIRE" && r.state == 5 {
			caught[r.job]++
		}
	}
	for job := 1; job <= 20; job++ {
		want := 0
		if job > 10 {
			want = 1
		}
		require.Equal(t, want, caught[job], "catch-up runs of job %d", job)
	}
}

// TestTwoNodes runs two centers on one MariaDB and kills them in turn: every
// second is made exactly once, late at most by the time of the takeover.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	database := suite.URL(t, "mariadb")
	a, b := newCenter(t, database), newCenter(t, database)
	exec := newCounter(t, token, func() []string { return []string{a.url, b.url} })
	a.start()
	b.start()
	db := open(t, database)
	addExecutor(t, db, exec.URL)
	addJobs(a, 20, "DO_NOTHING")
	wait(t, 7*time.Second)
	var owners int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT COUNT(DISTINCT owner) FROM xxl_job_log WHERE run_state = 5`).Scan(&owners))
	require.Equal(t, 2, owners, "both nodes ring")
	a.kill()
	wait(t, 13*time.Second) // b notices after 10 s and takes over
	a.start()
	wait(t, 3*time.Second)
	b.kill()
	wait(t, time.Second)
	b.start() // the same name: its runs are its own again at once
	wait(t, 4*time.Second)
	stopJobs(t, b, db)
	sum := check(t, readRows(t, db), exec)
	require.Zero(t, sum.misfired, "one node lived all the time")
	require.Greater(t, sum.made, 20*25)
	p50, p99, most := exec.lateness()
	t.Logf("made %d, cancelled %d; lateness p50 %s p99 %s max %s", sum.made, sum.cancelled, p50, p99, most)
	require.Less(t, most, 12*time.Second)
}
