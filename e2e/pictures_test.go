//go:build screenshots

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestPictures takes pictures of every page, dialog and menu for people to look at: Chinese
// and English, light and dark, 1440, 1024 and 390 px wide. Names are place-language-theme-width.
// CARILLON_PICTURES_OF takes those whose name matches a pattern alone.
//
//	make pictures PICTURES=/tmp/pictures OF='^runs.*en.*390'
func TestPictures(t *testing.T) {
	dir := os.Getenv("CARILLON_PICTURES")
	if dir == "" { // the pictures of the documents are another matter
		return
	}
	of := regexp.MustCompile(os.Getenv("CARILLON_PICTURES_OF"))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	s := newStage(t)
	pages := s.pages()
	for _, r := range model.Reasons() {
		list, err := s.store.Runs(t.Context(), model.RunFilter{Reason: r.Code, Limit: 1})
		require.NoError(t, err)
		require.NotEmpty(t, list, r.Code)
		pages["reason-"+r.Code] = fmt.Sprintf("/runs/%d", list[0].ID)
	}
	scenes := []scene{}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		scenes = append(scenes, scene{name, pages[name], func(*person) {}, "h1 >> nth=0"})
	}
	scenes = append(scenes, s.scenes()...)
	taken := 0
	for language, locale := range map[string]string{"zh": "zh-CN", "en": "en-US"} {
		for _, theme := range []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark} {
			for _, width := range []int{1440, 1024, 390} {
				size := &playwright.Size{Width: width, Height: map[int]int{1440: 900, 1024: 768, 390: 844}[width]}
				shape := func(o *playwright.BrowserNewContextOptions) {
					o.Locale, o.Viewport, o.ReducedMotion = playwright.String(locale), size, playwright.ReducedMotionReduce
				}
				somebody, visitor := s.someone(scheme(theme), shape), s.visitor(scheme(theme), shape)
				somebody.expectProblem("404")
				for _, scene := range append([]scene{{"login", "/login", func(*person) {}, "#name"}}, scenes...) {
					name := fmt.Sprintf("%s-%s-%s-%d", scene.name, language, *theme, width)
					if !of.MatchString(name) {
						continue
					}
					p := somebody
					if scene.name == "login" {
						p = visitor
					}
					p.play(scene)
					_, err := p.page.Screenshot(playwright.PageScreenshotOptions{
						Path: playwright.String(filepath.Join(dir, name+".png")), FullPage: playwright.Bool(p.above() == ""),
						Timeout: playwright.Float(60_000),
					})
					require.NoError(t, err)
					taken++
				}
			}
		}
	}
	t.Logf("%d pictures in %s", taken, dir)
}

// pages are all pages, with a name each.
func (s stage) pages() map[string]string {
	return map[string]string{
		"dashboard": "/", "jobs": "/jobs?all=1", "jobs-empty": "/jobs?q=nothing+like+this", "job": "/jobs/" + s.ledger, "job-failing": "/jobs/1",
		"job-new": "/jobs/new", "job-edit": "/jobs/" + s.ledger + "/edit", "job-note": "/jobs/" + s.ledger + "/note", "job-import": "/jobs/import",
		"job-script": "/jobs/" + s.script + "/code", "runs": "/runs", "runs-failed": "/runs?status=failed", "runs-missed": "/runs?status=missed",
		"run-failed": "/runs/" + s.failed, "run-running": "/runs/" + s.running, "run-waits": "/runs/" + s.waits,
		"timeline": "/timeline", "timeline-hour": "/timeline?span=1h&by=address", "timeline-load": "/timeline/load",
		"executors": "/executors", "executor-new": "/executors/new", "executor-edit": "/executors/3/edit",
		"users": "/users", "user-new": "/users/new", "user-edit": "/users/2/edit", "sessions": "/users/sessions",
		"audit": "/audit", "system": "/system", "retention": "/retention", "profile": "/profile", "password": "/password", "help": "/help", "search": "/search", "not-found": "/nowhere",
	}
}
