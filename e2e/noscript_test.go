package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutJavaScript does the main job in a browser that runs no scripts:
// only live updates and the streaming of logs are missing.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor(noScripts)

	p.doOpen("/jobs/new")
	p.doLogIn("admin", password)
	p.verifyAt("/jobs/new")
	p.doChoose("#group", "1")
	p.doFill("#name", "Plain")
	p.doFill("#author", "Ada")
	p.doFill("#schedule_conf", "0 0 0 1 1 ?")
	p.doFill("#handler", "demo.hello")
	p.doFill("#param", "Carillon")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=toast]", "Job Plain is added.")
	p.doClick("[data-testid=start-job]")
	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=job-state]", "running")
	p.doClick("[data-testid=stop-job]")
	p.verifyText("[data-testid=job-state]", "stopped")
	p.doClick("[data-testid=edit-note]")
	p.doFill("#note", "Call **Mei** first.")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=job-note] strong", "Mei")
	p.doClick("[data-testid=nav-jobs]")
	p.doClick("[data-testid=start-job]")
	p.verifyAt("/jobs")
	p.verifyText("[data-testid=job-status]", "running")
	p.doFill("#q", "plain")
	if err := p.page.Locator("#q").Press("Enter"); err != nil {
		t.Fatal(err)
	}
	p.verifyAtLike(`/jobs\?.*q=plain.*`)
	p.doClick("[data-testid=stop-job]")
	p.verifyText("[data-testid=job-status]", "stopped")

	p.doClick("[data-testid=run-once]")
	p.verifyAt("/jobs/1/run")
	p.doClick("[data-testid=run-now]")
	p.verifyAt("/runs/1")
	p.until("the run is green after a reload", func() bool {
		p.doReload()
		return p.textOf("h1 [data-testid=result]") == "succeeded"
	})
	require.NoError(t, p.page.Locator("noscript a").Press("Enter")) // no scrolling: without scripts the driver waits for it for ever, now and then
	p.verifyAt("/runs/1/log")
	p.verifyText("pre", "Good-bye, Carillon.")

	p.doOpen("/jobs/1/delete")
	p.doClick("[data-testid=confirm] button")
	p.verifyAt("/jobs") // what was looked for is forgotten
	p.verifyCount("[data-testid=job-row]", 0)
	p.doClick("[data-testid=user-menu]")
	p.doClick("[data-testid=logout]")
	p.verifyAt("/login")
}
