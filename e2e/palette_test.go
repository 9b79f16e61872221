package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestPalette leads to a run and a page without a mouse.
func TestPalette(t *testing.T) {
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
	p.doOpen("/runs")
	press("Control+k")
	p.verifyVisible("#dialog [data-testid=palette]")
	p.verifyFocused("#dialog [data-palette]")
	p.verifyAccessible("the palette", readAxe(t))
	p.doType("#dialog [data-palette]", "invo")
	p.verifyText("[data-testid=palette-item] >> nth=0", "Invoices")
	press("Escape")
	p.verifyCount("#dialog[open]", 0)

	press("Control+k")
	p.verifyFocused("#dialog [data-palette]")
	p.doType("#dialog [data-palette]", "1")
	p.verifyText("[data-testid=palette-item] >> nth=0", "Run #1")
	press("Enter")
	p.verifyAt("/runs/1")

	// Nobody waits for the answer before Enter.
	p.doOpen("/runs")
	press("Control+k")
	p.verifyFocused("#dialog [data-palette]")
	require.NoError(t, p.page.Keyboard().Type("invoices"))
	press("Enter")
	p.verifyAt("/jobs/" + id)

	press("Control+k")
	p.verifyFocused("#dialog [data-palette]")
	p.doType("#dialog [data-palette]", "help")
	p.verifyText("[data-testid=palette-item] >> nth=0", "Help")
	press("ArrowDown", "Enter")
	p.verifyAt("/help")
	p.doOpen("/search?q=help")
	p.verifyText("main [data-testid=palette-item] >> nth=0", "Help")
}

// TestUnsavedWorkIsNotLost without a question.
func TestUnsavedWorkIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Invoices", nil)
	p := w.someone()
	p.expectProblem("422")
	asked := make(chan string, 8)
	leave := false
	p.page.OnDialog(func(d playwright.Dialog) {
		asked <- d.Type()
		if leave {
			_ = d.Accept()
		} else {
			_ = d.Dismiss()
		}
	})
	p.doOpen("/jobs/1/edit")
	p.doClick("[data-testid=nav-runs]")
	p.verifyAt("/runs") // nothing was typed
	require.Empty(t, asked)

	p.doOpen("/jobs/1/edit")
	p.doFill("#name", "Invoices of the month")
	p.doClick("[data-testid=nav-runs]")
	require.Equal(t, "beforeunload", <-asked)
	p.verifyAt("/jobs/1/edit")
	p.verifyValue("#name", "Invoices of the month")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=toast]", "saved")
	require.Empty(t, asked)
	p.doOpen("/jobs/1/edit")
	p.doFill("#name", "")
	p.doClick(".form-actions button")
	p.verifyVisible(".is-invalid")
	leave = true
	p.doClick("[data-testid=nav-runs]")
	require.Equal(t, "beforeunload", <-asked, "refused is not saved")
	p.verifyAt("/runs")
}

// TestPaletteKnowsThePage: what can be done on the page is offered in the palette, to those
// who may and to nobody else; actions of lines to who types for them.
func TestPaletteKnowsThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Invoices", map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
	p := w.someone()
	item := func(p *person, name string) string {
		p.t.Helper()
		return "#dialog [data-testid=palette-item]:has-text('" + name + "')"
	}
	open := func(p *person, path string) {
		p.t.Helper()
		p.doOpen(path)
		require.NoError(t, p.page.WaitForLoadState())
		p.doPress("Control+k")
		p.verifyFocused("#dialog [data-palette]")
	}
	open(p, "/jobs/"+id)
	p.verifyText("#dialog .palette-here", "On this page")
	p.verifyAccessible("the palette of a page", readAxe(t))
	for _, name := range []string{"Run once", "Start", "Edit"} {
		p.verifyVisible(item(p, name) + " >> nth=0")
	}
	for typed, name := range map[string]string{"简体": "简体中文", "dark": "Switch to dark"} {
		p.doFill("#dialog [data-palette]", typed)
		p.verifyText("#dialog [data-testid=palette-item] >> nth=0", name)
	}
	p.doFill("#dialog [data-palette]", "")
	p.doType("#dialog [data-palette]", "run once")
	p.verifyText("#dialog [data-testid=palette-item] >> nth=0", "Run once")
	p.doPress("Enter")
	p.verifyVisible("#dialog[open] [data-testid=run-now]")
	p.doPress("Escape")
	p.verifyCount("#dialog[open]", 0)

	open(p, "/executors")
	p.doType("#dialog [data-palette]", "ping")
	p.verifyText("#dialog [data-testid=palette-item] >> nth=0", "Ping")
	p.doPress("Enter")
	p.verifyText("[data-testid=toast]", "answers")

	open(p, "/jobs")
	p.doClick(item(p, "Add job") + " >> nth=0")
	p.verifyAt("/jobs/new")

	w.post("/users", map[string][]string{"name": {"olga"}, "password": {"typed for olga"}, "role": {"view"}})
	olga := w.visitor()
	olga.doOpen("/login")
	olga.doLogIn("olga", "typed for olga")
	olga.doChooseOwn("typed for olga", "olga's own password")
	open(olga, "/jobs/"+id)
	olga.verifyVisible(item(olga, "pause"))
	for _, name := range []string{"Run once", "Start", "Edit"} {
		olga.verifyCount(item(olga, name), 0)
	}
}
