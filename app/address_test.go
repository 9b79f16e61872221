package app_test

import (
	"context"
	"fmt"
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

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// worker is an executor of our SDK that counts its runs.
type worker struct {
	mu      sync.Mutex
	runs    int
	address string
	fails   error         // what its runs end with
	hold    chan struct{} // runs wait for it when not nil
	stop    func()
}

func (w *worker) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs
}

func startWorker(t *testing.T, accessToken string, centers ...string) *worker {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &worker{address: "http://" + ln.Addr().String() + "/"}
	ex, err := executor.New(executor.Options{
		Centers: centers, AppName: "test-app", AccessToken: accessToken, Listener: ln, DataDir: t.TempDir(), BeatEvery: 200 * time.Millisecond, Version: "4.2",
	})
	require.NoError(t, err)
	ex.Handle("h", func(ctx context.Context, _ *executor.Run) error {
		w.mu.Lock()
		w.runs++
		hold := w.hold
		w.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.fails
	})
	require.NoError(t, ex.Start(t.Context()))
	w.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
		defer cancel()
		_ = ex.Stop(ctx)
	})
	t.Cleanup(w.stop)
	return w
}

// made makes a run by hand and waits for its end.
func made(t *testing.T, c *app.Center, job int, in jobs.RunInput) model.Run {
	t.Helper()
	id, err := c.Jobs.RunNow(t.Context(), admin(), job, in)
	require.NoError(t, err)
	return ended(t, c, id)
}

func ended(t *testing.T, c *app.Center, id int64) model.Run {
	t.Helper()
	var d jobs.RunDetail
	require.Eventually(t, func() bool {
		var err error
		d, err = c.Jobs.Run(t.Context(), admin(), id)
		require.NoError(t, err)
		return !d.Run.Open()
	}, 15*time.Second, 20*time.Millisecond)
	return d.Run
}

func listed(t *testing.T, c *app.Center, group int) []string {
	t.Helper()
	g, err := c.Jobs.Executor(t.Context(), admin(), group)
	require.NoError(t, err)
	return g.Addresses()
}

func pageDoc(t *testing.T, browser *http.Client, address string) *goquery.Document {
	t.Helper()
	resp, body := get(t, browser, address)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(t, err)
	return doc
}

// TestDrain: an address that drains ends what it has and gets nothing more, over a restart
// of the center and on all its nodes, until it is given back.
func TestDrain(t *testing.T) {
	cfg := testConfig(t)
	c, err := app.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	stop := sync.OnceValue(func() error { return c.Stop(context.WithoutCancel(t.Context())) })
	defer func() { _ = stop() }()
	group, job := addJob(t, c)
	first := startWorker(t, token, c.URL)
	second := startWorker(t, token, c.URL)
	require.Eventually(t, func() bool { return len(listed(t, c, group)) == 2 }, 10*time.Second, 20*time.Millisecond)

	boss := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, boss, c, "admin", "test-password", ""))
	of := func(doc *goquery.Document, w *worker) *goquery.Selection {
		return doc.Find(`[data-testid="node"][data-address="` + w.address + `"]`)
	}
	press := func(what string, w *worker) string {
		t.Helper()
		resp, _ := submit(t, boss, fmt.Sprintf("%sexecutors/%d/%s", c.URL, group, what), "address", w.address)
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		return find(pageDoc(t, boss, c.URL+"executors"), "toast").Text()
	}

	// What the page knows of an address of the SDK
	require.Contains(t, press("ping", first), "answers")
	line := of(pageDoc(t, boss, c.URL+"executors"), first)
	require.Contains(t, find2(line, "version"), "4.2")
	require.Contains(t, line.Find("[data-testid=version]").AttrOr("title", ""), "go1.", "and what it is built from")
	require.Contains(t, find2(line, "handlers"), "1 handler")
	require.Contains(t, find2(line, "call"), "answers")

	// A run that is there when it drains
	first.mu.Lock()
	first.hold = make(chan struct{})
	first.mu.Unlock()
	held, err := c.Jobs.RunNow(t.Context(), admin(), job, jobs.RunInput{Addresses: first.address})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return first.count() == 1 }, 10*time.Second, 20*time.Millisecond)
	require.Contains(t, press("drain", first), "no new runs")
	require.Contains(t, find2(of(pageDoc(t, boss, c.URL+"executors"), first), "drains"), "1 left")

	other, err := c.Jobs.AddJob(t.Context(), admin(), broadcastJob(group))
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, second.address, made(t, c, job, jobs.RunInput{}).Address)
	}
	shard := made(t, c, other, jobs.RunInput{})
	require.Equal(t, []string{second.address, "0/1"}, []string{shard.Address, shard.Sharding})
	_, err = c.Jobs.RunNow(t.Context(), admin(), job, jobs.RunInput{Addresses: first.address})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err), "nor may a person send one there")

	close(first.hold)
	require.Equal(t, model.ResultSucceeded, ptr(ended(t, c, held)).Result(), "what it had goes on")
	require.Contains(t, find2(of(pageDoc(t, boss, c.URL+"executors"), first), "drains"), "0 left")

	// A second node sees it, and so does the first one after a restart.
	more := cfg
	more.NodeName = "another"
	n2 := start(t, more)
	require.Equal(t, second.address, made(t, n2, job, jobs.RunInput{}).Address)
	before := first.count()
	for range 4 {
		made(t, n2, job, jobs.RunInput{})
	}
	require.Equal(t, before, first.count())
	require.NoError(t, stop())
	cfg.Listen = strings.TrimSuffix(strings.TrimPrefix(c.URL, "http://"), "/")
	c = start(t, cfg)
	require.Equal(t, second.address, made(t, c, job, jobs.RunInput{}).Address)

	// All of them: a clear reason, and back.
	press("drain", second)
	failed := made(t, c, job, jobs.RunInput{})
	require.Equal(t, model.ReasonDraining, failed.Reason)
	require.Contains(t, find(pageDoc(t, boss, c.URL+"executors"), "none-takes").Text(), "they fail")
	require.Contains(t, press("take", first), "again")
	require.Equal(t, first.address, made(t, c, job, jobs.RunInput{}).Address)

	var actions []string
	audit, err := c.Jobs.Audit(t.Context(), admin(), model.AuditFilter{Kind: model.AuditExecutor, Limit: 50})
	require.NoError(t, err)
	for _, e := range audit.Rows {
		actions = append(actions, e.Action)
	}
	require.Equal(t, []string{"executor.take", "executor.drain", "executor.drain", "executor.add"}, actions)
}

