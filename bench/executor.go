package main

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// Handlers of the counting executors.
const (
	handlerCount = "count" // succeeds after a moment
	handlerFlaky = "flaky" // fails one run of three
	handlerFail  = "fail"  // fails
	handlerLong  = "long"  // succeeds after seconds
)

// behaviour is what is wrong with an executor.
type behaviour int

const (
	behaves behaviour = iota
	answersLate
	neverCallsBack
)

// slowAnswer is longer than any center waits for an answer.
const slowAnswer = 5 * time.Second

// ring is what an executor knows of one call: how often it came, and when first.
type ring struct {
	first int64 // epoch µs
	times int
}

// counter is an executor that only counts. It takes whatever comes, also what it
// has seen before, so that a run made twice cannot hide. What it has counted
// survives its restarts, as log files do.
type counter struct {
	addr    string // host:port, kept over restarts
	app     string
	token   string
	centers []string
	runFor  time.Duration

	mu      sync.Mutex
	mode    behaviour
	rings   map[call]*ring
	seen    map[int64]bool // ids of runs that came
	asked   map[string]int // how often runs by hand came, by their parameter
	busy    map[int64]int  // runs in progress by job
	life    int            // counts the starts: what an earlier life had in progress is lost
	server  *http.Server
	results chan protocol.Callback
	end     context.CancelFunc
	work    sync.WaitGroup
}

func newCounter(app, token string, centers []string, runFor time.Duration) (*counter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{addr: l.Addr().String(), app: app, token: token, centers: centers, runFor: runFor, rings: map[call]*ring{}, seen: map[int64]bool{}, asked: map[string]int{}}
	return c, l.Close()
}

func (c *counter) url() string { return "http://" + c.addr }

// start listens, registers and reports until kill.
func (c *counter) start() error {
	l, err := net.Listen("tcp", c.addr)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	c.mu.Lock()
	c.life++
	c.busy = map[int64]int{}
	c.results = make(chan protocol.Callback, 200000)
	c.server = &http.Server{Handler: http.HandlerFunc(c.serve)}
	c.end = end
	server, results := c.server, c.results
	c.mu.Unlock()
	c.work.Go(func() { _ = server.Serve(l) })
	c.work.Go(func() { c.register(ctx) })
	c.work.Go(func() { c.callBack(ctx, results) })
	return nil
}

// kill ends it as kill -9 would: connections break, runs in progress are lost.
func (c *counter) kill() {
	c.mu.Lock()
	server, end := c.server, c.end
	c.life++
	c.server = nil
	c.mu.Unlock()
	if server == nil {
		return
	}
	_ = server.Close()
	end()
	c.work.Wait()
}

func (c *counter) behave(b behaviour) {
	c.mu.Lock()
	c.mode = b
	c.mu.Unlock()
}

func (c *counter) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(protocol.HeaderToken) != c.token {
		answer(w, protocol.Fail("wrong token"))
		return
	}
	switch r.URL.Path {
	case "/run", "/trigger":
		var t protocol.Trigger
		if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
			answer(w, protocol.Fail("%v", err))
			return
		}
		if late := c.take(t, time.Now()); late {
			select {
			case <-r.Context().Done():
			case <-time.After(slowAnswer):
			}
		}
		answer(w, protocol.OK(nil))
	case "/idleBeat":
		var q protocol.IdleBeat
		_ = json.NewDecoder(r.Body).Decode(&q)
		if c.isBusy(q.JobID) {
			answer(w, protocol.Fail("busy"))
			return
		}
		answer(w, protocol.OK(nil))
	case "/log":
		var q protocol.LogRequest
		_ = json.NewDecoder(r.Body).Decode(&q)
		res := protocol.LogResult{FromLineNum: q.FromLineNum, LogContent: "no such log", IsEnd: true}
		c.mu.Lock()
		known := c.seen[q.LogID] // as the Go SDK says it
		if res.Known = &known; known {
			res.ToLineNum, res.LogContent = 1, "counted\n"
		}
		c.mu.Unlock()
		answer(w, protocol.OK(res))
	default: // beat, kill
		answer(w, protocol.OK(nil))
	}
}

// take counts a run and lets it end after its time. It reports whether the
// answer is to be late.
func (c *counter) take(t protocol.Trigger, now time.Time) (late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := call{t.LogID, t.JobID, t.LogDateTime / 1000}
	if r := c.rings[key]; r != nil {
		r.times++
	} else {
		c.rings[key] = &ring{first: now.UnixMicro(), times: 1}
	}
	c.seen[t.LogID] = true
	if strings.HasPrefix(t.Params, askPrefix) {
		c.asked[t.Params]++
	}
	life, result, took := c.life, protocol.Callback{LogID: t.LogID, LogDateTime: t.LogDateTime, Code: protocol.CodeSuccess, Msg: "counted"}, c.runFor
	switch t.Handler {
	case handlerFlaky:
		if fails(t.LogID) {
			result.Code, result.Msg = protocol.CodeFail, "fails on purpose"
		}
	case handlerFail:
		result.Code, result.Msg = protocol.CodeFail, "fails on purpose"
	case handlerLong:
		took = time.Duration(1000+spread(t.LogID)%2000) * time.Millisecond
	}
	if c.mode == neverCallsBack {
		return false
	}
	if took == 0 {
		c.results <- result
		return c.mode == answersLate
	}
	c.busy[t.JobID]++
	time.AfterFunc(took, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.life != life {
			return
		}
		c.busy[t.JobID]--
		c.results <- result
	})
	return c.mode == answersLate
}

func (c *counter) isBusy(job int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy[job] > 0
}

// counted gives what reached the executor.
func (c *counter) counted() map[call]ring {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[call]ring, len(c.rings))
	for key, r := range c.rings {
		out[key] = *r
	}
	return out
}

// fails says which runs the flaky handler fails.
func fails(id int64) bool { return spread(id)%3 == 0 }

func spread(id int64) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strconv.FormatInt(id, 10)))
	return h.Sum32()
}

func answer(w http.ResponseWriter, a protocol.Answer) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}
