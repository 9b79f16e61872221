package store_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// oldRuns makes runs that ended some days before now.
type oldRuns struct {
	t   *testing.T
	st  *store.Store
	now time.Time
}

func (o oldRuns) run(j model.Job, days int, code int, change func(*model.Run)) int64 {
	at := o.now.AddDate(0, 0, -days)
	r := storetest.Run(o.t, o.st, j, func(r *model.Run) {
		r.TriggerTime, r.PlannedMS = at, at.UnixMilli()
		r.Phase, r.TriggerCode, r.HandleCode = model.PhaseFinished, 200, code
		if change != nil {
			change(r)
		}
	})
	return r.ID
}

// left lists the runs that are there after everything that may go has gone.
func (o oldRuns) left(p model.Retention, held map[int64]bool, most int) (ids []int64, sum model.Bite) {
	o.t.Helper()
	to := model.DayStart(o.now, 0)
	for at := (model.RunCursor{}); ; at = sum.Next {
		b, err := o.st.RetireRuns(o.t.Context(), at, to, p, held, o.now, most)
		require.NoError(o.t, err)
		require.LessOrEqual(o.t, b.Looked, most)
		b.Succeeded, b.Failed, b.Missed, b.Looked = b.Succeeded+sum.Succeeded, b.Failed+sum.Failed, b.Missed+sum.Missed, b.Looked+sum.Looked
		if sum = b; b.End {
			break
		}
	}
	return o.ids(), sum
}

func (o oldRuns) ids() []int64 {
	db, done, err := o.st.MigrationDB()
	require.NoError(o.t, err)
	defer func() { require.NoError(o.t, done()) }()
	rows, err := db.QueryContext(o.t.Context(), `SELECT id FROM xxl_job_log ORDER BY id`)
	require.NoError(o.t, err)
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		require.NoError(o.t, rows.Scan(&id))
		out = append(out, id)
	}
	require.NoError(o.t, rows.Err())
	return out
}

