package jobs

import (
	"context"
	"runtime"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// A password check costs 50 ms of a processor on purpose. Without a bound
// whoever sends logins takes all processors from the runs.
const (
	mostChecks  = 2
	mostWaiting = 8
	// longestCheck bounds the wait for a turn and the check itself, for the day
	// on which the database hangs.
	longestCheck = 10 * time.Second
	busyWait     = 5 * time.Second // what those are told who find no room
)

// gate lets a few password checks happen at a time and a few more wait. Who got
// in from the same address before waits in a row of their own, so that a flood
// of strangers does not keep them out.
type gate struct{ strangers, known, turns chan struct{} }

// newGate leaves half of the processors alone.
func newGate() *gate {
	checks := min(mostChecks, max(1, runtime.GOMAXPROCS(0)/2))
	return &gate{
		strangers: make(chan struct{}, checks+mostWaiting), known: make(chan struct{}, checks+mostWaiting),
		turns: make(chan struct{}, checks),
	}
}

// enter waits for a turn. Who finds no room to wait is sent away at once.
func (g *gate) enter(ctx context.Context, known bool) (leave func(), err error) {
	places := g.strangers
	if known {
		places = g.known
	}
	select {
	case places <- struct{}{}:
	default:
		return nil, tooMany("error.login_busy", busyWait)
	}
	select {
	case g.turns <- struct{}{}:
		return func() { <-g.turns; <-places }, nil
	case <-ctx.Done():
		<-places
		return nil, tooMany("error.login_busy", busyWait)
	}
}

// tooMany tells a person to come again later; Wait is a time.Duration.
func tooMany(key string, wait time.Duration) error {
	return model.Errf(model.CodeTooMany, key, "Wait", wait)
}
