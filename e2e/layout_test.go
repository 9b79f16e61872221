package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// pages is every page there is, in a world with a job and a run, both of id 1.
var pages = []string{
	"/", "/jobs", "/jobs/new", "/jobs/1", "/jobs/1/note", "/jobs/1/edit", "/jobs/1/run", "/jobs/1/delete", "/runs", "/runs/1", "/incidents", "/alarms", "/alarms/rules/new", "/alarms/rules/new?scope=default", "/alarms/channels/new",
	"/executors", "/executors/new", "/executors/1/edit", "/executors/1/delete", "/users", "/users/new", "/users/1/edit", "/users/1/delete", "/users/1/sessions", "/users/sessions", "/audit", "/system", "/retention", "/retention/run", "/timeline", "/timeline?span=1h&by=address", "/timeline/load", "/profile", "/password", "/help", "/reports", "/reports?kind=week", "/reports/mails", "/reports/mails/new", "/reports/targets", "/reports/targets/new", "/nowhere",
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
		require.NoError(t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeLight}))
		resp := p.doOpen(path)
		p.verifyPolicy(path, resp)
		p.verifyAttribute("html", "data-bs-theme", "light")
		p.verifyAccessible(path, axe)
		for _, size := range [][2]int{{390, 844}, {1024, 768}, {1280, 800}} {
			require.NoError(t, p.page.SetViewportSize(size[0], size[1]))
			p.verifyNoOverflow(path)
			if size[0] > 390 {
				p.verifyTablesFit(path)
			}
		}
		require.NoError(t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeDark}))
		p.verifyAttribute("html", "data-bs-theme", "dark")
		p.verifyColours(path+" in the dark", axe, "")
	}
	look(w.visitor(), "/login")
	p := w.someone()
	p.expectProblem("404")
	for _, path := range pages {
		look(p, path)
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

// verifyTablesFit: no column of a table is beyond its card, where nobody looks for it.
func (p *person) verifyTablesFit(path string) {
	p.t.Helper()
	culprit, err := p.page.Evaluate(`() => [...document.querySelectorAll(".table-wrap")].filter((e) => e.scrollWidth > e.clientWidth + 1)
		.map((e) => e.querySelector("table").className + " is " + e.scrollWidth + " wide in " + e.clientWidth).join(", ")`)
	require.NoError(p.t, err)
	if culprit != "" {
		p.t.Errorf("%s: %s", path, culprit)
	}
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

// TestNothingMoves: while a live page is looked at and runs come and go, what is on it
// stays where it is.
func TestNothingMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"Fast", "Failing", "Slow"} {
		id := w.addJob(name, map[string]any{"scheduleType": "CRON", "scheduleConf": "* * * * * ?", "executorHandler": []string{"demo.hello", "demo.fail", "demo.sleep"}[i], "executorParam": "1s"})
		w.api("startJob", map[string]any{"id": number(t, id)})
	}
	w.until("many runs were made", func() bool { return strings.Count(w.text("/runs"), `data-testid="run-row"`) >= 30 })
	type looked struct {
		*person
		at   string
		seen map[string]bool // texts of the page: it is drawn anew several times
	}
	var all []looked // at the same time
	for _, size := range [][2]int{{1280, 800}, {390, 844}} {
		for _, path := range []string{"/", "/jobs", "/runs"} {
			p := w.someone()
			require.NoError(t, p.page.SetViewportSize(size[0], size[1]))
			p.doOpen(path)
			_, err := p.page.Evaluate(`() => {
				window.shift = 0;
				window.moved = [];
				new PerformanceObserver((list) => list.getEntries().forEach((e) => {
					if (e.hadRecentInput) return;
					window.shift += e.value;
					window.moved.push(...e.sources.map((s) => s.node?.nodeName + "." + s.node?.className + " from " + s.previousRect.y + " to " + s.currentRect.y));
				})).observe({ type: "layout-shift" });
			}`)
			require.NoError(t, err)
			all = append(all, looked{p, fmt.Sprintf("%s at %d", path, size[0]), map[string]bool{}})
		}
	}
	for _, l := range all {
		l.until("the page was drawn anew: "+l.at, func() bool {
			for _, l := range all {
				l.seen[l.textOf("main")] = true
			}
			return len(l.seen) > 5
		})
	}
	for _, l := range all {
		shift, err := l.page.Evaluate(`() => window.shift`)
		require.NoError(t, err)
		moved, err := l.page.Evaluate(`() => window.moved.slice(0, 6).join("; ")`)
		require.NoError(t, err)
		require.Less(t, asFloat(shift), 0.02, "%s: %v", l.at, moved)
	}
}

func asFloat(v any) float64 {
	switch x := v.(type) {
	case int:
		return float64(x)
	case float64:
		return x
	}
	return -1
}
