package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carillon-scheduler/carillon/scheduler"
)

// metricsHandler serves the numbers of this node in the Prometheus format.
func metricsHandler(s *scheduler.Scheduler) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newSchedulerMetrics(s.Stats))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}

// schedulerMetrics reads the scheduler's numbers when they are asked for: the
// scheduler itself knows nothing of metrics.
type schedulerMetrics struct {
	stats                                   func() scheduler.Stats
	calls, callSeconds, callbacks, lateness *prometheus.Desc
	inRing, open, backlog, oldest, over     *prometheus.Desc
	loops, loopErrors, loopLast             *prometheus.Desc
	removed, removing, removedLast, behind  *prometheus.Desc
}

func newSchedulerMetrics(stats func() scheduler.Stats) *schedulerMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("carillon_"+name, help, labels, nil)
	}
	return &schedulerMetrics{
		stats:       stats,
		calls:       desc("executor_calls_total", "Calls that hand a run to an executor, by outcome.", "outcome"),
		callSeconds: desc("executor_call_seconds_total", "Time spent in these calls."),
		callbacks:   desc("results_total", "Results of runs that were stored."),
		lateness:    desc("lateness_seconds", "Scheduled runs: the call after the planned instant."),
		inRing:      desc("ring_runs", "Runs in memory: before their instant or being sent."),
		open:        desc("sending_runs", "Runs being sent."),
		backlog:     desc("backlog_runs", "Runs of this node that are due and not sent, without those that wait for an idle executor."),
		oldest:      desc("backlog_oldest_seconds", "How late the oldest of them is."),
		over:        desc("over_capacity_seconds", "For how long more was due than this node can send; 0 = it keeps up."),
		loops:       desc("loop_seconds", "Passes of a loop and the time they took.", "loop"),
		loopErrors:  desc("loop_errors_total", "Passes of a loop that failed.", "loop"),
		removed:     desc("retention_removed_total", "What the retention removed on this node, by kind.", "kind"),
		removing:    desc("retention_busy_seconds_total", "Time that the database was busy with it."),
		removedLast: desc("retention_finished_timestamp_seconds", "When this node came to the end of a pass; 0 = it has not."),
		behind:      desc("retention_behind_seconds", "Trigger times that the pass of this node has still to go through; 0 = none."),
		loopLast:    desc("loop_last_success_timestamp_seconds", "When a loop last succeeded; 0 = never.", "loop"),
	}
}

// Describe implements prometheus.Collector.
func (m *schedulerMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector.
func (m *schedulerMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.stats()
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter(m.calls, float64(s.Accepted), "accepted")
	counter(m.calls, float64(s.Refused), "refused")
	counter(m.calls, float64(s.Unreachable), "unreachable")
	counter(m.calls, float64(s.Unknown), "unknown")
	counter(m.callSeconds, s.CallTime.Seconds())
	counter(m.callbacks, float64(s.Callbacks))
	gauge(m.inRing, float64(s.InRing))
	gauge(m.open, float64(s.Open))
	gauge(m.backlog, float64(s.Load.Backlog))
	gauge(m.oldest, s.Load.Oldest.Seconds())
	gauge(m.over, s.Load.Over.Seconds())
	buckets, total := map[float64]uint64{}, uint64(0)
	for i, n := range s.Lateness.Counts {
		total += uint64(n) //nolint:gosec // counts are not negative
		if i < len(s.Lateness.Bounds) {
			buckets[s.Lateness.Bounds[i].Seconds()] = total
		}
	}
	ch <- prometheus.MustNewConstHistogram(m.lateness, total, s.Lateness.Sum.Seconds(), buckets)
	old := s.Retention
	for kind, n := range map[string]int64{"succeeded": old.Succeeded, "failed": old.Failed, "missed": old.Missed, "incident": old.Incidents, "audit": old.AuditLines} {
		counter(m.removed, float64(n), kind)
	}
	counter(m.removing, old.Busy.Seconds())
	finished := 0.0
	if !old.Finished.IsZero() {
		finished = float64(old.Finished.UnixMilli()) / 1000
	}
	gauge(m.removedLast, finished)
	gauge(m.behind, old.Behind.Seconds())
	for _, l := range s.Loops {
		ch <- prometheus.MustNewConstSummary(m.loops, uint64(l.Passes), l.Took.Seconds(), nil, l.Name) //nolint:gosec // not negative
		counter(m.loopErrors, float64(l.Errors), l.Name)
		last := 0.0
		if !l.LastOK.IsZero() {
			last = float64(l.LastOK.UnixMilli()) / 1000
		}
		gauge(m.loopLast, last, l.Name)
	}
}
