package store_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// write runs SQL as another program would.
func write(t *testing.T, st *store.Store, statement string, args ...any) {
	t.Helper()
	db, end, err := st.MigrationDB()
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err)
	require.NoError(t, end())
}

// TestOneUnreadableRowStopsNothing: another program wrote a value that its column
// should not have. The job is quarantined, the others go on.
func TestOneUnreadableRowStopsNothing(t *testing.T) {
	for _, tc := range []struct {
		engine, set string
		readable    bool
	}{
		{"sqlite", "executor_timeout = 'none'", false},
		{"sqlite", "add_time = 'yesterday'", false},
		{"sqlite", "executor_fail_retry_count = ''", false},
		{"mariadb", "carillon_retry_growing = 2", true},
		{"mariadb", "carillon_turn = 9223372036854775807", true},
	} {
		t.Run(tc.engine+" "+tc.set, func(t *testing.T) {
			t.Parallel()
			st := suite.Open(t, tc.engine, time.UTC)
			g := storetest.Group(t, st, "app-one", "http://a/")
			var jobs []model.Job
			for range 3 {
				j := storetest.Job(t, st, g.ID, nil)
				require.NoError(t, st.SetJobStatus(t.Context(), j.ID, j.Version, model.JobRunning, t0.UnixMilli(), t0))
				jobs = append(jobs, j)
			}
			write(t, st, "UPDATE xxl_job_info SET "+tc.set+" WHERE id = ?", jobs[0].ID)
			planned := map[int]int{}
			for range 3 { // the first pass may only find the culprit
				_, _, err := st.PlanDue(t.Context(), t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) (out []model.JobPlan) {
					for _, j := range due {
						s, err := rule.ScheduleOf(j)
						require.NoError(t, err)
						p := rule.Plan(t0, j, g, s, "n#1", rule.PlanRules{Horizon: 5 * time.Second, MisfireAfter: 5 * time.Second, MaxMissedRows: 1000, Location: time.UTC})
						planned[j.ID] += len(p.Runs)
						out = append(out, p)
					}
					return out
				})
				require.NoError(t, err)
			}
			require.Positive(t, planned[jobs[1].ID])
			require.Positive(t, planned[jobs[2].ID])
			require.Equal(t, tc.readable, planned[jobs[0].ID] > 0)
			if !tc.readable {
				write(t, st, "UPDATE xxl_job_info SET executor_timeout = 0, executor_fail_retry_count = 0, add_time = '2026-01-01 00:00:00' WHERE id = ?", jobs[0].ID)
				j, err := st.Job(t.Context(), jobs[0].ID)
				require.NoError(t, err)
				require.Equal(t, model.JobQuarantined, j.Condition)
				require.Contains(t, j.ConditionReason, "broken_row")
			}
		})
	}
}

// TestRegistrationsAtTheEndOfSummerTime: the wall clock goes back an hour, and
// later beats look older than earlier ones.
func TestRegistrationsAtTheEndOfSummerTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	st := suite.Open(t, "sqlite", berlin)
	g := model.Group{AppName: "app-one", Title: "x", AddressType: model.AddressAuto, UpdateTime: t0}
	id, err := st.InsertGroup(t.Context(), &g, time.Time{})
	require.NoError(t, err)
	back := time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC) // it is 02:00 for the second time
	for beat := -3 * time.Minute; beat < 5*time.Minute; beat += 30 * time.Second {
		now := back.Add(beat)
		require.NoError(t, st.Register(t.Context(), model.Registration{Group: "EXECUTOR", Key: "app-one", Address: "http://a:1/", Beat: now}, now.Add(-90*time.Second)))
		_, err := st.SweepRegistry(t.Context(), now.Add(5*time.Second-90*time.Second), now.Add(5*time.Second))
		require.NoError(t, err)
		got, err := st.Group(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "http://a:1/", got.AddressList, now.In(berlin))
	}
}

// TestRegistrationsAtTheSameMoment see each other.
func TestRegistrationsAtTheSameMoment(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := model.Group{AppName: "app-one", Title: "x", AddressType: model.AddressAuto, UpdateTime: t0}
		id, err := st.InsertGroup(t.Context(), &g, time.Time{})
		require.NoError(t, err)
		for round := range 5 {
			now := t0.Add(time.Duration(round) * 10 * time.Minute)
			_, err := st.SweepRegistry(t.Context(), now.Add(-90*time.Second), now)
			require.NoError(t, err)
			var all sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				all.Go(func() {
					errs[i] = st.Register(t.Context(), model.Registration{
						Group: "EXECUTOR", Key: "app-one", Address: fmt.Sprintf("http://%d-%d/", round, i), Beat: now,
					}, now.Add(-90*time.Second))
				})
			}
			all.Wait()
			for _, err := range errs {
				require.NoError(t, err)
			}
			got, err := st.Group(t.Context(), id)
			require.NoError(t, err)
			require.Len(t, strings.Split(got.AddressList, ","), 4, got.AddressList)
		}
	})
}

