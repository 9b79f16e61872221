package crash

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/store/storetest"
)

// BenchmarkLateness runs 100 one-second jobs for a minute and reports how much
// later than planned they arrive at the executor:
//
//	go test -run '^$' -bench Lateness -benchtime 1x ./e2e/crash
func BenchmarkLateness(b *testing.B) {
	for _, engine := range storetest.Engines() {
		b.Run(engine, func(b *testing.B) {
			database := suite.URL(b, engine)
			c := newCenter(b, database)
			exec := newCounter(b, token, func() []string { return []string{c.url} })
			c.start()
			addExecutor(b, open(b, database), exec.URL)
			addJobs(c, 100, "DO_NOTHING")
			wait(b, 5*time.Second)
			exec.mu.Lock()
			exec.late = nil // the start is not what is asked
			exec.mu.Unlock()
			for b.Loop() {
				wait(b, time.Minute)
			}
			p50, p99, _ := exec.lateness()
			b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(len(exec.late)), "runs")
			b.ReportMetric(0, "ns/op")
		})
	}
}
