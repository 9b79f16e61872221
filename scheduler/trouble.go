package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	// slowAnswer is how long a statement of a node takes on a database that is slow.
	slowAnswer = 300 * time.Millisecond
	// slowFor is for how long it must be slow, and for how long it must be well to count so.
	slowFor = time.Minute
	// overFor is for how long a node must be beyond its capacity.
	overFor = 30 * time.Second
)

// troubles notices what is wrong with this node: the others are told with its beats.
type troubles struct {
	mu       sync.Mutex
	slow     time.Time     // since when each statement was slow; zero = the last one was not
	slowLast time.Time     // when one was slow last
	least    time.Duration // the fastest of them
	told     bool
}

// answered is told how long statements took, once a second.
func (t *troubles) answered(now time.Time, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if took < slowAnswer {
		t.slow = time.Time{}
		if now.Sub(t.slowLast) >= slowFor {
			t.told = false
		}
		return
	}
	if t.slow.IsZero() {
		t.slow, t.least = now, took
	}
	t.slowLast, t.least = now, min(t.least, took)
	if now.Sub(t.slow) >= slowFor {
		t.told = true
	}
}

// list says what is wrong now; over is for how long the node does not keep up.
func (t *troubles) list(over time.Duration, backlog int) (out []model.NodeTrouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		out = append(out, model.NodeTrouble{Reason: model.AlarmDatabaseSlow, N: t.least.Milliseconds()})
	}
	if over >= overFor {
		out = append(out, model.NodeTrouble{Reason: model.AlarmOverCapacity, N: int64(backlog)})
	}
	return out
}
