package scheduler

import (
	"context"
	"fmt"
	"time"
)

// retention removes ended runs that are older than the configured days, in
// small batches; what is left over waits for the next tick.
func (s *Scheduler) retention(ctx context.Context, now time.Time) error {
	if s.cfg.RetentionDays <= 0 || !s.node.leads() {
		return nil
	}
	y, mo, d := now.In(s.cfg.Location).Date()
	cutoff := time.Date(y, mo, d-s.cfg.RetentionDays, 0, 0, 0, 0, s.cfg.Location)
	total := 0
	for range 500 {
		n, err := s.store.DeleteRunsBefore(ctx, cutoff, s.cfg.RetentionBatch)
		total += n
		if err != nil {
			return fmt.Errorf("retention: %w", err)
		}
		if n < s.cfg.RetentionBatch {
			break
		}
		// Between two batches others get the database: history can wait.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	if total > 0 {
		s.cfg.Logger.Info("old runs removed", "count", total, "before", cutoff)
	}
	return nil
}

// sweepRegistry removes addresses that stopped beating.
//
// The beats were written by the wall clock. When that was set forward all of
// them look old, so the sweep waits until everybody had the time to beat again.
func (s *Scheduler) sweepRegistry(ctx context.Context, now time.Time) error {
	if s.clock.stepped(now, s.cfg.RegistryDead) || !s.node.leads() {
		return nil
	}
	n, err := s.store.SweepRegistry(ctx, now.Add(-s.cfg.RegistryDead), now)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if n > 0 {
		s.cfg.Logger.Info("executor addresses removed, no beat", "count", n, "limit", s.cfg.RegistryDead)
	}
	return nil
}

// stepWatch notices that the wall clock was set: it compares how far it went
// with the monotonic clock that time.Time carries beside it. One loop uses it.
type stepWatch struct {
	last time.Time // with its monotonic reading
	set  time.Time // when a step was noticed; zero = never
}

// stepped reports whether the wall clock was set within the last hold.
func (w *stepWatch) stepped(now time.Time, hold time.Duration) bool {
	if !w.last.IsZero() {
		wall := now.Round(0).Sub(w.last.Round(0))
		if drift := wall - now.Sub(w.last); drift > 2*time.Second || drift < -2*time.Second {
			w.set = now
		}
	}
	w.last = now
	return !w.set.IsZero() && now.Sub(w.set) < hold
}
