package migrations_test

import (
	"database/sql"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/migrations"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

var suite storetest.Suite

func TestMain(m *testing.M) { os.Exit(suite.Run(m)) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// each opens an empty database on every engine.
func each(t *testing.T, test func(t *testing.T, db *sql.DB, engine string)) {
	for _, engine := range storetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			st, err := store.Open(t.Context(), store.Options{URL: suite.URL(t, engine), Location: time.UTC})
			require.NoError(t, err)
			db, done, err := st.MigrationDB()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, done()); require.NoError(t, st.Close()) })
			test(t, db, st.Engine())
		})
	}
}

func TestFreshAndAgain(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		require.ErrorIs(t, migrations.Check(t.Context(), db, engine), migrations.ErrPending)
		n, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		require.Equal(t, 31, n)
		n, err = migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		require.Zero(t, n, "re-run is harmless")
		require.NoError(t, migrations.Check(t.Context(), db, engine))
		var lock string
		require.NoError(t, db.QueryRow(`SELECT lock_name FROM xxl_job_lock`).Scan(&lock))
		require.Equal(t, "schedule_lock", lock)
	})
}

func TestManyNodesStartAtOnce(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		var wg sync.WaitGroup
		total := make(chan int, 4)
		for range 4 {
			wg.Go(func() {
				n, err := migrations.Up(t.Context(), db, engine, quiet())
				if err != nil {
					t.Error(err)
				}
				total <- n
			})
		}
		wg.Wait()
		close(total)
		sum := 0
		for n := range total {
			sum += n
		}
		require.Equal(t, 31, sum, "each migration was applied once")
	})
}

// TestAGapIsFilled: a database that was made before a migration with a smaller number came.
func TestAGapIsFilled(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		for _, q := range []string{`DELETE FROM carillon_schema WHERE version_id = 20`, `DROP TABLE carillon_retention`} {
			_, err = db.Exec(q)
			require.NoError(t, err)
		}
		require.ErrorIs(t, migrations.Check(t.Context(), db, engine), migrations.ErrPending)
		n, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		_, err = db.Exec(`UPDATE carillon_retention SET keep_days = 1 WHERE id = 1`)
		require.NoError(t, err)
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		_, err = db.Exec(`INSERT INTO carillon_schema (version_id, is_applied) VALUES (99, 1)`)
		require.NoError(t, err)
		_, err = migrations.Up(t.Context(), db, engine, quiet())
		require.ErrorContains(t, err, "newer than this program")
		require.ErrorContains(t, migrations.Check(t.Context(), db, engine), "newer than this program")
	})
}

// TestAfterACrashInTheMiddle repeats migrations of which a part was done: MySQL
// commits on every DDL statement.
func TestAfterACrashInTheMiddle(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		_, err = db.Exec(`INSERT INTO xxl_job_group (app_name, title) VALUES ('kept', 'kept')`)
		require.NoError(t, err)
		_, err = db.Exec(`DELETE FROM carillon_schema WHERE version_id > 0`)
		require.NoError(t, err)
		_, err = db.Exec(`ALTER TABLE xxl_job_info DROP COLUMN carillon_reason`)
		require.NoError(t, err)
		n, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		require.Equal(t, 31, n)
		_, err = db.Exec(`UPDATE xxl_job_info SET carillon_reason = NULL`)
		require.NoError(t, err, "the missing column is there")
		var kept int
		require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM xxl_job_group`).Scan(&kept))
		require.Equal(t, 1, kept)
	})
}

// TestRowsOfAJavaAdmin writes what a Java admin writes, without our columns.
func TestRowsOfAJavaAdmin(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		for range 2 { // two rows without a fire key do not collide
			_, err = db.Exec(`INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code) VALUES (1, 1, '2026-01-01 00:00:00', 0, 0)`)
			require.NoError(t, err)
		}
		_, err = db.Exec(`INSERT INTO xxl_job_info (job_group, job_desc, glue_type) VALUES (1, 'old', 'BEAN')`)
		require.NoError(t, err)
	})
}

func TestOtherGenerationIsRefused(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := db.Exec(`CREATE TABLE xxl_job_info (id INT PRIMARY KEY, job_cron VARCHAR(128), job_desc VARCHAR(255), trigger_status INT, trigger_next_time BIGINT)`)
		require.NoError(t, err)
		_, err = migrations.Up(t.Context(), db, engine, quiet())
		require.ErrorContains(t, err, "another generation")
	})
}

// TestPacksOfCountersThatAreThere: reports of an older version's counters lose nothing.
func TestPacksOfCountersThatAreThere(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		for _, q := range []string{
			`DELETE FROM carillon_schema WHERE version_id = 31`, `DROP TABLE carillon_count_pack`,
			`INSERT INTO carillon_count (unit, first_day, job_id, group_id, expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms) VALUES
				(1, '2026-11-20', 7, 2, 10, 6, 1, 2, 1, 1, 3, 5, 700), (1, '2026-11-20', 7, 1, 4, 4, 0, 0, 0, 0, 0, 4, 40),
				(1, '2026-11-20', 0, 2, 10, 6, 1, 2, 1, 1, 3, 5, 700), (3, '2026-11-01', 450, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0)`,
		} {
			_, err := db.Exec(q)
			require.NoError(t, err)
		}
		_, err = migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		for _, want := range []struct {
			unit  int
			first string
			pack  int
			jobs  model.CountPack
		}{
			{1, "2026-11-20", 0, model.CountPack{{JobID: 7, GroupID: 1, N: [9]int64{4, 4, 0, 0, 0, 0, 0, 4, 40}}, {JobID: 7, GroupID: 2, N: [9]int64{10, 6, 1, 2, 1, 1, 3, 5, 700}}}},
			{3, "2026-11-01", 2, model.CountPack{{JobID: 450, GroupID: 2, N: [9]int64{1}}}},
		} {
			var raw []byte
			require.NoError(t, db.QueryRow(`SELECT jobs FROM carillon_count_pack WHERE unit = ? AND first_day = ? AND pack = ?`, want.unit, want.first, want.pack).Scan(&raw))
			got, err := model.DecodePack(raw)
			require.NoError(t, err)
			require.Equal(t, want.jobs, got)
		}
	})
}
