package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// told picks and puts what was found out into a line.
func told(r *Router, ctx context.Context, q Request) (address, why string, err error) {
	c, err := r.Pick(ctx, q)
	words := []string{}
	if len(c.Said) > 0 {
		words = append(words, model.PlainWords(c.Said...))
	}
	for _, a := range c.Asked {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%s %d %s", a.Address, a.Code, a.Text)))
	}
	return c.Address, strings.Join(words, "; "), err
}

func alive(probe func(context.Context, string) error) func(context.Context, string) Answer {
	return func(ctx context.Context, a string) Answer {
		if err := probe(ctx, a); err != nil {
			return Answer{Text: err.Error()}
		}
		return Answer{Free: true, Code: 200}
	}
}

func idle(probe func(context.Context, string) (bool, error)) func(context.Context, string) Answer {
	return func(ctx context.Context, a string) Answer {
		free, err := probe(ctx, a)
		switch {
		case err != nil:
			return Answer{Text: err.Error()}
		case !free:
			return Answer{Busy: true, Code: 500, Text: "busy"}
		}
		return Answer{Free: true, Code: 200}
	}
}

func TestFailover(t *testing.T) {
	q := Request{Strategy: model.RouteFailover, Addresses: []string{"a", "b", "c"}}
	_, _, err := told(New(), t.Context(), q)
	require.ErrorContains(t, err, "without its probe")
	q.Beat = alive(func(_ context.Context, a string) error {
		if a == "a" {
			return errors.New("connection refused")
		}
		return nil
	})
	a, why, err := told(New(), t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "b", a)
	require.Equal(t, "a 0 connection refused; b 200", why)

	q.Beat = alive(func(context.Context, string) error { return errors.New(strings.Repeat("x", 1000)) })
	_, _, err = told(New(), t.Context(), q)
	var e *model.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, KeyNoneAlive, e.Key)

	q.Addresses = nil
	_, _, err = told(New(), t.Context(), q)
	require.ErrorAs(t, err, &e)
	require.Equal(t, KeyNoAddress, e.Key)

	ctx, cancel := context.WithCancel(t.Context())
	q.Addresses = []string{"a"}
	q.Beat = alive(func(context.Context, string) error { cancel(); return errors.New("gone") })
	_, why, err = told(New(), ctx, q)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "a 0 gone", why)
}

// TestProbesRunTogether: three that hang cost one deadline, not three.
func TestProbesRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := Request{Strategy: model.RouteFailover, Addresses: []string{"a", "b", "c", "d"}}
		q.Beat = alive(func(ctx context.Context, a string) error {
			if a == "d" {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		began := time.Now()
		a, why, err := told(New(), t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, "d", a)
		require.Equal(t, probeGrace, time.Since(began), "who is later than the grace is passed by")
		require.Contains(t, why, "a 0 no answer in time")

		q.Addresses = q.Addresses[:3]
		began = time.Now()
		_, _, err = told(New(), t.Context(), q)
		require.Error(t, err)
		require.Equal(t, probeDeadline, time.Since(began))

		// The order of the list counts for those that answer within the grace.
		q.Addresses = []string{"late", "soon"}
		q.Beat = alive(func(_ context.Context, a string) error {
			if a == "late" {
				time.Sleep(probeGrace / 2)
			}
			return nil
		})
		a, why, err = told(New(), t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, "late", a)
		require.Equal(t, "late 200", why)
	})
}

// TestManyAreAskedInWaves: never more than a few questions at the same time.
func TestManyAreAskedInWaves(t *testing.T) {
	var now, most atomic.Int32
	var mu sync.Mutex
	asked := map[string]bool{}
	q := Request{Strategy: model.RouteBusyover}
	for i := range 30 {
		q.Addresses = append(q.Addresses, string(rune('A'+i)))
	}
	q.IdleBeat = idle(func(_ context.Context, a string) (bool, error) {
		mu.Lock()
		asked[a] = true
		mu.Unlock()
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return a == "Z", nil
	})
	a, _, err := told(New(), t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "Z", a)
	require.LessOrEqual(t, most.Load(), int32(probeParallel))
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, len(asked), 26, "Z is in the last wave")
}

func TestBusyover(t *testing.T) {
	for strategy, key := range map[model.RouteStrategy]string{model.RouteBusyover: KeyAllBusy, model.RouteGlobalBusyover: KeyGlobalBusy} {
		q := Request{Strategy: strategy, Addresses: []string{"a", "b", "c"}}
		_, _, err := told(New(), t.Context(), q)
		require.ErrorContains(t, err, "without its probe")
		probe := idle(func(_ context.Context, a string) (bool, error) {
			switch a {
			case "a":
				return false, nil
			case "b":
				return false, errors.New("time-out")
			}
			return true, nil
		})
		if strategy == model.RouteBusyover {
			q.IdleBeat = probe
		} else {
			q.GlobalIdleBeat = probe
		}
		a, why, err := told(New(), t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, "c", a)
		require.Equal(t, "a 500 busy; b 0 time-out; c 200", why)

		q.Addresses = q.Addresses[:2]
		_, _, err = told(New(), t.Context(), q)
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, key, e.Key)
	}
}

// TestGlobalBusyoverKeepsTheAddress until the run was sent, and waits only where
// somebody is busy.
func TestGlobalBusyoverKeepsTheAddress(t *testing.T) {
	r := New()
	q := Request{Strategy: model.RouteGlobalBusyover, Addresses: []string{"a", "b"}}
	q.GlobalIdleBeat = idle(func(context.Context, string) (bool, error) { return true, nil })
	var picked []string
	for range 2 {
		a, _, err := told(r, t.Context(), q)
		require.NoError(t, err)
		picked = append(picked, a)
	}
	require.Equal(t, []string{"a", "b"}, picked)
	_, why, err := told(r, t.Context(), q)
	var e *model.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, KeyGlobalBusy, e.Key)
	require.Contains(t, why, "route_all_taken")
	r.Release("b")
	a, _, err := told(r, t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "b", a)

	q.GlobalIdleBeat = idle(func(context.Context, string) (bool, error) { return false, errors.New("no such call") })
	_, why, err = told(New(), t.Context(), q)
	require.ErrorAs(t, err, &e)
	require.Equal(t, KeyNoneAlive, e.Key, "nobody is busy, so there is nothing to wait for")
	require.Contains(t, why, "no such call")
}