// TestRetireRuns: what goes, and what stays although it is old.
func TestRetireRuns(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx, o := t.Context(), oldRuns{t, st, now}
		g := storetest.Group(t, st, "app", "")
		j := storetest.Job(t, st, g.ID, nil)
		long := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Keep = model.Keep{Succeeded: 100, Failed: model.KeepForever} })
		short := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Keep.Succeeded = 1 })
		require.Equal(t, model.Keep{Succeeded: 100, Failed: model.KeepForever}, long.Keep)
		own, err := st.KeepOfJobs(ctx)
		require.NoError(t, err)
		require.Equal(t, map[int]model.Keep{long.ID: long.Keep, short.ID: {Succeeded: 1}}, own)
		p := model.Retention{Keep: model.Keep{Succeeded: 7, Failed: 30}, Jobs: own}
		require.Equal(t, []model.KeepDays{1, 7, 30, 100}, p.Days())
		until, err := st.RemovedUntil(ctx)
		require.NoError(t, err)
		require.True(t, until.IsZero(), "nothing was removed yet")

		missed := func(r *model.Run) { r.TriggerCode, r.Phase, r.Reason = 410, model.PhaseMissed, model.ReasonMisfire }
		var stays, goes []int64
		keep := func(ids ...int64) { stays = append(stays, ids...) }
		gone := func(ids ...int64) { goes = append(goes, ids...) }
		// By day and outcome.
		keep(o.run(j, 7, 200, nil), o.run(j, 8, 500, nil), o.run(j, 8, 0, missed), o.run(j, 30, 500, nil))
		gone(o.run(j, 8, 200, nil), o.run(j, 31, 500, nil), o.run(j, 31, 0, missed))
		// A row of a Java admin without a result is no run in progress.
		gone(o.run(j, 31, 0, func(r *model.Run) { r.Phase = model.PhaseForeign }))
		keep(o.run(j, 31, 0, func(r *model.Run) { r.Phase = model.PhaseAccepted }), o.run(j, 31, 0, func(r *model.Run) { r.Phase, r.TriggerCode = model.PhasePlanned, 0 }))
		// Jobs with days of their own.
		keep(o.run(long, 100, 200, nil), o.run(long, 3000, 500, nil), o.run(short, 1, 200, nil), o.run(short, 30, 500, nil))
		gone(o.run(long, 101, 200, nil), o.run(short, 2, 200, nil), o.run(short, 31, 500, nil))
		// The attempts of a fire stay together.
		old := o.run(j, 31, 500, nil)
		keep(old, o.run(j, 30, 500, func(r *model.Run) { r.FirstID = old }))
		old = o.run(j, 32, 500, nil)
		gone(old, o.run(j, 31, 200, func(r *model.Run) { r.FirstID = old }))
		old = o.run(j, 32, 500, nil)
		keep(old, o.run(j, 31, 500, func(r *model.Run) { r.FirstID = old }), o.run(j, 3, 200, func(r *model.Run) { r.FirstID = old }))
		gone(o.run(j, 31, 500, func(r *model.Run) { r.FirstID = 4711 })) // whose first attempt is not there
		// So do the shards of a broadcast, with their retries.
		shard := func(key string, first int64) func(*model.Run) {
			return func(r *model.Run) { r.ShardKey, r.FirstID = key, first }
		}
		keep(o.run(j, 9, 200, shard("9:1", 0)), o.run(j, 9, 500, shard("9:1", 0)))
		gone(o.run(j, 9, 200, shard("9:2", 0)), o.run(j, 9, 200, shard("9:2", 0)))
		a := o.run(j, 31, 500, shard("9:3", 0))
		keep(o.run(j, 31, 200, shard("9:3", 0)), a, o.run(j, 2, 200, shard("9:3", a)))
		// What another run began stays as long as that one; not when its job has days of its own.
		child := func(of int64) func(*model.Run) { return func(r *model.Run) { r.ParentID = of } }
		parent := o.run(long, 20, 200, nil)
		c := o.run(j, 20, 200, child(parent))
		keep(parent, c, o.run(j, 20, 200, child(c)))
		gone(o.run(short, 20, 200, child(parent)))
		parent = o.run(j, 20, 200, nil)
		gone(parent, o.run(j, 20, 200, child(parent)), o.run(j, 20, 200, child(4712)))
		// What an incident names.
		held := o.run(j, 40, 500, nil)
		keep(held)

		ledger := func() (n int64) {
			list, err := st.Ledger(ctx, now.AddDate(-10, 0, 0), now)
			require.NoError(t, err)
			for _, f := range list {
				n += f.Count
			}
			return n
		}
		total, fires := count(t, st), ledger()
		slices.Sort(stays)
		left, bite := o.left(p, map[int64]bool{held: true}, 3)
		require.Equal(t, stays, left)
		require.Equal(t, len(goes), bite.Removed())
		require.Equal(t, 1, bite.Missed)
		days, err := st.RetentionDays(ctx, now)
		require.NoError(t, err)
		require.Equal(t, []model.RetentionDay{{Day: "2026-11-22", Succeeded: int64(bite.Succeeded), Failed: int64(bite.Failed), Missed: int64(bite.Missed)}}, days)
		until, err = st.RemovedUntil(ctx)
		require.NoError(t, err)
		require.Equal(t, now.AddDate(0, 0, -2), until, "the newest that went")
		require.Equal(t, total, count(t, st), "the numbers of all time stay")
		require.Equal(t, fires, ledger())

		again, bite := o.left(p, nil, 100)
		require.Equal(t, slices.DeleteFunc(stays, func(id int64) bool { return id == held }), again, "its incident is over")
		require.Equal(t, 1, bite.Removed())

		n, err := st.ClearRuns(ctx, model.ClearScope{JobID: short.ID}, 100, now)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		until, err = st.RemovedUntil(ctx)
		require.NoError(t, err)
		require.Equal(t, now.AddDate(0, 0, -1), until, "removing by hand counts")
		days, err = st.RetentionDays(ctx, now)
		require.NoError(t, err)
		require.EqualValues(t, 2, days[0].ByHand)
		require.Equal(t, int64(len(goes)+1+2), days[0].Runs())
	})
}

func count(t *testing.T, st *store.Store) int64 {
	n, err := st.RunsTotal(t.Context())
	require.NoError(t, err)
	return n
}

// TestRetentionState: settings and progress are written and read.
func TestRetentionState(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		x, err := st.RetentionState(ctx)
		require.NoError(t, err)
		require.Equal(t, model.RetentionState{}, x)
		require.NoError(t, st.SaveKeep(ctx, model.Keep{Succeeded: 7, Failed: model.KeepForever}, "root", now))
		require.NoError(t, st.AskRetention(ctx, "梅", now.Add(time.Second)))
		want := model.RetentionState{
			Own: model.Keep{Succeeded: 7, Failed: model.KeepForever}, ChangedMS: now.UnixMilli(), ChangedBy: "root", AskedMS: now.UnixMilli() + 1000, AskedBy: "梅",
			BeganMS: 5, SeenMS: 6, FinishedMS: 4, BusyMS: 3, Removed: 2, OriginMS: 7, ReachedMS: 8, TargetMS: 9, Failed: "no",
		}
		require.NoError(t, st.NoteRetention(ctx, want))
		x, err = st.RetentionState(ctx)
		require.NoError(t, err)
		require.Equal(t, want, x)
		require.NoError(t, st.SaveKeep(ctx, model.Keep{}, "root", now))
		x, err = st.RetentionState(ctx)
		require.NoError(t, err)
		require.Equal(t, model.Keep{}, x.Own)

		require.NoError(t, st.AddRemoved(ctx, now, model.RetentionDay{Incidents: 2, AuditLines: 3, BusyMS: 40, Passes: 1}))
		require.NoError(t, st.AddRemoved(ctx, now, model.RetentionDay{AuditLines: 1}))
		require.NoError(t, st.AddRemoved(ctx, now.AddDate(0, 0, -1), model.RetentionDay{Passes: 1}))
		days, err := st.RetentionDays(ctx, now.AddDate(0, 0, -1))
		require.NoError(t, err)
		require.Equal(t, []model.RetentionDay{{Day: "2026-11-22", Incidents: 2, AuditLines: 4, BusyMS: 40, Passes: 1}, {Day: "2026-11-21", Passes: 1}}, days)
		require.NoError(t, st.ForgetRetentionDays(ctx, now))
		days, err = st.RetentionDays(ctx, now.AddDate(0, 0, -9))
		require.NoError(t, err)
		require.Len(t, days, 1)
		at, err := st.OldestRun(ctx)
		require.NoError(t, err)
		require.True(t, at.IsZero())
	})
}

