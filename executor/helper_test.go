package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carillon-scheduler/carillon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// event is one call that the center took with code 200.
type event struct {
	name     string
	registry protocol.Registry
	results  []protocol.Callback
}

// center is a scheduling center that records what it is told.
type center struct {
	*httptest.Server
	events chan event
	tries  chan string // every call, when somebody listens

	mu     sync.Mutex
	dead   bool // answers no JSON
	refuse func(protocol.Callback) bool
}

func newCenter(t *testing.T) *center {
	c := &center{events: make(chan event, 10_000), tries: make(chan string, 10_000)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *center) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *center) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := protocol.OK(nil)
	ev := event{name: name}
	switch {
	case c.dead:
		http.Error(w, "<html>", http.StatusBadGateway)
		c.try(name)
		return
	case r.Header.Get(protocol.HeaderToken) != "token" || r.Header.Get(protocol.HeaderAppName) != "app":
		answer = protocol.Fail("headers")
	case name == "callback":
		list, err := protocol.ParseCallbacks(body)
		if err != nil || c.refuse != nil && slices.ContainsFunc(list, c.refuse) {
			answer = protocol.Fail("refused %v", err)
		}
		ev.results = list
	default:
		if err := protocol.Decode(body, &ev.registry); err != nil {
			answer = protocol.Fail("%v", err)
		}
	}
	if answer.Code == 200 {
		c.events <- ev
	}
	c.try(name)
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *center) try(name string) {
	select {
	case c.tries <- name:
	default:
	}
}

// wait gives the next accepted call of that name.
func (c *center) wait(t *testing.T, name string) event {
	t.Helper()
	for {
		select {
		case ev := <-c.events:
			if ev.name == name {
				return ev
			}
		case <-time.After(20 * time.Second):
			require.FailNow(t, "the center was not called", name)
		}
	}
}

// results waits for the results of n runs.
func (c *center) results(t *testing.T, n int) map[int64]protocol.Callback {
	t.Helper()
	out := map[int64]protocol.Callback{}
	for len(out) < n {
		for _, r := range c.wait(t, "callback").results {
			out[r.LogID] = r
		}
	}
	return out
}

// options are short of patience and log to the test.
func options(t *testing.T, c *center) Options {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return Options{
		Centers: []string{c.URL + "/"}, AppName: "app", AccessToken: "token", DataDir: t.TempDir(), Listener: ln,
		KillGrace: 2 * time.Second, retryMin: time.Millisecond, retryMax: 5 * time.Millisecond, timeoutUnit: time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		// The runs of the tests are of a fixed day long ago: their logs must stay.
		LogRetentionDays: -1,
	}
}

// start runs an executor until the test ends.
func start(t *testing.T, o Options, setup func(*Executor)) *Executor {
	t.Helper()
	e, err := New(o)
	require.NoError(t, err)
	if setup != nil {
		setup(e)
	}
	require.NoError(t, e.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = e.Stop(ctx)
	})
	return e
}

// call posts to the executor as a center does.
func call(t *testing.T, e *Executor, name string, body any) protocol.Reply {
	t.Helper()
	data, err := json.Marshal(body)
	require.NoError(t, err)
	return post(t, e, http.MethodPost, name, "token", data)
}

func post(t *testing.T, e *Executor, method, name, token string, body []byte) protocol.Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.Address()+name, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set(protocol.HeaderToken, token)
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Content-Type"), "application/json")
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	r, err := protocol.ParseReply(raw)
	require.NoError(t, err)
	return r
}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local).UnixMilli()

func trigger(jobID, logID int64, handler string) protocol.Trigger {
	return protocol.Trigger{
		JobID: jobID, LogID: logID, Handler: handler, BlockStrategy: "SERIAL_EXECUTION", GlueType: "BEAN",
		LogDateTime: testTime, BroadcastTotal: 1,
	}
}

func script(jobID, logID int64, kind, source string) protocol.Trigger {
	tr := trigger(jobID, logID, "")
	tr.GlueType, tr.GlueSource, tr.GlueUpdateTime = kind, source, 1
	return tr
}

// run hands a trigger over that must be accepted.
func run(t *testing.T, e *Executor, tr protocol.Trigger) {
	t.Helper()
	r := call(t, e, "run", tr)
	require.Equal(t, 200, r.Code, r.Msg)
}

// readLog reads the log of a run page by page until there is no more at present.
func readLog(t *testing.T, e *Executor, logID int64) (text string, end bool) {
	t.Helper()
	for from := 1; ; {
		r := call(t, e, "log", protocol.LogRequest{LogID: logID, LogDateTim: testTime, FromLineNum: from})
		require.Equal(t, 200, r.Code, r.Msg)
		var res protocol.LogResult
		require.NoError(t, json.Unmarshal(r.Value, &res))
		require.Equal(t, from, res.FromLineNum)
		text += res.LogContent
		if res.IsEnd || res.ToLineNum < from {
			return text, res.IsEnd
		}
		from = res.ToLineNum + 1
	}
}

// gate is a handler that tells when it begins and waits to be let go or ended.
type gate struct {
	begun chan int64
	open  chan struct{}
}

func newGate() *gate { return &gate{begun: make(chan int64, 100), open: make(chan struct{})} }

func (g *gate) handle(ctx context.Context, run *Run) error {
	g.begun <- run.LogID
	select {
	case <-g.open:
		run.SetResult("let go")
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
