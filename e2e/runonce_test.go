package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunOnceByHand chooses an earlier parameter and an address, is asked about a foreign
// one, and runs again what ran.
func TestRunOnceByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Greeter", map[string]any{"executorParam": "by default"})
	p := w.someone()
	p.expectProblem("422")
	runs := func(param string) {
		t.Helper()
		p.doOpen("/jobs/1")
		p.doClick("[data-testid=run-once]")
		p.doFill("#param", param)
		p.doClick("[data-testid=run-now]")
		p.verifyGreen("h1")
	}
	runs("first")
	runs("second")

	p.doOpen("/jobs/1")
	p.doClick("[data-testid=run-once]")
	p.verifyValue("#param", "by default")
	p.verifyCount("[data-testid=used-params] button", 2)
	p.doClick("[data-testid=used-params] button:has-text('first')")
	p.verifyValue("#param", "first")

	require.NoError(t, expect.Locator(p.page.Locator("#addresses")).ToBeHidden())
	p.doClick("#where-other")
	p.doFill("#addresses", "http://127.0.0.1:1/")
	p.doClick("[data-testid=run-now]")
	p.verifyVisible("[data-testid=error-sure]")
	p.verifyValue("#addresses", "http://127.0.0.1:1/")
	p.verifyValue("#param", "first")
	p.doClick("#where-chosen")
	p.doClick("[data-testid=run-now]")
	p.verifyText("[data-testid=error-address]", "Choose at least one address.")
	p.doClick("input[name=address]")
	p.doClick("[data-testid=run-now]")
	p.verifyAt("/runs/3")
	p.verifyGreen("h1")
	p.verifyText("[data-testid=run-facts]", "first")

	p.doClick("text=Run again")
	p.verifyText("#dialog-title", "Run again: run #3")
	p.verifyValue("#param", "first")
	require.NoError(t, expect.Locator(p.page.Locator("input[name=address]")).ToBeChecked())
	p.doClick("[data-testid=run-now]")
	p.verifyAt("/runs/4")
	p.verifyGreen("h1")
}
