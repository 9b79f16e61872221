package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInvalidJobForm(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()
	p.expectProblem("422")

	p.doOpen("/jobs/new")
	p.doChoose("#group", "1")
	p.doFill("#author", "Ada")
	p.doFill("#schedule_conf", "0 0 99 * * ?")
	p.doFill("#param", "first line\nsecond line")
	p.doFill("#retry", "-1")
	p.doFill("#child_ids", "77")
	p.doClick(".form-actions button")

	p.verifyText("[data-testid=form-error]", "Please check the marked fields.")
	p.verifyText("[data-testid=error-name]", "Please fill this in.")
	p.verifyText("[data-testid=error-schedule_conf]", "hour: 99 is not between 0 and 23")
	p.verifyText("[data-testid=error-retry]", "A number from 0")
	p.verifyVisible("[data-testid=error-handler]")
	p.verifyFocused("#name")
	p.verifyAttribute("#name", "aria-invalid", "true")
	p.verifyValue("#author", "Ada")
	p.verifyValue("#schedule_conf", "0 0 99 * * ?")
	p.verifyValue("#param", "first line\nsecond line")
	p.verifyValue("#retry", "-1")
	p.verifyValue("#child_ids", "77")

	// What was wrong is mended one by one; the focus goes to what is left.
	p.doFill("#name", "Mended")
	p.doFill("#handler", "demo.hello")
	p.doFill("#retry", "1")
	p.doFill("#child_ids", "")
	p.doClick(".form-actions button")
	p.verifyFocused("#schedule_conf")
	p.verifyCount(".invalid-feedback", 1)
	p.doFill("#schedule_conf", "0 0 9 ? * MON-FRI")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/1")
	p.verifyText("[data-testid=job-name]", "Mended")
}

// TestPreview says while typing what is wrong, what never fires and what fires when.
func TestPreview(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()

	p.doOpen("/jobs/new")
	for _, c := range []struct{ conf, says string }{
		{"0 0 9 ? * MON-FRI", "09:00:00"},
		{"0 0 9 * *", "expected 6 or 7 fields, got 5"},
		{"0 61 9 * * ?", "minute: 61 is not between 0 and 59"},
		{"0 0 0 1 1 ? 2001", "never fires"},
	} {
		p.doFill("#schedule_conf", c.conf)
		p.verifyText("[data-testid=preview]", c.says)
	}
	p.doChoose("#schedule_type", "FIX_RATE")
	p.doFill("#seconds", "90")
	p.verifyCount("[data-testid=preview] li time", 5)
	p.doChoose("#schedule_type", "NONE")
	require.NoError(t, expect.Locator(p.page.Locator("[data-testid=preview]")).ToBeHidden())
}

// TestConflict edits a job that somebody else has saved meanwhile.
func TestConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Shared", nil)
	p := w.someone()
	p.expectProblem("409")

	p.doOpen("/jobs/" + id + "/edit")
	w.api("updateJob", job("Changed by a script", map[string]any{"id": number(t, id)}))
	p.doFill("#author", "Ada")
	p.doClick(".form-actions button")
	p.verifyVisible("[data-testid=form-conflict]")
	p.verifyValue("#author", "Ada")
	p.doClick("[data-testid=form-conflict] a")
	p.verifyValue("#name", "Changed by a script")
}

// TestDelete asks first, and Enter does not delete.
func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Old", nil)
	p := w.someone()

	p.doOpen("/jobs")
	p.doClick("[data-testid=job-row] button[popovertarget]")
	p.doClick("[data-testid=delete-job]")
	p.verifyText("#dialog", "Old")
	p.doClick("#dialog [data-close]")
	p.verifyCount("#dialog[open]", 0)
	p.verifyCount("[data-testid=job-row]", 1)
	p.doClick("[data-testid=job-row] button[popovertarget]")
	p.doClick("[data-testid=delete-job]")
	p.verifyFocused("[data-testid=confirm] [data-close]")
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyCount("#dialog[open]", 0)
	p.verifyCount("[data-testid=job-row]", 1)
	w.api("triggerJob", map[string]any{"id": 1, "executorParam": ""})
	p.doClick("[data-testid=job-row] a.name")
	p.doClick("[data-testid=delete-job]")
	p.verifyText("[data-testid=delete-facts]", "Its 1 run stays under its name")
	p.doClick("[data-testid=confirm] button")
	p.verifyAt("/jobs")
	p.verifyText("[data-testid=toast]", "Job Old is deleted.")
	p.verifyCount("[data-testid=job-row]", 0)
	p.doOpen("/runs")
	p.verifyText("[data-testid=run-row] .c-job", "Old")
	p.verifyText("[data-testid=run-row] .c-job", "deleted")
	p.expectProblem("404")
	require.Equal(t, 404, p.doOpen("/jobs/1").Status())
}
