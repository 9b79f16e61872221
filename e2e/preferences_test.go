package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func in(locale string) func(*playwright.BrowserNewContextOptions) {
	return func(o *playwright.BrowserNewContextOptions) { o.Locale = playwright.String(locale) }
}

func scheme(c *playwright.ColorScheme) func(*playwright.BrowserNewContextOptions) {
	return func(o *playwright.BrowserNewContextOptions) { o.ColorScheme = c }
}

// TestLanguage switches the language; it is kept with the account.
func TestLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.someone(in("zh-CN"))

	p.doOpen("/jobs?q=x")
	p.verifyAttribute("html", "lang", "zh-Hans")
	p.verifyText("h1", "任务")
	for _, c := range []struct{ lang, title string }{{"en", "Jobs"}, {"zh-Hant", "任務"}} {
		p.doClick("[popovertarget=language-menu]")
		p.doClick("#language-menu button[value=" + c.lang + "]")
		p.verifyAttribute("html", "lang", c.lang)
		p.verifyText("h1", c.title)
		p.verifyAtLike(`/jobs\?.*q=x.*`)
	}
	w.admin = w.logIn()
	other := w.someone(in("en-US"))
	other.doOpen("/")
	other.verifyAttribute("html", "lang", "zh-Hant")
}

// TestLanguageOfVisitors follows the browser before the login.
func TestLanguageOfVisitors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for locale, lang := range map[string]string{"en-GB": "en", "zh-TW": "zh-Hant", "zh-CN": "zh-Hans", "fr-FR": "zh-Hans"} {
		p := w.visitor(in(locale))
		p.doOpen("/login")
		p.verifyAttribute("html", "lang", lang)
	}
}

// TestTheme follows the system until somebody chooses; the choice is kept.
func TestTheme(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.someone()

	p.doOpen("/jobs")
	p.verifyAttribute("html", "data-bs-theme", "light")
	p.doClick(".topbar button[value=dark]")
	p.verifyAttribute("html", "data-bs-theme", "dark")
	p.verifyAt("/jobs")
	p.doReload()
	p.verifyAttribute("html", "data-bs-theme", "dark")

	w.admin = w.logIn()
	other := w.someone()
	other.doOpen("/runs")
	other.verifyAttribute("html", "data-bs-theme", "dark")
	other.doClick(".topbar button[value=light]")
	other.verifyAttribute("html", "data-bs-theme", "light")

	visitor := w.visitor(scheme(playwright.ColorSchemeDark))
	visitor.doOpen("/login")
	visitor.verifyAttribute("html", "data-bs-theme", "dark")
}
