package console

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
