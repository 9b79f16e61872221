package loop

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBatcherSharesWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		b := NewBatcher(10, func(_ context.Context, in []int) ([]int, error) {
			sizes = append(sizes, len(in))
			time.Sleep(time.Second)
			if in[0] < 0 {
				return nil, errors.New("no")
			}
			out := make([]int, len(in))
			for i, v := range in {
				out[i] = 2 * v
			}
			return out, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Run(ctx, context.Background()) }()
		var wg sync.WaitGroup
		for i := 1; i <= 9; i++ {
			wg.Go(func() {
				out, err := b.Do(t.Context(), i)
				require.NoError(t, err)
				require.Equal(t, []int{2 * i}, out)
			})
		}
		wg.Wait()
		require.LessOrEqual(t, len(sizes), 3, "nine items, few writes: %v", sizes)
		_, err := b.Do(t.Context(), -1)
		require.Error(t, err)
		cancel()
		<-done
		_, err = b.Do(t.Context(), 1)
		require.ErrorIs(t, err, ErrStopped)
	})
}

func TestBatcherWritesWhatIsQueuedAtStop(t *testing.T) {
	b := NewBatcher(10, func(ctx context.Context, in []int) ([]int, error) { return in, ctx.Err() })
	ctx, cancel := context.WithCancel(t.Context())
	item := batchItem[int, int]{in: []int{1}, back: make(chan batchBack[int], 1)}
	b.in <- item
	cancel()
	b.Run(ctx, context.Background())
	require.NoError(t, (<-item.back).err, "stored with the detached context")
}

func TestLoopSurvivesErrorsAndPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		l := &Loop{Name: "x", Every: time.Second, Body: func(context.Context, time.Time) error {
			n++
			switch n {
			case 1:
				panic("boom")
			case 2:
				return errors.New("no")
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx, time.Now, slog.New(slog.DiscardHandler)) }()
		time.Sleep(1500 * time.Millisecond)
		require.True(t, l.Liveness().LastOK.IsZero())
		time.Sleep(2 * time.Second)
		require.False(t, l.Liveness().LastOK.IsZero())
		require.Equal(t, 4, n)
		cancel()
		<-done
	})
}

// TestOneBadItemStandsAlone: the others in its batch are stored.
func TestOneBadItemStandsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		b := NewBatcher(100, func(_ context.Context, in []int) ([]int, error) {
			time.Sleep(10 * time.Millisecond) // others join
			if slices.Contains(in, 13) {
				return nil, bad
			}
			return in, nil
		})
		b.Alone = func(err error) bool { return errors.Is(err, bad) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Run(ctx, context.Background()) }()
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				out, err := b.Do(t.Context(), i)
				if i == 13 {
					require.ErrorIs(t, err, bad)
					return
				}
				require.NoError(t, err)
				require.Equal(t, []int{i}, out)
			})
		}
		wg.Wait()
		cancel()
		<-done
	})
}
