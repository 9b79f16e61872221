package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestPromotionByKeyboard carries a job to another center with keys alone, and without
// scripts: the file is pasted, as no key chooses a file.
func TestPromotionByKeyboard(t *testing.T) {
	for name, scripts := range map[string]bool{"keys": true, "no scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := newWorld(t), newWorld(t)
			from.addJob("Nightly report", map[string]any{"scheduleType": "CRON", "scheduleConf": "0 0 2 * * ?"})
			open := func(w *world) *person {
				p := w.someone(func(o *playwright.BrowserNewContextOptions) { o.JavaScriptEnabled = playwright.Bool(scripts) })
				if scripts {
					p.withoutMouse()
				}
				return p
			}
			// press goes to something and presses Enter; without scripts no focus is asked for.
			press := func(p *person, selector string) {
				if scripts {
					p.doTab("Tab", selector)
				} else {
					require.NoError(t, p.page.Locator(selector).Focus())
				}
				p.doPress("Enter")
			}

			p := open(from)
			p.doOpen("/jobs?all=1")
			file := filepath.Join(t.TempDir(), "jobs.yaml")
			download, err := p.page.ExpectDownload(func() error { press(p, "[data-testid=export-jobs]"); return nil })
			require.NoError(t, err)
			require.NoError(t, download.SaveAs(file))
			raw, err := os.ReadFile(file)
			require.NoError(t, err)

			o := open(to)
			o.doOpen("/jobs?all=1")
			press(o, "[data-testid=import-jobs]")
			o.doLoaded("/jobs/import")
			if scripts {
				o.doTab("Tab", "#text")
			} else {
				require.NoError(t, o.page.Locator("#text").Focus())
			}
			require.NoError(t, o.page.Keyboard().InsertText(string(raw)))
			press(o, "[data-testid=import-plan-button]")
			o.verifyText("[data-testid=import-plan]", "1 new, 0 changed")
			press(o, "[data-testid=import-apply]")
			o.verifyAtLike(`/jobs\?all=1$`)
			o.verifyText("[data-testid=job-row]", "Nightly report")
		})
	}
}

// TestAnOperatorByKeyboard: who may run jobs and no scripts starts and stops one with keys
// alone, and without scripts of the browser.
func TestAnOperatorByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Sleeper", map[string]any{"scheduleType": "FIX_RATE", "scheduleConf": "3600"})
	script := w.addScript("echo hello")
	boss := w.someone()
	boss.doOpen("/users/new")
	boss.doFill("#name", "olga")
	boss.doClick("[data-testid=grants] li input[type=checkbox]")
	boss.doChoose("[data-testid=grants] li select", "operate")
	boss.doClick(".form-actions button")
	secret := boss.textOf("[data-testid=password]")
	const row = "[data-testid=job-row]:has-text('Sleeper')"

	olga := w.visitor().withoutMouse()
	olga.expectProblem("403")
	olga.doOpen("/login?next=/jobs")
	olga.doTab("Tab", "#name")
	olga.doKeys("olga")
	olga.doTab("Tab", "#password")
	olga.doKeys(secret)
	olga.doPress("Enter")
	olga.doLoaded(`/password\?next=%2Fjobs`)
	const own = "olga's own password"
	for _, field := range [][2]string{{"#old", secret}, {"#new", own}, {"#repeat", own}} {
		olga.doTab("Tab", field[0])
		olga.doKeys(field[1])
	}
	olga.doPress("Enter")
	olga.doLoaded("/jobs")
	olga.doTab("Tab", "[data-testid=start-job]")
	olga.doPress("Enter")
	olga.verifyText(row+" [data-testid=job-status]", "running")
	olga.verifyFocused(row + " [data-testid=stop-job]")
	olga.doPress("Enter")
	olga.verifyText(row+" [data-testid=job-status]", "stopped")
	require.Equal(t, 403, olga.doOpen("/jobs/"+script+"/edit").Status())

	plain := w.visitor(noScripts)
	plain.expectProblem("403")
	plain.doOpen("/login?next=/jobs")
	plain.doLogIn("olga", own)
	plain.doClick(row + " [data-testid=start-job]")
	plain.verifyText(row+" [data-testid=job-status]", "running")
	plain.doClick(row + " [data-testid=stop-job]")
	plain.verifyText(row+" [data-testid=job-status]", "stopped")
	require.Equal(t, 403, plain.doOpen("/jobs/"+script+"/edit").Status())
}
