package channel_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/channel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func TestInternalAddressesAreRefused(t *testing.T) {
	s := simulate(t, 200, "ok")
	base := strings.TrimPrefix(s.URL, "http://127.0.0.1")
	closed := sender(t, func(o *channel.Options) { o.AllowInternal = nil })
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST.", "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "[::]", "[fe80::1]", "[fd00:ec2::254]", "[fc00::1]", "224.0.0.1", "255.255.255.255",
		// Other ways of writing 127.0.0.1, which resolvers may understand.
		"127.1", "0x7f000001", "2130706433"} {
		to := channel.Target{Kind: channel.Webhook, URL: "http://" + host + base}
		e := failure(t, closed, to)
		assert.Contains(t, []string{channel.Internal, channel.NoConnect}, e.Reason, host)
		if strings.Contains(host, ":") || strings.Count(host, ".") == 3 {
			assert.Equal(t, channel.Internal, e.Reason, host)
			assert.True(t, e.Permanent, host)
			assert.Equal(t, &channel.CheckError{Field: "url", Code: channel.CheckInternal}, closed.Check(to), host)
		}
	}
	assert.Empty(t, s.all, "nobody was called")
	_, err := sender(t, nil).Send(t.Context(), channel.Target{Kind: channel.Webhook, URL: s.URL}, message())
	require.NoError(t, err, "allowed ranges are called")
	require.NoError(t, sender(t, nil).Check(channel.Target{Kind: channel.Webhook, URL: s.URL}))
}

// names is a DNS server on loopback, put in the place of the system's. It answers
// each question for a name with the next of its addresses.
func names(t *testing.T, addresses ...string) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		asked, buf := 0, make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if m.Questions[0].Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 0},
					Body: &dnsmessage.AResource{A: netip.MustParseAddr(addresses[min(asked, len(addresses)-1)]).As4()}}}
				asked++
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	})
	old := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
	t.Cleanup(func() { net.DefaultResolver = old; _ = pc.Close(); wg.Wait() })
}

// listen serves on one address of loopback and a given port (0 = any).
func listen(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// TestANameThatChangesItsAddress: first it is where we may go, then it is inside.
func TestANameThatChangesItsAddress(t *testing.T) {
	var outside, inside atomic.Int32
	count := func(n *atomic.Int32) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { n.Add(1); w.Header().Set("Connection", "close") })
	}
	a := listen(t, "127.0.0.2:0", count(&outside))
	_, port, _ := net.SplitHostPort(a.Listener.Addr().String())
	listen(t, "127.0.0.1:"+port, count(&inside))
	names(t, "127.0.0.2", "127.0.0.1")
	s := sender(t, func(o *channel.Options) { o.AllowInternal = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")} })
	to := channel.Target{Kind: channel.Webhook, URL: "http://hooks.example.test.:" + port}
	require.NoError(t, s.Check(to))
	_, err := s.Send(t.Context(), to, message())
	require.NoError(t, err)
	e := failure(t, s, to)
	assert.Equal(t, channel.Internal, e.Reason)
	assert.ErrorContains(t, e, "127.0.0.1")
	assert.EqualValues(t, 1, outside.Load())
	assert.Zero(t, inside.Load())
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inside := simulate(t, 200, "secret")
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := simulate(t, status, "")
		s.header = map[string]string{"Location": inside.URL + "/latest/meta-data"}
		for _, kind := range channel.Kinds() {
			e := failure(t, sender(t, nil), target(kind, s.URL))
			assert.Equal(t, channel.Redirect, e.Reason, kind)
			assert.Equal(t, status, e.Code)
			assert.False(t, e.Permanent)
		}
	}
	assert.Empty(t, inside.all)
}

func TestAnswersThatDoNotEnd(t *testing.T) {
	quick := func(o *channel.Options) { o.Timeout = 400 * time.Millisecond }
	pour := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for line := strings.Repeat("x", 4096); ; {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	})
	var drip http.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() })
	for _, kind := range channel.Kinds() {
		inBody := kind == channel.DingTalk || kind == channel.Feishu || kind == channel.WeCom || kind == channel.Telegram
		for name, h := range map[string]http.Handler{"pours": pour, "drips": drip, "says nothing": silent} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := listen(t, "127.0.0.1:0", h)
				began := time.Now()
				if !inBody && name != "says nothing" {
					// The status was success: the message is told, whatever comes behind.
					a, err := sender(t, quick).Send(t.Context(), target(kind, s.URL), message())
					require.NoError(t, err)
					assert.LessOrEqual(t, len(a.Text), 500)
				} else {
					e := failure(t, sender(t, quick), target(kind, s.URL))
					assert.Equal(t, map[string]string{"pours": channel.Unclear, "drips": channel.TooSlow, "says nothing": channel.TooSlow}[name], e.Reason)
					assert.False(t, e.Permanent)
				}
				assert.Less(t, time.Since(began), 5*time.Second)
			})
		}
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	base := "http://" + l.Addr().String()
	require.NoError(t, l.Close())
	for _, kind := range channel.Kinds() {
		e := failure(t, sender(t, nil), target(kind, base))
		assert.Equal(t, channel.NoConnect, e.Reason)
		assert.ErrorContains(t, e, "refused")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sender(t, nil).Send(ctx, target(channel.Slack, base), message())
	require.ErrorIs(t, err, context.Canceled)
	assert.NotContains(t, err.Error(), token)
}

func TestCertificatesOfOthersAreRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	e := failure(t, sender(t, nil), target(channel.DingTalk, s.URL))
	assert.Equal(t, channel.NoConnect, e.Reason)
	assert.ErrorContains(t, e, "certificate")
	assert.False(t, e.Permanent)
}

// TestProxy: the environment's proxy is used when it is asked for only. It is read
// once per process, so that both stand in one test.
func TestProxy(t *testing.T) {
	var through atomic.Int32
	proxy := listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.IsAbs() {
			through.Add(1)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "direct.example.test")
	names(t, "127.0.0.3")
	to := channel.Target{Kind: channel.Webhook, URL: "http://hooks.example.test.:9"}
	e := failure(t, sender(t, func(o *channel.Options) { o.AllowInternal = nil }), to)
	assert.Equal(t, channel.Internal, e.Reason, "not by the proxy")
	asked := sender(t, func(o *channel.Options) { o.AllowInternal, o.Proxy = nil, true })
	a, err := asked.Send(t.Context(), to, message())
	require.NoError(t, err)
	assert.Equal(t, 204, a.Code)
	assert.EqualValues(t, 1, through.Load())
	e = failure(t, asked, channel.Target{Kind: channel.Webhook, URL: "http://direct.example.test:9"})
	assert.Equal(t, channel.Internal, e.Reason, "what goes past the proxy is guarded")
	e = failure(t, asked, channel.Target{Kind: channel.Webhook, URL: "http://169.254.169.254/latest"})
	assert.Equal(t, channel.Internal, e.Reason, "addresses are refused before the proxy sees them")
}
