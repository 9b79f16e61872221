package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
	"github.com/stretchr/testify/require"
)

// TestPromotion carries jobs from one center to another by file: exported from the
// list with its filter, looked at, imported, and the second time nothing is left to do.
func TestPromotion(t *testing.T) {
	t.Parallel()
	from, to := newWorld(t), newWorld(t)
	job := map[string]any{"jobGroup": 1, "name": "夜间报表", "author": "ops", "scheduleType": "CRON", "scheduleConf": "0 0 2 * * ?", "executorHandler": "demo.hello"}
	child := from.api("addJob", map[string]any{"jobGroup": 1, "name": "Report mail", "author": "ops", "glueType": "GLUE_SHELL", "glueSource": "#!/bin/sh\necho \"$1\"\n"})
	job["childJobId"] = child
	from.api("addJob", job)
	from.api("addJob", map[string]any{"jobGroup": 1, "name": "Stays at home", "author": "ops", "executorHandler": "demo.hello"})
	to.api("addJob", map[string]any{"jobGroup": 1, "name": "夜间报表", "author": "somebody", "executorHandler": "demo.old", "scheduleType": "FIX_RATE", "scheduleConf": "60"})
	to.api("addJob", map[string]any{"jobGroup": 1, "name": "Not in the file", "author": "ops", "executorHandler": "demo.hello"})

	p := from.someone()
	p.doOpen("/jobs?all=1")
	p.doFill("#q", "Report mail")
	p.verifyCount("[data-testid=job-row]", 1)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	exportTo(t, p, file)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(raw), "Report mail")
	require.NotContains(t, string(raw), "Stays at home", "the filter of the list")
	p.doFill("#q", "")
	p.verifyCount("[data-testid=job-row]", 3)
	exportTo(t, p, file)

	axe := readAxe(t)
	o := to.someone()
	o.doOpen("/jobs?all=1")
	o.doClick("[data-testid=import-jobs]")
	o.verifyAccessible("import", axe)
	o.expectProblem("422")
	require.NoError(t, o.page.Locator("#text").Fill("jobs:\n- executor: carillon-sample\n  nmae: x\n"))
	o.doClick("[data-testid=import-plan-button]")
	o.verifyText("[data-testid=import-error]", "Line 3: The key nmae is not known.")
	o.verifyValue("#text", "jobs:\n- executor: carillon-sample\n  nmae: x\n")

	require.NoError(t, o.page.Locator("#file").SetInputFiles(file))
	o.doClick("[data-testid=import-plan-button]")
	o.verifyText("[data-testid=import-plan]", "2 new, 1 changed, 0 the same, 0 not possible")
	o.verifyText("[data-testid=import-plan] del >> nth=0", "somebody")
	o.verifyAccessible("plan", axe)
	picture(t, o, "import-plan")
	o.doClick("[data-testid=import-apply]")
	o.verifyAtLike(`/jobs\?all=1$`)
	o.verifyText("body", "Imported: 2 new, 1 changed, 0 already the same.")
	o.verifyCount("[data-testid=job-row]", 4)

	o.doOpen("/jobs/import")
	picture(t, o, "import")
	require.NoError(t, o.page.Locator("#file").SetInputFiles(file))
	o.doClick("[data-testid=import-plan-button]")
	o.verifyText("[data-testid=import-plan]", "0 new, 0 changed, 3 the same")
	o.verifyCount("[data-testid=import-apply]", 0)
	o.verifyNoProblems()
}

// exportTo clicks the link below the list and keeps the file.
func exportTo(t *testing.T, p *person, file string) {
	t.Helper()
	download, err := p.page.ExpectDownload(func() error { return p.page.Locator("[data-testid=export-jobs]").Click() })
	require.NoError(t, err)
	require.NoError(t, download.SaveAs(file))
}

// picture takes pictures for people to look at when CARILLON_PICTURES names a folder.
func picture(t *testing.T, p *person, name string) {
	dir := os.Getenv("CARILLON_PICTURES")
	if dir == "" {
		return
	}
	for label, width := range map[string]int{"wide": 1280, "phone": 390} {
		require.NoError(t, p.page.SetViewportSize(width, 820))
		_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(filepath.Join(dir, name+"-"+label+".png")), FullPage: playwright.Bool(true)})
		require.NoError(t, err)
	}
	require.NoError(t, p.page.SetViewportSize(1280, 820))
}
