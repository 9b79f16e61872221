package console

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestOwnZone: people read times in their own zone; the days of the account stay those of
// the center, and what leads to their runs says the same instants.
func TestOwnZone(t *testing.T) {
	s := newSite(t).login("admin")
	in, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	at := func(zone *time.Location) string { // of a run in the list
		return time.Date(2026, 11, 20, 14, 0, 0, 0, s.fake.now.Location()).In(zone).Format("15:04:05")
	}
	require.Contains(t, page(s, "/runs").Find("#runs-panel").Text(), at(s.fake.now.Location()))
	day := testid(page(s, "/"), "day").Last().AttrOr("href", "")
	require.Contains(t, day, "T00%3A00%3A00")

	res := s.post("/profile", "zone", "America/New_York")
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	d := page(s, "/runs")
	require.Contains(t, d.Find("#runs-panel").Text(), at(in))
	require.Contains(t, d.Find("header, .topbar").Text(), "America/New_York")
	midnight := time.Date(2026, 11, 20, 0, 0, 0, 0, s.fake.now.Location()).In(in).Format("15")
	require.Contains(t, testid(page(s, "/"), "day").Last().AttrOr("href", ""), "T"+midnight+"%3A00%3A00", "midnight of the center")
	require.Contains(t, page(s, "/jobs/new").Find("#zone").Text(), "Asia/Shanghai", "schedules without a zone have that of the center")
	require.Equal(t, "America/New_York", page(s, "/profile").Find("#zone option[selected]").AttrOr("value", ""))
}

// TestAnAddressSaysItsZone: a list of a period that is passed on shows the same runs to
// people in other zones; an address that names no zone means the clock of the center.
func TestAnAddressSaysItsZone(t *testing.T) {
	s := newSite(t).login("admin")
	zone := func(name string) *time.Location {
		in, err := time.LoadLocation(name)
		require.NoError(t, err)
		return in
	}
	center := s.fake.now.Location()
	other := newSite(t, func(o *Options) { o.Service = s.fake })
	other.fake = s.fake
	other.login("olga")
	require.Equal(t, http.StatusSeeOther, s.post("/profile", "zone", "America/New_York").StatusCode)
	require.Equal(t, http.StatusSeeOther, other.post("/profile", "zone", "Europe/Berlin").StatusCode)
	asked := func(s *site, address string) model.RunFilter {
		require.Equal(t, http.StatusOK, s.get(address).StatusCode, address)
		return s.fake.askedRuns
	}

	d := page(s, "/runs?preset=custom")
	require.Equal(t, "America/New_York", d.Find("form.filters input[name=zone]").AttrOr("value", ""), "the fields are on the clock of the person")
	typed := asked(s, "/runs?preset=custom&zone=America%2FNew_York&from=2026-11-20T01:00:00&to=2026-11-20T02:00:00")
	require.True(t, typed.From.Equal(time.Date(2026, 11, 20, 1, 0, 0, 0, zone("America/New_York"))), typed.From)
	shared := page(s, "/runs?preset=custom&zone=America%2FNew_York&from=2026-11-20T01:00:00&to=2026-11-20T02:00:00").Find("#runs-panel").AttrOr("hx-get", "")
	require.Contains(t, shared, "zone=America%2FNew_York")
	seen := asked(other, shared)
	require.True(t, seen.From.Equal(typed.From) && seen.To.Equal(typed.To), "the other person sees the same runs")
	d = page(other, shared)
	require.Equal(t, "2026-11-20T07:00:00", d.Find("#from").AttrOr("value", ""), "on the own clock")
	require.Contains(t, d.Find("#runs-panel").AttrOr("hx-get", ""), "zone=Europe%2FBerlin", "and what is passed on from there says so")

	old := "/runs?from=2026-11-20T01%3A00%3A00&preset=custom&to=2026-11-20T02%3A00%3A00"
	for _, one := range []*site{s, other} {
		f := asked(one, old)
		require.True(t, f.From.Equal(time.Date(2026, 11, 20, 1, 0, 0, 0, center)), f.From)
		require.True(t, f.To.Equal(time.Date(2026, 11, 20, 2, 0, 0, 0, center)), f.To)
	}
	for _, bad := range []string{"Local", "../../etc/passwd", "Nowhere/Land", "\x00"} {
		f := asked(s, old+"&zone="+url.QueryEscape(bad))
		require.True(t, f.From.Equal(time.Date(2026, 11, 20, 1, 0, 0, 0, center)), bad)
	}

	// What the pages link to.
	for _, p := range []string{testid(page(s, "/"), "day").Last().AttrOr("href", ""), page(s, "/timeline").Find(`[data-testid=earlier]`).AttrOr("href", ""), "/audit?from=2026-11-20T01:00:00&zone=America%2FNew_York"} {
		require.Contains(t, p, "zone=America%2FNew_York")
	}
	require.Equal(t, "2026-11-19T12:00:00", page(s, "/audit?from=2026-11-20T01:00:00").Find("#from").AttrOr("value", ""))
	require.Equal(t, "2026-11-19T12:00", page(s, "/timeline?to=2026-11-20T01:00").Find("#to").AttrOr("value", ""))
	require.Equal(t, http.StatusSeeOther, s.post("/profile", "zone", "").StatusCode)
	require.NotContains(t, testid(page(s, "/"), "day").Last().AttrOr("href", ""), "zone=", "the clock of the center needs no word")
}