// TestLargeParametersFitIntoStatements: many fires of jobs with the largest
// parameter, more than a server takes in one statement.
func TestLargeParametersFitIntoStatements(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://a/")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Param = strings.Repeat("x", 65000) })
		require.NoError(t, st.SetJobStatus(t.Context(), j.ID, j.Version, model.JobRunning, t0.UnixMilli(), t0))
		_, n, err := st.PlanDue(t.Context(), t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
			p := model.JobPlan{JobID: j.ID, OldMS: due[0].NextMS, LastMS: due[0].NextMS, NextMS: due[0].NextMS + 60000, Turns: 1}
			for i := range int64(300) {
				p.Runs = append(p.Runs, model.Run{GroupID: g.ID, JobID: j.ID, Param: due[0].Param, Phase: model.PhasePlanned, TriggerType: model.TriggerCron,
					PlannedMS: t0.UnixMilli() + i, TriggerTime: t0, FireKey: fmt.Sprint(i), Owner: "n#1"})
			}
			return []model.JobPlan{p}
		})
		require.NoError(t, err)
		require.Equal(t, 300, n)
	})
}

// TestASlowBeatSurvivesOneLost: clients that beat every 60 s need a limit of 150 s.
func TestASlowBeatSurvivesOneLost(t *testing.T) {
	const limit = 150 * time.Second
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := model.Group{AppName: "app-one", Title: "x", AddressType: model.AddressAuto, UpdateTime: t0}
		id, err := st.InsertGroup(t.Context(), &g, time.Time{})
		require.NoError(t, err)
		require.NoError(t, st.Register(t.Context(), model.Registration{Group: "EXECUTOR", Key: "app-one", Address: "http://a:1/", Beat: t0}, t0.Add(-limit)))
		for after, want := range map[time.Duration]string{119 * time.Second: "http://a:1/", 149 * time.Second: "http://a:1/"} {
			now := t0.Add(after)
			_, err := st.SweepRegistry(t.Context(), now.Add(-limit), now)
			require.NoError(t, err)
			got, err := st.Group(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, want, got.AddressList, after)
		}
		now := t0.Add(151 * time.Second)
		n, err := st.SweepRegistry(t.Context(), now.Add(-limit), now)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// TestRegistrationsThatWaitHoldUpNobody: somebody's SQL client holds the row of an
// executor while many of its addresses register. The node goes on beating.
func TestRegistrationsThatWaitHoldUpNobody(t *testing.T) {
	st := suite.Open(t, "mariadb", time.UTC)
	g := storetest.Group(t, st, "app-one", "")
	write(t, st, `UPDATE xxl_job_group SET address_type = 0 WHERE id = ?`, g.ID)
	epoch, err := st.JoinNode(t.Context(), "n", "v1", "", 4000)
	require.NoError(t, err)
	db, end, err := st.MigrationDB()
	require.NoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `UPDATE xxl_job_group SET title = 'x' WHERE id = ?`, g.ID)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for i := range 60 {
		waiting.Go(func() {
			_ = st.Register(ctx, model.Registration{Group: "EXECUTOR", Key: "app-one", Address: fmt.Sprintf("http://10.0.0.%d/", i), Beat: t0}, t0.Add(-time.Minute))
		})
	}
	began := time.Now()
	for range 50 {
		ok, err := st.Beat(t.Context(), model.Node{Name: "n", Epoch: epoch})
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.Less(t, time.Since(began), 2*time.Second, "without a pool of their own they take 3 s and more")
	cancel()
	require.NoError(t, tx.Rollback())
	waiting.Wait()
	require.NoError(t, end())
}

// TestWhatTheDriverSaysIsInTheLog: connections that break are lines like all
// others, not lines of the driver's own on stderr.
func TestWhatTheDriverSaysIsInTheLog(t *testing.T) {
	var b bytes.Buffer
	st, err := store.Open(t.Context(), store.Options{URL: suite.URL(t, "mariadb"), Logger: slog.New(slog.NewTextHandler(&b, nil))})
	require.NoError(t, err)
	defer st.Close()
	db, end, err := st.MigrationDB()
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	rows, err := conn.QueryContext(t.Context(), `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()`)
	require.NoError(t, err)
	var ids []int
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Close())
	require.NotEmpty(t, ids)
	for _, id := range ids {
		_, err := conn.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id))
		require.NoError(t, err)
	}
	require.NoError(t, conn.Close())
	require.NoError(t, end())
	require.NoError(t, st.Ping(t.Context()), "another connection is taken")
	require.Regexp(t, `^time=\S+ level=WARN msg="database connection" says="\S+ closing bad idle connection: `, b.String())
}
