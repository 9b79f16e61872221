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
	_, err := p.page.Evaluate(axe)
	require.NoError(p.t, err)
	found, err := p.page.Evaluate(`async () => {
		const r = await axe.run(document, { resultTypes: ["violations"],
			runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
		return r.violations.map((v) => v.id + " (" + v.help + "): " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " | " +
			[...n.any, ...n.all].map((c) => c.message).join("; ").slice(0, 200)).join("\n    "));
	}`)
	require.NoError(p.t, err)
	for _, v := range found.([]any) {
		p.t.Errorf("%s: %s", what, v)
	}
}
