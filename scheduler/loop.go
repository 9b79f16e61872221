package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// loop is one periodic task. Every loop has this shape; its body gets the time
// as a parameter and returns what went wrong. A body that panics is reported
// and tried again at the next tick: no loop ever dies.
type loop struct {
	name  string
	every time.Duration
	body  func(ctx context.Context, now time.Time) error
	nudge chan struct{} // optional: run nudged at once
	// nudged is the body of a pass that was asked for.
	nudged func(ctx context.Context, now time.Time) error

	jitter func(time.Duration) time.Duration // optional: spreads the passes of many nodes

	mu     sync.Mutex
	lastOK time.Time
	failed bool
	stats  Liveness
}

// Liveness says when a loop last succeeded.
type Liveness struct {
	Name   string
	Every  time.Duration
	LastOK time.Time // zero = never
	Passes int64     // ended, well or not
	Errors int64
	Took   time.Duration // all passes together
}

func (l *loop) run(ctx context.Context, now func() time.Time, log *slog.Logger) {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for {
		if l.jitter != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(l.jitter(l.every / 4)):
			}
		}
		l.once(ctx, now, log, l.body)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				waiting = false
			case <-l.nudge: // nil blocks for ever
				l.once(ctx, now, log, l.nudged)
			}
		}
	}
}

// wake asks for a pass at once; it does not wait.
func (l *loop) wake() {
	select {
	case l.nudge <- struct{}{}:
	default:
	}
}

func (l *loop) once(ctx context.Context, now func() time.Time, log *slog.Logger, body func(context.Context, time.Time) error) {
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
			log.Info("loop works again", "loop", l.name)
		}
		l.failed, l.lastOK = false, now()
		return
	}
	l.failed = true
	l.stats.Errors++
	log.Error("loop failed, will be tried again", "loop", l.name, "error", err)
}

func safely(ctx context.Context, now time.Time, body func(context.Context, time.Time) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return body(ctx, now)
}

// supervise runs what must not end before ctx does: after a panic it says so and
// starts it again.
func supervise(ctx context.Context, name string, log *slog.Logger, run func()) {
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

func (l *loop) liveness() Liveness {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.stats
	out.Name, out.Every, out.LastOK = l.name, l.every, l.lastOK
	return out
}
