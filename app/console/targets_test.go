package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCardOfTargets: words and marks beside colours, names as text, and the link to
// the settings for administrators only.
func TestTheCardOfTargets(t *testing.T) {
	s := newSite(t).login("admin")
	d := s.doc(s.get("/reports?kind=day&day=2026-01-01"))
	rows := testid(d, "target")
	require.Equal(t, 2, rows.Length())
	state := func(i int) string { v, _ := rows.Eq(i).Attr("data-state"); return v }
	require.Equal(t, "missed", state(0))
	require.Equal(t, "good", state(1))
	first := strings.Join(strings.Fields(rows.Eq(0).Text()), " ")
	for _, want := range []string{"Ledger <b>", "99.5% of runs succeed · Job =Nightly <ledger>", "98.19%", "✖ missed: 14 runs too many were lost", "360% of the budget used"} {
		require.Contains(t, first, want)
	}
	second := strings.Join(strings.Fields(rows.Eq(1).Text()), " ")
	for _, want := range []string{"99% of days done by 06:00 · Tag billing", "99.50%", "✔ 2 days may still be missed", "50% of the budget used"} {
		require.Contains(t, second, want)
	}
	href, _ := rows.Eq(0).Find("a").Attr("href")
	require.Contains(t, href, "job=7")
	require.Equal(t, 1, testid(d, "edit-targets").Length())
}

// TestATargetThatIsWrong: the form comes back with what was typed and a message at the field.
func TestATargetThatIsWrong(t *testing.T) {
	s := newSite(t).login("admin")
	res := s.post("/reports/targets", "name", "a", "scope", "job", "job", "seven", "goal", "99,5")
	require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	d := s.doc(res)
	require.Equal(t, 1, testid(d, "error-job").Length())
	typed, _ := d.Find("#goal").Attr("value")
	require.Equal(t, "99,5", typed)
}
