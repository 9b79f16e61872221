package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestListsAsOneLikesThem: a star is answered by its line and keeps the focus, tags are
// offered and lead to their jobs, columns and filters are chosen from menus that polls
// leave alone, many jobs are changed with one way back.
func TestListsAsOneLikesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, tags := range []string{"nightly,pay", "nightly", "", "report"} {
		w.addJob(fmt.Sprintf("Job %d", i+1), map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?", "tags": tags})
	}
	p := w.someone()
	axe := readAxe(t)
	p.doOpen("/jobs?sort=id")
	p.verifyAccessible("the list", axe)
	p.doClick("#job-2 [data-testid=star]")
	p.verifyAttribute("#job-2 [data-testid=star]", "aria-pressed", "true")
	p.verifyFocused("#job-2 [data-testid=star]")
	p.doClick("[data-testid=favourites]")
	p.verifyCount("[data-testid=job-row]", 1)
	p.verifyAtLike(`/jobs\?fav=1&sort=id`)
	p.doClick("[data-testid=favourites]")
	p.verifyCount("[data-testid=job-row]", 4)
	p.doChoose("#tag", "nightly")
	p.verifyCount("[data-testid=job-row]", 2)

	p.doClick("[data-testid=filters-button]")
	p.doFill("[data-testid=filter-name]", "Every night")
	p.verifyAccessible("the menu of filters", axe)
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyText("[data-testid=toast]", "Every night")
	p.verifyText("[data-testid=filters-button]", "Every night")
	p.doOpen("/jobs?all=1")
	p.doClick("[data-testid=filters-button]")
	p.doClick("[data-testid=saved-filter]")
	p.verifyCount("[data-testid=job-row]", 2)
	p.doClick("[data-testid=filters-button]")
	p.doClick("[data-testid=manage-filters]")
	p.verifyAccessible("the dialog of filters", axe)
	p.doFill("#dialog input[name=name]", "Nights")
	p.doClick("[data-testid=rename-filter]")
	p.verifyValue("#dialog input[name=name]", "Nights")
	p.doClick("[data-testid=delete-filter]")
	p.verifyCount("[data-testid=filter-line]", 0)
	p.doClick("#dialog [data-close]")

	p.doOpen("/jobs?sort=id")
	p.doClick("[data-testid=columns-button]")
	p.doClick("[data-testid=column-duration]")
	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	p.verifyVisible("#job-1 [data-testid=last-run]") // a poll has come
	p.verifyVisible("[data-testid=columns-menu]")
	p.verifyChecked("[data-testid=column-duration]")
	p.verifyAccessible("the menu of columns", axe)
	p.doClick("[data-testid=save-columns]")
	p.verifyAtLike(`/jobs\?sort=id`)
	p.verifyCount("#job-1 td.c-average", 1)
	p.verifyTablesFit("/jobs?sort=id")

	p.doClick("[data-testid=pick-all]")
	p.doClick("[data-testid=batch-change]")
	p.verifyAccessible("the dialog of changes", axe)
	p.doFill("[name=value_author]", "")
	p.expectProblem("422")
	p.doClick("[data-testid=change-author]")
	p.verifyVisible("[data-testid=error-value_author]")
	p.doFill("[name=value_tag]", "Nightly")
	p.doClick("[data-testid=change-tag]")
	p.verifyText("#dialog-title", "2 done, 2 unchanged, 0 failed")
	p.verifyText("#job-3", "nightly")
	p.doClick("[data-testid=batch-undo]")
	p.verifyText("#dialog-title", "2 done, 0 unchanged, 0 failed")
	p.doClick("[data-testid=batch-close]")
	p.verifyCount("#job-3 [data-testid=tag]", 0)

	p.doOpen("/jobs/3/edit")
	p.doClick("[data-testid=tag-offer] >> nth=0")
	p.verifyValue("#tags", "nightly")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=tag]", "nightly")
	p.doClick("[data-testid=tag]")
	p.verifyCount("[data-testid=job-row]", 3)
	p.doReload() // scripts are there with it
	require.NoError(t, p.page.Keyboard().Press("Control+k"))
	p.verifyText("[data-testid=palette-item] >> nth=0", "Job 2")
}

