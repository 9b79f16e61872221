package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
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
	p.doClick("[data-testid=fold-retry] > summary")
	p.doFill("#retry", "-1")
	p.doClick("[data-testid=fold-children] > summary")
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

// TestConflict edits a job that somebody else has saved meanwhile: both values of each
// field that differs are shown, what only they changed is theirs, and nothing is lost.
func TestConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Shared", nil)
	p := w.someone()
	p.expectProblem("409")

	p.doOpen("/jobs/" + id + "/edit")
	w.api("updateJob", job("Changed by a script", map[string]any{"id": number(t, id), "executorParam": "theirs", "executorBlockStrategy": "DISCARD_LATER"}))
	p.doFill("#author", "Ada")
	p.doFill("#param", "mine")
	p.doClick(".form-actions button")
	p.verifyVisible("[data-testid=form-conflict]")
	p.verifyCount("[data-take]", 4)
	p.verifyChecked("[data-testid=conflict-name] [value=theirs]")
	p.verifyChecked("[data-testid=conflict-block] [value=theirs]")
	p.verifyChecked("[data-testid=conflict-author] [value=mine]")
	p.verifyChecked("[data-testid=conflict-param] [value=mine]")
	p.verifyText("[data-testid=conflict-block]", "Discard the later one")
	p.verifyValue("#author", "Ada")
	p.verifyValue("#name", "Changed by a script")
	p.verifyAccessible("a conflict", readAxe(t))
	// The choice is done in the form, and typing takes it back.
	p.doClick("[data-testid=conflict-param] [value=theirs]")
	p.verifyValue("#param", "theirs")
	p.doClick("[data-testid=conflict-name] [value=mine]")
	p.verifyValue("#name", "Shared")
	p.doFill("#name", "Agreed")
	p.verifyChecked("[data-testid=conflict-name] [value=mine]")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/" + id)
	p.doOpen("/jobs/" + id + "/edit")
	for field, want := range map[string]string{"name": "Agreed", "author": "Ada", "param": "theirs", "block": "DISCARD_LATER"} {
		p.verifyValue("#"+field, want)
	}
}

// TestConflictWithoutJavaScript: the choice is a list that the center obeys.
func TestConflictWithoutJavaScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Shared", nil)
	p := w.someone(noScripts)
	p.expectProblem("409")
	p.doOpen("/jobs/" + id + "/edit")
	w.api("updateJob", job("Theirs", map[string]any{"id": number(t, id), "executorParam": "theirs"}))
	p.doFill("#param", "mine")
	p.doFill("#author", "Ada")
	p.doClick(".form-actions button")
	p.doClick("[data-testid=conflict-param] [value=theirs]")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/" + id)
	p.doOpen("/jobs/" + id + "/edit")
	for field, want := range map[string]string{"name": "Theirs", "author": "Ada", "param": "theirs"} {
		p.verifyValue("#"+field, want)
	}
}

// TestCalmForm: what is set stands in one line, options are explained, handlers are
// suggested and children found by name.
func TestCalmForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Report mail", map[string]any{"executorHandler": "sendReport"})
	child := w.addJob("Clean up", nil)
	id := w.addJob("Settlement", map[string]any{"childJobId": child})
	p := w.someone()

	p.doOpen("/jobs/" + id + "/edit")
	p.verifyAccessible("the job form", readAxe(t))
	p.verifyText("[data-testid=line-route]", "First address · Queue")
	p.verifyText("[data-testid=line-retry]", "none")
	p.verifyText("[data-testid=line-children]", "Clean up")
	p.verifyCount("#handlers option[value=sendReport]", 1)
	p.doClick("[data-testid=fold-route] > summary")
	p.verifyText("#route-hint", "Always the first address.")
	p.doChoose("#route", "ROUND")
	p.verifyText("#route-hint", "One address after the other.")
	p.verifyText("[data-testid=line-route]", "Round robin · Queue")
	p.doClick("[data-testid=fold-retry] > summary")
	p.doFill("#retry", "3")
	p.verifyText("[data-testid=line-retry]", "up to 3")

	p.doClick("[data-testid=fold-children] > summary")
	p.doType("#child-search", "report")
	p.verifyText("#child-found button", "Report mail")
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyValue("#child_ids", child+",1")
	p.verifyText("[data-testid=line-children]", "Clean up, Report mail")
	p.doClick("[data-testid=children] .chip:has-text('Clean up') button")
	p.verifyValue("#child_ids", "1")
	p.verifyAccessible("the open job form", readAxe(t))
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/" + id)
	p.doOpen("/jobs/1/edit")
	p.doClick("[data-testid=fold-children] > summary")
	p.verifyText("[data-testid=parents]", "Settlement")

	// A copy says that it is one.
	p.doOpen("/jobs/new?copy=" + id)
	p.verifyValue("#name", "Settlement (copy)")
}

