package console

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRetentionPage: what is kept and removed is there; shorter days are saved after a
// question that counts for these days only.
func TestRetentionPage(t *testing.T) {
	s := newSite(t).login("admin")
	s.fake.calls = nil
	doc := page(s, "/retention")
	for id, want := range map[string]string{
		"retention-now": "Nothing is left", "retention-state": "12,345", "keeping-job": "for ever", "retention-changed": "admin", "removed-day": "12,000",
	} {
		require.Contains(t, testid(doc, id).Text(), want, id)
	}
	require.Equal(t, "7", doc.Find("#keep_days").AttrOr("value", ""))
	require.Equal(t, "", doc.Find("#keep_failed_days").AttrOr("value", ""))
	require.Equal(t, 30, testid(doc, "removed").Find("g").Length())
	require.Equal(t, 3, testid(doc, "removed").Find("g").Last().Find("rect:not(.hit)").Length(), "by class")

	post := func(days, failed, sure string) *http.Response {
		return s.post("/retention", "keep_days", days, "keep_failed_days", failed, "sure", sure)
	}
	require.Equal(t, 422, post("soon", "9", "").StatusCode)
	bad := post("36501", "9", "")
	require.Equal(t, 422, bad.StatusCode)
	require.Equal(t, "9", s.doc(bad).Find("#keep_failed_days").AttrOr("value", ""), "what was typed stays")
	ask := s.doc(post("3", "", ""))
	require.Contains(t, testid(ask, "retention-ask").Text(), "4,711")
	require.Equal(t, "3/", ask.Find("[name=sure]").AttrOr("value", ""))
	require.NotContains(t, s.fake.calls, "keep 3/")
	require.Equal(t, 200, post("2", "", "3/").StatusCode, "a yes for other days is none")
	require.Empty(t, s.fake.calls)
	require.Equal(t, 303, post("3", "", "3/").StatusCode)
	require.Equal(t, 303, post("", "0", "").StatusCode)
	require.Equal(t, 303, s.post("/retention/run").StatusCode)
	require.Equal(t, []string{"keep 3/", "keep /0", "retention"}, s.fake.calls)
}
