package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// browser is started once; each test has contexts of its own in it.
var browser playwright.Browser

// tools is where scripts/setup.sh puts what comes from npm.
const tools = "../.tools"

func TestMain(m *testing.M) {
	stop, err := startBrowser()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

func startBrowser() (func(), error) {
	chromium, err := findChromium()
	if err != nil {
		return nil, err
	}
	driver := os.Getenv("PLAYWRIGHT_DRIVER_PATH")
	if driver == "" {
		driver = filepath.Join(tools, "playwright")
	}
	if _, err := os.Stat(filepath.Join(driver, "package", "cli.js")); err != nil {
		return nil, fmt.Errorf("the Playwright driver is missing: run \"make setup\", or point PLAYWRIGHT_DRIVER_PATH to a folder "+
			"with playwright-core 1.60.0 as package and a link to Node.js as node: %w", err)
	}
	options := &playwright.RunOptions{DriverDirectory: driver, SkipInstallBrowsers: true}
	// On a complete driver this downloads nothing; it mends a crash of the
	// driver over script errors that have no place.
	if err := playwright.Install(options); err != nil {
		return nil, err
	}
	pw, err := playwright.Run(options)
	if err != nil {
		return nil, err
	}
	browser, err = pw.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: playwright.String(chromium),
		Args: []string{
			"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chromium, err)
	}
	return func() {
		_ = browser.Close()
		_ = pw.Stop()
	}, nil
}

func findChromium() (string, error) {
	// The shell is Chromium without its windows: a fifth less work for the machine.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser: run \"make setup\" as root on Debian or Ubuntu, or put Chromium or Chrome on the PATH")
}
