package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// TestARuleThatWatches: what is typed wrong is told at its field and nothing is lost; what was
// saved is in the list and in the form. A disk that is nearly full is an incident.
func TestARuleThatWatches(t *testing.T) {
	t.Parallel()
	_, with := openInbox(t)
	w := newWorld(t, with, func(cfg *app.ServeCmd) { cfg.DiskFullAt = 1 })
	axe := readAxe(t)
	p := w.someone()
	p.doOpen("/alarms")
	p.doClick("[data-testid=default-rule]")
	p.doFill("#in_a_row", "3")
	p.doFill("#out_of", "2")
	p.verifyText("[data-testid=line-watch]", "none")
	p.doClick("[data-testid=fold-watch] summary")
	p.doFill("#overrun", "45")
	p.doFill("#overrun_times", "3")
	p.doFill("#late", "10")
	p.doFill("#done_by", "06:00")
	p.doClick("[name=done_day][value='1']")
	p.doClick("[name=done_day][value='5']")
	p.verifyText("[data-testid=line-watch]", "over 45 min · over 3 times the usual · not sent after 10 min · done by 06:00") // while one types
	p.doClick("[data-testid=fold-without] summary")
	p.doClick("[name=without][value=misfire]")
	p.verifyText("[data-testid=line-without]", "1")
	p.doClick("[name=each_attempt]")
	p.doClick("[name=discarded]")
	p.expectProblem("422")
	p.doClick(".form-actions button")
	p.verifyVisible("[data-testid=error-out_of]")
	p.verifyValue("#overrun", "45")
	p.verifyText("[data-testid=line-without]", "1")
	p.verifyAccessible("a rule that is wrong", axe)
	p.doFill("#out_of", "10")
	p.doClick(".form-actions button")
	for _, part := range []string{"3 of the last 10 fires", "each attempt", "discarded runs", "running longer than 45 m", "running 3 times as long as usual", "not sent after 10 m", "done by 06:00 Mon Fri"} {
		p.verifyText("[data-testid=rule-row]", part)
	}
	p.doClick("[data-testid=rule-row] a.name")
	p.verifyValue("#done_by", "06:00")
	for _, box := range []string{"[name=done_day][value='1']", "[name=done_day][value='5']", "[name=each_attempt]", "[name=discarded]"} {
		checked, err := p.page.Locator(box).IsChecked()
		require.NoError(t, err)
		require.True(t, checked, box)
	}
	// A job is found by its name.
	w.addJob("Nightly load", map[string]any{"scheduleType": "NONE", "executorHandler": "demo.hello"})
	p.doOpen("/alarms/rules/new")
	p.doFill("#name", "The load")
	p.doChoose("#scope", "job")
	require.NoError(t, expect.Locator(p.page.Locator("#executor")).ToBeHidden())
	p.doType("#job", "nightly")
	p.verifyAttribute("#job-list option", "value", "1 · Nightly load")
	p.doFill("#mails", "ops@example.org")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=error-job]", "No job has this name.")
	p.doFill("#job", "Nightly load")
	p.doClick(".form-actions button")
	p.doClick("[data-testid=rule-row] >> nth=1 >> a.name")
	p.verifyValue("#job", "1 · Nightly load")
	p.doClick(".form-actions button")
	p.verifyText("[data-testid=rule-row] >> nth=1", "Nightly load")
	w.until("the disk is an incident", func() bool { return strings.Contains(w.text("/incidents"), "/incidents/1") })
	p.doOpen("/incidents/1")
	p.verifyText("[data-testid=incident-reason]", "% full")
	p.verifyAccessible("the incident of a disk", axe)
}
