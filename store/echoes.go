package store

import "sync"

// echoes knows which executors send the trigger time back with each result, by address.
// Nothing is lost when it forgets: then their word counts for less.
type echoes struct {
	mu sync.Mutex
	m  map[string]int // results in a row with the trigger time; ownClock = it sends its own time
}

const (
	// echoTrust is how many results must have come with the trigger time.
	echoTrust = 20
	ownClock  = -1
	echoMax   = 10_000
)

// note adds what came with a result and reports whether the executor had always sent the
// trigger time back before.
func (e *echoes) note(address string, same bool) (trusted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.m == nil || len(e.m) >= echoMax {
		e.m = map[string]int{}
	}
	n := e.m[address]
	trusted = n >= echoTrust
	switch {
	case same && n >= 0:
		e.m[address] = min(n+1, echoTrust)
	case !same && !trusted:
		e.m[address] = ownClock
	}
	return trusted
}
