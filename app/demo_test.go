package app_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// occupy holds ports; who else holds one is as good.
func occupy(t *testing.T, addresses ...string) {
	for _, a := range addresses {
		l, err := net.Listen("tcp", a)
		if err != nil {
			var op *net.OpError
			require.True(t, errors.As(err, &op), "%v", err)
			continue
		}
		t.Cleanup(func() { require.NoError(t, l.Close()) })
	}
}

// TestDemoTakesFreePorts starts the demo as a newcomer does, on a machine where
// others use its ports.
func TestDemoTakesFreePorts(t *testing.T) {
	occupy(t, "127.0.0.1:8080", "127.0.0.1:9999", "127.0.0.1:10000", "127.0.0.1:10002")
	data := filepath.Join(t.TempDir(), "demo")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errOut buffer
	code := make(chan int, 1)
	go func() { code <- app.Main(ctx, []string{"demo", "--data", data}, &out, &errOut) }()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "Ctrl+C") || len(code) > 0 }, eventually, tick, "%s", &errOut)

	text := out.String()
	at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(text)
	require.NotEmpty(t, at)
	require.NotContains(t, at, ":8080")
	require.Contains(t, text, "127.0.0.1:8080 is taken")
	ports := regexp.MustCompile(`listen on 127\.0\.0\.1:(\d+) and 127\.0\.0\.1:(\d+)\.`).FindStringSubmatch(text)
	require.Len(t, ports, 3, text)
	for _, p := range ports[1:] {
		require.NotContains(t, []string{"9999", "10000", "10002"}, p)
	}
	password, err := os.ReadFile(filepath.Join(data, "password"))
	require.NoError(t, err)
	require.Contains(t, text, string(password))
	resp, err := http.Get(at + "healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	second, _, said := run(t, t.Context(), "demo", "--data", data)
	require.Equal(t, 1, second, "two demos would work on one database")
	require.Contains(t, said, at)

	stop()
	require.Zero(t, <-code)
	require.Empty(t, errOut.String(), "nothing but the welcome")
	require.NoFileExists(t, filepath.Join(data, "address"))
}

// TestDemoObeysAnAddress: who names a port wants that one.
func TestDemoObeysAnAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	code, _, said := run(t, t.Context(), "demo", "--data", t.TempDir(), "--listen", l.Addr().String())
	require.Equal(t, 1, code)
	require.Contains(t, said, "already in use")
}
