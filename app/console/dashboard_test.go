package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func TestDaysAndRing(t *testing.T) {
	s := newSite(t).login("admin")
	for query, want := range map[string]model.DayRange{
		"": {}, "?range=nonsense": {},
		"?range=today": {First: "2026-11-20", Last: "2026-11-20"}, "?range=yesterday": {First: "2026-11-19", Last: "2026-11-19"},
		"?range=month": {First: "2026-11-01", Last: "2026-11-20"}, "?range=lastmonth": {First: "2026-10-01", Last: "2026-10-31"},
		"?range=30days": {First: "2026-10-22", Last: "2026-11-20"}, "?range=custom&from=2026-01-05&to=2026-01-07": {First: "2026-01-05", Last: "2026-01-07"},
	} {
		page(s, "/"+query)
		require.Equal(t, want, s.fake.days, query)
	}
	d := page(s, "/?range=30days")
	require.Contains(t, d.Find("#dashboard").AttrOr("hx-get", ""), "range=30days", "the page goes on with these days")
	require.Equal(t, "30days", d.Find("#range option[selected]").AttrOr("value", ""))
	parts := testid(d, "ring").Find("li")
	require.Equal(t, 4, parts.Length())
	require.Contains(t, parts.First().Find("a").AttrOr("href", ""), "status=succeeded")
	require.Contains(t, page(s, "/?range=custom").Find("#from").AttrOr("value", ""), "-", "dates to choose from")
}
