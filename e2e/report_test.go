package e2e

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// reports waits until all that was seeded is in the counters, today included.
func (w *world) reports(st *store.Store) {
	w.t.Helper()
	w.until("all runs are counted", func() bool {
		s, err := st.CountState(w.t.Context())
		require.NoError(w.t, err)
		return s.Waiting == 0 && s.FoldedMS > 0
	})
}

// TestEveryNumberOfAReportIsItsList opens the list behind each number of a report and
// counts its fires.
func TestEveryNumberOfAReportIsItsList(t *testing.T) {
	t.Parallel()
	w, st := seededWorld(t)
	w.reports(st)
	path := "/reports?kind=range&from=" + time.Now().AddDate(0, 0, -9).Format(time.DateOnly) + "&to=" + time.Now().Format(time.DateOnly)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.text(path)))
	require.NoError(t, err)
	numbers := map[string]int{}
	doc.Find("main [data-fires]").Each(func(_ int, e *goquery.Selection) {
		numbers[e.AttrOr("href", "")] = number(t, e.AttrOr("data-fires", ""))
	})
	require.Greater(t, len(numbers), 20)
	doc.Find("[data-testid=report-jobs] tbody tr td:nth-child(2) a").Each(func(_ int, e *goquery.Selection) {
		numbers[e.AttrOr("href", "")] = number(t, strings.ReplaceAll(e.Text(), ",", ""))
	})
	lines, err := st.Ledger(t.Context(), time.Now().AddDate(0, 0, -9), time.Now())
	require.NoError(t, err)
	var expected int64
	for _, l := range lines {
		if l.Reason == model.LedgerExpected {
			expected += l.Count
		}
	}
	require.Positive(t, expected)
	for href, want := range numbers { // the browser opens such links in TestEveryNumberIsItsList
		require.Equal(t, want, w.fires(href), "%s", href)
	}
}

// fires adds up what the rows of a list stand for, on all its pages.
func (w *world) fires(path string) (total int) {
	w.t.Helper()
	for path != "" {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.text(path)))
		require.NoError(w.t, err)
		marks := doc.Find("[data-testid=fires]")
		total += doc.Find("[data-testid=run-row]").Length() - marks.Length()
		marks.Each(func(_ int, e *goquery.Selection) { total += number(w.t, e.AttrOr("data-fires", "")) })
		path = doc.Find("[data-testid=older]").AttrOr("href", "")
	}
	return total
}

// TestAManagerReadsLastWeek: from the menu to the week before, to one executor, to the list
// of a job's failed runs, and home with a workbook.
func TestAManagerReadsLastWeek(t *testing.T) {
	t.Parallel()
	w, st := seededWorld(t)
	w.reports(st)
	p := w.someone()
	p.doOpen("/")
	p.doClick("[data-testid=nav-reports]")
	p.verifyVisible("[data-testid=sentence]")
	axe := readAxe(t)
	p.verifyAccessible("the daily report", axe)
	p.doClick("[data-testid=kind-week]")
	p.verifyAtLike("/reports.*kind=week.*")
	week := p.textOf("h1")
	p.doClick("[data-testid=report-prev]")
	require.NotEqual(t, week, p.textOf("h1"))
	p.doClick("[data-testid=report-next]")
	require.Equal(t, week, p.textOf("h1"))
	p.doClick("[data-testid=kind-range]")
	p.verifyCount("[data-testid=heat] rect", 7*24)
	p.doClick("[data-testid=list-busy]")
	p.verifyAtLike("/reports.*list=busy.*")
	p.doChoose("#executor", "1")
	p.verifyAtLike("/reports.*executor=1.*")
	p.verifyVisible("[data-testid=report-jobs]")
	p.verifyAccessible("a range of one executor", axe)
	for _, size := range [][2]int{{390, 844}, {1280, 800}} {
		require.NoError(t, p.page.SetViewportSize(size[0], size[1]))
		p.verifyNoOverflow("a report")
	}
	href, err := p.page.Locator("[data-testid=xlsx]").GetAttribute("href")
	require.NoError(t, err)
	raw := []byte(w.text(href))
	book, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	require.NotEmpty(t, book.File)
	href, err = p.page.Locator("[data-testid=csv]").GetAttribute("href")
	require.NoError(t, err)
	require.Contains(t, w.text(href), "Exchange rates")
}
