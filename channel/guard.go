package channel

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// guard keeps messages, which people may address as they like, away from the inside:
// loopback, private and link-local ranges with the cloud's metadata, and whatever else
// is not the internet. It looks at the address that is about to be dialled, after the
// name was resolved, so that a name which changes its address does not help.
type guard struct {
	allowed []netip.Prefix
	safe    *ssrf.Guardian
}

// blockedError is an address that may not be called.
type blockedError struct{ addr string }

func (e *blockedError) Error() string {
	return fmt.Sprintf("the address %s is internal and not allowed", e.addr)
}

func newGuard(allowed []netip.Prefix) *guard {
	return &guard{allowed: allowed, safe: ssrf.New(ssrf.WithAnyPort())}
}

// check refuses an address that is not of the internet and not allowed. An IPv4
// address in the clothes of IPv6 counts as what it is.
func (g *guard) check(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	for _, p := range g.allowed {
		if p.Contains(a) {
			return nil
		}
	}
	if err := g.safe.SafeAddr(a); err != nil {
		return &blockedError{a.String()}
	}
	return nil
}

// control is called with the resolved address before each connection.
func (g *guard) control(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return &blockedError{address}
	}
	return g.check(ap.Addr())
}

// literal refuses what can be seen without asking anybody: addresses, and localhost.
// It is what protects a proxy that resolves for us.
func (g *guard) literal(u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	a, err := netip.ParseAddr(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		a, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	if err != nil {
		return nil
	}
	if err := g.check(a); err != nil {
		return &Error{Reason: Internal, Permanent: true, Err: err}
	}
	return nil
}

func (g *guard) transport(timeout time.Duration, proxy bool) *http.Transport {
	t := &http.Transport{
		TLSHandshakeTimeout:    timeout,
		MaxIdleConns:           4,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // 64 KB are 64 KB
	}
	open := &net.Dialer{Timeout: timeout}
	guarded := &net.Dialer{Timeout: timeout, Control: g.control}
	t.DialContext = guarded.DialContext
	if !proxy {
		return t
	}
	t.Proxy = http.ProxyFromEnvironment
	proxies := environment()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if slices.Contains(proxies, address) { // it stands inside
			return open.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
	return t
}

// environment gives host and port of the proxies of the environment.
func environment() (list []string) {
	for scheme := range map[string]bool{"http": true, "https": true} {
		p, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: scheme, Host: "example.com"}})
		if err != nil || p == nil {
			continue
		}
		port := p.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[p.Scheme]
		}
		list = append(list, net.JoinHostPort(p.Hostname(), port))
	}
	return list
}
