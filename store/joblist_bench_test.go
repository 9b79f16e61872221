package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// BenchmarkJobList reads pages of a list of 100,000 jobs in each order:
//
//	go test -run '^$' -bench JobList -benchtime 20x ./store
func BenchmarkJobList(b *testing.B) {
	for _, engine := range storetest.Engines() {
		st := suite.Open(b, engine, time.UTC)
		g := storetest.Group(b, st, "app-one", "")
		db, done, err := st.MigrationDB()
		require.NoError(b, err)
		fillJobs(b, db, g.ID, 100_000)
		require.NoError(b, done())
		for name, f := range map[string]model.JobFilter{
			"newest": {}, "name": {Sort: model.JobsByName}, "last": {Sort: model.JobsByLast}, "duration": {Sort: model.JobsByDuration}, "failures": {Sort: model.JobsByFailures},
			"duration-page-1000": {Sort: model.JobsByDuration, Offset: 25_000}, "duration-end": {Sort: model.JobsByDuration, Offset: 99_000},
			"duration-of-executor": {Sort: model.JobsByDuration, GroupID: g.ID}, "duration-of-tag": {Sort: model.JobsByDuration, Tag: "tag-7"},
			"tag": {Tag: "tag-7"}, "text": {Text: "00123"}, "favourites": {Marked: 1},
		} {
			f.Limit = 25
			b.Run(engine+"/"+name, func(b *testing.B) {
				for b.Loop() {
					_, _, err := st.Jobs(b.Context(), f)
					require.NoError(b, err)
				}
			})
		}
		b.Run(engine+"/counts", func(b *testing.B) {
			for b.Loop() {
				_, err := st.CountJobs(b.Context(), model.JobFilter{})
				require.NoError(b, err)
			}
		})
		b.Run(engine+"/schedules", func(b *testing.B) {
			for b.Loop() {
				_, err := st.RunningSchedules(b.Context(), nil)
				require.NoError(b, err)
			}
		})
		b.Run(engine+"/tags", func(b *testing.B) {
			for b.Loop() {
				list, err := st.Tags(b.Context(), nil, 200)
				require.NoError(b, err)
				require.Len(b, list, 50)
			}
		})
	}
}

func fillJobs(b testing.TB, db *sql.DB, group, n int) {
	tx, err := db.Begin()
	require.NoError(b, err)
	for at := 0; at < n; at += 500 {
		var jobs, tags, stats []string
		for i := at + 1; i <= at+500; i++ {
			jobs = append(jobs, fmt.Sprintf("(%d, %d, 'Job %06d', 'ops', 'CRON', '0 0 0 * * ?', 'DO_NOTHING', 'FIRST', 'handler%d', '', 'SERIAL_EXECUTION', 'BEAN', 1, %d, 4000000000000, 1)", i, group, i, i%300, i*7919%n))
			if i%2 == 0 {
				tags = append(tags, fmt.Sprintf("(%d, 'tag-%d')", i, i/2%50))
			}
			if i%10 != 0 {
				stats = append(stats, fmt.Sprintf("(%d, %d, %d, 1)", i, i*7919%100_003, i*31%1001))
			}
		}
		for _, q := range []string{
			`INSERT INTO xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, misfire_strategy, executor_route_strategy, executor_handler, executor_param,
				executor_block_strategy, glue_type, trigger_status, trigger_last_time, trigger_next_time, carillon_version) VALUES ` + strings.Join(jobs, ","),
			`INSERT INTO carillon_job_tag (job_id, tag) VALUES ` + strings.Join(tags, ","),
			`INSERT INTO carillon_job_stat (job_id, average_ms, failed, counted_at) VALUES ` + strings.Join(stats, ","),
		} {
			_, err := tx.Exec(q)
			require.NoError(b, err)
		}
	}
	require.NoError(b, tx.Commit())
}

// BenchmarkCountJobStats counts anew how the runs of 1000 jobs went, as one pass of the
// upkeep does at most.
func BenchmarkCountJobStats(b *testing.B) {
	for _, engine := range storetest.Engines() {
		b.Run(engine, func(b *testing.B) {
			st := suite.Open(b, engine, time.UTC)
			g := storetest.Group(b, st, "app-one", "")
			db, done, err := st.MigrationDB()
			require.NoError(b, err)
			fillJobs(b, db, g.ID, 1000)
			tx, err := db.Begin()
			require.NoError(b, err)
			ids := make([]int, 1000)
			for i := range ids {
				ids[i] = i + 1
			}
			for range 40 {
				var rows []string
				for _, id := range ids {
					rows = append(rows, fmt.Sprintf("(%d, %d, '2026-01-01 00:00:00', 200, 200, 5, 1000, 1010, 1020, %d)", g.ID, id, 1030+id))
				}
				_, err := tx.Exec(`INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code, run_state, planned_time, sent_time, accepted_time, finished_time) VALUES ` + strings.Join(rows, ","))
				require.NoError(b, err)
			}
			require.NoError(b, tx.Commit())
			require.NoError(b, done())
			for b.Loop() {
				require.NoError(b, st.CountJobStats(b.Context(), ids, t0))
			}
		})
	}
}
