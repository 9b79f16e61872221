package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

const (
	token    = "interop-access-token"
	password = "correct-horse-battery"
	appName  = "node-executor"
)

// world is a center and somebody who is logged in to its console.
type world struct {
	t   *testing.T
	url string
	web *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	log := &buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the center:\n%s", log)
		}
	})
	center, err := app.Start(t.Context(), app.ServeCmd{
		Listen: "127.0.0.1:0", DatabaseFlags: app.DatabaseFlags{Database: "sqlite:" + t.TempDir() + "/carillon.db", Timezone: "Local"},
		AccessToken: token, AdminPassword: password, Lang: "en", Migrate: true,
		RegistryTimeout: 90 * time.Second, ExecutorTimeout: 3 * time.Second,
	}, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, center.Stop(context.Background())) })
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	w := &world{t: t, url: strings.TrimSuffix(center.URL, "/"), web: &http.Client{Jar: jar}}
	w.post("/login", url.Values{"name": {"admin"}, "password": {password}})
	return w
}

// client is the process of the foreign executor.
type client struct {
	cmd  *exec.Cmd
	done chan error
}

// startClient starts the executor; the context path of the original is part of
// the address that such executors have in their files.
func (w *world) startClient() *client {
	w.t.Helper()
	node, err := exec.LookPath("node")
	require.NoError(w.t, err, "install Node.js 18 or newer")
	modules, err := filepath.Abs("../../.tools/node_modules")
	require.NoError(w.t, err)
	_, err = os.Stat(filepath.Join(modules, "xxl-job-nodejs"))
	require.NoError(w.t, err, `the npm packages are missing: run "make setup"`)
	script, err := filepath.Abs("client.cjs")
	require.NoError(w.t, err)

	out := &buffer{}
	c := &client{cmd: exec.Command(node, script, w.url+"/xxl-job-admin", token, appName), done: make(chan error, 1)}
	c.cmd.Dir = w.t.TempDir()
	c.cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	c.cmd.Stdout, c.cmd.Stderr = out, out
	require.NoError(w.t, c.cmd.Start())
	ended := make(chan struct{})
	go func() { c.done <- c.cmd.Wait(); close(ended) }()
	w.t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // only when the test did not end it
		<-ended
		if w.t.Failed() {
			w.t.Logf("output of the executor:\n%s", out)
		}
	})
	return c
}

// stop ends the executor the way service managers do.
func (c *client) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-c.done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the executor does not end")
	}
}

// --- the console, as a person reads it --------------------------------------

func (w *world) post(path string, form url.Values) {
	w.t.Helper()
	resp, err := w.web.PostForm(w.url+path, form)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	require.Equal(w.t, http.StatusOK, resp.StatusCode, path)
}

func (w *world) get(path string) string {
	w.t.Helper()
	resp, err := w.web.Get(w.url + path)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, resp.StatusCode, "%s: %s", path, body)
	return string(body)
}

// find gives the elements of a page.
func (w *world) find(path, selector string) *goquery.Selection {
	w.t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.get(path)))
	require.NoError(w.t, err)
	return doc.Find(selector)
}

func (w *world) text(path, selector string) string {
	w.t.Helper()
	return strings.TrimSpace(w.find(path, selector).First().Text())
}

// api makes a job management call and returns the answer's data.
func (w *world) api(name string, body map[string]any) string {
	w.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(w.t, err)
	req, err := http.NewRequest(http.MethodPost, w.url+"/xxl-job-admin/api/"+name, bytes.NewReader(raw))
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

func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !so(); <-tick.C {
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
