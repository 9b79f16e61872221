package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener whose connections are pipes: who does not read holds the writer.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestAReaderThatTakesNothingIsDropped, but a live log, which sets deadlines of
// its own, lasts.
func TestAReaderThatTakesNothingIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		dropped := make(chan time.Duration, 1)
		mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
			began := time.Now()
			_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
			if err != nil {
				dropped <- time.Since(began)
			}
		})
		mux.HandleFunc("/live", func(w http.ResponseWriter, _ *http.Request) {
			rc := http.NewResponseController(w)
			for range 20 {
				_ = rc.SetWriteDeadline(time.Now().Add(10 * time.Second))
				_, _ = io.WriteString(w, "line\n")
				_ = rc.Flush()
				time.Sleep(15 * time.Second)
			}
			_ = rc.SetWriteDeadline(time.Now().Add(10 * time.Second))
		})
		listener := make(pipes, 2)
		s := newServer(mux, slog.New(slog.DiscardHandler), context.Background())
		go func() { _ = s.Serve(listener) }()
		ask := func(path string) net.Conn {
			client, server := net.Pipe()
			listener <- server
			_, err := fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", path)
			require.NoError(t, err)
			return client
		}
		silent := ask("/large")
		live := ask("/live")
		resp, err := http.ReadResponse(bufio.NewReader(live), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("line\n", 20), string(body), "five minutes of a live log")
		require.LessOrEqual(t, <-dropped, 2*time.Minute)
		_ = silent.Close()
		_ = live.Close()
		close(listener)
		_ = s.Close()
	})
}

// TestWhoseWordOnTheClientCounts: only the proxies that were named are believed.
func TestWhoseWordOnTheClientCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		proxies          []string
		peer, says, want string
	}{
		"no proxy":                     {nil, "10.0.0.7", "203.0.113.9", "10.0.0.7"},
		"switched off by environment":  {[]string{"false"}, "10.0.0.7", "203.0.113.9", "10.0.0.7"},
		"the proxy":                    {[]string{"10.0.0.5"}, "10.0.0.5", "203.0.113.9", "203.0.113.9"},
		"somebody beside the proxy":    {[]string{"10.0.0.5"}, "10.0.0.7", "203.0.113.9", "10.0.0.7"},
		"loopback is nobody special":   {[]string{"10.0.0.5"}, "127.0.0.1", "203.0.113.9", "127.0.0.1"},
		"a client behind who invents":  {[]string{"10.0.0.5"}, "10.0.0.5", "203.0.113.9, 10.0.0.7", "10.0.0.7"},
		"a network of proxies":         {[]string{"10.0.0.0/28", "2001:db8::/64"}, "10.0.0.5", "203.0.113.9, 10.0.0.3", "203.0.113.9"},
		"a proxy with an IPv6 address": {[]string{"10.0.0.0/28", "2001:db8::/64"}, "2001:db8::9", "203.0.113.9", "203.0.113.9"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ServeCmd{TrustProxy: tc.proxies}
			list, err := cfg.proxies()
			require.NoError(t, err)
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = net.JoinHostPort(tc.peer, "1234")
			r.Header.Set("X-Forwarded-For", tc.says)
			require.Equal(t, tc.want, clientAddress(list)(r))
		})
	}
}
