//go:build screenshots

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestMailPictures draws the mails of app/testdata/mails as Chromium shows them. make
// screenshots takes the two of the documents; with CARILLON_PICTURES it draws each in English
// and Chinese, wide and as on a telephone, light and dark, and on paper.
func TestMailPictures(t *testing.T) {
	const paper = 800 // px wide
	draw := func(mail, to string, width int, dark bool) {
		html, err := os.ReadFile("../app/testdata/mails/" + mail + ".html")
		require.NoError(t, err)
		scheme := playwright.ColorSchemeLight
		if dark {
			scheme = playwright.ColorSchemeDark
		}
		ctx, err := browser.NewContext(playwright.BrowserNewContextOptions{Viewport: &playwright.Size{Width: width, Height: 200}, ColorScheme: scheme})
		require.NoError(t, err)
		p, err := ctx.NewPage()
		require.NoError(t, err)
		require.NoError(t, p.SetContent(string(html)))
		if width == paper {
			require.NoError(t, p.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaPrint}))
		}
		_, err = p.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(to), FullPage: playwright.Bool(true)})
		require.NoError(t, err)
		require.NoError(t, ctx.Close())
	}
	if dir := os.Getenv("CARILLON_SCREENSHOTS"); dir != "" {
		draw("opened-plain.en", filepath.Join(dir, "mail.png"), 660, false)
		draw("opened-plain.zh-Hans", filepath.Join(dir, "mail-phone.png"), 390, true)
		draw("opened-plain.en", filepath.Join(dir, "mail-print.png"), paper, true) // by somebody who likes the dark
	}
	dir := os.Getenv("CARILLON_PICTURES")
	if dir == "" {
		return
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	files, err := filepath.Glob("../app/testdata/mails/*.html")
	require.NoError(t, err)
	for _, f := range files {
		mail := strings.TrimSuffix(filepath.Base(f), ".html")
		if strings.HasSuffix(mail, "zh-Hant") {
			continue
		}
		draw(mail, filepath.Join(dir, mail+".600.light.png"), 660, false)
		draw(mail, filepath.Join(dir, mail+".390.dark.png"), 390, true)
		draw(mail, filepath.Join(dir, mail+".print.png"), paper, true)
	}
}
