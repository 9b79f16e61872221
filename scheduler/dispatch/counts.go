package dispatch

import (
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/call"
)

// counts are the numbers of one node since its start.
type counts struct {
	mu   sync.Mutex
	s    Counters
	late lateness
}

// Counters are what a node did since its start.
type Counters struct {
	Accepted, Refused, Unreachable, Unknown int64 // calls to executors by outcome
	Callbacks                               int64 // results stored
	CallTime                                time.Duration
	Lateness                                Histogram // of scheduled runs: call minus planned instant
}

// Histogram counts durations by upper bounds; the last count has none.
type Histogram struct {
	Bounds []time.Duration
	Counts []int64
	Sum    time.Duration
}

func (c *counts) sent(run *model.Run, sent call.Sent, started, now time.Time, waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.CallTime += now.Sub(started)
	switch {
	case sent.State == call.Accepted:
		c.s.Accepted++
	case sent.State == call.Unknown:
		c.s.Unknown++
	case sent.Unreachable:
		c.s.Unreachable++
	default:
		c.s.Refused++
	}
	if run.TriggerType == model.TriggerCron && !waited {
		c.late.note(started, started.Sub(time.UnixMilli(run.PlannedMS)))
	}
}

func (c *counts) callbacks(n int) {
	c.mu.Lock()
	c.s.Callbacks += int64(n)
	c.mu.Unlock()
}

func (c *counts) snapshot() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.s
	out.Lateness = Histogram{Bounds: latenessBounds(), Counts: append([]int64(nil), c.late.all[:]...), Sum: c.late.sum}
	return out
}

// lateMS is the 99th percentile of about the last minute, as the upper bound of
// its bucket, in ms.
func (c *counts) lateMS(now time.Time) int {
	p99, _ := c.percentiles(now)
	return p99
}

// percentiles gives the 99th and the 50th in the same way.
func (c *counts) percentiles(now time.Time) (p99, p50 int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.late.above(now, 100).Milliseconds()), int(c.late.above(now, 2).Milliseconds())
}

const latenessBuckets = 14

func latenessBounds() []time.Duration {
	const ms = time.Millisecond
	return []time.Duration{
		ms, 2 * ms, 5 * ms, 10 * ms, 20 * ms, 50 * ms, 100 * ms, 200 * ms, 500 * ms,
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	}
}

// lateness is a histogram of all times and of this and the last half minute.
type lateness struct {
	all       [latenessBuckets]int64
	sum       time.Duration
	half      int64 // half minutes since 1970
	this, old [latenessBuckets]int64
}

func (l *lateness) note(now time.Time, d time.Duration) {
	l.turn(now)
	d = max(0, d)
	i := 0
	for _, bound := range latenessBounds() {
		if d <= bound {
			break
		}
		i++
	}
	l.all[i]++
	l.this[i]++
	l.sum += d
}

func (l *lateness) turn(now time.Time) {
	half := now.Unix() / 30
	switch half {
	case l.half:
	case l.half + 1:
		l.old, l.this = l.this, [latenessBuckets]int64{}
	default:
		l.old, l.this = [latenessBuckets]int64{}, [latenessBuckets]int64{}
	}
	l.half = half
}

// above gives the bound that all but one in n keep.
func (l *lateness) above(now time.Time, n int64) time.Duration {
	l.turn(now)
	total := int64(0)
	for i := range l.this {
		total += l.this[i] + l.old[i]
	}
	above := total / n
	bounds := latenessBounds()
	for i := latenessBuckets - 1; i >= 0; i-- {
		if above -= l.this[i] + l.old[i]; above < 0 {
			return bounds[min(i, len(bounds)-1)]
		}
	}
	return 0
}
