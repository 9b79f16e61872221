package app_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

const (
	eventually = 10 * time.Second
	tick       = 10 * time.Millisecond
)

// run runs one command and returns its exit code and output.
func run(t *testing.T, ctx context.Context, args ...string) (int, string, string) {
	t.Helper()
	var out, errOut buffer
	code := app.Main(ctx, args, &out, &errOut)
	return code, out.String(), errOut.String()
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// TestClearErrors wants one clear line, exit code 1, within seconds.
func TestClearErrors(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	// Each its own database: one that another case migrated is not old any more.
	fresh := func() string { return "--database=sqlite:" + filepath.Join(t.TempDir(), "x.db") }
	tok := "--access-token=t"
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"unknown flag":          {[]string{"serve", "--nope"}, "--nope"},
		"unknown command":       {[]string{"sever"}, "sever"},
		"no command":            {nil, "expected one of"},
		"bad enum":              {[]string{"serve", tok, "--lang=fr"}, "--lang"},
		"bad number":            {[]string{"serve", tok, "--retention-days=many"}, "--retention-days"},
		"no token":              {[]string{"serve", fresh()}, "access token"},
		"executor: no token":    {[]string{"executor"}, "access token"},
		"busy port":             {[]string{"serve", tok, fresh(), "--listen", busy.Addr().String()}, "already in use"},
		"executor: busy port":   {[]string{"executor", tok, "--listen", busy.Addr().String()}, "already in use"},
		"listen without port":   {[]string{"serve", tok, fresh(), "--listen=localhost"}, "host:port"},
		"bad zone":              {[]string{"serve", tok, fresh(), "--timezone=Mars/Base"}, "Mars/Base"},
		"unknown engine":        {[]string{"serve", tok, "--listen=127.0.0.1:0", "--database=oracle:x"}, "sqlite: or mysql://"},
		"database unreachable":  {[]string{"serve", tok, "--listen=127.0.0.1:0", "--database=mysql://u:geheim@127.0.0.1:1/x"}, "cannot reach the database"},
		"no database name":      {[]string{"migrate", "up", "--database=mysql://u@127.0.0.1:1"}, "name of the database"},
		"folder as database":    {[]string{"migrate", "up", "--database=sqlite:" + t.TempDir()}, "cannot reach the database"},
		"old schema":            {[]string{"serve", tok, fresh(), "--listen=127.0.0.1:0", "--no-migrate"}, "migrate up"},
		"short password":        {[]string{"serve", tok, fresh(), "--listen=127.0.0.1:0", "--admin-password=short"}, "8 to 72"},
		"long node name":        {[]string{"serve", tok, fresh(), "--node-name=" + strings.Repeat("n", 101)}, "at most 100 characters"},
		"node name with #":      {[]string{"serve", tok, fresh(), "--node-name=a#1"}, "--node-name"},
		"base path of the API":  {[]string{"serve", tok, fresh(), "--base-path=/api/"}, "programs call at /api"},
		"base path of health":   {[]string{"serve", tok, fresh(), "--base-path=metrics"}, "programs call at /metrics"},
		"base path a pattern":   {[]string{"serve", tok, fresh(), "--base-path=/:id"}, "--base-path"},
		"base path a wildcard":  {[]string{"serve", tok, fresh(), "--base-path=/*"}, "--base-path"},
		"proxy: everybody":      {[]string{"serve", tok, fresh(), "--trust-proxy=true"}, "name the proxies"},
		"proxy: all networks":   {[]string{"serve", tok, fresh(), "--trust-proxy=10.0.0.1,0.0.0.0/0"}, "everybody"},
		"proxy: a name":         {[]string{"serve", tok, fresh(), "--trust-proxy=proxy.local"}, "proxy.local"},
		"proxy: no value":       {[]string{"serve", tok, fresh(), "--trust-proxy"}, "--trust-proxy"},
		"password with a slash": {[]string{"serve", tok, "--listen=127.0.0.1:0", "--database=mysql://u:geheim/ss@h/x"}, "percent-encoded"},
		"password with a hash":  {[]string{"serve", tok, "--listen=127.0.0.1:0", "--database=mysql://u:1#geheim@h/x"}, "percent-encoded"},
		"nobody at the address": {[]string{"healthcheck", "--listen=127.0.0.1:1"}, "no center answers"},
		"recount from nowhere":  {[]string{"recount", "--from=yesterday", fresh()}, "2026-11-20"},
		"unknown account":       {[]string{"user", "reset-password", "nobody", fresh()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			// A command that does not fail would serve for ever.
			ctx, cancel := context.WithTimeout(t.Context(), eventually)
			defer cancel()
			code, out, errOut := run(t, ctx, tc.args...)
			require.Equal(t, 1, code)
			require.Less(t, time.Since(began), 9*time.Second)
			lines := strings.Split(strings.TrimSpace(errOut), "\n")
			last := lines[len(lines)-1]
			require.Contains(t, last, "carillon: ")
			require.Contains(t, last, tc.says)
			require.NotContains(t, out+errOut, "geheim", "the password is shown")
			for _, l := range lines[:len(lines)-1] {
				require.Contains(t, l, "level=", "one clear line besides the log: %s", errOut)
			}
		})
	}
}

