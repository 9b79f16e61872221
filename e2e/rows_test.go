package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesAreWalked with j and k on every page that has lines. One that leads nowhere has
// the focus itself.
func TestLinesAreWalked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Invoices", nil)
	for range 3 {
		w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	}
	w.until("the runs have ended", func() bool { return w.count("/runs?status=succeeded", `data-testid="run-row"`) == 3 })
	w.logIn() // a second login for the list
	p := w.someone()
	for _, c := range []struct{ path, line string }{
		{"/audit", "[data-testid=audit-row]"},
		{"/users/sessions", "[data-testid=session-row]"},
		{"/system", "[data-testid=system-node], [data-testid=loop]"},
		{"/executors", "[data-testid=executor-row], [data-testid=node]"},
		{"/timeline", "[data-testid=lane]"},
		{"/jobs/" + id, "[data-testid=job-last] li, [data-testid=job-nodes] li"},
	} {
		p.doOpen(c.path)
		require.NoError(t, p.page.WaitForLoadState())
		at := func() any {
			n, err := p.page.Evaluate(`(s) => [...document.querySelectorAll(s)].findIndex((l) => l.contains(document.activeElement))`, c.line)
			require.NoError(t, err)
			return n
		}
		p.doPress("j")
		require.EqualValues(t, 0, at(), c.path)
		lines, err := p.page.Locator(c.line).Count()
		require.NoError(t, err)
		if lines > 1 {
			p.doPress("j")
			require.EqualValues(t, 1, at(), c.path)
			p.doPress("k")
			require.EqualValues(t, 0, at(), c.path)
		}
	}
	p.doPress("Enter") // the first line of the job's runs
	p.verifyAtLike(`/runs/\d+`)

	p.doOpen("/system")
	require.NoError(t, p.page.WaitForLoadState())
	p.doPress("j")
	_, err := p.page.ExpectResponse(func(u string) bool { return strings.HasSuffix(u, "/system") }, func() error { return nil }) // drawn anew
	require.NoError(t, err)
	p.verifyFocused("[data-testid=system-node]")
}

// TestFocusGoesOn where the work is: after the result of a batch, when a line leaves the
// list, when a note is saved, on the next page of a list.
func TestFocusGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"One", "Two", "Three"} {
		id := w.addJob(name, map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?"})
		w.api("startJob", map[string]any{"id": number(t, id)})
	}
	p := w.someone().withoutMouse()

	p.doOpen("/jobs?status=running&sort=id")
	p.verifyCount("[data-testid=job-row]", 3)
	require.NoError(t, p.page.Locator("#job-2 [data-testid=stop-job]").Focus())
	p.doPress("Enter")
	p.verifyCount("[data-testid=job-row]", 2)        // by the next poll
	p.verifyFocused("#job-3 [data-testid=stop-job]") // the next line

	require.NoError(t, p.page.Locator("#job-3 [data-testid=pick]").Focus())
	p.doPress("Space")
	require.NoError(t, p.page.Locator("[data-testid=batch-run]").Focus())
	p.doPress("Enter")
	p.verifyVisible("[data-testid=batch-close]")
	p.doPress("Escape")
	p.verifyFocused("#job-3 [data-testid=pick]")

	p.doOpen("/jobs/1/note")
	p.verifyFocused("#note")
	p.doKeys("Call Ada.")
	p.doTab("Tab", "[data-testid=note-form] button[type=submit]")
	p.doPress("Enter")
	p.verifyAt("/jobs/1")
	p.verifyFocused("[data-testid=edit-note]")

	p.doOpen("/timeline")
	require.NoError(t, p.page.WaitForLoadState())
	p.doTab("Tab", "[data-testid=span-6h]")
	p.doPress("Enter")
	p.verifyAtLike(`/timeline\?span=6h`)
	p.verifyFocused("[data-testid=span-6h]")
	p.doTab("Tab", "[data-testid=earlier]")
	p.doPress("Enter")
	p.verifyAtLike(`/timeline\?.*to=.*`)
	p.verifyFocused("[data-testid=earlier]")
}

// count says how often a text stands on a page.
func (w *world) count(path, text string) int {
	w.t.Helper()
	return strings.Count(w.text(path), text)
}