func ptr[T any](v T) *T { return &v }

// find2 is the text of a part of a line.
func find2(s *goquery.Selection, id string) string {
	return s.Find(`[data-testid="` + id + `"]`).Text()
}

func broadcastJob(group int) jobs.JobInput {
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleType, in.Handler, in.Route = group, "everywhere", "ops", model.ScheduleNone, "h", model.RouteBroadcast
	return in
}

// TestPing: what comes of a call is said, also of addresses that were typed in; addresses that
// the executor does not have are not called.
func TestPing(t *testing.T) {
	c := start(t, testConfig(t))
	called := 0
	stock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called++
		if r.Header.Get(protocol.HeaderToken) != token {
			_, _ = io.WriteString(w, `{"code":500,"msg":"The access token is wrong."}`)
			return
		}
		_, _ = io.WriteString(w, `{"code":200,"msg":null,"content":null}`)
	}))
	defer stock.Close()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"code":500,"msg":"The access token is wrong."}`)
	}))
	defer stranger.Close()
	over := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer hung.Close()
	defer close(over)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dead := "http://" + ln.Addr().String()
	require.NoError(t, ln.Close())
	list := []string{stock.URL, stranger.URL, hung.URL, dead}
	group, err := c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "typed", Title: "Typed", AddressType: model.AddressManual, AddressList: strings.Join(list, ",")})
	require.NoError(t, err)
	boss := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, boss, c, "admin", "test-password", ""))
	for i, want := range [][2]string{{"answers", "answers"}, {"refuses the access token", "wrong token"}, {"does not answer", "no answer"}, {"cannot be reached", "cannot be reached"}} {
		resp, _ := submit(t, boss, fmt.Sprintf("%sexecutors/%d/ping", c.URL, group), "address", list[i])
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		doc := pageDoc(t, boss, c.URL+"executors")
		require.Contains(t, find(doc, "toast").Text(), want[0])
		line := doc.Find(`[data-testid="node"][data-address="` + list[i] + `"]`)
		require.Contains(t, find2(line, "call"), want[1], "it stays in the line")
		require.Equal(t, i > 0, line.Find(".dot.bad").Length() > 0, want[1])
	}
	require.Equal(t, 1, called)
	// Somebody else's
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	defer elsewhere.Close()
	for _, address := range []string{elsewhere.URL, "", "file:///etc/passwd", stock.URL + "/x"} {
		resp, _ := submit(t, boss, fmt.Sprintf("%sexecutors/%d/ping", c.URL, group), "address", address)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, address)
	}
}

// TestTheTokenIsChanged while executors and scripts know the old one: both ways, until the
// time is over, and nothing shows it.
func TestTheTokenIsChanged(t *testing.T) {
	cfg := testConfig(t)
	cfg.AccessToken, cfg.PreviousAccessToken = "new-secret-token", "old-secret-token"
	cfg.PreviousTokenUntil = time.Now().UTC().Add(time.Hour).Format("2006-01-02 15:04")
	c := start(t, cfg)
	group, job := addJob(t, c)
	old := startWorker(t, "old-secret-token", c.URL)
	require.Eventually(t, func() bool { return slices.Equal(listed(t, c, group), []string{old.address}) }, 10*time.Second, 20*time.Millisecond)
	require.Equal(t, model.ResultSucceeded, ptr(made(t, c, job, jobs.RunInput{})).Result(), "called with the token that it knows, and its result is taken")
	require.Equal(t, 1, old.count())
	old.stop()
	changed := startWorker(t, "new-secret-token", c.URL)
	require.Eventually(t, func() bool { return slices.Equal(listed(t, c, group), []string{changed.address}) }, 10*time.Second, 20*time.Millisecond)
	require.Equal(t, model.ResultSucceeded, ptr(made(t, c, job, jobs.RunInput{})).Result())
	body := `{"registryGroup":"EXECUTOR","registryKey":"x-app","registryValue":"http://10.0.0.9:1/"}`
	for tok, code := range map[string]int{"new-secret-token": 200, "old-secret-token": 200, "third": 500, "": 500} {
		require.Equal(t, code, post(t, c, "/api/registry", tok, body).Code, tok)
	}
	boss := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, boss, c, "admin", "test-password", ""))
	_, text := get(t, boss, c.URL+"system")
	require.NotContains(t, text, "secret-token")
	require.NotContains(t, text, "test-password")
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	require.NoError(t, err)
	require.Contains(t, find(doc, "system-token").Text(), "The previous token counts until")
	settings := find(doc, "system-settings").Text()
	for _, flag := range []string{"--access-token", "--previous-access-token", "--admin-password", "--database", "--retention-days", "--public-url", "--insecure-tls"} {
		require.Contains(t, settings, flag)
	}

	// Over: the old one is as wrong as any.
	cfg = testConfig(t)
	cfg.AccessToken, cfg.PreviousAccessToken, cfg.PreviousTokenUntil = "new-secret-token", "old-secret-token", "2020-01-01 00:00"
	c = start(t, cfg)
	require.Equal(t, 500, post(t, c, "/api/registry", "old-secret-token", body).Code)
	for _, wrong := range []func(*app.ServeCmd){
		func(c *app.ServeCmd) { c.PreviousTokenUntil = "" },
		func(c *app.ServeCmd) { c.PreviousTokenUntil = "tomorrow" },
		func(c *app.ServeCmd) { c.PreviousAccessToken = c.AccessToken },
		func(c *app.ServeCmd) { c.PreviousAccessToken = "" },
	} {
		bad := cfg
		bad.Listen = "127.0.0.1:0"
		wrong(&bad)
		_, err := app.Start(t.Context(), bad, nil)
		require.ErrorContains(t, err, "previous")
	}
}

// TestSystemPage shows what the node is really doing.
func TestSystemPage(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, job := addJob(t, c)
	w := startWorker(t, token, c.URL)
	require.Eventually(t, func() bool { return len(listed(t, c, group)) == 1 }, 10*time.Second, 20*time.Millisecond)
	require.Equal(t, w.address, made(t, c, job, jobs.RunInput{}).Address)
	boss := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, boss, c, "admin", "test-password", ""))
	require.Eventually(t, func() bool { // a lone node plans within seconds
		return strings.Contains(find(pageDoc(t, boss, c.URL+"system"), "role").Text(), "plans")
	}, 10*time.Second, 100*time.Millisecond)
	doc := pageDoc(t, boss, c.URL+"system")
	require.Contains(t, find(doc, "system-node").Text(), cfg.NodeName)
	require.Equal(t, 1, doc.Find(`[data-loop="retention"]`).Length(), "also those that seldom run")
	for _, name := range []string{"plan", "fetch", "beat", "settle"} {
		line := doc.Find(`[data-loop="` + name + `"]`)
		require.Equal(t, 1, line.Find(".dot.ok").Length(), name)
		require.Equal(t, 1, line.Find("time").Length(), name)
	}
	require.Contains(t, find(doc, "system-database").Text(), "SQLite 3.")
	work := find(doc, "system-work").Find("dt").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Text() == "Calls accepted" }).Next().Text()
	require.Equal(t, "1", work)
	require.Contains(t, find(doc, "system-settings").Text(), "not set")
	require.Zero(t, find(doc, "system-token").Length(), "no change of the token is under way")
}
