//go:build screenshots

package e2e

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

const (
	firstVisitLimit = 150_000   // bytes of every page but the editor
	shiftLimit      = 0.02      // CLS during watchTime
	hourLimit       = 1_000_000 // bytes of an open job list that nobody touches
	watchTime       = 60 * time.Second
	leftAlone       = 120 * time.Second // then static/app/live.js asks less often
	restTime        = 180 * time.Second // how long it is watched after that
	timings         = 50                // requests of a page for its server times
)

// weighed is what one page costs.
type weighed struct {
	name, path string
	skipped    bool // the center has no such page
	editor     bool
	visit      traffic
	before     traffic // after the visit, until all pages are open
	polls      traffic // of watchTime
	shift      float64
	moved      any // what moved most
	p50, p99   time.Duration
	meter      *meter
	page       playwright.Page
}

type traffic struct{ requests, bytes int }

// meter counts what a page loads, as it comes over the wire with its headers.
type meter struct {
	mu sync.Mutex
	n  traffic
}

func (m *meter) take() traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.n
	m.n = traffic{}
	return n
}

func measure(t *testing.T, page playwright.Page) *meter {
	t.Helper()
	m := &meter{}
	cdp, err := page.Context().NewCDPSession(page)
	require.NoError(t, err)
	add := func(requests, bytes int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.n.requests += requests
		m.n.bytes += bytes
	}
	cdp.On("Network.responseReceived", func(map[string]any) { add(1, 0) })
	cdp.On("Network.loadingFinished", func(e map[string]any) { add(0, int(asFloat(e["encodedDataLength"]))) })
	_, err = cdp.Send("Network.enable", map[string]any{})
	require.NoError(t, err)
	return m
}

const countShifts = `window.shift = 0;
window.moved = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => {
	if (e.hadRecentInput) return;
	window.shift += e.value;
	window.moved.push(e.value.toFixed(4) + " at " + (e.startTime / 1000).toFixed(1) + " s: " + e.sources.map((s) => s.node?.nodeName + "#" + (s.node?.id ?? "") + "." + (s.node?.className ?? "") +
		" from " + s.previousRect.x.toFixed() + "," + s.previousRect.y.toFixed() + " to " + s.currentRect.x.toFixed() + "," + s.currentRect.y.toFixed()).slice(0, 3).join(", "));
})).observe({ type: "layout-shift", buffered: true });`

// TestWeigh prints what every page of the demo costs as a table for docs/console.md: make weigh.
// CARILLON_WEIGH_URL with CARILLON_WEIGH_PASSWORD names a running demo instead, to compare with
// another version; what is over a limit fails only without it. Server times never fail: they
// say as much of the machine as of the center.
func TestWeigh(t *testing.T) {
	w, compared := weighWorld(t)
	list := []*weighed{}
	only := os.Getenv("CARILLON_WEIGH_OF") // for who looks for what moves
	for _, line := range strings.Split(`login /login
dashboard /
job list /jobs
job page /jobs/2
job form /jobs/2/edit
new job /jobs/new
run once /jobs/2/run
script editor /jobs/4/code
import /jobs/import
run list /runs
run page /runs/1
timeline /timeline
load of the next day /timeline/load
executors /executors
executor form /executors/1/edit
users /users
user form /users/1/edit
logins /users/sessions
audit /audit
system /system
retention /retention
profile /profile
search /search
help /help`, "\n") {
		at := strings.LastIndex(line, " ")
		if only != "" && only != line[:at] {
			continue
		}
		list = append(list, &weighed{name: line[:at], path: line[at+1:], editor: strings.HasSuffix(line, "/code")})
	}
	for _, l := range list {
		l.visitFirst(w)
	}
	began := time.Now() // all are open now; what came before is not of the minute
	for _, l := range list {
		if !l.skipped {
			l.before = l.meter.take()
		}
	}
	<-time.After(watchTime)
	var jobs *weighed
	for _, l := range list {
		if l.skipped {
			continue
		}
		l.polls = l.meter.take()
		shift, err := l.page.Evaluate(`() => window.shift`)
		require.NoError(t, err)
		l.shift = asFloat(shift)
		l.moved, err = l.page.Evaluate(`() => window.moved.sort().reverse().slice(0, 5).join("\n    ")`)
		require.NoError(t, err)
		if l.path == "/jobs" { // is watched longer
			jobs = l
			continue
		}
		require.NoError(t, l.page.Context().Close())
	}
	hour := ""
	if jobs != nil && only == "" {
		hour = jobs.hour(t, began)
	}
	for _, l := range list {
		l.time(w)
	}

	fmt.Print(weighTable(list))
	fmt.Print(hour)
	if compared {
		return
	}
	for _, l := range list {
		require.False(t, l.skipped, l.name)
		if !l.editor && l.visit.bytes > firstVisitLimit {
			t.Errorf("%s: a first visit takes %d bytes, more than %d", l.name, l.visit.bytes, firstVisitLimit)
		}
		if l.shift > shiftLimit {
			t.Errorf("%s: shifts by %.3f within %s, more than %.2f:\n    %v", l.name, l.shift, watchTime, shiftLimit, l.moved)
		}
	}
}

