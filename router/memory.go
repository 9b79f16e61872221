package router

import (
	"maps"
	"slices"
)

// memory is what the strategies remember of one job.
type memory struct {
	turn   uint64         // ROUND: picks so far, from a random start
	counts map[string]int // LEAST_FREQUENTLY_USED: picks by address
	order  []string       // LEAST_RECENTLY_USED: eldest first
}

// memory gives what is remembered of the job. The caller holds r.mu. ROUND
// starts anywhere, so that the daily jobs of a site do not all meet on the
// first address.
func (r *Router) memory(job int) *memory {
	m := r.jobs[job]
	if m == nil {
		forgetOne(r.jobs, maxJobs)
		m = &memory{turn: uint64(r.intn(100))} //nolint:gosec // not negative
		r.jobs[job] = m
	}
	return m
}

func (r *Router) round(q Request) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memory(q.JobID)
	a := q.Addresses[m.turn%uint64(len(q.Addresses))]
	m.turn++
	return a
}

// leastFrequent takes the address with the fewest picks, among equals the first
// in the list. The addresses of a new job begin with random counts, for the
// same reason as ROUND; one that joins later begins with the smallest count, so
// that it is not flooded.
func (r *Router) leastFrequent(q Request) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memory(q.JobID)
	maps.DeleteFunc(m.counts, func(a string, _ int) bool { return !slices.Contains(q.Addresses, a) })
	begin := func() int { return r.intn(len(q.Addresses)) }
	if len(m.counts) > 0 {
		least := slices.Min(slices.Collect(maps.Values(m.counts)))
		begin = func() int { return least }
	} else {
		m.counts = make(map[string]int, len(q.Addresses))
	}
	best := q.Addresses[0]
	for _, a := range q.Addresses {
		if _, ok := m.counts[a]; !ok {
			m.counts[a] = begin()
		}
		if m.counts[a] < m.counts[best] {
			best = a
		}
	}
	m.counts[best]++
	return best
}

// leastRecent takes the address whose last pick is the longest ago; new ones
// come after the known in the order of the list.
func (r *Router) leastRecent(q Request) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memory(q.JobID)
	m.order = slices.DeleteFunc(m.order, func(a string) bool { return !slices.Contains(q.Addresses, a) })
	for _, a := range q.Addresses {
		if !slices.Contains(m.order, a) {
			m.order = append(m.order, a)
		}
	}
	eldest := m.order[0]
	m.order = append(slices.Delete(m.order, 0, 1), eldest)
	return eldest
}

// forgetOne makes room in a full map.
func forgetOne[K comparable, V any](m map[K]V, limit int) {
	if len(m) < limit {
		return
	}
	for k := range m {
		delete(m, k)
		return
	}
}
