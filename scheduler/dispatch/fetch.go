package dispatch

import (
	"context"
	"fmt"
	"time"
)

const (
	// FetchAhead is how far before their instants runs are loaded into the ring.
	FetchAhead = 1500 * time.Millisecond
	// backlogAge is how late a run is that belongs to the backlog.
	backlogAge = 2 * time.Second
	// backlogShare is which part of the ring the oldest runs of the backlog may take,
	// and again its newest: what waits for an executor that hangs never fills it.
	backlogShare = 5
)

// Fetch loads this node's planned runs up to the given instant.
func (d *Dispatcher) Fetch(ctx context.Context, until time.Time) error {
	room := d.ring.room()
	if room == 0 {
		return nil
	}
	owner, old := d.node.Owner(), d.cfg.Now().Add(-backlogAge).UnixMilli()
	backlogRoom := max(1, d.cfg.RingCapacity/backlogShare)
	var ids []int64
	for _, part := range []struct {
		after, until int64
		limit        int
		latest       bool
	}{
		// What is known already is listed again, so the limit must leave room for it.
		{old, until.UnixMilli(), room + d.ring.size(), false},
		{0, old, backlogRoom, false},
		{0, old, backlogRoom, true},
	} {
		list, err := d.store.PlannedIDs(ctx, owner, part.after, part.until, part.limit, part.latest)
		if err != nil {
			return fmt.Errorf("planned runs: %w", err)
		}
		ids = append(ids, d.ring.unknown(list)...)
		if !part.latest && part.after == 0 && len(list) < backlogRoom {
			break // that was all of it
		}
	}
	if len(ids) == 0 {
		return nil
	}
	runs, err := d.store.RunsByID(ctx, ids[:min(len(ids), room)])
	if err != nil {
		return fmt.Errorf("planned runs: %w", err)
	}
	d.ring.add(runs)
	return nil
}
