package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWalk is the main job of the product, end to end: a newcomer adds a job,
// watches it run, reads its log and stops it.
func TestWalk(t *testing.T) {
	t.Parallel()
	p := newWorld(t).visitor()

	p.doOpen("/jobs")
	p.verifyAt("/login?next=%2Fjobs")
	p.doLogIn("admin", password)
	p.verifyAt("/jobs")

	p.doClick("[data-testid=add-job]")
	p.doChoose("#group", "1")
	p.doFill("#name", "Greet the world")
	p.doFill("#author", "Ada")
	p.doFill("#handler", "demo.hello")
	p.doFill("#param", "Carillon")
	p.doFill("#schedule_conf", "")
	p.doType("#schedule_conf", "*/2 * * * * ?")
	p.verifyText("[data-testid=preview] strong", "every 2 s")
	p.verifyCount("[data-testid=preview] li time", 5)
	p.doClick(".form-actions button")

	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=toast]", "Job Greet the world is added.")
	p.verifyText("[data-testid=job-words]", "every 2 s")
	p.doClick("[data-testid=nav-jobs]")
	row := "[data-testid=job-row]:has-text('Greet the world')"
	p.verifyText(row+" [data-testid=job-status]", "stopped")
	p.doClick(row + " [data-testid=start-job]")
	p.verifyText(row+" [data-testid=job-status]", "running")

	p.doClick("[data-testid=nav-runs]")
	p.verifyAt("/runs")
	run, err := p.page.Locator("[data-testid=run-row]").Last().GetAttribute("id") // waits for the first run
	require.NoError(t, err)
	p.verifyGreen("#" + run)

	p.doClick("#" + run + " td.c-id a")
	p.verifyGreen("h1")
	p.verifyText("#log-lines", "Hello, Carillon. This log grows while you watch.")
	p.verifyText("#log-lines", "Good-bye, Carillon.")
	p.verifyText("#log-state", "8 lines · complete")

	p.doGoBack()
	p.verifyAt("/runs")
	p.doClick("[data-testid=nav-jobs]")
	p.doClick(row + " [data-testid=stop-job]")
	p.verifyText(row+" [data-testid=job-status]", "stopped")
}

// TestRunOnce runs a job by hand and follows it: the log arrives while the run
// is in progress, and the run turns green by itself. It takes long enough for a slow
// machine: the page asks for what a run does every three seconds, and draws what it is told.
func TestRunOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Sleeper", map[string]any{"executorHandler": "demo.sleep", "executorParam": "1h"})
	p := w.someone()

	p.doOpen("/jobs")
	p.doClick("[data-testid=run-once]")
	p.verifyValue("[data-testid=run-once-form] #param", "1h")
	p.doFill("[data-testid=run-once-form] #param", "12s")
	p.doClick("[data-testid=run-now]")

	p.verifyAt("/runs/1")
	p.verifyText("h1 [data-testid=result]", "running")
	p.verifyText("#log-lines", "sleeping for 12s")
	p.verifyText("h1 [data-testid=result]", "running") // the line was there before the end
	p.verifyGreen("h1")
	p.verifyText("[data-testid=run-message]", "slept for 12s")
	p.verifyText("#log-state", "complete")
}

// TestKill ends a run in progress.
func TestKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Sleeper", map[string]any{"executorHandler": "demo.sleep", "executorParam": "1h"})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": "1h"})
	p := w.someone()

	p.doOpen("/runs/1")
	p.doClick("[data-testid=kill]")
	p.doClick("[data-testid=confirm] button")
	p.verifyText("h1 [data-testid=result]", "killed")
}

// TestWhyARunFailed is what its page begins with: the words, since when the job fails, and
// the last lines of the log, which lead to their places.
func TestWhyARunFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Broken", map[string]any{"executorHandler": "demo.fail", "executorParam": ""})
	for range 2 {
		w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	}
	p := w.someone()
	p.doOpen("/")
	p.verifyText("[data-testid=attention]", "Broken · 2 failed since")
	p.verifyText("[data-testid=failing-count]", "1")
	p.doClick("[data-testid=trouble-job]")
	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=failing]", "Failing for 2 runs, since")
	p.verifyText("[data-testid=failing]", "no success is stored")
	p.doGoBack()
	p.doClick("[data-testid=trouble]")
	p.verifyAt("/runs/2")
	p.verifyText("[data-testid=run-message] strong", "line 17: want 5 columns")
	p.verifyText("[data-testid=streak]", "2 fires so far")
	p.verifyVisible("#run-tail ol")
	p.doClick("#run-tail li:last-child a")
	p.verifyVisible("#log-lines .here")
	p.doOpen("/jobs?status=failing")
	p.verifyCount("[data-testid=job-row]", 1)
	p.verifyText("[data-testid=failing]", "failing since")

	// From the run its job is started and stopped; the button says what it does now, with the
	// focus on it.
	id = w.addJob("Broken by night", map[string]any{
		"executorHandler": "demo.fail", "executorParam": "", "scheduleType": "CRON", "scheduleConf": "0 0 0 1 1 ?",
	})
	w.api("triggerJob", map[string]any{"id": number(t, id), "executorParam": ""})
	p.doOpen("/runs/3")
	p.verifyText("h1 [data-testid=result]", "failed")
	for range 2 {
		p.doClick("[data-testid=start-job]")
		p.verifyText("[data-testid=stop-job]", "Stop job")
		p.verifyFocused("[data-testid=stop-job]")
		p.doClick("[data-testid=stop-job]")
		p.verifyText("[data-testid=start-job]", "Start job")
		p.verifyFocused("[data-testid=start-job]")
	}
}
