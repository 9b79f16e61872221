package e2e

import (
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestEveryDialog opens every dialog, menu and part that opens once, and lets axe look at it
// in both themes; on a telephone nothing sticks out.
func TestEveryDialog(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	axe := readAxe(t)
	p := s.someone()
	p.expectProblem("404")
	began := time.Now()
	for _, scene := range s.scenes() {
		p.play(scene)
		part := p.above()
		for _, theme := range []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark} {
			require.NoError(t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: theme}))
			p.verifyAttribute("html", "data-bs-theme", string(*theme))
			if *theme == *playwright.ColorSchemeDark {
				p.verifyColours(scene.name+" in the dark", axe, part)
			} else {
				p.axe(scene.name, axe, part, `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]`)
			}
		}
		p.verifyNoOverflow(scene.name)
		require.NoError(t, p.page.SetViewportSize(390, 844))
		p.verifyNoOverflow(scene.name + " on a phone")
		p.verifyDialogFits(scene.name)
		require.NoError(t, p.page.SetViewportSize(1280, 800))
	}
	t.Logf("%d dialogs and menus in %s", len(s.scenes()), time.Since(began).Round(time.Millisecond))
}

// above is the part of the page that lies above all else: the page below is looked at by
// TestEveryPage.
func (p *person) above() string {
	p.t.Helper()
	for _, part := range []string{"dialog[open]", ".menu:popover-open"} {
		if n, err := p.page.Locator(part).Count(); err == nil && n > 0 {
			return part
		}
	}
	return ""
}

// verifyDialogFits: what lies above the page is on the screen, as wide as it is.
func (p *person) verifyDialogFits(what string) {
	p.t.Helper()
	culprit, err := p.page.Evaluate(`() => [...document.querySelectorAll("dialog[open], .menu:popover-open")].filter((e) => {
		const at = e.getBoundingClientRect();
		return at.left < -0.5 || at.right > innerWidth + 0.5 || at.top < -0.5 || at.bottom > innerHeight + 0.5 || e.scrollWidth > e.clientWidth + 1;
	}).map((e) => e.id + "." + e.className + " " + JSON.stringify(e.getBoundingClientRect()) + " scrolls " + e.scrollWidth + "/" + e.clientWidth).join(", ")`)
	require.NoError(p.t, err)
	if culprit != "" {
		p.t.Errorf("%s: %s", what, culprit)
	}
}
