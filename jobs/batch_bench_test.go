package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// tenThousand makes a center with 10,000 running jobs and gives their ids.
func tenThousand(b *testing.B, engine string) (*jobs.Service, []int) {
	st := suite.Open(b, engine, time.UTC)
	g := storetest.Group(b, st, "app-one", "")
	db, done, err := st.MigrationDB()
	require.NoError(b, err)
	defer func() { require.NoError(b, done()) }()
	tx, err := db.Begin()
	require.NoError(b, err)
	for i := range 10_000 {
		_, err := tx.Exec(`INSERT INTO xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, misfire_strategy, executor_route_strategy, executor_handler,
			executor_block_strategy, glue_type, trigger_status, trigger_next_time, carillon_version) VALUES (?, ?, ?, 'ops', 'CRON', '0 0 0 * * ?', 'DO_NOTHING', 'FIRST', 'h', 'SERIAL_EXECUTION', 'BEAN', 1, 4000000000000, 1)`,
			i+1, g.ID, fmt.Sprintf("Job %05d", i))
		require.NoError(b, err)
	}
	require.NoError(b, tx.Commit())
	ids := make([]int, 10_000)
	for i := range ids {
		ids[i] = i + 1
	}
	return jobs.New(jobs.Options{Store: st, Location: time.UTC}), ids
}

// BenchmarkStopTenThousand stops and starts 10,000 jobs, in the pieces of the console:
//
//	go test -run '^$' -bench TenThousand -benchtime 1x ./jobs
func BenchmarkStopTenThousand(b *testing.B) {
	for _, engine := range storetest.Engines() {
		b.Run(engine, func(b *testing.B) {
			svc, ids := tenThousand(b, engine)
			admin := model.Actor{UserID: 1, Name: "root", Admin: true}
			for _, status := range []model.JobStatus{model.JobStopped, model.JobRunning} {
				began, longest := time.Now(), time.Duration(0)
				for at := 0; at < len(ids); at += 400 {
					piece := time.Now()
					items, err := svc.SwitchMany(b.Context(), admin, ids[at:at+400], status)
					require.NoError(b, err)
					for _, it := range items {
						require.True(b, it.Changed)
					}
					longest = max(longest, time.Since(piece))
				}
				b.ReportMetric(time.Since(began).Seconds(), fmt.Sprintf("s-to-%d", status))
				b.ReportMetric(longest.Seconds(), fmt.Sprintf("s-longest-%d", status))
			}
			began := time.Now()
			_, err := svc.ChangeMany(b.Context(), admin, ids[:500], jobs.JobChange{Do: jobs.ChangeAuthor, Value: "new"})
			require.NoError(b, err)
			b.ReportMetric(time.Since(began).Seconds()*20, "s-change-10000")
		})
	}
}
