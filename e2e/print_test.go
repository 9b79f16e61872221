package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestOnPaper: pages are printed black on white, without anything to press; no table and no
// text is cut. CARILLON_PICTURES names a folder for the papers.
func TestOnPaper(t *testing.T) {
	t.Parallel()
	w := longWorld(t)
	p := w.someone(scheme(playwright.ColorSchemeDark))
	for name, path := range map[string]string{
		"dashboard": "/", "jobs": "/jobs", "job": "/jobs/1", "runs": "/runs", "run": "/runs/1", "executors": "/executors", "users": "/users", "audit": "/audit", "system": "/system", "retention": "/retention", "reports": "/reports", "mails of reports": "/reports/mails",
	} {
		require.NoError(t, p.page.SetViewportSize(1032, 700)) // what an A4 page has, lying
		p.doOpen(path)
		require.NoError(t, p.page.WaitForLoadState())
		require.NoError(t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaPrint}))
		p.verifyVisible("h1 >> nth=0")
		p.verifyCount("main :is(button, .btn, .act, input, select):visible, .sidebar:visible, .topbar:visible", 0)
		cut, err := p.page.Evaluate(`() => {
			const out = [];
			if (document.documentElement.scrollWidth > innerWidth) out.push("the page is " + document.documentElement.scrollWidth + " wide");
			for (const el of document.querySelectorAll("main *")) {
				if (!el.getClientRects().length || el.closest("svg, .visually-hidden, .days-wrap")) continue;
				const s = getComputedStyle(el);
				if (el.scrollWidth > el.clientWidth + 1 && s.overflowX !== "visible" && s.display !== "inline") out.push(el.tagName + "." + el.className + " cuts " + el.textContent.trim().slice(0, 40));
				if (el.getBoundingClientRect().right > innerWidth + 1) out.push(el.tagName + "." + el.className + " is beyond the paper");
			}
			return out.slice(0, 10).join("\n");
		}`)
		require.NoError(t, err)
		require.Empty(t, cut, path)
		for _, part := range []string{"body", "h1 >> nth=0"} { // themes fade into each other
			require.NoError(t, expect.Locator(p.page.Locator(part)).ToHaveCSS("color", "rgb(0, 0, 0)"), path)
		}
		for _, part := range []string{"body", ".card >> nth=0"} {
			require.NoError(t, expect.Locator(p.page.Locator(part)).ToHaveCSS("background-color", "rgb(255, 255, 255)"), path)
		}
		if dir := os.Getenv("CARILLON_PICTURES"); dir != "" {
			require.NoError(t, os.MkdirAll(dir, 0o755))
			_, err = p.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(filepath.Join(dir, "paper-"+name+".png")), FullPage: playwright.Bool(true)})
			require.NoError(t, err)
		}
		require.NoError(t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaScreen}))
		p.verifyAttribute("html", "data-bs-theme", "dark")
	}
}