// TestLongWork shows how far it is, and is ended by a button; what was done by then is said
// and taken back.
func TestLongWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many = 9000
	var file strings.Builder
	file.WriteString("carillon: 1\njobs:\n")
	for i := range many {
		fmt.Fprintf(&file, "- {executor: carillon-sample, name: Job %04d, author: old, schedule_type: NONE, handler: demo.hello}\n", i)
	}
	path := filepath.Join(t.TempDir(), "jobs.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file.String()), 0o600))
	p := w.someone()
	p.doOpen("/jobs/import")
	require.NoError(t, p.page.Locator("#file").SetInputFiles(path))
	p.doClick("[data-testid=import-plan-button]")
	require.NoError(t, p.page.Locator("[data-testid=import-apply]").Click(playwright.LocatorClickOptions{Timeout: playwright.Float(60_000)}))
	require.NoError(t, expect.Locator(p.page.Locator("[data-testid=job-row]")).ToHaveCount(25, playwright.LocatorAssertionsToHaveCountOptions{Timeout: playwright.Float(120_000)}))

	// The second piece waits on its way until the button was pressed.
	pressed := make(chan struct{})
	var pieces atomic.Int32
	require.NoError(t, p.page.Route("**/jobs/batch", func(r playwright.Route) {
		if form, err := r.Request().PostData(); err == nil && strings.Contains(form, "work=") && pieces.Add(1) == 1 {
			<-pressed
		}
		_ = r.Continue() // fails when the page is gone
	}))
	p.doClick("[data-testid=pick-all]")
	p.doClick("[data-testid=batch-all]")
	p.doClick("[data-testid=batch-change]")
	p.doFill("[name=value_author]", "new")
	p.doClick("[data-testid=change-author]")
	p.verifyText("#dialog-title", "of 9,000 done")
	p.verifyFocused("[data-testid=batch-cancel]")
	p.verifyAccessible("progress", readAxe(t))
	p.doClick("[data-testid=batch-cancel]")
	close(pressed)
	p.verifyText("#dialog p >> nth=0", "were not touched")
	p.doClick("[data-testid=batch-undo]")
	p.verifyCount("#dialog p", 0) // that of before is gone
	p.verifyVisible("[data-testid=batch-close]")
	p.verifyText("#dialog-title", "0 unchanged, 0 failed")
	p.doOpen("/jobs?q=new")
	p.verifyCount("[data-testid=job-row]", 0)
}

// TestListsWithoutJavaScript: stars, filters, columns and changes are ordinary forms.
func TestListsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("One", map[string]any{"tags": "pay"})
	w.addJob("Two", nil)
	p := w.visitor(noScripts)
	p.doOpen("/jobs?sort=id")
	p.doLogIn("admin", password)
	p.doClick("#job-1 [data-testid=star]")
	p.verifyAt("/jobs?sort=id")
	p.verifyAttribute("#job-1 [data-testid=star]", "aria-pressed", "true")
	p.doChoose("#tag", "pay")
	p.doClick("noscript button")
	p.verifyCount("[data-testid=job-row]", 1)
	p.doClick("[data-testid=filters-button]")
	p.doFill("[data-testid=filter-name]", "Pay")
	p.doClick("[data-testid=save-filter]")
	p.verifyText("[data-testid=filters-button]", "Pay")
	p.doClick("[data-testid=columns-button]")
	p.doClick("[data-testid=column-mode]")
	p.doClick("[data-testid=save-columns]")
	p.verifyCount("#job-1 td.c-mode", 0)
	p.verifyCount("[data-testid=job-row]", 1)
}

// TestPicturesOfLists takes pictures of the lists for people to look at, when asked for:
// CARILLON_PICTURES=/tmp/pictures go test -run TestPicturesOfLists ./e2e
func TestPicturesOfLists(t *testing.T) {
	dir := os.Getenv("CARILLON_PICTURES")
	if dir == "" { // nobody wants them
		return
	}
	w := newWorld(t)
	for i, tags := range []string{"nightly,pay,财务", "nightly", "", "report,a tag with a rather long name", "pay", ""} {
		id := w.addJob([]string{"Nightly ledger close", "夜间对账", "Exchange rates", "Warehouse export with a name that is a good deal longer than the column", "Invoice mail run", "Broken"}[i],
			map[string]any{"scheduleType": "CRON", "scheduleConf": "0 30 1 * * ?", "tags": tags, "executorHandler": []string{"demo.hello", "demo.fail"}[i/5]})
		for range 3 {
			w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": "month=11"})
		}
	}
	for _, locale := range []string{"zh-CN", "en-US"} {
		for _, theme := range []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark} {
			p := w.someone(scheme(theme), func(o *playwright.BrowserNewContextOptions) { o.Locale = playwright.String(locale) })
			p.doOpen("/jobs?all=1")
			if locale == "zh-CN" && *theme == *playwright.ColorSchemeLight {
				p.doClick("#job-2 [data-testid=star]")
				p.verifyAttribute("#job-2 [data-testid=star]", "aria-pressed", "true")
			}
			for _, width := range []int{1440, 1024, 390} {
				require.NoError(t, p.page.SetViewportSize(width, 820))
				for name, path := range map[string]string{"jobs": "/jobs?all=1", "runs": "/runs", "job": "/jobs/1", "form": "/jobs/1/edit", "address": "/runs?trigger=API&address=127"} {
					p.doOpen(path)
					shot := func(what string) {
						_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(filepath.Join(dir, fmt.Sprintf("%s%s-%s-%s-%d.png", name, what, locale, *theme, width)))})
						require.NoError(t, err)
					}
					shot("")
					if name == "jobs" {
						p.doClick("[data-testid=columns-button]")
						shot("-columns")
						require.NoError(t, p.page.Keyboard().Press("Escape"))
						p.doClick("[data-testid=filters-button]")
						shot("-filters")
						require.NoError(t, p.page.Keyboard().Press("Escape"))
						if width > 390 {
							p.doClick("[data-testid=pick-all]")
						} else {
							p.doClick("#job-1 [data-testid=pick]")
						}
						shot("-bar")
						p.doClick("[data-testid=batch-change]")
						p.verifyVisible("[data-testid=change-move]")
						shot("-change")
					}
				}
			}
		}
	}
}
