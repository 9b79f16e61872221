package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lane is a queue and the workers that empty it. Its length is bounded by the ring's
// capacity: only runs that the ring knows get here.
//
// A worker is started for a job that waits and ends when none does. There are as many as
// it takes to keep a pace: more calls at a time than the machine can work on make nothing
// faster, and each costs memory and processor time. Where calls wait for the network or
// for an executor that hangs, the pace falls and more workers are let in.
type lane struct {
	now        func() time.Time
	perAddress int // runs being sent to one address at a time

	mu      sync.Mutex
	queue   []*job
	start   func()        // starts a worker; nil = not running yet
	least   int           // workers that are always let in
	most    int           // workers there may be
	allowed int           // workers that are let in now
	running int           // workers there are
	taken   int           // jobs since the last look
	short   chan struct{} // buffered: jobs wait, and all workers that are let in are busy
}

const (
	// fewCalls is how many workers a lane always lets in.
	fewCalls = 128
	// lookEvery is how often a lane looks at its pace while jobs wait.
	lookEvery = 20 * time.Millisecond
	// paceKept is how many jobs are taken in that time when more workers would not help: 3000
	// calls a second.
	paceKept = 60
	// letIn is how many workers are added when it is less.
	letIn = 64
)

func newLane(now func() time.Time, workers, perAddress int) *lane {
	least := min(fewCalls, workers)
	return &lane{now: now, perAddress: max(1, perAddress), least: least, most: workers, allowed: least, short: make(chan struct{}, 1)}
}

// open lets workers come.
func (l *lane) open(start func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = start
	l.staff(len(l.queue))
}

func (l *lane) push(jobs ...*job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, jobs...)
	l.staff(len(jobs))
}

// staff starts workers for so many jobs that wait, as far as they are let in. The lock is held.
func (l *lane) staff(jobs int) {
	if l.start == nil {
		return
	}
	for ; jobs > 0 && l.running < l.allowed; jobs-- {
		l.running++
		l.start()
	}
	if jobs > 0 && l.allowed < l.most {
		select {
		case l.short <- struct{}{}:
		default:
		}
	}
}

// len is how many wait for a worker.
func (l *lane) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// tooFarBehind is how late a job is that waits in a lane which does not keep up.
const tooFarBehind = time.Second

// behind reports whether the lane does not keep up.
func (l *lane) behind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0 && l.now().UnixMilli()-l.queue[0].run.PlannedMS > tooFarBehind.Milliseconds()
}

// take gives a worker its next job; nil ends the worker.
func (l *lane) take() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.running--
		l.allowed = max(l.least, min(l.allowed, l.running+l.least))
		l.queue = nil // let the array go after a burst
		return nil
	}
	j := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.taken++
	return j
}

// watch lets more workers in while jobs wait and few are taken, until ctx ends.
func (l *lane) watch(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.short:
		}
		for waiting := l.look(true); waiting; waiting = l.look(false) {
			timer.Reset(lookEvery)
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		}
	}
}

// look judges the pace since the last look, or begins to measure it, and reports whether
// it is worth another one.
func (l *lane) look(first bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := !first && l.taken < paceKept
	l.taken = 0
	if slow && len(l.queue) > 0 {
		l.allowed = min(l.most, l.allowed+letIn)
		before := l.running
		l.staff(min(letIn, len(l.queue)))
		l.taken = before - l.running // their first jobs say nothing about the pace
	}
	return len(l.queue) > 0 && l.allowed < l.most
}

// gates limit how many runs are being sent to one address at a time, so that an
// address that hangs holds a few workers and never all of them. Runs beyond the
// limit are parked without a worker. Each lane has gates of its own.
type gates struct {
	mu sync.Mutex
	m  map[gateKey]*gate
}

// gateKey is the gate of an address for one lane.
type gateKey struct {
	lane    *lane
	address string
}

type gate struct {
	inside int
	parked []*job
}

func newGates() *gates { return &gates{m: map[gateKey]*gate{}} }

// passage is what a gate says.
type passage int

const (
	entered    passage = iota
	parked             // whoever leaves takes the job along
	turnedAway         // too many wait already: later
)

// parkedPerPlace is how many wait for each place of an address in memory; the
// rest waits on disk.
const parkedPerPlace = 8

// enter lets the job through, parks it or turns it away.
func (g *gates) enter(k gateKey, j *job) passage {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.m[k]
	if x == nil {
		x = &gate{}
		g.m[k] = x
	}
	if x.inside >= k.lane.perAddress {
		// What is claimed already waits here: to put it back, each run for itself, would be
		// more work for the database the less time it has. The ring bounds how many there are.
		if j.claimedAt.IsZero() && len(x.parked) >= k.lane.perAddress*parkedPerPlace {
			return turnedAway
		}
		x.parked = append(x.parked, j)
		return parked
	}
	x.inside++
	return entered
}

// takeClaimed takes the jobs that wait with a claim made ahead: they are given back.
func (g *gates) takeClaimed() (out []*job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.m {
		x.parked = slices.DeleteFunc(x.parked, func(j *job) bool {
			if j.claimedAt.IsZero() {
				return false
			}
			out = append(out, j)
			return true
		})
	}
	return out
}

// leave makes room and returns a parked job that may try again, if any.
func (g *gates) leave(k gateKey) *job {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.m[k].inside--
	return g.nextLocked(k)
}

// next returns another parked job when there is room: the one that was called
// went elsewhere.
func (g *gates) next(k gateKey) *job {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.nextLocked(k)
}

func (g *gates) nextLocked(k gateKey) *job {
	x := g.m[k]
	if x == nil {
		return nil
	}
	if len(x.parked) > 0 && x.inside < k.lane.perAddress {
		j := x.parked[0]
		x.parked = x.parked[1:]
		j.called = k
		return j
	}
	if x.inside == 0 && len(x.parked) == 0 {
		delete(g.m, k)
	}
	return nil
}

// full reports whether runs are parked at more than half of the gates in use: then it is
// not one slow executor that they wait for.
func (g *gates) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	used, full := 0, 0
	for _, x := range g.m {
		if x.inside > 0 {
			used++
		}
		if len(x.parked) > 0 {
			full++
		}
	}
	return full > 0 && 2*full > used
}

// slowness finds jobs whose dispatches take long: they move to the slow lane
// for the rest of the minute (reference: scheduler.md 4).
type slowness struct {
	threshold time.Duration
	limit     int
	mu        sync.Mutex
	minute    int64
	count     map[int]int
}

func (s *slowness) note(now time.Time, jobID int, took time.Duration) {
	if took <= s.threshold {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	s.count[jobID]++
}

func (s *slowness) slow(now time.Time, jobID int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	return s.count[jobID] > s.limit
}

func (s *slowness) turn(now time.Time) {
	if m := now.Unix() / 60; m != s.minute || s.count == nil {
		s.minute, s.count = m, map[int]int{}
	}
}