// TestHeldRuns: those that open incidents and failing jobs name.
func TestHeldRuns(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		exec(t, st, `INSERT INTO carillon_incident (subject, open_subject, severity, reason, first_run, last_run, failed, missed, opened_at, last_at, reminders, version)
			VALUES ('job:1', 'job:1', 'critical', 'error', 5, 7, 1, 0, 1, 1, 0, 1), ('job:2', NULL, 'critical', 'error', 8, 9, 1, 0, 1, 1, 0, 1), ('node:a', 'node:a', 'critical', 'error', NULL, NULL, 0, 0, 1, 1, 0, 1)`)
		exec(t, st, `INSERT INTO carillon_failing (job_id, since_at, first_run) VALUES (3, 1, 11)`)
		held, err := st.HeldRuns(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{5, 7, 11}, slices.Sorted(maps.Keys(held)))
	})
}

func exec(t *testing.T, st *store.Store, query string) {
	t.Helper()
	db, done, err := st.MigrationDB()
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), query)
	require.NoError(t, err)
	require.NoError(t, done())
}

// TestRetentionReadsLittle counts the rows that MariaDB reads for each bite beside 200,000
// runs, half of which stay, and among jobs of which few have days of their own.
func TestRetentionReadsLittle(t *testing.T) {
	st := suite.Open(t, "mariadb", time.UTC)
	db, done, err := st.MigrationDB()
	require.NoError(t, err)
	defer func() { require.NoError(t, done()) }()
	now := time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)
	for _, q := range []string{
		`INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code, run_state, planned_time, first_run, executor_fail_retry_count)
			SELECT 1, seq % 100, '2026-10-01 00:00:00' + INTERVAL (seq DIV 2000) HOUR, 200, IF(seq % 2 = 0, 200, 500), 5, seq, NULL, 0 FROM seq_1_to_200000`,
		`INSERT INTO xxl_job_info (job_group, job_desc, glue_type, carillon_keep_days) SELECT 1, seq, 'BEAN', IF(seq % 1000 = 0, 50, NULL) FROM seq_1_to_20000`,
		`ANALYZE TABLE xxl_job_log, xxl_job_info`,
	} {
		_, err := db.ExecContext(t.Context(), q)
		require.NoError(t, err)
	}
	reads := func() (n int) {
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN
			('HANDLER_READ_NEXT', 'HANDLER_READ_PREV', 'HANDLER_READ_RND', 'HANDLER_READ_RND_NEXT', 'HANDLER_READ_KEY', 'HANDLER_READ_FIRST')`).Scan(&n))
		return n
	}
	counted := func(call func(ctx context.Context) error) int {
		before := reads()
		own := reads() - before // of asking itself
		before = reads()
		require.NoError(t, call(t.Context()))
		return reads() - before - own
	}
	p := model.Retention{Keep: model.Keep{Succeeded: 7, Failed: 365}}
	at, most, removed := model.RunCursor{}, 0, 0
	for range 60 {
		n := counted(func(ctx context.Context) error {
			b, err := st.RetireRuns(ctx, at, now, p, nil, now, 500)
			at, removed = b.Next, removed+b.Removed()
			require.Equal(t, 500, b.Looked)
			return err
		})
		most = max(most, n)
	}
	require.Equal(t, 15_000, removed)
	// 500 are looked at; of each of the 250 that go: is there a retry, the row, its removal.
	require.Less(t, most, 2500, "a bite far from the beginning reads no more than the first")
	n := counted(func(ctx context.Context) error {
		own, err := st.KeepOfJobs(ctx)
		require.Len(t, own, 20)
		return err
	})
	require.Less(t, n, 200, "jobs with days of their own are found by an index")
	n = counted(func(ctx context.Context) error { _, err := st.OldestRun(ctx); return err })
	require.Less(t, n, 20)
	n = counted(func(ctx context.Context) error { _, err := st.HeldRuns(ctx); return err })
	require.Less(t, n, 50)
}
