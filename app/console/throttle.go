package console

import (
	"sync"
	"time"
)

// Guessing passwords is made slow: after five failures for a user from an
// address each further one doubles the wait, up to a quarter of an hour.
const (
	freeFailures  = 5
	firstWait     = 5 * time.Second
	longestWait   = 15 * time.Minute
	forgetAfter   = time.Hour
	throttleLimit = 10_000 // entries kept, so that nobody fills the memory
)

type throttle struct {
	now     func() time.Time
	mu      sync.Mutex
	entries map[string]*failures
}

type failures struct {
	count int
	last  time.Time
	until time.Time
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, entries: map[string]*failures{}}
}

// wait says how long the next attempt has to wait, 0 = not at all.
func (t *throttle) wait(key string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil {
		return max(0, e.until.Sub(t.now()))
	}
	return 0
}

// failed notes a wrong password.
func (t *throttle) failed(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	e := t.entries[key]
	if e == nil || now.Sub(e.last) > forgetAfter {
		t.makeRoom(now)
		e = &failures{}
		t.entries[key] = e
	}
	e.count, e.last = e.count+1, now
	if over := e.count - freeFailures; over >= 0 {
		e.until = now.Add(min(longestWait, firstWait<<min(over, 10)))
	}
}

// passed forgets the failures of somebody who knew the password.
func (t *throttle) passed(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.entries, key)
}

// makeRoom drops what is forgotten, and if that is not enough the oldest entry.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.entries) < throttleLimit {
		return
	}
	oldest := ""
	for k, e := range t.entries {
		if now.Sub(e.last) > forgetAfter {
			delete(t.entries, k)
		} else if oldest == "" || e.last.Before(t.entries[oldest].last) {
			oldest = k
		}
	}
	if len(t.entries) >= throttleLimit {
		delete(t.entries, oldest)
	}
}
