package router

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// memory is what the strategies remember of one job.
type memory struct {
	turn uint64          // ROUND without a turn from outside: picks so far, from a random start
	uses map[string]*use // LEAST_FREQUENTLY_USED and LEAST_RECENTLY_USED, by address
}

// use is how often and when an address was picked, by all nodes as far as known.
type use struct {
	picks int64
	used  int64 // epoch ms, never twice the same within a job
	fresh int64 // picks of this node that the others do not know yet
	base  int64 // picks that the address began with
	known bool  // the others know the address
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

// round goes through the list with the fires of the job.
func (r *Router) round(q Request, choice []string) string {
	if q.Turn > 0 {
		// The job's own number spreads the jobs that all fire for the first time.
		return choice[(uint64(q.Turn)+uint64(q.JobID))%uint64(len(choice))] //nolint:gosec // not negative
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memory(q.JobID)
	a := choice[m.turn%uint64(len(choice))]
	m.turn++
	return a
}

// uses gives what is known of all addresses of the request. One that joins
// begins with the smallest count of the others, so that it is not flooded, and
// as the one used last; those of a new job begin with random counts, for the
// same reason as ROUND. The caller holds r.mu.
func (r *Router) uses(q Request) map[string]*use {
	m := r.memory(q.JobID)
	for a := range m.uses {
		if !slices.Contains(q.Addresses, a) {
			delete(m.uses, a)
			if len(r.dropped) < maxJobs {
				r.dropped = append(r.dropped, model.Pick{JobID: q.JobID, Address: a})
			}
		}
	}
	begin := func() int64 { return int64(r.intn(len(q.Addresses))) }
	var newest int64
	if len(m.uses) == 0 {
		m.uses = make(map[string]*use, len(q.Addresses))
	} else {
		least := int64(-1)
		for _, u := range m.uses {
			newest = max(newest, u.used)
			if least < 0 || u.picks < least {
				least = u.picks
			}
		}
		begin = func() int64 { return least }
	}
	for _, a := range q.Addresses {
		if m.uses[a] == nil {
			newest++
			n := begin()
			m.uses[a] = &use{picks: n, base: n, used: newest}
		}
	}
	return m.uses
}

// leastFrequent takes the address with the fewest picks, among equals the first
// in the list.
func (r *Router) leastFrequent(q Request, choice []string) string {
	return r.least(q, choice, func(u *use) int64 { return u.picks })
}

// leastRecent takes the address whose last pick is the longest ago.
func (r *Router) leastRecent(q Request, choice []string) string {
	return r.least(q, choice, func(u *use) int64 { return u.used })
}

func (r *Router) least(q Request, choice []string, by func(*use) int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	uses := r.uses(q)
	best := slices.MinFunc(choice, func(a, b string) int { return cmp.Compare(by(uses[a]), by(uses[b])) })
	newest := int64(0)
	if !q.Now.IsZero() {
		newest = q.Now.UnixMilli() - 1
	}
	for _, u := range uses {
		newest = max(newest, u.used)
	}
	u := uses[best]
	u.picks, u.fresh, u.used = u.picks+1, u.fresh+1, newest+1
	return best
}

// Take gives what other nodes do not know yet: picks that were made here, at
// most about limit of them, and addresses that have left. It counts as told; when
// telling fails, PutBack takes it back.
func (r *Router) Take(limit int) (picks, gone []model.Pick) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone, r.dropped = r.dropped, nil
	for job, m := range r.jobs {
		for a, u := range m.uses {
			if u.fresh == 0 && u.known {
				continue
			}
			picks = append(picks, model.Pick{JobID: job, Address: a, Picks: u.fresh, Base: u.base, UsedMS: u.used})
			u.fresh, u.known = 0, true
		}
		if len(picks) >= limit {
			break
		}
	}
	return picks, gone
}

// PutBack takes back what could not be told.
func (r *Router) PutBack(picks, gone []model.Pick) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped = append(r.dropped, gone...)
	for _, p := range picks {
		if m := r.jobs[p.JobID]; m != nil && m.uses[p.Address] != nil {
			m.uses[p.Address].fresh += p.Picks
			m.uses[p.Address].known = false
		}
	}
}

// Merge takes over what all nodes together have picked.
func (r *Router) Merge(all []model.Pick) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range all {
		m := r.jobs[p.JobID]
		if m == nil || m.uses[p.Address] == nil {
			continue
		}
		u := m.uses[p.Address]
		u.picks, u.used, u.known = p.Picks+u.fresh, max(u.used, p.UsedMS), true
	}
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
