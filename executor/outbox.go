package executor

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/protocol"
)

const (
	batchSize = 50       // results in one call
	maxMsg    = 16 << 10 // bytes; centers keep 15000 characters (reference: protocol.md 3.3)
	keepFor   = 7 * 24 * time.Hour
)

// outbox holds the results that no center has taken yet. What a center has
// refused is set aside and sent one by one, so that one bad result does not
// keep the others.
type outbox struct {
	wake chan struct{} // holds one signal

	mu    sync.Mutex
	fresh []result
	aside []*setAside
}

// setAside is a result that was refused, alone or in company.
type setAside struct {
	result
	fails int
	next  time.Time
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func (o *outbox) add(r result) {
	o.mu.Lock()
	o.fresh = append(o.fresh, r)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) unsent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.fresh) + len(o.aside)
}

// batch gives the oldest results that were not refused yet.
func (o *outbox) batch() []result {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]result(nil), o.fresh[:min(len(o.fresh), batchSize)]...)
}

// taken drops the first n fresh results.
func (o *outbox) taken(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fresh = o.fresh[n:]
}

// refused sets the first n fresh results aside, due at once.
func (o *outbox) refused(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.fresh[:n] {
		o.aside = append(o.aside, &setAside{result: r})
	}
	o.fresh = o.fresh[n:]
}

// due takes out up to n of the results set aside whose time has come.
func (o *outbox) due(now time.Time, n int) []*setAside {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out, rest []*setAside
	for _, s := range o.aside {
		if len(out) < n && !s.next.After(now) {
			out = append(out, s)
		} else {
			rest = append(rest, s)
		}
	}
	o.aside = rest
	return out
}

// back returns what due gave and was not taken.
func (o *outbox) back(list []*setAside) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.aside = append(o.aside, list...)
}

// nextDue says how long there is nothing to do.
func (o *outbox) nextDue(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.fresh) > 0 {
		return 0
	}
	wait := time.Hour
	for _, s := range o.aside {
		wait = min(wait, s.next.Sub(now))
	}
	return max(wait, 0)
}

// expire drops what is too old to be of interest and gives it.
func (o *outbox) expire(now time.Time) []result {
	o.mu.Lock()
	defer o.mu.Unlock()
	limit := now.Add(-keepFor).UnixMilli()
	var gone, fresh []result
	var aside []*setAside
	for _, r := range o.fresh {
		if r.At < limit {
			gone = append(gone, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	for _, s := range o.aside {
		if s.At < limit {
			gone = append(gone, s.result)
		} else {
			aside = append(aside, s)
		}
	}
	o.fresh, o.aside = fresh, aside
	return gone
}

func callbacks(list []result) []protocol.Callback {
	out := make([]protocol.Callback, len(list))
	for i, r := range list {
		out[i] = protocol.Callback{LogID: r.LogID, LogDateTime: r.LogTime, Code: r.Code, Msg: r.Msg, Said: r.Said, Echo: true}
	}
	return out
}

// cutMsg shortens a message to maxMsg bytes of valid UTF-8.
func cutMsg(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= maxMsg {
		return s
	}
	end := maxMsg - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
