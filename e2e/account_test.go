package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// TestEveryNumberIsItsList clicks each number of the dashboard (tiles, account, parts of
// the bars) and counts the fires in the list that opens.
func TestEveryNumberIsItsList(t *testing.T) {
	t.Parallel()
	w, st := seededWorld(t)
	today := time.Now()
	lines, err := st.Ledger(t.Context(), today, today)
	require.NoError(t, err)
	ledger := model.NewLedger(model.Day(today, 0), lines)
	p := w.someone()
	p.doOpen("/")
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.text("/")))
	require.NoError(t, err)

	numbers := map[string]int{}
	doc.Find("[data-fires]").Each(func(_ int, e *goquery.Selection) {
		numbers[e.AttrOr("href", "")] = number(t, e.AttrOr("data-fires", ""))
	})
	tiles := doc.Find("[data-testid=tile]")
	require.Equal(t, 4, tiles.Length())
	numbers[tiles.Eq(1).AttrOr("href", "")] = int(ledger.Expected)
	require.Contains(t, tiles.Eq(1).Text(), strconv.FormatInt(ledger.Expected, 10))
	numbers[tiles.Eq(3).AttrOr("href", "")] = int(ledger.Succeeded)
	// 5 classes and 27 reasons of today; 7 days with up to four parts.
	require.Greater(t, len(numbers), 5+len(model.Reasons())+12)
	for _, r := range ledger.Reasons {
		require.NotZero(t, doc.Find(`.because a[href*="reason=`+r.Reason+`&"]`).Length(), r.Reason)
	}
	require.Len(t, ledger.Reasons, len(model.Reasons()))

	axe := readAxe(t)
	for _, path := range []string{"/", "/runs?fires=1&status=missed", "/runs/" + strconv.FormatInt(failedWithRoute(t, st), 10)} {
		p.doOpen(path)
		p.verifyAccessible(path, axe)
		require.NoError(t, p.page.SetViewportSize(390, 844))
		p.verifyNoOverflow(path)
		require.NoError(t, p.page.SetViewportSize(1280, 800))
		p.verifyNoOverflow(path)
	}
	// Each number is clicked by somebody without scripts, which takes a tenth of the time;
	// with them the links are the same.
	plain := w.someone(noScripts)
	for href, want := range numbers {
		plain.doOpen("/")
		require.NoError(t, plain.page.Locator(`a[href="`+href+`"]`).Last().DispatchEvent("click", nil), href)
		plain.verifyVisible("[data-testid=fires-note]")
		require.Equal(t, want, w.fires(strings.TrimPrefix(plain.page.URL(), w.url)), "%s", href)
	}

	// The same filter without "one row for each fire" has the attempts, too.
	p.doOpen("/")
	p.doClick("[data-testid=tile] >> nth=1")
	p.doClick("[data-testid=fires-note] a")
	p.verifyCount("[data-testid=fires-note]", 0)
	require.Greater(t, w.fires(strings.TrimPrefix(p.page.URL(), w.url)), int(ledger.Expected))
}

// failedWithRoute is a run whose page has a table of whom the center asked.
func failedWithRoute(t *testing.T, st *store.Store) int64 {
	list, err := st.Runs(t.Context(), model.RunFilter{Reason: model.ReasonRefused, Limit: 1})
	require.NoError(t, err)
	require.NotEmpty(t, list[0].Note.Route)
	return list[0].ID
}
