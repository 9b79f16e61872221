package router

import (
	"context"
	"errors"
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
	Answer
}

// globalIdle chooses an address that runs nothing and keeps it for this run until
// Release: between the answer "idle" and the run nobody else of this node gets it.
func (r *Router) globalIdle(ctx context.Context, q Request, candidates []string) (c Choice, err error) {
	for {
		free, began := r.notTaken(candidates)
		if len(free) == 0 {
			return Choice{Said: []model.Said{model.Say("route_all_taken")}}, model.Errf(model.CodeUnavailable, KeyGlobalBusy)
		}
		var busy bool
		c, busy, err = probing(ctx, q, free)
		if e, ok := errors.AsType[*model.Error](err); ok && e.Key == KeyGlobalBusy && len(free) == len(candidates) && !busy {
			// Nobody is busy: nobody answers, or nobody knows the question. There is nothing to wait for.
			return c, model.Errf(model.CodeUnavailable, KeyNoneAlive)
		}
		if err != nil || r.take(c.Address, began) {
			return c, err
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

// probing asks the candidates, several at the same time, and takes the first in
// the list that agrees. busy says that one of them answered and was busy.
func probing(ctx context.Context, q Request, candidates []string) (c Choice, busy bool, err error) {
	ask, asked, key, err := question(q)
	if err != nil {
		return c, false, err
	}
	for len(candidates) > 0 {
		n := min(probeParallel, len(candidates))
		chosen, wave := askAll(ctx, candidates[:n], ask)
		for i, a := range wave {
			busy = busy || a.Busy
			c.Asked = append(c.Asked, model.Attempt{Address: candidates[i], Asked: asked, Code: a.Code, Text: a.Text, MS: a.MS})
		}
		if chosen >= 0 {
			c.Address = candidates[chosen]
			return c, busy, nil
		}
		if err := ctx.Err(); err != nil {
			return c, busy, err
		}
		candidates = candidates[n:]
	}
	if key == KeyAllBusy && !busy {
		key = KeyNoneAlive
	}
	return c, busy, model.Errf(model.CodeUnavailable, key)
}

// question gives what is asked for the strategy, and the error when all say no.
func question(q Request) (ask func(context.Context, string) Answer, name, key string, err error) {
	switch {
	case q.Strategy == model.RouteFailover && q.Beat != nil:
		return q.Beat, model.AskedBeat, KeyNoneAlive, nil
	case q.Strategy == model.RouteBusyover && q.IdleBeat != nil:
		return q.IdleBeat, model.AskedIdleBeat, KeyAllBusy, nil
	case q.Strategy == model.RouteGlobalBusyover && q.GlobalIdleBeat != nil:
		return q.GlobalIdleBeat, model.AskedGlobalIdleBeat, KeyGlobalBusy, nil
	}
	return nil, "", "", errors.New("router: " + string(q.Strategy) + " without its probe")
}

// askAll asks at the same time. It gives the place of the first in the list that
// agrees, -1 when none does, and the answers of those up to it.
func askAll(ctx context.Context, addresses []string, ask func(context.Context, string) Answer) (chosen int, wave []Answer) {
	ctx, cancel := context.WithTimeout(ctx, probeDeadline)
	defer cancel() // those that were not waited for
	answers := make(chan answer, len(addresses))
	for i, a := range addresses {
		go func() { // ends with ctx at the latest; the channel has room for all
			answers <- answer{i, ask(ctx, a)}
		}()
	}
	got := make([]*answer, len(addresses))
	var grace <-chan time.Time
	for known := 0; known < len(addresses); {
		select {
		case a := <-answers:
			got[a.place] = &a
			known++
			if a.Free && grace == nil {
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
		if a == nil {
			wave = append(wave, Answer{Text: noAnswer})
			continue
		}
		wave = append(wave, a.Answer)
		if a.Free {
			return i, wave
		}
	}
	return -1, wave
}

// noAnswer is noted of an address that was not waited for.
const noAnswer = "no answer in time"

// firstOf gives the first that agrees when all before it have answered.
func firstOf(got []*answer) (place int, decided bool) {
	for i, a := range got {
		if a == nil {
			return -1, false
		}
		if a.Free {
			return i, true
		}
	}
	return -1, true
}
