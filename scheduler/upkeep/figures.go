package upkeep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// figuresAtOnce is how many jobs one pass counts anew, figuresSwept how many of them it
	// takes in turn, whatever they did: so nothing stays wrong for ever.
	figuresAtOnce = 1000
	figuresSwept  = 100
	newRunsAtOnce = 20_000
	openRunsMost  = 5000
	// figuresWaiting bounds what is left for the next pass.
	figuresWaiting = 100_000
)

// figures is what the counting remembers from pass to pass.
type figures struct {
	newest int64        // the newest run that was seen
	due    map[int]bool // jobs to be counted: they had new or open runs
	swept  int          // the last job of the turn
}

// Figures counts how the recent runs of jobs went: of those that have new runs or had open
// ones, and some in turn.
func (u *Upkeep) Figures(ctx context.Context, now time.Time) error {
	if !u.Leads() {
		return nil
	}
	f := &u.figures
	if f.due == nil {
		f.due = map[int]bool{}
	}
	fresh, newest, err := u.Store.JobsOfNewRuns(ctx, f.newest, newRunsAtOnce)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	f.newest = newest
	f.add(fresh)
	sweep, err := u.Store.JobsAfter(ctx, f.swept, figuresSwept)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	if f.swept = 0; len(sweep) == figuresSwept {
		f.swept = sweep[len(sweep)-1]
	}
	counted := slices.Sorted(maps.Keys(f.due))
	counted = counted[:min(len(counted), figuresAtOnce)]
	for _, id := range counted {
		delete(f.due, id)
	}
	// Before they are counted: a run that ends meanwhile is counted once more.
	open, err := u.Store.JobsOfOpenRuns(ctx, openRunsMost)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	list := append(counted, sweep...)
	slices.Sort(list)
	if err := u.Store.CountJobStats(ctx, slices.Compact(list), now); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	f.add(open)
	return nil
}

func (f *figures) add(jobs []int) {
	for _, id := range jobs {
		if len(f.due) < figuresWaiting {
			f.due[id] = true
		}
	}
}
