package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// longestNodeName is what the column of the nodes holds.
const longestNodeName = 100

// checkNodeName wants a name that the database keeps as it is. The owner of a
// run is written as name#epoch.
func (c *ServeCmd) checkNodeName() error {
	name := c.nodeName()
	if utf8.RuneCountInString(name) > longestNodeName || !utf8.ValidString(name) || strings.Contains(name, "#") ||
		strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return fmt.Errorf("--node-name must have at most %d characters without spaces and #", longestNodeName)
	}
	return nil
}

var basePathRE = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// checkBasePath refuses paths that are patterns to the router, and those at
// which programs call: the console would be hidden behind them.
func (c *ServeCmd) checkBasePath() error {
	given := c.BasePath
	c.BasePath = path.Clean("/" + c.BasePath)
	if !basePathRE.MatchString(strings.TrimSuffix(c.BasePath, "/")) {
		return fmt.Errorf("--base-path %q: give a path of letters, digits and . _ ~ - such as /carillon", given)
	}
	for _, taken := range machinePaths() {
		if c.BasePath == taken || strings.HasPrefix(c.BasePath, taken+"/") {
			return fmt.Errorf("--base-path %q: programs call at %s, choose another path", given, taken)
		}
	}
	return nil
}

// machinePaths are answered by the API, whatever the base path of the console.
func machinePaths() []string {
	return []string{"/api", "/xxl-job-admin/api", "/healthz", "/readyz", "/metrics"}
}

// proxies reads the networks of --trust-proxy; empty = nobody is believed.
func (c *ServeCmd) proxies() ([]*net.IPNet, error) {
	var out []*net.IPNet
	for _, s := range c.TrustProxy {
		switch s = strings.TrimSpace(s); strings.ToLower(s) {
		case "", "false", "no", "off", "0":
			continue
		case "true", "yes", "on", "1":
			return nil, errors.New("--trust-proxy: name the proxies, for example 10.0.0.5 or 10.0.0.0/28; " +
				"to believe every private address would let anybody there choose theirs")
		}
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			addr, aerr := netip.ParseAddr(s)
			if aerr != nil || addr.Zone() != "" {
				return nil, fmt.Errorf("--trust-proxy %q: give the address or the network of a proxy, for example 10.0.0.5 or 10.0.0.0/28", s)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		if prefix.Bits() == 0 {
			return nil, fmt.Errorf("--trust-proxy %q would believe everybody", s)
		}
		prefix = prefix.Masked()
		out = append(out, &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())})
	}
	return out, nil
}

// clientAddress finds the address of a person: the peer, or what the proxies
// that were named say.
func clientAddress(proxies []*net.IPNet) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		trust = append(trust, echo.TrustIPRange(p))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}
