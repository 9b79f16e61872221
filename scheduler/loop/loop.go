// Package loop holds the two shapes in which work is done again and again: a Loop by
// time, a Batcher by demand.
package loop

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Loop is one periodic task. Every loop has this shape; its body gets the time
// as a parameter and returns what went wrong. A body that panics is reported
// and tried again at the next tick: no loop ever dies.
type Loop struct {
	Name  string
	Every time.Duration
	Body  func(ctx context.Context, now time.Time) error
	Nudge chan struct{} // optional: run nudged at once
	// Nudged is the body of a pass that was asked for.
	Nudged func(ctx context.Context, now time.Time) error

	// Phase is when in each period the passes begin, by the wall clock; 0 = wherever the
	// loop was started. Schedules fire on whole seconds: what can wait keeps away from them.
	Phase time.Duration

	Jitter func(time.Duration) time.Duration // optional: spreads the passes of many nodes

	mu     sync.Mutex
	began  time.Time // of Run
	lastOK time.Time
	failed bool
	stats  Liveness
}

// Liveness says when a loop last succeeded.
type Liveness struct {
	Name   string
	Every  time.Duration
	Began  time.Time // zero = it does not run
	LastOK time.Time // zero = never
	Passes int64     // ended, well or not
	Errors int64
	Took   time.Duration // all passes together
}

// Sick reports whether a loop that runs has not succeeded for five of its periods, and
// for 10 s at least.
func (v Liveness) Sick(now time.Time) bool {
	last := v.LastOK
	if last.IsZero() {
		last = v.Began
	}
	return !v.Began.IsZero() && now.Sub(last) > max(10*time.Second, 5*v.Every)
}

func (l *Loop) Run(ctx context.Context, now func() time.Time, log *slog.Logger) {
	l.mu.Lock()
	l.began = now()
	l.mu.Unlock()
	timer := time.NewTimer(l.wait(now()))
	defer timer.Stop()
	for {
		if l.Jitter != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(l.Jitter(l.Every / 4)):
			}
		}
		timer.Reset(l.wait(now())) // the pass counts
		l.once(ctx, now, log, l.Body)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				waiting = false
			case <-l.Nudge: // nil blocks for ever
				l.once(ctx, now, log, l.Nudged)
			}
		}
	}
}

// wait is how long it is to the next pass.
func (l *Loop) wait(now time.Time) time.Duration {
	if l.Phase == 0 {
		return l.Every
	}
	next := now.Truncate(l.Every).Add(l.Phase)
	for !next.After(now.Add(l.Every / 4)) { // a pass of its own every period, or so
		next = next.Add(l.Every)
	}
	return next.Sub(now)
}

// Wake asks for a pass at once; it does not wait.
func (l *Loop) Wake() {
	select {
	case l.Nudge <- struct{}{}:
	default:
	}
}

func (l *Loop) once(ctx context.Context, now func() time.Time, log *slog.Logger, body func(context.Context, time.Time) error) {
	began := now()
	err := safely(ctx, began, body)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Passes++
	l.stats.Took += now().Sub(began)
	if err == nil {
		if l.failed {
			log.Info("loop works again", "loop", l.Name)
		}
		l.failed, l.lastOK = false, now()
		return
	}
	l.failed = true
	l.stats.Errors++
	log.Error("loop failed, will be tried again", "loop", l.Name, "error", err)
}

func safely(ctx context.Context, now time.Time, body func(context.Context, time.Time) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return body(ctx, now)
}

// Supervise runs what must not end before ctx does: after a panic it says so and
// starts it again.
func Supervise(ctx context.Context, name string, log *slog.Logger, run func()) {
	for {
		if !panics(func() { run() }, func(p any, stack []byte) {
			log.Error("part of the scheduler failed and is started again", "part", name, "panic", p, "stack", string(stack))
		}) || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func panics(run func(), report func(any, []byte)) (failed bool) {
	defer func() {
		if p := recover(); p != nil {
			failed = true
			report(p, debug.Stack())
		}
	}()
	run()
	return false
}

func (l *Loop) Liveness() Liveness {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.stats
	out.Name, out.Every, out.Began, out.LastOK = l.Name, l.Every, l.began, l.lastOK
	return out
}
