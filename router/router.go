// Package router chooses the executor address for a run: the eleven strategies
// that jobs can have (reference: scheduler.md 6; GLOBAL_BUSYOVER is ours). It
// keeps the little memory that some of them need, which is shared among nodes
// through Take and Merge, and reaches the network only through the probes that
// come with a request.
package router

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Keys of the errors that Pick gives, all with code unavailable.
const (
	KeyNoAddress  = "error.no_address"             // the executor has no address
	KeyNoneAlive  = "error.no_live_node"           // FAILOVER: none answered
	KeyAllBusy    = "error.all_nodes_busy"         // BUSYOVER: none is idle
	KeyGlobalBusy = "error.all_nodes_busy_waiting" // GLOBAL_BUSYOVER: none is idle, the run waits
)

// Request is a run that looks for its address.
type Request struct {
	Strategy   model.RouteStrategy
	JobID      int
	Addresses  []string // in the order of the group
	Exclude    []string // tried already: nothing listened there
	ShardIndex int      // for SHARDING_BROADCAST, from 0
	// Turn is which fire of its job the run is, from 1; ROUND follows it, so that
	// all nodes agree. 0 = no fire of the schedule: the node's own turn counts.
	Turn int64
	Now  time.Time

	// Beat asks whether an executor is alive. FAILOVER needs it.
	Beat func(ctx context.Context, address string) error
	// IdleBeat asks whether the job is idle there. BUSYOVER needs it.
	IdleBeat func(ctx context.Context, address string) (idle bool, err error)
	// GlobalIdleBeat asks whether no job at all runs there. GLOBAL_BUSYOVER needs it.
	GlobalIdleBeat func(ctx context.Context, address string) (idle bool, err error)
}

// Router chooses addresses and remembers what the strategies need. It is safe
// for concurrent use.
type Router struct {
	intn func(n int) int // random, from 0 to below n

	mu      sync.Mutex
	jobs    map[int]*memory
	dropped []model.Pick       // addresses that have left, to be told
	taken   map[string]bool    // kept for one run by GLOBAL_BUSYOVER until Release
	freed   map[string]uint64  // when it was released, in releases
	frees   uint64             // releases so far
	rings   map[string]ring    // by the joined addresses
	ill     map[string]illness // addresses that refused connections
}

// Bounds of the memory; beyond them some other entry is forgotten.
const (
	maxJobs  = 50_000
	maxRings = 256
	maxIll   = 10_000
)

// New gives a router that remembers nothing yet.
func New() *Router { return newRouter(rand.IntN) }

func newRouter(intn func(int) int) *Router {
	return &Router{intn: intn, jobs: map[int]*memory{}, taken: map[string]bool{}, freed: map[string]uint64{}, rings: map[string]ring{}, ill: map[string]illness{}}
}

// Pick gives the address. why is a short English text for the record of the run;
// it is empty when there is nothing remarkable. The errors are *model.Error with
// one of the keys above, or that of ctx when it ends while probing; why is given
// with them too.
func (r *Router) Pick(ctx context.Context, q Request) (address, why string, err error) {
	if q.Strategy == model.RouteBroadcast { // a shard belongs to its place in the list
		return broadcast(q)
	}
	well, ill := r.candidates(q)
	switch q.Strategy {
	case model.RouteFailover, model.RouteBusyover, model.RouteGlobalBusyover:
		if len(well)+len(ill) == 0 {
			break
		}
		all := append(well, ill...) // who refused is asked last
		if q.Strategy == model.RouteGlobalBusyover {
			return r.globalIdle(ctx, q, all)
		}
		return probing(ctx, q, all)
	}
	choice := well
	if len(choice) == 0 {
		choice, ill = ill, nil // all are ill: perhaps one is back
	}
	if len(choice) == 0 {
		return "", "no address", model.Errf(model.CodeUnavailable, KeyNoAddress)
	}
	switch q.Strategy {
	case model.RouteFirst:
		address = choice[0]
	case model.RouteLast:
		address = choice[len(choice)-1]
	case model.RouteRandom:
		address = choice[r.intn(len(choice))]
	case model.RouteRound:
		address = r.round(q, choice)
	case model.RouteLFU:
		address = r.leastFrequent(q, choice)
	case model.RouteLRU:
		address = r.leastRecent(q, choice)
	case model.RouteConsistentHash:
		address = r.hashed(q.JobID, choice)
	default:
		address = choice[0]
		why = fmt.Sprintf("unknown strategy %q, FIRST is used: %s", q.Strategy, address)
	}
	if len(ill) > 0 {
		why = strings.TrimPrefix(why+"; avoiding "+strings.Join(ill, ", ")+": no connection a moment ago", "; ")
	}
	return address, why, nil
}

// broadcast gives the address of the shard. A retry of a shard that the group
// has no longer goes to the first (reference: protocol.md 7).
func broadcast(q Request) (address, why string, err error) {
	i, n := q.ShardIndex, len(q.Addresses)
	if n == 0 {
		return "", "no address", model.Errf(model.CodeUnavailable, KeyNoAddress)
	}
	if i < 0 || i >= n {
		return q.Addresses[0], fmt.Sprintf("%s: shard %d is beyond the %d addresses, the first is used: %s",
			q.Strategy, i, n, q.Addresses[0]), nil
	}
	return q.Addresses[i], "", nil
}

// candidates parts the addresses that may be chosen into those that answer as far
// as is known and those that refused a moment ago.
func (r *Router) candidates(q Request) (well, ill []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ill) == 0 && len(q.Exclude) == 0 {
		return slices.Clone(q.Addresses), nil
	}
	for _, a := range q.Addresses {
		switch {
		case slices.Contains(q.Exclude, a):
		case r.isIll(a, q.Now):
			ill = append(ill, a)
		default:
			well = append(well, a)
		}
	}
	return well, ill
}

// short cuts the text of a probe's error to 200 bytes.
func short(err error) string {
	s := err.Error()
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:197], "") + "…"
	}
	return s
}
