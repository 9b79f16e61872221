package e2e

import (
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestJobFilters keeps what people look for in the address.
func TestJobFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Invoices", nil)
	w.addJob("Reports", nil)
	id := w.addJob("Invoice mails", map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
	w.api("startJob", map[string]any{"id": number(t, id)})
	p := w.someone()

	p.doOpen("/jobs")
	p.verifyCount("[data-testid=job-row]", 3)
	p.doType("#q", "invoice")
	p.verifyCount("[data-testid=job-row]", 2)
	p.verifyAtLike(`/jobs\?.*q=invoice.*`)
	p.verifyFocused("#q")
	p.doClick("[data-testid=segment-running]")
	p.verifyCount("[data-testid=job-row]", 1)
	p.verifyText("[data-testid=job-row]", "Invoice mails")
	p.verifyAtLike(`/jobs\?.*q=invoice.*status=running.*`)

	p.doReload()
	p.verifyCount("[data-testid=job-row]", 1)
	p.verifyValue("#q", "invoice")
	p.doGoBack()
	p.verifyCount("[data-testid=job-row]", 2)
	p.verifyValue("#q", "invoice")
	p.doFill("#q", "nothing like this")
	p.verifyVisible("[data-testid=empty]")
	p.doClick("[data-testid=empty] a")
	p.verifyCount("[data-testid=job-row]", 3)

	// Enter while the answer to the letters is awaited: a request that a newer one replaces is no error.
	p.doFill("#q", "reports")
	require.NoError(t, p.page.Locator("#q").Press("Enter"))
	p.verifyCount("[data-testid=job-row]", 1)
	p.doOpen("/jobs?all=1")
	require.NoError(t, p.page.Locator("[data-testid=sort-name]").Press("Enter"))
	p.verifyAt("/jobs?sort=name")
	p.verifyText("[data-testid=job-row] >> nth=2", "Reports")
	p.verifyFocused("[data-testid=sort-name]")
	p.verifyAttribute("th:has([data-testid=sort-name])", "aria-sort", "ascending")
	require.NoError(t, p.page.Locator("[data-testid=sort-name]").Press("Enter"))
	p.verifyAt("/jobs?sort=-name")
}

func TestRunFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, bad := w.addJob("Good", nil), w.addJob("Bad", map[string]any{"executorHandler": "demo.fail"})
	for _, id := range []string{good, bad} {
		w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	}
	p := w.someone()

	p.doOpen("/runs")
	p.verifyCount("[data-testid=run-row]", 2)
	p.verifyGreen("#run-1") // both end by themselves
	p.verifyText("#run-2 [data-testid=result]", "failed")
	p.doClick("[data-testid=segment-failed]")
	p.verifyCount("[data-testid=run-row]", 1)
	p.verifyText("[data-testid=run-row]", "Bad")
	p.doChoose("#preset", "today")
	p.verifyAtLike(`/runs\?.*preset=today.*status=failed.*|/runs\?.*status=failed.*preset=today.*`)
	p.doReload()
	p.verifyCount("[data-testid=run-row]", 1)
	p.verifyValue("#preset", "today")
	p.doGoBack()
	p.verifyValue("#preset", "any")
	p.doGoBack()
	p.verifyAt("/runs")
	p.verifyCount("[data-testid=run-row]", 2)
	p.doType("#q", "goo")
	p.verifyCount("[data-testid=run-row]", 1)
	p.verifyText("[data-testid=run-row]", "Good")
	p.verifyFocused("#q")
	p.doClick("[data-testid=clear-filter]")
	p.verifyCount("[data-testid=run-row]", 2)
	p.doOpen("/runs?job=" + bad)
	p.verifyText("[data-testid=job-chip]", "Bad")
	p.verifyCount("[data-testid=run-row]", 1)
	p.doClick("[data-testid=job-chip] a")
	p.verifyCount("[data-testid=run-row]", 2)
}

// TestTheRunListStandsStill while it is read. The browser's clock is turned by hand.
func TestTheRunListStandsStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Good", nil)
	more := func() { w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""}) }
	ended := func(n int) func() bool {
		return func() bool { return strings.Count(w.text("/runs?status=succeeded"), `data-testid="run-row"`) == n }
	}
	more()
	p := w.someone()
	require.NoError(t, p.page.Clock().Install())
	p.doOpen("/runs")
	p.verifyGreen("#run-1")
	require.NoError(t, p.page.Locator("#run-1").Hover())
	more()
	more()
	w.until("three runs have ended", ended(3))
	require.NoError(t, p.page.Clock().RunFor(5_000))
	p.verifyText("[data-testid=new-rows]", "2 new runs")
	p.verifyCount("[data-testid=run-row]", 1)
	p.doClick("[data-testid=new-rows]")
	p.verifyCount("[data-testid=run-row]", 3)
	p.verifyCount("[data-testid=new-rows]:visible", 0)

	require.NoError(t, p.page.Mouse().Move(5, 5)) // nobody reads: it flows
	more()
	w.until("four runs have ended", ended(4))
	require.NoError(t, p.page.Clock().RunFor(5_000))
	p.verifyCount("[data-testid=run-row]", 4)
}

