package e2e

import (
	"fmt"
	"strings"
	"sync"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// expect waits until something is so.
var expect = playwright.NewPlaywrightAssertions(float64(patience.Milliseconds()))

// person is somebody with a browser: one context, one page.
type person struct {
	*world
	page playwright.Page

	mu       sync.Mutex
	problems []string
	expected []string // parts of problems that the test wants
}

// visitor opens a browser without login. English unless options say otherwise.
func (w *world) visitor(change ...func(*playwright.BrowserNewContextOptions)) *person {
	w.t.Helper()
	options := playwright.BrowserNewContextOptions{
		BaseURL: playwright.String(w.url), Locale: playwright.String("en-US"),
		Viewport: &playwright.Size{Width: 1280, Height: 800},
	}
	for _, c := range change {
		c(&options)
	}
	ctx, err := browser.NewContext(options)
	require.NoError(w.t, err)
	p := &person{world: w}
	// Only what must be guarded is routed: a route makes each request slower.
	outside := func(u string) bool { return !strings.HasPrefix(u, w.url+"/") && !strings.HasPrefix(u, "data:") }
	require.NoError(w.t, ctx.Route(outside, func(r playwright.Route) {
		p.problem("request to " + r.Request().URL())
		_ = r.Abort()
	}))
	ctx.OnConsole(func(m playwright.ConsoleMessage) {
		if m.Type() == "error" || strings.Contains(m.Text(), "Content Security Policy") {
			p.problem(fmt.Sprintf("console: %s (%s)", m.Text(), m.Location().URL))
		}
	})
	ctx.OnWebError(func(e playwright.WebError) { p.problem("script: " + e.Error().Error()) })
	p.page, err = ctx.NewPage()
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			body, _ := p.page.Locator("#main").InnerText()
			w.t.Logf("page %s when the test failed:\n%s", p.page.URL(), body)
		}
		require.NoError(w.t, ctx.Close())
		p.verifyNoProblems()
	})
	return p
}

// someone opens a browser that is logged in as the administrator.
func (w *world) someone(change ...func(*playwright.BrowserNewContextOptions)) *person {
	w.t.Helper()
	p := w.visitor(change...)
	require.NoError(w.t, p.page.Context().AddCookies([]playwright.OptionalCookie{
		{Name: "carillon_session", Value: w.admin.cookie, URL: playwright.String(w.url + "/")},
	}))
	return p
}

// noScripts is a browser that runs no scripts.
func noScripts(o *playwright.BrowserNewContextOptions) { o.JavaScriptEnabled = playwright.Bool(false) }

func (p *person) problem(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

// expectProblem says that the test provokes an error which the browser reports,
// for example the status 422 of a form that is not filled in.
func (p *person) expectProblem(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

func (p *person) verifyNoProblems() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.problems {
		wanted := false
		for _, part := range p.expected {
			wanted = wanted || strings.Contains(text, part)
		}
		if !wanted {
			p.t.Errorf("the browser reports: %s", text)
		}
	}
}