func TestHelpShowsFlagsEnvironmentAndDefaults(t *testing.T) {
	code, out, _ := run(t, t.Context(), "serve", "--help")
	require.Zero(t, code)
	for _, want := range []string{"--listen", "CARILLON_LISTEN", "127.0.0.1:8080", "CARILLON_DATABASE", "sqlite:carillon.db", "CARILLON_ACCESS_TOKEN", "CARILLON_ADMIN_PASSWORD", "CARILLON_BASE_PATH", "CARILLON_TIMEZONE", "zh-Hans"} {
		require.Contains(t, out, want)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("CARILLON_ACCESS_TOKEN", "from-env")
	t.Setenv("CARILLON_LISTEN", "nonsense")
	_, _, errOut := run(t, t.Context(), "serve")
	require.Contains(t, errOut, `--listen "nonsense"`)
}

func TestSchemaCommands(t *testing.T) {
	db := "--database=sqlite:" + filepath.Join(t.TempDir(), "x.db")
	_, out, _ := run(t, t.Context(), "migrate", "status", db)
	all := strings.Count(out, "pending")
	require.Greater(t, all, 10)
	code, out, _ := run(t, t.Context(), "migrate", "up", db)
	require.Zero(t, code)
	require.Contains(t, out, strconv.Itoa(all)+" migrations applied")
	code, out, _ = run(t, t.Context(), "migrate", "up", db)
	require.Zero(t, code)
	require.Contains(t, out, "0 migrations applied")
	_, out, _ = run(t, t.Context(), "migrate", "status", db)
	require.Equal(t, all, strings.Count(out, "applied"))
}

// TestServe starts the real command, resets a password beside it and stops it
// as a service manager would.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := l.Addr().String()
	require.NoError(t, l.Close())
	db := "--database=sqlite:" + filepath.Join(t.TempDir(), "x.db")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errOut buffer
	code := make(chan int, 1)
	go func() {
		code <- app.Main(ctx, []string{"--log-format=json", "serve", "--listen", listen, db, "--access-token=geheim"}, &out, &errOut)
	}()
	require.Eventually(t, func() bool {
		c, _, _ := run(t, t.Context(), "healthcheck", "--ready", "--listen", listen)
		return c == 0
	}, eventually, tick)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "user admin, password ") }, eventually, tick)
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready"} {
		resp, err := http.Get("http://" + listen + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		first, rest, _ := strings.Cut(string(body), "\n")
		require.Equal(t, want, first)
		if path == "/readyz" {
			require.Regexp(t, `loop plan +succeeded [0-9.]+ s ago`, rest)
		}
	}
	c, nodes, _ := run(t, t.Context(), "nodes", db)
	require.Zero(t, c)
	require.Regexp(t, `alive +[0-9.]+ s ago`, nodes)
	c, reset, _ := run(t, t.Context(), "user", "reset-password", "admin", db)
	require.Zero(t, c)
	require.Contains(t, reset, "New password of admin: ")
	c, recount, _ := run(t, t.Context(), "recount", db)
	require.Zero(t, c)
	require.Contains(t, recount, "There are no runs.")
	stop()
	require.Zero(t, <-code)
	_, nodes, _ = run(t, t.Context(), "nodes", db)
	require.Contains(t, nodes, "stopped")
	require.NotContains(t, errOut.String(), "geheim", "secrets are not logged")
	require.Contains(t, errOut.String(), `"msg":"center stopped"`)
}