// hour watches a list that nobody has touched since it was opened, until it asks less often
// and a while longer, and says what that makes in an hour.
func (l *weighed) hour(t *testing.T, opened time.Time) string {
	t.Helper()
	<-time.After(leftAlone - time.Since(opened))
	busy := l.before.bytes + l.polls.bytes + l.meter.take().bytes
	<-time.After(restTime)
	rest := l.meter.take()
	bytes := float64(busy) + float64(rest.bytes)*float64(time.Hour-leftAlone)/float64(restTime)
	if bytes > hourLimit {
		t.Errorf("an open %s takes %.0f bytes per hour, more than %d", l.name, bytes, hourLimit)
	}
	return fmt.Sprintf("\nAn open %s that nobody touches: %.2f MB per hour (%d polls with %.1f kB in %s).\n", l.name, bytes/1e6, rest.requests, float64(rest.bytes)/1e3, restTime)
}

// weighWorld is the demo after its first minute, or the one that runs already.
func weighWorld(t *testing.T) (w *world, compared bool) {
	t.Helper()
	at, secret := os.Getenv("CARILLON_WEIGH_URL"), os.Getenv("CARILLON_WEIGH_PASSWORD")
	if at == "" {
		demo, err := app.StartDemo(t.Context(), app.DemoCmd{Listen: "127.0.0.1:0", ExecutorListen: "127.0.0.1:0", Data: t.TempDir(), Lang: "en"}, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, demo.Stop(t.Context())) })
		<-time.After(watchTime)
		at, secret = demo.URL, demo.Password
	} else {
		compared = true
	}
	w = &world{t: t, url: strings.TrimSuffix(at, "/")}
	w.admin = w.logInAs("admin", secret)
	return w, compared
}

// visitFirst opens the page in a browser that knows nothing of the center.
func (l *weighed) visitFirst(w *world) {
	w.t.Helper()
	who := w.someone
	if l.path == "/login" {
		who = w.visitor
	}
	p := who()
	p.expectProblem("404") // in another version
	l.page, l.meter = p.page, measure(w.t, p.page)
	require.NoError(w.t, p.page.AddInitScript(playwright.Script{Content: playwright.String(countShifts)}))
	resp := p.doOpen(l.path)
	// A log that is followed keeps its connection open: then this is the end of waiting.
	_ = p.page.WaitForLoadState(playwright.PageWaitForLoadStateOptions{State: playwright.LoadStateNetworkidle, Timeout: playwright.Float(2500)})
	l.visit = l.meter.take()
	if l.skipped = resp.Status() != http.StatusOK; l.skipped {
		require.NoError(w.t, p.page.Context().Close())
	}
}

// time asks for the page again and again, one request at a time.
func (l *weighed) time(w *world) {
	if l.skipped {
		return
	}
	w.t.Helper()
	took := make([]time.Duration, timings)
	for i := range took {
		began := time.Now()
		resp, err := w.admin.http.Get(w.url + l.path)
		require.NoError(w.t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(w.t, err)
		require.NoError(w.t, resp.Body.Close())
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	l.p50, l.p99 = took[timings/2], took[timings-1-timings/100]
}

func weighTable(list []*weighed) string {
	var b strings.Builder
	b.WriteString("\n| page | first visit | requests | in 60 s | their bytes | shift | server p50 | p99 |\n|---|---|---|---|---|---|---|---|\n")
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
	for _, l := range list {
		if l.skipped {
			fmt.Fprintf(&b, "| %s | – | | | | | | |\n", l.name)
			continue
		}
		fmt.Fprintf(&b, "| %s | %.0f kB | %d | %d | %.1f kB | %.3f | %s | %s |\n", l.name, float64(l.visit.bytes)/1e3, l.visit.requests, l.polls.requests,
			float64(l.polls.bytes)/1e3, l.shift, ms(l.p50), ms(l.p99))
	}
	return b.String()
}
