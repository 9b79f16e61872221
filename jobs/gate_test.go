package jobs

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestGate: a bounded row, no wait without an end, and a row of their own for
// people who are known.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		room := cap(g.strangers)
		require.LessOrEqual(t, cap(g.turns), 2)
		leaves := make(chan func(), 2*room)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range room {
			go func() {
				if leave, err := g.enter(ctx, false); err == nil {
					leaves <- leave
				}
			}()
		}
		synctest.Wait()
		_, err := g.enter(ctx, false)
		require.Equal(t, model.CodeTooMany, model.CodeOf(err), "no room")
		known := make(chan error, 1)
		go func() {
			leave, err := g.enter(t.Context(), true)
			if err == nil {
				leave()
			}
			known <- err
		}()
		synctest.Wait()
		require.Empty(t, known, "waits")
		time.Sleep(2 * time.Second) // those who wait give up
		synctest.Wait()
		for range cap(g.turns) {
			(<-leaves)()
		}
		require.NoError(t, <-known)
		require.Empty(t, g.strangers)
		require.Empty(t, g.known)
		require.Empty(t, g.turns)
	})
}
