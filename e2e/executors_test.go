package e2e

import (
	"testing"
)

// TestDrainAndPing: the line of an address answers its buttons at once, a toast takes a drain
// back, and without JavaScript the same buttons do the same.
func TestDrainAndPing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.someone()
	p.doOpen("/executors")
	p.verifyCount("[data-testid=node]", 1)
	p.verifyText("[data-testid=handlers]", "5 handlers")
	p.doClick("[data-testid=handlers]")
	p.verifyVisible(".menu.can:popover-open")
	p.verifyText(".menu.can:popover-open", "demo.hello")
	p.doOpen("/executors")
	p.doClick("[data-testid=ping]")
	p.verifyText("[data-testid=toast]", "answers")
	p.verifyText("[data-testid=call]", "answers")
	p.verifyText("[data-testid=call-text]", "ping · ")
	p.doClick("[data-testid=drain]")
	p.verifyText("[data-testid=drains]", "no new runs · 0 left")
	p.verifyText("[data-testid=none-takes]", "they fail")
	p.verifyAccessible("executors that drain", readAxe(t))
	p.doClick(".toast-line:has-text('gets no new runs') [data-testid=undo]")
	p.verifyCount("[data-testid=drains]", 0)
	p.verifyCount("[data-testid=drain]", 1)
	job := w.addJob("types", map[string]any{})
	p.doOpen("/jobs/" + job + "/edit")
	p.verifyText("[data-testid=lacking-types]", "do not run: ")

	plain := w.someone(noScripts)
	plain.doOpen("/executors")
	plain.doClick("[data-testid=ping]")
	plain.verifyAt("/executors")
	plain.verifyText("[data-testid=toast]", "answers")
	plain.doClick("[data-testid=drain]")
	plain.verifyAt("/executors")
	plain.verifyText("[data-testid=drains]", "no new runs")
	plain.doClick("[data-testid=take]")
	plain.verifyCount("[data-testid=drains]", 0)
}
