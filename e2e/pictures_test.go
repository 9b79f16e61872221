//go:build screenshots

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestPictures takes pictures of dashboard, run list, job page and one run of each reason, in three
// languages, wide and narrow, light and dark, for people to look at:
//
//	CARILLON_PICTURES=/tmp/pictures go test -tags screenshots -run TestPictures ./e2e
func TestPictures(t *testing.T) {
	dir := os.Getenv("CARILLON_PICTURES")
	if dir == "" { // the pictures of the documents are another matter
		return
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	w, st := seededWorld(t)
	pages := map[string]string{"dashboard": "/", "runs": "/runs?fires=1", "failed": "/runs?status=failed", "missed": "/runs?status=missed", "planned": "/runs/1",
		"job": "/jobs/1", "job-run": "/jobs/1/run", "job-delete": "/jobs/1/delete", "job-note": "/jobs/1/note"}
	for _, r := range model.Reasons() {
		list, err := st.Runs(t.Context(), model.RunFilter{Reason: r.Code, Limit: 1})
		require.NoError(t, err)
		require.NotEmpty(t, list, r.Code)
		pages["run-"+r.Code] = fmt.Sprintf("/runs/%d", list[0].ID)
	}
	open, err := st.Runs(t.Context(), model.RunFilter{Status: model.RunsOpen, Limit: 9})
	require.NoError(t, err)
	for _, r := range open {
		pages["open-"+string(r.Result())] = fmt.Sprintf("/runs/%d", r.ID)
	}
	for _, locale := range []string{"zh-CN", "zh-TW", "en-US"} {
		for _, theme := range []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark} {
			p := w.someone(scheme(theme), func(o *playwright.BrowserNewContextOptions) { o.Locale = playwright.String(locale) })
			for name, path := range pages {
				if strings.HasPrefix(name, "run-") && *theme == *playwright.ColorSchemeDark {
					continue
				}
				for _, width := range []int{1280, 390} {
					require.NoError(t, p.page.SetViewportSize(width, 820))
					p.doOpen(path)
					file := fmt.Sprintf("%s-%s-%s-%d.png", name, locale, *theme, width)
					_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(filepath.Join(dir, file)), FullPage: playwright.Bool(name != "failed" && name != "missed" && name != "runs")})
					require.NoError(t, err)
				}
			}
		}
	}
}
