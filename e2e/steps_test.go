package e2e

import (
	"regexp"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// --- what people do ---------------------------------------------------------

func (p *person) doOpen(path string) playwright.Response {
	p.t.Helper()
	resp, err := p.page.Goto(path)
	require.NoError(p.t, err, path)
	return resp
}

func (p *person) doLogIn(name, secret string) {
	p.t.Helper()
	p.doFill("#name", name)
	p.doFill("#password", secret)
	p.doClick("[data-testid=login-form] button[type=submit]")
}

// doChooseOwn replaces a password that somebody else chose, and gives the own one.
func (p *person) doChooseOwn(old, own string) string {
	p.t.Helper()
	p.doFill("#old", old)
	p.doFill("#new", own)
	p.doFill("#repeat", own)
	p.doClick("[data-testid=password-form] .btn-primary")
	return own
}

// loaded waits for the scripts of a page that a link has opened.
func (p *person) loaded() {
	p.t.Helper()
	// The page is asked, as the driver may miss the event of a page that a form has led to. While
	// the next page comes, the question fails.
	p.until("the page is there", func() bool {
		state, err := p.page.Evaluate("document.readyState")
		return err == nil && state != "loading"
	})
}

func (p *person) doClick(selector string) {
	p.t.Helper()
	p.loaded()
	require.NoError(p.t, p.page.Locator(selector).Click(), selector)
}

func (p *person) doFill(selector, text string) {
	p.t.Helper()
	p.loaded()
	require.NoError(p.t, p.page.Locator(selector).Fill(text), selector)
}

// doType presses the keys one by one.
func (p *person) doType(selector, text string) {
	p.t.Helper()
	p.loaded()
	require.NoError(p.t, p.page.Locator(selector).PressSequentially(text), selector)
}

func (p *person) doChoose(selector, value string) {
	p.t.Helper()
	p.loaded()
	_, err := p.page.Locator(selector).SelectOption(playwright.SelectOptionValues{Values: &[]string{value}})
	require.NoError(p.t, err, selector)
}

func (p *person) doReload() {
	p.t.Helper()
	_, err := p.page.Reload()
	require.NoError(p.t, err)
}

func (p *person) doGoBack() {
	p.t.Helper()
	_, err := p.page.GoBack()
	require.NoError(p.t, err)
}

// --- what people see --------------------------------------------------------

func (p *person) verifyAt(path string) {
	p.t.Helper()
	require.NoError(p.t, expect.Page(p.page).ToHaveURL(p.url+path))
}

// verifyAtLike compares the address with a pattern for path and query.
func (p *person) verifyAtLike(pattern string) {
	p.t.Helper()
	at := regexp.MustCompile("^" + regexp.QuoteMeta(p.url) + pattern + "$")
	require.NoError(p.t, expect.Page(p.page).ToHaveURL(at))
}

func (p *person) verifyText(selector, text string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToContainText(text), selector)
}

func (p *person) verifyValue(selector, value string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToHaveValue(value), selector)
}

func (p *person) verifyAttribute(selector, name, value string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToHaveAttribute(name, value), selector)
}

func (p *person) verifyCount(selector string, n int) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToHaveCount(n), selector)
}

func (p *person) verifyVisible(selector string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToBeVisible(), selector)
}

func (p *person) verifyFocused(selector string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToBeFocused(), selector)
}

// verifyGreen waits until the state in the element has the colour and the word
// of success.
func (p *person) verifyGreen(selector string) {
	p.t.Helper()
	state := p.page.Locator(selector + " [data-testid=result]").First()
	require.NoError(p.t, expect.Locator(state).ToHaveText("succeeded"), selector)
	require.NoError(p.t, expect.Locator(state).ToHaveClass(regexp.MustCompile(`\bok\b`)))
}

func (p *person) textOf(selector string) string {
	p.t.Helper()
	text, err := p.page.Locator(selector).TextContent()
	require.NoError(p.t, err, selector)
	return text
}
