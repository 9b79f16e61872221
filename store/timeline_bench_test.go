package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// BenchmarkRunsDuring reads what one picture of the timeline needs at most.
func BenchmarkRunsDuring(b *testing.B) {
	for _, engine := range storetest.Engines() {
		st := suite.Open(b, engine, time.UTC)
		db, done, err := st.MigrationDB()
		require.NoError(b, err)
		for range 12 {
			_, err = db.Exec(`INSERT INTO xxl_job_log (job_group, job_id, executor_address, trigger_time, trigger_code, trigger_msg, handle_time, handle_code, handle_msg, run_state,
				planned_time, sent_time, accepted_time, finished_time, trigger_type, owner) VALUES ` + strings.TrimSuffix(strings.Repeat(`(1, 7, 'http://10.0.0.1:9999/', '2026-01-01 12:00:00', 200, '', '2026-01-01 12:00:01', 200, 'done', 5,
				1767268800000, 1767268800003, 1767268800005, 1767268801000, 'CRON', 'n#1'),`, 1000), ","))
			require.NoError(b, err)
		}
		require.NoError(b, done())
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				list, more, err := st.RunsDuring(b.Context(), model.RunFilter{From: from, To: from.Add(24 * time.Hour), Limit: 10_000}, 24*time.Hour)
				require.NoError(b, err)
				require.True(b, more)
				require.Len(b, list, 10_000)
			}
		})
	}
}
