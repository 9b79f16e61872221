package e2e

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// pages is every page there is, in a world with a job and a run, both of id 1.
var pages = []string{
	"/", "/jobs", "/jobs/new", "/jobs/1", "/jobs/1/note", "/jobs/1/edit", "/jobs/1/run", "/jobs/1/delete", "/runs", "/runs/1",
	"/executors", "/executors/new", "/executors/1/edit", "/executors/1/delete", "/users", "/password", "/help", "/nowhere",
}

// longWorld has texts as long as they may be: they must not break a layout.
func longWorld(t *testing.T) *world {
	w := newWorld(t)
	long := strings.Repeat("Quarterly-settlement", 2)
	id := w.addJob(long, map[string]any{
		"scheduleType": "CRON", "scheduleConf": "0 0/5 8-18 ? JAN,MAR,MAY,JUL,SEP,NOV MON-FRI 2026-2099", "executorParam": strings.Repeat("key=value;", 40),
		"executorHandler": strings.Repeat("handlerWithALongName", 5), "author": long,
	})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": strings.Repeat("key=value;", 40)})
	w.until("the run has failed", func() bool { return strings.Contains(w.text("/runs/1"), "handlerWithALongName") })
	return w
}

// TestEveryPage opens each page in both themes, wide and narrow: nothing is
// wider than the screen, the policy is strict, nothing is inline and nobody is
// kept out.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	w := longWorld(t)
	axe := readAxe(t)
	look := func(p *person, path string) {
		require.NoError(t, p.page.SetViewportSize(1280, 800))
		resp := p.doOpen(path)
		p.verifyPolicy(path, resp)
		p.verifyNoOverflow(path)
		p.verifyAccessible(path, axe)
		require.NoError(t, p.page.SetViewportSize(390, 844))
		p.verifyNoOverflow(path)
	}
	for _, theme := range []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark} {
		visitor := w.visitor(scheme(theme))
		look(visitor, "/login")
		p := w.someone(scheme(theme))
		p.expectProblem("404")
		for _, path := range pages {
			look(p, path)
			p.verifyAttribute("html", "data-bs-theme", string(*theme))
		}
	}
}

// TestNarrow uses the menu of a telephone.
func TestNarrow(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone(func(o *playwright.BrowserNewContextOptions) {
		o.Viewport = &playwright.Size{Width: 390, Height: 844}
	})

	p.doOpen("/jobs")
	require.NoError(t, expect.Locator(p.page.Locator("[data-testid=sidebar]")).ToBeHidden())
	p.doClick("[popovertarget=sidebar]")
	p.verifyVisible("[data-testid=sidebar]")
	p.doClick("[data-testid=nav-runs]")
	p.verifyAt("/runs")
	p.doClick("[popovertarget=language-menu]")
	p.verifyVisible("#language-menu")
	p.verifyNoOverflow("/runs with a menu")
}

// verifyNoOverflow says which element sticks out when the page scrolls sideways.
func (p *person) verifyNoOverflow(path string) {
	p.t.Helper()
	culprit, err := p.page.Evaluate(`() => {
		const wide = innerWidth;
		if (document.documentElement.scrollWidth <= wide) return "";
		const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > wide + 0.5);
		return "scrollWidth " + document.documentElement.scrollWidth + " > " + wide + ": " +
			out.slice(0, 5).map((e) => e.tagName + "." + e.className + "#" + e.id).join(", ");
	}`)
	require.NoError(p.t, err)
	if culprit != "" {
		p.t.Errorf("%s: %s", path, culprit)
	}
}

// verifyPolicy checks the header and the source as it was sent.
func (p *person) verifyPolicy(path string, resp playwright.Response) {
	p.t.Helper()
	policy := resp.Headers()["content-security-policy"]
	require.Contains(p.t, policy, "default-src 'none'", path)
	require.Contains(p.t, policy, "script-src 'self'", path)
	require.Contains(p.t, policy, "frame-ancestors 'none'", path)
	require.NotContains(p.t, policy, "unsafe", path)
	source, err := resp.Text()
	require.NoError(p.t, err)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(source))
	require.NoError(p.t, err)
	require.Zero(p.t, doc.Find("script:not([src]), style, [style]").Length(), "inline script or style at %s", path)
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			require.False(p.t, strings.HasPrefix(a.Key, "on"), "%s at %s", a.Key, path)
			require.False(p.t, strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:"), "%s at %s", a.Val, path)
		}
	})
}
