package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func readAxe(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(tools, "node_modules", "axe-core", "axe.min.js"))
	require.NoError(t, err, `run "make setup"`)
	return string(axe)
}

// verifyAccessible lets axe-core look for what keeps people with a screen
// reader, a keyboard or weak eyes out (WCAG 2.1 A and AA).
func (p *person) verifyAccessible(what, axe string) {
	p.t.Helper()
	p.axe(what, axe, "", `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]`)
}

// verifyColours looks at what depends on the theme alone, in a part of the page ("": all).
func (p *person) verifyColours(what, axe, within string) {
	p.t.Helper()
	p.axe(what, axe, within, `["color-contrast", "link-in-text-block"]`)
}

func (p *person) axe(what, axe, within, rules string) {
	p.t.Helper()
	p.loaded() // half a page has links without their text
	there, err := p.page.Evaluate(`() => "axe" in window`)
	require.NoError(p.t, err)
	if there != true { // half a megabyte
		_, err = p.page.Evaluate(axe)
		require.NoError(p.t, err)
	}
	// Colours are looked at that have come to rest.
	found, err := p.page.Evaluate(`async (within) => {
		document.getAnimations().filter((a) => a instanceof CSSTransition).forEach((a) => a.finish());
		const r = await axe.run(within ? { include: [within] } : document, { resultTypes: ["violations"], runOnly: `+rules+` });
		return r.violations.map((v) => v.id + " (" + v.help + "): " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " | " +
			[...n.any, ...n.all].map((c) => c.message).join("; ").slice(0, 200)).join("\n    "));
	}`, within)
	require.NoError(p.t, err)
	for _, v := range found.([]any) {
		p.t.Errorf("%s: %s", what, v)
	}
}
