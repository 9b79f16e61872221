//go:build screenshots

package e2e

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// TestScreenshots takes the pictures of the documents from the demo, after it
// has run for a minute and a half: make screenshots.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("CARILLON_SCREENSHOTS")
	require.NotEmpty(t, dir, "set CARILLON_SCREENSHOTS to the folder of the pictures")
	demo, err := app.StartDemo(t.Context(), app.DemoCmd{
		Listen: "127.0.0.1:0", ExecutorListen: "127.0.0.1:0", Data: t.TempDir(), Lang: "en",
	}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, demo.Stop(t.Context())) })
	<-time.After(90 * time.Second)

	w := &world{t: t, url: strings.TrimSuffix(demo.URL, "/")}
	p := w.visitor(func(o *playwright.BrowserNewContextOptions) { o.Viewport = &playwright.Size{Width: 1280, Height: 720} })
	p.doOpen("/login")
	p.doLogIn("admin", demo.Password)
	shot := func(name string) {
		_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(filepath.Join(dir, name))})
		require.NoError(t, err)
	}
	p.doOpen("/")
	shot("dashboard.png")
	p.doOpen("/jobs")
	shot("jobs.png")
	p.doOpen("/runs?status=succeeded")
	p.doClick("[data-testid=run-row]:has-text(\"Hello every 5 s\") a >> nth=0")
	require.NoError(t, expect.Locator(p.page.Locator("#log, [data-testid=log]").First()).ToContainText("Good-bye"))
	shot("run.png")
}
