// Package router chooses the executor address for a run: the eleven strategies
// that jobs can have (reference: scheduler.md 6; GLOBAL_BUSYOVER is ours). It
// keeps the little memory that some of them need, which is shared among nodes
// through Take and Merge, and reaches the network only through the probes that
// come with a request.
package router

import (
	"context"
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
	Beat func(ctx context.Context, address string) Answer
	// IdleBeat asks whether the job is idle there. BUSYOVER needs it.
	IdleBeat func(ctx context.Context, address string) Answer
	// GlobalIdleBeat asks whether no job at all runs there. GLOBAL_BUSYOVER needs it.
	GlobalIdleBeat func(ctx context.Context, address string) Answer
}

// Answer is what an executor says to a question.
type Answer struct {
	Free bool // alive, or idle
	Busy bool // it answers, and it is busy
	Code int  // of the answer; 0 = none
	Text string
	MS   int64 // how long it took
}

// Choice is the address for a run and how it was found.
type Choice struct {
	Address string
	Said    []model.Said    // what is remarkable about it
	Asked   []model.Attempt // who was asked, in the order of the list
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

// Pick gives the address. The errors are *model.Error with one of the keys above, or
// that of ctx when it ends while probing; what was found out is given with them too.
func (r *Router) Pick(ctx context.Context, q Request) (c Choice, err error) {
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
		c, _, err = probing(ctx, q, all)
		return c, err
	}
	choice := well
	if len(choice) == 0 {
		choice, ill = ill, nil // all are ill: perhaps one is back
	}
	if len(choice) == 0 {
		return c, model.Errf(model.CodeUnavailable, KeyNoAddress)
	}
	switch q.Strategy {
	case model.RouteFirst:
		c.Address = choice[0]
	case model.RouteLast:
		c.Address = choice[len(choice)-1]
	case model.RouteRandom:
		c.Address = choice[r.intn(len(choice))]
	case model.RouteRound:
		c.Address = r.round(q, choice)
	case model.RouteLFU:
		c.Address = r.leastFrequent(q, choice)
	case model.RouteLRU:
		c.Address = r.leastRecent(q, choice)
	case model.RouteConsistentHash:
		c.Address = r.hashed(q.JobID, choice)
	default:
		c.Address = choice[0]
		c.Said = append(c.Said, model.Say("route_unknown", "Strategy", string(q.Strategy)))
	}
	if len(ill) > 0 {
		c.Said = append(c.Said, model.Say("route_avoids", "Addresses", strings.Join(ill, ", ")))
	}
	return c, nil
}

// broadcast gives the address of the shard. A retry of a shard that the group
// has no longer goes to the first (reference: protocol.md 7).
func broadcast(q Request) (Choice, error) {
	i, n := q.ShardIndex, len(q.Addresses)
	if n == 0 {
		return Choice{}, model.Errf(model.CodeUnavailable, KeyNoAddress)
	}
	if i < 0 || i >= n {
		return Choice{Address: q.Addresses[0], Said: []model.Said{model.Say("route_shard_beyond", "Shard", i, "Count", n)}}, nil
	}
	return Choice{Address: q.Addresses[i]}, nil
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
