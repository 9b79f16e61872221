package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// doTab goes on with Tab, or back with Shift+Tab, until something has the focus: what cannot
// be reached like that does not exist for who has no mouse.
func (p *person) doTab(key, selector string) {
	p.t.Helper()
	for range 150 {
		p.doPress(key)
		at, err := p.page.Evaluate(`(s) => document.activeElement.matches(s)`, selector)
		require.NoError(p.t, err, selector)
		if at == true {
			return
		}
	}
	p.t.Fatalf("%s is not reached by %s at %s", selector, key, p.page.URL())
}

// doKeys types into what has the focus.
func (p *person) doKeys(text string) {
	p.t.Helper()
	require.NoError(p.t, p.page.Keyboard().Type(text))
}

// doLoaded waits for the page and its scripts.
func (p *person) doLoaded(path string) {
	p.t.Helper()
	p.verifyAtLike(path)
	require.NoError(p.t, p.page.WaitForLoadState())
}

// withoutMouse lets a press of the mouse fail the test.
func (p *person) withoutMouse() *person {
	require.NoError(p.t, p.page.AddInitScript(playwright.Script{Content: playwright.String(
		`addEventListener("mousedown", () => console.error("a mouse was used"), true);`)}))
	return p
}

// TestByKeyboard does the main job with keys alone: log in, add a script, start it, run it,
// read the log of its failure, mend the script, run it again.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor().withoutMouse()
	p.doOpen("/jobs/new")
	p.doTab("Tab", "#name")
	p.doKeys("admin")
	p.doTab("Tab", "#password")
	p.doKeys(password)
	p.doPress("Enter")

	p.doLoaded("/jobs/new")
	p.doTab("Tab", "#group")
	p.doPress("ArrowDown")
	p.verifyValue("#group", "1")
	p.doTab("Tab", "#name")
	p.doKeys("Nightly report")
	p.doTab("Tab", "#author")
	p.doKeys("Ada")
	p.doTab("Tab", "#schedule_conf")
	p.doPress("Control+a")
	p.doKeys("0 0 3 * * ?")
	p.verifyText("[data-testid=preview] strong", "03:00")
	p.doTab("Tab", "#glue_type")
	p.doPress("ArrowDown")
	p.verifyValue("#glue_type", "GLUE_SHELL")
	p.doTab("Tab", "#glue_source")
	p.doPress("Control+a")
	p.doKeys("echo the report begins\nexit 3\n")
	p.doTab("Tab", "#glue_remark")
	p.doKeys("first")
	p.doTab("Tab", ".form-actions button[type=submit]")
	p.doPress("Enter")

	p.doLoaded("/jobs/1")
	p.doTab("Tab", "[data-testid=start-job]")
	p.doPress("Enter")
	p.verifyText("[data-testid=job-state]", "running")
	p.doTab("Shift+Tab", "[data-testid=run-once]")
	p.doPress("Enter")
	p.verifyVisible("#dialog[open]")
	p.verifyFocused("#dialog #param")
	p.doTab("Tab", "[data-testid=run-now]")
	p.doPress("Enter")
	p.doLoaded("/runs/1")
	p.verifyText("h1 [data-testid=result]", "failed")
	p.verifyText("#log-lines", "the report begins")
	p.verifyText("#run-tail", "3")
	p.doTab("Tab", "[data-testid=job-link], .crumbs a[href='/jobs/1'], a[href='/jobs/1']")
	p.doPress("Enter")
	p.doLoaded("/jobs/1")
	p.doTab("Tab", "[data-testid=edit-script]")
	p.doPress("Enter")

	// Escape, then Tab leaves the editor, where Tab indents.
	p.doLoaded("/jobs/1/code")
	p.verifyFocused(editor)
	p.doPress("Control+a")
	p.doKeys("echo the report is written\n")
	p.doPress("Escape")
	p.doTab("Tab", "#glue_remark")
	p.doKeys("ends well")
	p.doTab("Tab", "[data-testid=save-and-run]")
	p.doPress("Enter")
	p.doLoaded(`/jobs/1/code\?run=2`)
	p.verifyText("#log-lines", "the report is written")
	p.verifyGreen("[data-testid=script-run]")
}

