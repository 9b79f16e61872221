package dispatch

import (
	"context"
	"sync"
	"time"
)

// capacity notices that more is due than this node can send. Runs that wait for an idle
// executor, or at the gate of one that is slow among others, are not its fault.
type capacity struct {
	mu      sync.Mutex
	backlog int
	oldest  time.Duration // lateness of the oldest run that is due and not sent
	since   time.Time     // when it began to be too much; zero = it is not
	told    bool
}

// Load says how much a node has to do.
type Load struct {
	Backlog int           // runs that are due and not sent, without those that wait on purpose
	Oldest  time.Duration // how late the oldest of them is
	// Over is for how long more was due than the node could send, 0 = it keeps up.
	Over time.Duration
}

const (
	// overLate is how late runs are when a node does not keep up.
	overLate = 2 * time.Second
	// overQueue is how many wait for a worker then.
	overQueue = 100
	// waitingLeft is longer than a run that waits goes without asking.
	waitingLeft = 20 * time.Second
	// overTell is for how long it may last before it is said.
	overTell = 5 * time.Second
)

// Measure counts the backlog and notices when the node does not keep up. It is called
// once a second.
func (d *Dispatcher) Measure(ctx context.Context) (Load, error) {
	now := d.cfg.Now()
	n, oldestMS, err := d.store.CountDue(ctx, d.node.Owner(), now.UnixMilli())
	if err != nil {
		return Load{}, err
	}
	waiting := 0
	d.waiting.Range(func(id, asked any) bool {
		if at, ok := asked.(time.Time); ok && now.Sub(at) > waitingLeft {
			d.waiting.Delete(id) // cancelled, or another node's by now
		} else {
			waiting++
		}
		return true
	})
	c := &d.capacity
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backlog, c.oldest = max(0, n-waiting), 0
	if c.backlog > 0 && waiting == 0 {
		c.oldest = max(0, now.Sub(time.UnixMilli(oldestMS)))
	}
	late := c.oldest > overLate || waiting > 0 && d.counts.lateMS(now) > int(overLate.Milliseconds())
	switch over := late && (d.fast.len()+d.slow.len() >= overQueue || d.gates.full()); {
	case over && c.since.IsZero():
		c.since = now
	case over && !c.told && now.Sub(c.since) >= overTell:
		c.told = true
		d.cfg.Logger.Warn("more is due than this node can send: runs are late", "event", "over_capacity", "backlog", c.backlog, "late", c.oldest.Round(time.Millisecond))
	case !over && !c.since.IsZero() && c.backlog < overQueue:
		if c.told {
			d.cfg.Logger.Info("the node keeps up again", "event", "capacity_again", "after", now.Sub(c.since).Round(time.Second))
		}
		c.since, c.told = time.Time{}, false
	}
	return c.loadLocked(now), nil
}

// Load gives what was measured last.
func (d *Dispatcher) Load() Load {
	d.capacity.mu.Lock()
	defer d.capacity.mu.Unlock()
	return d.capacity.loadLocked(d.cfg.Now())
}

func (c *capacity) loadLocked(now time.Time) Load {
	l := Load{Backlog: c.backlog, Oldest: c.oldest}
	if !c.since.IsZero() && c.told {
		l.Over = now.Sub(c.since)
	}
	return l
}
