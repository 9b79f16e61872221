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
	RetentionStore
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
