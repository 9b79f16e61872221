// Package upkeep removes what is over, old runs and addresses without a beat, and counts
// how the recent runs of jobs went.
package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/scheduler/config"
)

// Store is what the upkeep needs from the database.
type Store interface {
	DeleteRunsBefore(ctx context.Context, cutoff time.Time, limit int) (int, error)
	DeleteAuditBefore(ctx context.Context, cutoff time.Time, limit int) (int, error)
	RemoveIncidents(ctx context.Context, cutoff time.Time, limit int) (int, error)
	ForgetAddresses(ctx context.Context, beforeMS int64) error
	SweepRegistry(ctx context.Context, aliveSince, now time.Time) (int, error)

	JobsOfNewRuns(ctx context.Context, after int64, most int) (jobs []int, newest int64, err error)
	JobsOfOpenRuns(ctx context.Context, most int) ([]int, error)
	JobsAfter(ctx context.Context, id, limit int) ([]int, error)
	CountJobStats(ctx context.Context, jobs []int, now time.Time) error
}

// Upkeep is done by one node; each of its steps may be repeated by another.
type Upkeep struct {
	Store Store
	Cfg   config.Config
	Leads func() bool

	clock   stepWatch
	figures figures
}

// addressesKept is how long it is known what became of an address that nobody has any more.
const addressesKept = 30 * 24 * time.Hour

// Retention removes ended runs and lines of the audit that are older than the
// configured days, in small batches; what is left over waits for the next tick.
func (u *Upkeep) Retention(ctx context.Context, now time.Time) error {
	if !u.Leads() {
		return nil
	}
	if err := u.Store.ForgetAddresses(ctx, now.Add(-addressesKept).UnixMilli()); err != nil {
		return fmt.Errorf("addresses that are gone: %w", err)
	}
	if u.Cfg.RetentionDays <= 0 {
		return nil
	}
	y, mo, d := now.In(u.Cfg.Location).Date()
	cutoff := time.Date(y, mo, d-u.Cfg.RetentionDays, 0, 0, 0, 0, u.Cfg.Location)
	if err := u.clear(ctx, "old runs removed", cutoff, u.Store.DeleteRunsBefore); err != nil {
		return err
	}
	if err := u.clear(ctx, "old incidents removed", cutoff, u.Store.RemoveIncidents); err != nil {
		return err
	}
	return u.clear(ctx, "old lines of the audit removed", cutoff, u.Store.DeleteAuditBefore)
}

func (u *Upkeep) clear(ctx context.Context, done string, cutoff time.Time, remove func(context.Context, time.Time, int) (int, error)) error {
	total := 0
	for range 500 {
		n, err := remove(ctx, cutoff, u.Cfg.RetentionBatch)
		total += n
		if err != nil {
			return fmt.Errorf("retention: %w", err)
		}
		if n < u.Cfg.RetentionBatch {
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
		u.Cfg.Logger.Info(done, "count", total, "before", cutoff)
	}
	return nil
}

// SweepRegistry removes addresses that stopped beating.
//
// The beats were written by the wall clock. When that was set forward all of
// them look old, so the sweep waits until everybody had the time to beat again.
func (u *Upkeep) SweepRegistry(ctx context.Context, now time.Time) error {
	if u.clock.stepped(now, u.Cfg.RegistryDead) || !u.Leads() {
		return nil
	}
	n, err := u.Store.SweepRegistry(ctx, now.Add(-u.Cfg.RegistryDead), now)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if n > 0 {
		u.Cfg.Logger.Info("executor addresses removed, no beat", "count", n, "limit", u.Cfg.RegistryDead)
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
