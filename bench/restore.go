package main

import (
	"context"
	"time"
)

const (
	// forgotten is how much of its past the database loses.
	forgotten = 15 * time.Second
	// settled is how long after that what was in progress may be in disorder: runs whose
	// rows are gone are still being made, others are made again.
	settled = 30 * time.Second
)

// forget lets the database go back to a copy of itself while the nodes go on. What
// was written in between is gone, so those seconds cannot be judged as others are;
// that no result gets to the wrong run can.
func (s *site) forget(ctx context.Context, from time.Time) (fault, error) {
	if err := pause(ctx, time.Until(from)); err != nil {
		return fault{}, err
	}
	f := fault{kind: faultRestore, what: "back to a copy", start: time.Now(), all: true}
	if err := s.maria.Copy(ctx); err != nil {
		return f, err
	}
	if err := pause(ctx, forgotten); err != nil {
		return f, err
	}
	err := s.maria.Restore(ctx)
	f.end = time.Now()
	return f, err
}
