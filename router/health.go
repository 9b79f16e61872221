package router

import "time"

// How long an address is avoided that refused a connection: longer each time it
// refuses again.
const (
	illFirst = 10 * time.Second
	illMost  = time.Minute
)

// illness is what is known of an address that refused.
type illness struct {
	until time.Time
	last  time.Duration
}

// NoteRefused remembers that an address took no connection: others are chosen
// while they answer.
func (r *Router) NoteRefused(address string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isIll(address, now) {
		return // asked all the same, or by several at once
	}
	forgetOne(r.ill, maxIll)
	d := min(illMost, max(illFirst, 2*r.ill[address].last))
	r.ill[address] = illness{now.Add(d), d}
}

// NoteAnswered remembers that an address answers.
func (r *Router) NoteAnswered(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ill) > 0 {
		delete(r.ill, address)
	}
}

// isIll reports whether an address is avoided. The caller holds r.mu.
func (r *Router) isIll(address string, now time.Time) bool {
	return now.Before(r.ill[address].until)
}
