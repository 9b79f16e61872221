package router

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	// probeParallel is how many addresses are asked at the same time.
	probeParallel = 8
	// probeDeadline bounds one question: an executor that is asked whether it is
	// free answers at once or is not free.
	probeDeadline = time.Second
	// probeGrace is how long an answer waits for those of addresses before it in
	// the list.
	probeGrace = 100 * time.Millisecond
)

// answer is what became of one question.
type answer struct {
	place int
	ok    bool
	note  string
}

// globalIdle chooses an address that runs nothing and keeps it for this run until
// Release: between the answer "idle" and the run nobody else of this node gets it.
func (r *Router) globalIdle(ctx context.Context, q Request, candidates []string) (address, why string, err error) {
	for {
		free, began := r.notTaken(candidates)
		if len(free) == 0 {
			return "", string(q.Strategy) + ": a run is on its way to every address", model.Errf(model.CodeUnavailable, KeyGlobalBusy)
		}
		address, why, err = probing(ctx, q, free)
		if e, ok := errors.AsType[*model.Error](err); ok && e.Key == KeyGlobalBusy && len(free) == len(candidates) && !strings.Contains(why, noteBusy) {
			// Nobody is busy: nobody answers, or nobody knows the question. There is nothing to wait for.
			return "", why, model.Errf(model.CodeUnavailable, KeyNoneAlive)
		}
		if err != nil || r.take(address, began) {
			return address, why, err
		}
	}
}

// notTaken gives the addresses that are free, and the moment, counted in releases.
func (r *Router) notTaken(addresses []string) (free []string, began uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began = r.frees
	for _, a := range addresses {
		if !r.taken[a] {
			free = append(free, a)
		}
	}
	return free, began
}

// take keeps an address that answered "idle" after the moment began. When a run
// was sent to it meanwhile the answer is out of date.
func (r *Router) take(address string, began uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[address] || r.freed[address] > began {
		return false
	}
	r.taken[address] = true
	return true
}

// Release gives an address free that Pick kept for a run of GLOBAL_BUSYOVER.
func (r *Router) Release(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, address)
	forgetOne(r.freed, maxIll)
	r.frees++
	r.freed[address] = r.frees
}

// noteBusy is what is noted of an executor that answers and is busy.
const noteBusy = " is busy"

// probing asks the candidates, several at the same time, and takes the first in
// the list that agrees.
func probing(ctx context.Context, q Request, candidates []string) (address, why string, err error) {
	ask, key, err := question(q)
	if err != nil {
		return "", "", err
	}
	notes := make([]string, 0, len(candidates))
	text := func() string { return string(q.Strategy) + ": " + strings.Join(notes, "; ") }
	for len(candidates) > 0 {
		n := min(probeParallel, len(candidates))
		chosen, wave := askAll(ctx, candidates[:n], ask)
		notes = append(notes, wave...)
		if chosen >= 0 {
			if len(notes) == 1 { // the first that was asked: nothing to tell
				return candidates[chosen], "", nil
			}
			return candidates[chosen], text(), nil
		}
		if err := ctx.Err(); err != nil {
			return "", text(), err
		}
		candidates = candidates[n:]
	}
	return "", text(), model.Errf(model.CodeUnavailable, key)
}

// question gives what is asked for the strategy, and the error when all say no.
func question(q Request) (ask func(context.Context, string) (bool, string), key string, err error) {
	idle := func(probe func(context.Context, string) (bool, error)) func(context.Context, string) (bool, string) {
		return func(ctx context.Context, a string) (bool, string) {
			free, err := probe(ctx, a)
			switch {
			case err != nil:
				return false, "refused (" + short(err) + ")"
			case !free:
				return false, strings.TrimSpace(noteBusy)
			}
			return true, "is idle"
		}
	}
	switch {
	case q.Strategy == model.RouteFailover && q.Beat != nil:
		return func(ctx context.Context, a string) (bool, string) {
			if err := q.Beat(ctx, a); err != nil {
				return false, "refused (" + short(err) + ")"
			}
			return true, "answered"
		}, KeyNoneAlive, nil
	case q.Strategy == model.RouteBusyover && q.IdleBeat != nil:
		return idle(q.IdleBeat), KeyAllBusy, nil
	case q.Strategy == model.RouteGlobalBusyover && q.GlobalIdleBeat != nil:
		return idle(q.GlobalIdleBeat), KeyGlobalBusy, nil
	}
	return nil, "", errors.New("router: " + string(q.Strategy) + " without its probe")
}

// askAll asks at the same time. It gives the place of the first in the list that
// agrees, -1 when none does, and notes on those up to it.
func askAll(ctx context.Context, addresses []string, ask func(context.Context, string) (bool, string)) (chosen int, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, probeDeadline)
	defer cancel() // those that were not waited for
	answers := make(chan answer, len(addresses))
	for i, a := range addresses {
		go func() { // ends with ctx at the latest; the channel has room for all
			ok, note := ask(ctx, a)
			answers <- answer{i, ok, note}
		}()
	}
	got := make([]*answer, len(addresses))
	var grace <-chan time.Time
	for known := 0; known < len(addresses); {
		select {
		case a := <-answers:
			got[a.place] = &a
			known++
			if a.ok && grace == nil {
				timer := time.NewTimer(probeGrace)
				defer timer.Stop()
				grace = timer.C
			}
		case <-grace:
			known = len(addresses)
		}
		if first, ok := firstOf(got); ok && first >= 0 {
			break
		}
	}
	for i, a := range got {
		switch {
		case a == nil:
			notes = append(notes, addresses[i]+" did not answer in time")
		case a.ok:
			return i, append(notes, addresses[i]+" "+a.note)
		default:
			notes = append(notes, addresses[i]+" "+a.note)
		}
	}
	return -1, notes
}

// firstOf gives the first that agrees when all before it have answered.
func firstOf(got []*answer) (place int, decided bool) {
	for i, a := range got {
		if a == nil {
			return -1, false
		}
		if a.ok {
			return i, true
		}
	}
	return -1, true
}