// TestPause stops the refreshing. The browser's clock is turned by hand.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Later", map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
	p := w.someone()
	require.NoError(t, p.page.Clock().Install())
	var refreshes atomic.Int32
	p.page.OnRequest(func(r playwright.Request) {
		if r.Headers()["hx-request"] == "true" && strings.HasPrefix(r.URL(), w.url+"/jobs") {
			refreshes.Add(1)
		}
	})
	const minute = 60_000

	p.doOpen("/jobs")
	p.verifyText("[data-testid=job-status]", "stopped")
	p.doClick("#live-toggle")
	p.verifyText("#live-age", "paused")
	before := refreshes.Load()
	w.api("startJob", map[string]any{"id": number(t, id)})
	require.NoError(t, p.page.Clock().RunFor(minute))
	require.Equal(t, before, refreshes.Load(), "refreshed while paused")
	p.verifyText("[data-testid=job-status]", "stopped")

	p.doClick("#live-toggle")
	require.NoError(t, p.page.Clock().RunFor(5_000))
	p.verifyText("[data-testid=job-status]", "running")
	require.Greater(t, refreshes.Load(), before)
}

// TestKeyboard leads around without a mouse.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Invoices", nil)
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	p := w.someone()
	press := func(keys ...string) {
		require.NoError(t, p.page.WaitForLoadState()) // scripts listen from then on
		for _, k := range keys {
			require.NoError(t, p.page.Keyboard().Press(k))
		}
	}

	p.doOpen("/")
	p.verifyVisible("#live")
	press("g", "j")
	p.verifyAt("/jobs")
	p.verifyVisible("#live")
	press("/")
	p.verifyFocused("#q")
	press("Tab", "?") // the segments after the field take no text
	p.verifyAt("/help")
	press("g", "r")
	p.verifyAt("/runs")
	p.verifyVisible("[data-testid=run-row]")
	press("j", "Enter") // the run, not its job
	p.verifyAt("/runs/1")
}

// TestStartAndStop answers with the line itself: the list need not be drawn anew, and the
// button says what it does now although it has the focus. The toast takes it back.
func TestStartAndStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Night export", map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
	p := w.someone()
	icon := func(name string) {
		t.Helper()
		require.NoError(t, expect.Locator(p.page.Locator("#job-1 .actions form use")).ToHaveAttribute("href", regexp.MustCompile("#"+name+"$")))
	}
	p.doOpen("/jobs")
	p.doClick("#live-toggle") // nothing but the answer to the click may draw
	for range 2 {
		icon("player-play")
		p.doClick("[data-testid=start-job]")
		icon("player-stop")
		p.verifyFocused("[data-testid=stop-job]")
		p.verifyCount("[data-testid=start-job]", 0)
		p.doClick("[data-testid=stop-job]")
		icon("player-play")
		p.verifyFocused("[data-testid=start-job]")
	}
	p.doClick("[data-testid=toast]:last-child [data-testid=undo]")
	icon("player-stop")
	p.doReload()
	icon("player-stop")
}

// TestAttemptsAreFolded into one line; what is unfolded stays so while the list goes on.
func TestAttemptsAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Tries thrice", map[string]any{"executorHandler": "demo.fail", "executorFailRetryCount": 2, "retryDelay": 0})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	p := w.someone()
	const row = "[data-testid=run-row]:visible"

	p.doOpen("/runs?job=" + id)
	p.verifyCount("[data-testid=run-row]", 3)
	p.verifyText("[data-testid=fold]", "+2")
	p.verifyCount(row, 1)
	p.verifyText(row, "failed")
	require.NoError(t, p.page.Locator("[data-testid=fold]").Focus())
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyCount(row, 3)
	p.verifyAttribute("[data-testid=fold]", "aria-expanded", "true")
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	p.doClick("[data-testid=new-rows]") // the focus is in the list, so it stands still
	p.verifyCount("[data-testid=run-row]", 6)
	p.verifyCount(row, 4)
	p.doReload()
	p.verifyCount(row, 4)
	p.doClick("[data-testid=fold] >> nth=1")
	p.verifyCount(row, 2)

	plain := w.someone(noScripts)
	plain.doOpen("/runs?job=" + id)
	plain.verifyCount(row, 6)
}

// TestChosenBeforeTheScripts: who is faster than the scripts of the page gets the list that
// was asked for.
func TestChosenBeforeTheScripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Paid", map[string]any{"scheduleType": "NONE", "tags": "pay"})
	w.addJob("Free", map[string]any{"scheduleType": "NONE"})
	p := w.someone()
	chosen := make(chan struct{})
	require.NoError(t, p.page.Route("**/*.js", func(r playwright.Route) {
		go func() {
			if !strings.Contains(r.Request().URL(), "theme") { // nothing is drawn before it
				<-chosen
			}
			_ = r.Continue()
		}()
	}))
	_, err := p.page.Goto("/jobs?all=1", playwright.PageGotoOptions{WaitUntil: playwright.WaitUntilStateCommit})
	require.NoError(t, err)
	_, err = p.page.Locator("#tag").SelectOption(playwright.SelectOptionValues{Values: &[]string{"pay"}})
	close(chosen)
	require.NoError(t, err)
	p.verifyCount("[data-testid=job-row]", 1)
	p.verifyAtLike(`/jobs\?tag=pay`)
}
