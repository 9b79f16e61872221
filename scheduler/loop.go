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
	nudge chan struct{} // optional: run at once

	mu     sync.Mutex
	lastOK time.Time
	failed bool
}

// Liveness says when a loop last succeeded.
type Liveness struct {
	Name   string
	Every  time.Duration
	LastOK time.Time // zero = never
}

func (l *loop) run(ctx context.Context, now func() time.Time, log *slog.Logger) {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for {
		l.once(ctx, now, log)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-l.nudge: // nil blocks for ever
		}
	}
}

func (l *loop) once(ctx context.Context, now func() time.Time, log *slog.Logger) {
	err := l.safely(ctx, now())
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		if l.failed {
			log.Info("loop works again", "loop", l.name)
		}
		l.failed, l.lastOK = false, now()
		return
	}
	l.failed = true
	log.Error("loop failed, will be tried again", "loop", l.name, "error", err)
}

func (l *loop) safely(ctx context.Context, now time.Time) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return l.body(ctx, now)
}

func (l *loop) liveness() Liveness {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Liveness{Name: l.name, Every: l.every, LastOK: l.lastOK}
}
