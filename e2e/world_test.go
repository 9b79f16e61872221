package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/executor"
)

const (
	token    = "e2e-access-token"
	password = "correct-horse-battery"
	appName  = "carillon-sample"
	// patience is how long something that happens by itself may take.
	patience = 20 * time.Second
)

// world is a running center with the sample executor.
type world struct {
	t     *testing.T
	url   string // without slash at the end
	admin session
}

// newWorld starts a center on an empty database. The executor entry has the id
// 1; its process has registered when newWorld returns.
func newWorld(t *testing.T, change ...func(*app.ServeCmd)) *world {
	t.Helper()
	log := &buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the center:\n%s", log)
		}
	})
	logger := slog.New(slog.NewTextHandler(log, nil))
	cfg := app.ServeCmd{
		Listen: "127.0.0.1:0", DatabaseFlags: app.DatabaseFlags{Database: "sqlite:" + t.TempDir() + "/carillon.db", Timezone: "Local"},
		AccessToken: token, AdminPassword: password, Lang: "zh-Hans", Migrate: true, RetentionDays: 30,
		RegistryTimeout: 90 * time.Second, ExecutorTimeout: 3 * time.Second,
	}
	for _, f := range change {
		f(&cfg)
	}
	center, err := app.Start(context.Background(), cfg, logger)
	require.NoError(t, err)
	w := &world{t: t, url: strings.TrimSuffix(center.URL, "/")}
	w.admin = w.logIn()
	w.adopt()
	t.Cleanup(func() { require.NoError(t, center.Stop(context.Background())) })
	w.startExecutor(logger)
	return w
}

// startExecutor starts the process of the sample executor; it has registered when this
// returns. The center outlives it: results that come last are taken.
func (w *world) startExecutor(log *slog.Logger) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := app.ExecutorCmd{
		Center: []string{w.url}, AppName: appName, Listen: "127.0.0.1:0", AccessToken: token, Data: w.t.TempDir(),
	}
	nodes := func() int { return strings.Count(w.text("/executors"), `data-testid="node"`) }
	before := nodes()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run(ctx, log) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, executor.ErrCutShort) { // jobs that a test leaves running may be at work
			require.NoError(w.t, err)
		}
	})
	w.until("the executor is registered", func() bool { return nodes() > before })
}

// api makes a call with the access token and returns the answer's data.
func (w *world) api(name string, body any) string {
	w.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(w.t, err)
	req, err := http.NewRequest(http.MethodPost, w.url+"/api/"+name, bytes.NewReader(raw))
	require.NoError(w.t, err)
	req.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	var answer struct {
		Code int
		Msg  string
		Data any
	}
	require.NoError(w.t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Equal(w.t, 200, answer.Code, "%s: %s", name, answer.Msg)
	text, _ := answer.Data.(string)
	return text
}

// until waits until something is so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !so(); <-tick.C {
		require.True(w.t, time.Now().Before(end), "never came true: %s", what)
	}
}

// buffer is a log that is read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
