package e2e

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestJobPage is on call: from the list to the job that fails, to why, to its runs; a run
// that waits is taken back there.
func TestJobPage(t *testing.T) {
	t.Parallel()
	w, st := seededWorld(t)
	failing := storetest.Job(t, st, 1, func(j *model.Job) { j.Name, j.ChildIDs = "Night ledger", "1,4711" })
	parent := storetest.Job(t, st, 1, func(j *model.Job) { j.Name, j.ChildIDs = "Import bank files", strconv.Itoa(failing.ID) })
	var last model.Run
	for i := range 14 {
		last = storetest.Run(t, st, failing, func(r *model.Run) {
			r.Phase, r.TriggerCode, r.TriggerType = model.PhaseAccepted, 200, model.TriggerCron
		})
		if i < 2 {
			storetest.End(t, st, last, 200, "", "")
		} else {
			storetest.End(t, st, last, 500, model.ReasonUnreached, "")
		}
	}
	waits := storetest.Run(t, st, failing, func(r *model.Run) { r.PlannedMS, r.Owner = 4_000_000_000_000, seedOwner })
	p := w.someone()

	p.doOpen("/jobs")
	p.doClick("[data-testid=job-row] a.name:has-text('Night ledger')")
	p.verifyAt("/jobs/" + strconv.Itoa(failing.ID))
	require.NoError(t, expect.Page(p.page).ToHaveTitle("Night ledger · Carillon"))
	p.verifyText("[data-testid=failing]", "Failing for 12 runs, since")
	p.verifyText("[data-testid=failing]", "last success")
	p.verifyCount("[data-testid=job-strip] svg a", 14)
	p.verifyText("[data-testid=job-nodes]", "10.0.4.16:9999")
	p.verifyText("[data-testid=job-settings] summary", "BEAN demo")

	// The picture by keyboard: the newest run is in the tab order, the arrows go on.
	bars := p.page.Locator("[data-testid=job-strip] svg a")
	require.NoError(t, bars.Last().Focus())
	require.NoError(t, p.page.Keyboard().Press("ArrowLeft"))
	require.NoError(t, expect.Locator(bars.Nth(12)).ToBeFocused())
	require.NoError(t, p.page.Keyboard().Press("End"))
	require.NoError(t, p.page.Keyboard().Press("Enter"))
	p.verifyAt("/runs/" + strconv.FormatInt(last.ID, 10))
	p.doClick("[data-testid=job-link]")

	// Folded settings stay open while the page goes on.
	p.doClick("[data-testid=job-settings] summary")
	refreshed, err := p.page.ExpectResponse("**/jobs/"+strconv.Itoa(failing.ID), func() error { return nil })
	require.NoError(t, err)
	require.Equal(t, 200, refreshed.Status())
	p.verifyAttribute("[data-testid=job-settings]", "open", "")

	p.verifyText("[data-testid=job-waiting]", "#"+strconv.FormatInt(waits.ID, 10))
	p.doClick("[data-testid=take-back]")
	p.doClick("[data-testid=confirm] button[type=submit]")
	p.verifyCount("[data-testid=job-waiting]", 0)
	p.verifyCount("[data-testid=job-strip] svg a", 15)

	p.verifyText("[data-testid=job-relatives]", "Job 4711: deleted")
	p.doClick("[data-testid=related] a:has-text('Import bank files')")
	p.verifyAt("/jobs/" + strconv.Itoa(parent.ID))
	p.doClick("[data-testid=related] a:has-text('Night ledger')")
	p.doClick("[data-testid=edit-job]")
	require.NoError(t, expect.Page(p.page).ToHaveTitle("Edit Night ledger · Carillon"))
	p.doFill("#author", "Li Wei")
	p.doClick("[data-testid=fold-children] > summary")
	p.doFill("#child_ids", "1")
	p.doClick(".form-actions button")
	p.verifyAt("/jobs/" + strconv.Itoa(failing.ID))
	p.verifyText("[data-testid=toast]", "Job Night ledger is saved.")
	p.verifyText("#job-head", "owner Li Wei")
}

// TestJobPageStartAndStop follows a job on its page: the button says what it does now
// although it has the focus, and the first run comes by itself.
func TestJobPageStartAndStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.addJob("Often", map[string]any{"scheduleType": "FIX_RATE", "scheduleConf": "1"})
	p := w.someone()
	p.doOpen("/jobs/" + id)
	p.verifyText("[data-testid=job-next]", "Nothing is planned while the job is stopped.")
	p.doClick("[data-testid=start-job]")
	p.verifyText("[data-testid=stop-job]", "Stop")
	p.verifyFocused("[data-testid=stop-job]")
	p.verifyCount("[data-testid=job-fires] li", 4)
	require.NoError(t, expect.Locator(p.page.Locator("[data-testid=job-strip] svg a").First()).ToBeAttached())
	p.verifyText("[data-testid=job-last]", "succeeded")
	p.doClick("[data-testid=stop-job]")
	p.verifyText("[data-testid=start-job]", "Start")
	p.verifyFocused("[data-testid=start-job]")
	p.verifyText("[data-testid=job-state]", "stopped")
	p.verifyText("[data-testid=beat]", "ago")
}
