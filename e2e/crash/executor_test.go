package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// counter is an executor that only counts: it takes every run, says so, and
// calls back until a center has the result. Unlike the SDK it does not refuse a
// run that it has seen, so a double ring cannot hide.
type counter struct {
	*httptest.Server
	token   string
	centers func() []string
	delay   time.Duration // before the answer to /run: the run is in flight so long

	mu    sync.Mutex
	rings map[int64][]time.Time // arrivals by run id
	late  []time.Duration       // arrival minus planned instant
	held  int                   // runs that wait for their answer

	results chan protocol.Callback
	done    sync.WaitGroup
}

func newCounter(t testing.TB, token string, centers func() []string) *counter {
	c := &counter{token: token, centers: centers, rings: map[int64][]time.Time{}, results: make(chan protocol.Callback, 100000)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	ctx, cancel := context.WithCancel(context.Background())
	c.done.Go(func() { c.callBack(ctx) })
	t.Cleanup(func() {
		cancel()
		c.done.Wait()
		c.Close()
	})
	return c
}

func (c *counter) serve(w http.ResponseWriter, r *http.Request) {
	answer := protocol.OK(nil)
	switch {
	case r.Header.Get(protocol.HeaderToken) != c.token:
		answer = protocol.Fail("wrong token")
	case r.URL.Path == "/run":
		now := time.Now()
		var t protocol.Trigger
		if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
			answer = protocol.Fail("%v", err)
			break
		}
		c.mu.Lock()
		c.rings[t.LogID] = append(c.rings[t.LogID], now)
		c.late = append(c.late, now.Sub(time.UnixMilli(t.LogDateTime)))
		c.held++
		c.mu.Unlock()
		_ = pause(r.Context(), c.delay)
		c.mu.Lock()
		c.held--
		c.mu.Unlock()
		c.results <- protocol.Callback{LogID: t.LogID, LogDateTime: t.LogDateTime, Code: 200, Msg: "counted"}
	case r.URL.Path == "/log":
		var q protocol.LogRequest
		_ = json.NewDecoder(r.Body).Decode(&q)
		res := protocol.LogResult{FromLineNum: q.FromLineNum, LogContent: "no such log", IsEnd: true}
		c.mu.Lock()
		if len(c.rings[q.LogID]) > 0 {
			res = protocol.LogResult{FromLineNum: q.FromLineNum, ToLineNum: 1, LogContent: "counted\n", IsEnd: true}
		}
		c.mu.Unlock()
		answer = protocol.OK(res)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// callBack reports results as real executors do: to the first center that takes
// them, again and again while none lives.
func (c *counter) callBack(ctx context.Context) {
	for {
		var batch []protocol.Callback
		select {
		case <-ctx.Done():
			return
		case r := <-c.results:
			batch = append(batch, r)
		}
		for len(batch) < 50 && len(c.results) > 0 {
			batch = append(batch, <-c.results)
		}
		for !c.report(ctx, batch) {
			if pause(ctx, 200*time.Millisecond) != nil {
				return
			}
		}
	}
}

func (c *counter) report(ctx context.Context, batch []protocol.Callback) bool {
	body, err := json.Marshal(batch)
	if err != nil {
		panic(err)
	}
	for _, center := range c.centers() {
		answer, err := call(ctx, center, c.token, "callback", body)
		if err == nil && answer.Code == protocol.CodeSuccess {
			return true
		}
	}
	return false
}

// call makes one API call.
func call(ctx context.Context, center, token, name string, body []byte) (protocol.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, center+"/api/"+name, bytes.NewReader(body))
	if err != nil {
		return protocol.Reply{}, err
	}
	req.Header.Set(protocol.HeaderToken, token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return protocol.Reply{}, err
	}
	defer resp.Body.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(resp.Body); err != nil {
		return protocol.Reply{}, err
	}
	reply, err := protocol.ParseReply(buf.Bytes())
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return reply, err
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// holds says how many runs wait for their answer.
func (c *counter) holds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}
