package e2e

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestTakeBack ends a run that waits, and says who did it. Later the button is gone.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	w, st := seededWorld(t)
	open, err := st.Runs(t.Context(), model.RunFilter{Status: model.RunsOpen, Limit: 9})
	require.NoError(t, err)
	var id string
	for _, r := range open {
		if r.Phase == model.PhasePlanned && r.TriggerType == model.TriggerRetry {
			id = "/runs/" + strconv.FormatInt(r.ID, 10)
		}
	}
	require.NotEmpty(t, id)
	p := w.someone()
	p.doOpen(id)
	p.doClick("[data-testid=take-back]")
	p.verifyText("#dialog", "has not been sent yet")
	p.doClick("[data-testid=confirm] button[type=submit]")
	p.verifyText("h1 [data-testid=result]", "not sent")
	p.verifyText("[data-testid=log]", "there is no log")
	p.verifyText("[data-testid=run-message]", "Taken back by admin before it was sent.")
	p.verifyCount("[data-testid=take-back]", 0)

	// Somebody who still has the old page open is told.
	p.expectProblem("409")
	resp := p.doOpen(id + "/takeback")
	require.Equal(t, 200, resp.Status())
	p.doClick("[data-testid=confirm] button[type=submit]")
	p.verifyText("body", "cannot be taken back any more")
	p.doOpen("/runs?reason=taken_back&status=missed")
	p.verifyText("[data-testid=run-row] >> nth=0", "Taken back by admin")
}
