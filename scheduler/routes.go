package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/router"
)

// picksAtOnce bounds what one pass tells the other nodes.
const picksAtOnce = 5000

// shareRoutes tells the other nodes how often addresses were picked here and
// learns what they picked, so that the least used one is the same for all.
func shareRoutes(store Store, route *router.Router) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		picks, gone := route.Take(picksAtOnce)
		if len(picks) == 0 && len(gone) == 0 {
			return nil
		}
		if err := store.AddPicks(ctx, picks, gone); err != nil {
			route.PutBack(picks, gone)
			return fmt.Errorf("share routes: %w", err)
		}
		var jobs []int
		for _, p := range picks {
			jobs = append(jobs, p.JobID)
		}
		slices.Sort(jobs)
		all, err := store.Picks(ctx, slices.Compact(jobs))
		if err != nil {
			return fmt.Errorf("shared routes: %w", err)
		}
		route.Merge(all)
		return nil
	}
}
