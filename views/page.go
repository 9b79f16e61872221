// Package views holds the pages and fragments of the console as templ
// components with their view models. A component draws what it is given: it
// reads no clock, asks no service and knows no web framework.
package views

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// Page is what every page needs: texts, addresses, the person and the time.
type Page struct {
	L     *i18n.Localizer
	Base  string              // base path without trailing slash, "" at the root
	Asset func(string) string // plain name of a static file to its URL path
	Now   time.Time           // in the zone in which the person reads times
	// Center is the zone of the center: of schedules without one, and of the days of the account.
	Center *time.Location

	Title string
	Nav   string // key of the active menu entry
	Path  string // path and query of this page, to return to
	User  string // "" when nobody is logged in
	Admin bool
	Actor model.Actor // rights of the person: what one may not do is not drawn
	Theme string      // light, dark, "" = by system
	// Columns is which columns of lists the person wants.
	Columns model.Columns
	Toast   *Toast // shown once after a redirect
	Live    bool   // the page refreshes itself
}

// Toast is a short message about what was just done.
type Toast struct {
	Kind string // ok or bad
	Text string
	// Undo is where a POST takes the action back, as a path with the base; "" = nowhere.
	Undo string `json:",omitempty"`
	// Row is the id of the line on the page that the answer to Undo replaces.
	Row string `json:",omitempty"`
}

// T gives a text.
func (p Page) T(key string, kv ...any) string { return p.L.T(key, kv...) }

// URL gives the address of a page below the base path, with query parameters
// as key-value pairs; pairs with an empty value are left out.
func (p Page) URL(path string, kv ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] != "" {
			q.Set(kv[i], kv[i+1])
		}
	}
	if len(q) == 0 {
		return p.Base + path
	}
	return p.Base + path + "?" + q.Encode()
}

// relativeWords are the texts with which the browser goes on counting how long ago
// something was; % stands for the number.
func (p Page) relativeWords() string {
	words := map[string]string{"in": p.T("dur.in", "Duration", "%"), "ago": p.T("dur.ago", "Duration", "%"), "now": p.T("dur.now")}
	for _, unit := range []string{"s", "m", "h", "d"} {
		words[unit] = p.T("dur."+unit, "N", "%")
	}
	raw, _ := json.Marshal(words) // texts always marshal
	return string(raw)
}

// Static gives the address of a static file.
func (p Page) Static(name string) string { return p.Base + p.Asset(name) }

// Zone names the zone in which the page shows times.
func (p Page) Zone() string { return ZoneName(p.Now) }

// clockZone names the zone of the times that an address carries, "" when it is that of the
// center: an address that is passed on means the same instants to everybody.
func (p Page) clockZone() string {
	if p.Center == nil || p.Now.Location().String() == p.Center.String() {
		return ""
	}
	return p.Now.Location().String()
}

// zoneFor is clockZone when one of the times is given.
func (p Page) zoneFor(times ...string) string {
	if strings.Join(times, "") == "" {
		return ""
	}
	return p.clockZone()
}

// CenterZone names the zone of the center.
func (p Page) CenterZone() string {
	if p.Center == nil {
		return p.Zone()
	}
	return ZoneName(p.Now.In(p.Center))
}

// ZoneName names the zone of a time, by IANA where that is known.
func ZoneName(t time.Time) string {
	if name := t.Location().String(); name != "Local" {
		return name
	}
	if _, offset := t.Zone(); offset == 0 {
		return "UTC"
	}
	return t.Format("UTC-07:00")
}

// clockOffset is what the browser adds to UTC to show the center's clock.
func (p Page) clockOffset() string {
	_, s := p.Now.Zone()
	return strconv.Itoa(s)
}

// initials gives the letters on the user button.
func (p Page) initials() string {
	r := []rune(strings.ToUpper(p.User))
	return string(r[:min(2, len(r))])
}

// SeesAll reports whether the person sees all executors, and so the numbers of the whole center.
func (p Page) SeesAll() bool {
	return p.Admin || p.Actor.UserID != 0 && p.Actor.GroupLimit() == nil
}

// navEntry is one line of the menu.
type navEntry struct{ key, path, icon string }

// navEntries gives the menu in the order that people know.
func (p Page) navEntries() []navEntry {
	all := []navEntry{
		{"dashboard", "/", "home"}, {"jobs", "/jobs", "clock-play"}, {"runs", "/runs", "list-details"}, {"incidents", "/incidents", "bell-ringing"}, {"reports", "/reports", "chart-bar"},
		{"executors", "/executors", "server"}, {"users", "/users", "users"}, {"audit", "/audit", "history"},
		{"system", "/system", "bolt"}, {"help", "/help", "book"},
	}
	if p.Admin {
		return all
	}
	menu := all[:5:5]
	if p.Actor.MaySomewhere(model.LevelAdminister) {
		menu = append(menu, all[5])
	}
	return append(menu, all[len(all)-1])
}

// Option is one choice of a select.
type Option struct{ Value, Label string }

// options turns enumeration values into translated choices.
func options[T ~string](l *i18n.Localizer, values []T) []Option {
	out := make([]Option, len(values))
	for i, v := range values {
		out[i] = Option{string(v), Enum(l, v)}
	}
	return out
}

// enumNames gives the words for several of them.
func enumNames[T ~string](p Page, list []T) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = Enum(p.L, v)
	}
	return strings.Join(names, ", ")
}

// Enum gives the words for a stored enumeration value, or the value itself
// when a Java admin stored one that we do not know.
func Enum[T ~string](l *i18n.Localizer, v T) string {
	if key := "enum." + string(v); l.Has(key) {
		return l.T(key)
	}
	return string(v)
}

// fireList lists the runs of some days of the center, as times of the person; more are
// further pairs of the address.
func (p Page) fireList(first, last string, status model.RunStatus, reason, fires string, more ...string) string {
	center := p.Center
	if center == nil {
		center = p.Now.Location()
	}
	from, err := time.ParseInLocation(time.DateOnly, first, center)
	to, err2 := time.ParseInLocation(time.DateOnly, last, center)
	if err != nil || err2 != nil {
		return p.URL("/runs")
	}
	const local = "2006-01-02T15:04:05"
	zone := p.Now.Location()
	return p.URL("/runs", append([]string{"preset", "custom", "from", from.In(zone).Format(local), "to", to.AddDate(0, 0, 1).In(zone).Format(local),
		"zone", p.clockZone(), "status", string(status), "reason", reason, "fires", fires}, more...)...)
}

func itoa(n int) string { return strconv.Itoa(n) }

func id64(n int64) string { return strconv.FormatInt(n, 10) }

// millis gives the instant of a column in epoch milliseconds, in the zone of the page.
func (p Page) millis(ms int64) time.Time { return time.UnixMilli(ms).In(p.Now.Location()) }

// when gives a time of today short and any other with its date.
func (p Page) when(t time.Time) string {
	t = t.In(p.Now.Location())
	if t.Format(time.DateOnly) == p.Now.Format(time.DateOnly) {
		return i18n.Clock(t)
	}
	return i18n.DateTime(t)
}

// resultClass sorts results into the four colours.
func resultClass(r model.RunResult) string {
	switch r {
	case model.ResultSucceeded:
		return "ok"
	case model.ResultFailed, model.ResultTimeout, model.ResultKilled, model.ResultLost:
		return "bad"
	case model.ResultMissed, model.ResultCovered:
		return "missed"
	}
	return "open"
}