// TestTypedOutlivesTheLogin: who is logged out while typing finds the form again after
// the next login, not saved.
func TestTypedOutlivesTheLogin(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with scripts": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.addScript("echo one\n")
			p := w.someone(func(o *playwright.BrowserNewContextOptions) { o.JavaScriptEnabled = playwright.Bool(scripts) })
			p.expectProblem("401")
			p.doOpen("/jobs/new")
			p.doChoose("#group", "1")
			p.doFill("#name", "Typed for long")
			p.doFill("#author", "Ada")
			p.doFill("#schedule_conf", "0 0 9 * * ?")
			p.doFill("#handler", "demo.hello")
			p.doFill("#param", "\nfirst line\n\"quoted\" <b>")
			require.NoError(t, p.page.Context().ClearCookies())
			p.doClick(".form-actions button")
			p.verifyVisible("[data-testid=login-kept]")
			p.expectProblem("422")
			p.doLogIn("admin", "wrong")
			p.verifyVisible("[data-testid=login-kept]")
			p.doLogIn("admin", password)
			p.doClick("[data-testid=resume] button")
			p.verifyVisible("[data-testid=form-kept]")
			p.verifyValue("#name", "Typed for long")
			p.verifyValue("#param", "\nfirst line\n\"quoted\" <b>")
			p.doClick(".form-actions button")
			p.verifyAt("/jobs/2")
			p.verifyText("[data-testid=job-name]", "Typed for long")

			// The same for a script.
			p.doOpen("/jobs/" + id + "/code")
			if scripts {
				p.verifyFocused(editor)
				require.NoError(t, p.page.Keyboard().Press("Control+End"))
				require.NoError(t, p.page.Keyboard().Type("echo kept"))
			} else {
				p.doFill("#glue_source", "echo one\necho kept")
			}
			p.doFill("#glue_remark", "long work")
			require.NoError(t, p.page.Context().ClearCookies())
			p.doClick("[data-testid=save-and-run]")
			p.doLogIn("admin", password)
			p.doClick("[data-testid=resume] button")
			p.verifyVisible("[data-testid=form-kept]")
			p.verifyValue("#glue_source", "echo one\necho kept")
			p.verifyValue("#glue_remark", "long work")
			if scripts {
				p.verifyVisible(editor) // it moves the button when it comes
			}
			p.doClick("[data-testid=save-script]")
			p.verifyCount("[data-testid=version]", 2)
		})
	}
}

// TestADialogSurvivesTheLogin: what was typed in a dialog is there again, too, and the list
// below it does not lead away meanwhile.
func TestADialogSurvivesTheLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addJob("Greeter", map[string]any{"executorParam": "by default"})
	p := w.someone()
	p.expectProblem("422")
	require.NoError(t, p.page.Clock().Install())
	p.doOpen("/jobs")
	p.doClick("[data-testid=run-once]")
	p.doFill("#param", "typed <b>\nfor long")
	require.NoError(t, p.page.Context().ClearCookies())
	require.NoError(t, p.page.Clock().RunFor(10_000)) // the list asks every three seconds
	p.verifyValue("#param", "typed <b>\nfor long")
	p.doClick("[data-testid=run-now]")
	p.verifyVisible("[data-testid=login-kept]")
	p.doLogIn("admin", password)
	p.doClick("[data-testid=resume] button")
	p.verifyValue("#param", "typed <b>\nfor long")
	p.doClick("[data-testid=run-now]")
	p.verifyAt("/runs/1")
	p.verifyGreen("h1")
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