// TestTroubleByKeyboard finds the failing job from the dashboard in two activations, runs it
// again, and stops twenty jobs and starts exactly those.
func TestTroubleByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := w.addJob("Broken", map[string]any{"executorHandler": "demo.fail"})
	w.api("triggerJob", map[string]any{"id": number(t, broken), "executorParam": ""})
	for i := range 21 {
		id := w.addJob(fmt.Sprintf("Job %02d", i+1), map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
		if i > 0 {
			w.api("startJob", map[string]any{"id": number(t, id)})
		}
	}
	w.until("the run has failed", func() bool { return w.failedRuns() == 1 })
	p := w.someone().withoutMouse()
	p.doOpen("/")
	require.NoError(t, p.page.WaitForLoadState())
	p.doTab("Tab", "[data-testid=trouble]") // one
	p.doPress("Enter")
	p.doLoaded("/runs/1")
	p.verifyText("[data-testid=run-message]", "line 17: want 5 columns")
	p.doTab("Tab", "[data-testid=run-again]") // two
	p.doPress("Enter")
	p.verifyVisible("#dialog[open]")
	p.doPress("Escape")
	p.verifyFocused("[data-testid=run-again]")
	p.doPress("Enter")
	p.verifyVisible("#dialog[open]")
	p.doTab("Tab", "[data-testid=run-now]")
	p.doPress("Enter")
	p.doLoaded("/runs/2")

	p.doPress("g", "j")
	p.doLoaded("/jobs")
	p.doPress("/")
	p.verifyFocused("#q")
	p.doKeys("Job ")
	p.verifyCount("[data-testid=job-row]", 21)
	p.doTab("Tab", "[data-testid=pick-all]")
	p.doPress("Space")
	p.verifyText("[data-picked]", "21")
	p.doTab("Shift+Tab", "body, [data-testid=batch-stop], a.skip")
	p.doTab("Shift+Tab", "[data-testid=batch-stop]")
	p.doPress("Enter")
	p.verifyText("#dialog-title", "20 done, 1 unchanged, 0 failed")
	p.doTab("Tab", "[data-testid=batch-undo]")
	p.doPress("Enter")
	p.verifyText("#dialog-title", "20 done, 0 unchanged, 0 failed")
	p.doPress("Escape")
	p.verifyCount("[data-testid=job-row] [data-testid=stop-job]", 20)

	// Rows by j and k, the menu of one by Enter and Escape.
	p.doTab("Tab", "[data-testid=job-row] a.name")
	p.doPress("j", "j", "k")
	p.doTab("Tab", "[popovertarget^=more-]")
	p.doPress("Enter")
	p.verifyVisible(".menu:popover-open")
	p.doPress("Escape")
	p.verifyCount(".menu:popover-open", 0)
	p.doPress("?")
	p.doLoaded("/help")
}

// failedRuns counts the lines of the list of failed runs.
func (w *world) failedRuns() int {
	return strings.Count(w.text("/runs?status=failed"), `data-testid="run-row"`)
}

// TestAtThreeInTheMorning: a link on a telephone leads to the failed run, whose page begins
// with why and the last lines of its log; it is run again.
func TestAtThreeInTheMorning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Night ledger", map[string]any{"executorHandler": "demo.fail"})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	w.until("the run has failed", func() bool { return w.failedRuns() == 1 })
	phone := func(o *playwright.BrowserNewContextOptions) {
		o.Viewport, o.HasTouch, o.IsMobile = &playwright.Size{Width: 390, Height: 844}, playwright.Bool(true), playwright.Bool(true)
	}
	p := w.visitor(phone)
	tap := func(selector string) { t.Helper(); require.NoError(t, p.page.Locator(selector).Tap(), selector) }
	p.doOpen("/runs/1")
	p.doFill("#name", "admin")
	p.doFill("#password", password)
	tap("[data-testid=login-form] button[type=submit]")
	p.verifyAt("/runs/1")
	p.verifyText("[data-testid=run-message]", "line 17: want 5 columns")
	p.verifyText("[data-testid=streak]", "1 fire")
	p.verifyVisible("#run-tail ol")
	for _, part := range []string{"[data-testid=run-message] strong", "#run-tail ol", "[data-testid=run-again]"} {
		in, err := p.page.Locator(part).Evaluate(`(e) => { const at = e.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }`, nil)
		require.NoError(t, err)
		require.Equal(t, true, in, "%s is on the first screen", part)
	}
	p.verifyNoOverflow("the failed run")
	tap("[data-testid=run-again]")
	p.verifyVisible("#dialog[open]")
	p.verifyDialogFits("run again")
	tap("[data-testid=run-now]")
	p.verifyAt("/runs/2")
	p.verifyText("h1 [data-testid=result]", "failed")

	// The same without scripts.
	plain := w.someone(phone, noScripts)
	plain.doOpen("/runs/1")
	plain.verifyText("[data-testid=run-message]", "line 17: want 5 columns")
	plain.doClick("noscript a")
	plain.verifyText("pre", "line 17")
	plain.doOpen("/runs/1")
	plain.doClick("[data-testid=run-again]")
	plain.doClick("[data-testid=run-now]")
	plain.verifyAt("/runs/3")
	plain.verifyNoOverflow("run 3 without scripts")
}

// TestTroubleWithoutJavaScript: the failing job from the dashboard, twenty jobs stopped and
// exactly those started, in a browser without scripts.
func TestTroubleWithoutJavaScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Broken", map[string]any{"executorHandler": "demo.fail"})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	for i := range 21 {
		id := w.addJob(fmt.Sprintf("Job %02d", i+1), map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
		if i > 0 {
			w.api("startJob", map[string]any{"id": number(t, id)})
		}
	}
	w.until("the run has failed", func() bool { return w.failedRuns() == 1 })
	p := w.someone(noScripts)
	p.doOpen("/")
	p.doClick("[data-testid=trouble-job]")
	p.verifyAt("/jobs/1")
	p.doOpen("/") // a page that comes back from the cache without scripts never counts as still
	p.doClick("[data-testid=trouble]")
	p.verifyAt("/runs/1")
	p.verifyText("[data-testid=run-message]", "line 17: want 5 columns")

	p.doOpen("/jobs?q=Job+&sort=id")
	p.verifyCount("[data-testid=job-row]", 21)
	for i := range 21 {
		require.NoError(t, p.page.Locator("[data-testid=pick]").Nth(i).Press("Space"))
	}
	p.doClick("[data-testid=batch-stop]")
	p.verifyText("#dialog-title", "20 done, 1 unchanged, 0 failed")
	p.doClick("[data-testid=batch-undo]")
	p.verifyText("#dialog-title", "20 done, 0 unchanged, 0 failed")
	p.doOpen("/jobs?status=running")
	p.verifyCount("[data-testid=job-row]", 20)
}
