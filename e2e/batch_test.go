package e2e

import (
	"fmt"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestTwentyJobsAreStopped and exactly those are started again: with a mouse, with the
// keyboard, and all that match a filter.
func TestTwentyJobsAreStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 22 {
		id := w.addJob(fmt.Sprintf("Job %02d", i+1), map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
		if i > 0 { // the first was stopped by somebody before
			w.api("startJob", map[string]any{"id": number(t, id)})
		}
	}
	p := w.someone()
	p.doOpen("/jobs?sort=id")
	p.verifyCount("[data-testid=batch-bar]:visible", 0)
	box := func(n int) string { return fmt.Sprintf("#job-%d [data-testid=pick]", n) }
	p.doClick(box(1))
	require.NoError(t, p.page.Locator(box(20)).Click(playwright.LocatorClickOptions{Modifiers: []playwright.KeyboardModifier{*playwright.KeyboardModifierShift}}))
	p.verifyText("[data-picked]", "20")
	p.verifyAccessible("the bar", readAxe(t))
	p.doClick("[data-testid=batch-stop]")
	p.verifyText("#dialog-title", "19 done, 1 unchanged, 0 failed")
	p.verifyAccessible("the result", readAxe(t))
	p.doClick("[data-testid=batch-undo]")
	p.verifyText("#dialog-title", "19 done, 0 unchanged, 0 failed")
	p.doClick("[data-testid=batch-close]")
	p.verifyCount("[data-testid=batch-bar]:visible", 0)
	p.verifyText("#job-1 [data-testid=job-status]", "stopped")
	p.verifyText("#job-2 [data-testid=job-status]", "running")
	p.verifyText("#job-20 [data-testid=job-status]", "running")

	p.doType("#q", "Job 0")
	p.verifyCount("[data-testid=job-row]", 9)
	p.doClick("[data-testid=pick-all]")
	require.NoError(t, p.page.Locator("[data-testid=batch-stop]").Focus())
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyText("#dialog-title", "8 done, 1 unchanged, 0 failed")
	require.NoError(t, p.page.Keyboard().Press("Escape"))
	p.verifyText("#job-9 [data-testid=job-status]", "stopped")
	p.doOpen("/jobs?status=running")
	p.verifyCount("[data-testid=job-row]", 13)
}

// TestManyRuns are made again at once.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Broken", map[string]any{"executorHandler": "demo.fail"})
	for range 3 {
		w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	}
	p := w.someone()
	p.doOpen("/runs?status=failed")
	p.verifyCount("[data-testid=run-row]", 3)
	p.doClick("[data-testid=pick-all]")
	p.doClick("[data-testid=batch-retry]")
	p.verifyText("#dialog-title", "3 done, 0 unchanged, 0 failed")
	p.doClick("[data-testid=batch-close]")
	p.verifyCount("[data-testid=run-row]", 6)
}
