package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestRetentionJourney: an administrator shortens the days, is asked, sees old runs go while
// the page is open, and gives one job days of its own.
func TestRetentionJourney(t *testing.T) {
	t.Parallel()
	w, _ := seededWorld(t)
	p := w.someone()
	p.expectProblem("422")
	p.doOpen("/system")
	p.doClick("[data-testid=system-database] a")
	p.verifyAt("/retention")
	p.verifyAccessible("the retention", readAxe(t))
	p.verifyVisible("[data-testid=retention-now] .dot")
	p.doFill("#keep_days", "soon")
	p.doClick("[data-testid=retention-form] button[type=submit]")
	p.verifyVisible("[data-testid=error-keep_days]")
	p.doFill("#keep_days", "2")
	p.doFill("#keep_failed_days", "90")
	p.doClick("[data-testid=retention-form] button[type=submit]")
	p.verifyVisible("[data-testid=retention-ask]")
	p.doClick("[data-testid=retention-sure]")
	p.verifyText("[data-testid=retention-changed]", "admin")
	// The page is live: the day's line appears without a click.
	p.verifyVisible("#removed-" + model.Day(time.Now(), 0))
	p.verifyVisible("[data-testid=retention-now] .dot.ok")

	p.doClick("[data-testid=retention-run]")
	p.verifyAccessible("the question", readAxe(t))
	p.doClick("#dialog button[type=submit]")
	p.verifyText("[data-testid=toast]", "begins within some seconds")

	p.doOpen("/jobs/1/edit")
	p.doClick("[data-testid=fold-keep] summary")
	p.doFill("#keep_days", "-1")
	p.doClick("[data-testid=job-form] button[type=submit]")
	p.verifyVisible("[data-testid=error-keep_days]")
	p.doFill("#keep_days", "365")
	p.doFill("#keep_failed_days", "0")
	p.verifyText("[data-testid=line-keep]", "succeeded: 365 d · failed: for ever")
	p.doClick("[data-testid=job-form] button[type=submit]")
	p.doOpen("/retention")
	p.verifyCount("[data-testid=keeping-job]", 1)
	p.verifyText("[data-testid=keeping-job]", "365")
	p.doOpen("/audit?action=retention.edit")
	p.verifyText("[data-testid=audit-row]", "90")
	require.Contains(t, w.text("/metrics"), `carillon_retention_removed_total{kind="succeeded"}`)
}
