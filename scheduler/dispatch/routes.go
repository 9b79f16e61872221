package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// picksAtOnce bounds what one pass tells the other nodes.
const picksAtOnce = 5000

// ShareRoutes tells the other nodes how often addresses were picked here and
// learns what they picked, so that the least used one is the same for all.
func (d *Dispatcher) ShareRoutes(ctx context.Context, _ time.Time) error {
	picks, gone := d.route.Take(picksAtOnce)
	if len(picks) == 0 && len(gone) == 0 {
		return nil
	}
	if err := d.store.AddPicks(ctx, picks, gone); err != nil {
		d.route.PutBack(picks, gone)
		return fmt.Errorf("share routes: %w", err)
	}
	var jobs []int
	for _, p := range picks {
		jobs = append(jobs, p.JobID)
	}
	slices.Sort(jobs)
	all, err := d.store.Picks(ctx, slices.Compact(jobs))
	if err != nil {
		return fmt.Errorf("shared routes: %w", err)
	}
	d.route.Merge(all)
	return nil
}
