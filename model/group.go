package model

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// AddressType says where the addresses of an executor come from.
type AddressType int

// Address types as stored in address_type.
const (
	AddressAuto   AddressType = 0 // executors register themselves
	AddressManual AddressType = 1 // typed by a person
)

// Group is one row of xxl_job_group: an executor, that is an application of
// which any number of processes may be alive.
type Group struct {
	ID          int
	AppName     string
	Title       string
	AddressType AddressType
	AddressList string // comma separated, sorted when automatic
	UpdateTime  time.Time
	// Draining are addresses that get no new runs.
	Draining []string
}

// Taking gives the addresses that new runs may go to.
func (g *Group) Taking() []string {
	if len(g.Draining) == 0 {
		return g.Addresses()
	}
	return slices.DeleteFunc(g.Addresses(), func(a string) bool { return slices.Contains(g.Draining, a) })
}

// Addresses splits the address list.
func (g *Group) Addresses() []string {
	var out []string
	for a := range strings.SplitSeq(g.AddressList, ",") {
		if a = strings.TrimSpace(a); a != "" {
			out = append(out, a)
		}
	}
	return out
}

// Registration is one row of xxl_job_registry: one address that beats.
type Registration struct {
	Group   string // EXECUTOR
	Key     string // app name
	Address string // verbatim as registered
	Beat    time.Time
	Report  *Report // of our SDK; nil of others
}

// appNameRE is the rule for new app names (reference: console.md 10.2).
var appNameRE = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*$`)

// ValidAppName reports whether the name may be given to a new executor.
func ValidAppName(s string) bool { return len(s) >= 4 && len(s) <= 64 && appNameRE.MatchString(s) }

// ValidAddress reports whether s is an absolute http(s) URL with a host, no
// query and no user information, as an executor registers it.
func ValidAddress(s string) bool {
	// An empty query or fragment is one too: what is put behind it is not the path.
	if len(s) > 255 || strings.ContainsAny(s, ", \t\r\n?#") || !utf8.ValidString(s) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}
