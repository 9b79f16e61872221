// Package router chooses the executor address for a run: the ten strategies
// that jobs can have (reference: scheduler.md 6). It keeps the little memory
// that some of them need, per job and in this process only, and reaches the
// network only through the probes that come with a request.
package router

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/model"
)

// Keys of the errors that Pick gives, all with code unavailable.
const (
	KeyNoAddress = "error.no_address"     // the executor has no address
	KeyNoneAlive = "error.no_live_node"   // FAILOVER: none answered
	KeyAllBusy   = "error.all_nodes_busy" // BUSYOVER: none is idle
)

// Request is a run that looks for its address.
type Request struct {
	Strategy   model.RouteStrategy
	JobID      int
	Addresses  []string // in the order of the group
	ShardIndex int      // for SHARDING_BROADCAST, from 0

	// Beat asks whether an executor is alive. FAILOVER needs it.
	Beat func(ctx context.Context, address string) error
	// IdleBeat asks whether the job is idle there. BUSYOVER needs it.
	IdleBeat func(ctx context.Context, address string) (idle bool, err error)
}

// Router chooses addresses and remembers what the strategies need. It is safe
// for concurrent use.
type Router struct {
	intn func(n int) int // random, from 0 to below n

	mu    sync.Mutex
	jobs  map[int]*memory
	rings map[string]ring // by the joined addresses
}

// Bounds of the memory; beyond them some other entry is forgotten.
const (
	maxJobs  = 50_000
	maxRings = 256
)

// New gives a router that remembers nothing yet.
func New() *Router { return newRouter(rand.IntN) }

func newRouter(intn func(int) int) *Router {
	return &Router{intn: intn, jobs: map[int]*memory{}, rings: map[string]ring{}}
}

// Pick gives the address and, for the record of the run, a short English text
// that says why. The errors are *model.Error with one of the keys above, or
// that of ctx when it ends while probing; why is given with them too. Probes
// are made one after the other, each as long as it takes.
func (r *Router) Pick(ctx context.Context, q Request) (address, why string, err error) {
	n := len(q.Addresses)
	if n == 0 {
		return "", "no address", model.Errf(model.CodeUnavailable, KeyNoAddress)
	}
	switch q.Strategy {
	case model.RouteFailover:
		return failover(ctx, q)
	case model.RouteBusyover:
		return busyover(ctx, q)
	case model.RouteFirst:
		address = q.Addresses[0]
	case model.RouteLast:
		address = q.Addresses[n-1]
	case model.RouteRandom:
		address = q.Addresses[r.intn(n)]
	case model.RouteRound:
		address = r.round(q)
	case model.RouteLFU:
		address = r.leastFrequent(q)
	case model.RouteLRU:
		address = r.leastRecent(q)
	case model.RouteConsistentHash:
		address = r.hashed(q)
	case model.RouteBroadcast:
		return broadcast(q)
	default:
		address = q.Addresses[0]
		return address, fmt.Sprintf("unknown strategy %q, FIRST is used: %s", q.Strategy, address), nil
	}
	return address, fmt.Sprintf("%s: %s, one of %d", q.Strategy, address, n), nil
}

// broadcast gives the address of the shard. A retry of a shard that the group
// has no longer goes to the first (reference: protocol.md 7).
func broadcast(q Request) (address, why string, err error) {
	i := q.ShardIndex
	if i < 0 || i >= len(q.Addresses) {
		return q.Addresses[0], fmt.Sprintf("%s: shard %d is beyond the %d addresses, the first is used: %s",
			q.Strategy, i, len(q.Addresses), q.Addresses[0]), nil
	}
	return q.Addresses[i], fmt.Sprintf("%s: shard %d of %d: %s", q.Strategy, i, len(q.Addresses), q.Addresses[i]), nil
}

func failover(ctx context.Context, q Request) (address, why string, err error) {
	if q.Beat == nil {
		return "", "", errors.New("router: FAILOVER without a beat probe")
	}
	return probe(ctx, q, KeyNoneAlive, func(a string) (bool, string) {
		if err := q.Beat(ctx, a); err != nil {
			return false, "refused (" + short(err) + ")"
		}
		return true, "answered"
	})
}

func busyover(ctx context.Context, q Request) (address, why string, err error) {
	if q.IdleBeat == nil {
		return "", "", errors.New("router: BUSYOVER without an idle probe")
	}
	return probe(ctx, q, KeyAllBusy, func(a string) (bool, string) {
		idle, err := q.IdleBeat(ctx, a)
		switch {
		case err != nil:
			return false, "refused (" + short(err) + ")"
		case !idle:
			return false, "is busy"
		}
		return true, "is idle"
	})
}

// probe asks the addresses in order and takes the first that agrees.
func probe(ctx context.Context, q Request, key string, ask func(string) (bool, string)) (address, why string, err error) {
	notes := make([]string, 0, len(q.Addresses))
	text := func() string { return string(q.Strategy) + ": " + strings.Join(notes, "; ") }
	for _, a := range q.Addresses {
		if err := ctx.Err(); err != nil {
			return "", text(), err
		}
		ok, note := ask(a)
		notes = append(notes, a+" "+note)
		if ok {
			return a, text(), nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", text(), err
	}
	return "", text(), model.Errf(model.CodeUnavailable, key)
}

// short cuts the text of a probe's error to 200 bytes.
func short(err error) string {
	s := err.Error()
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:197], "") + "…"
	}
	return s
}
