package upkeep_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/upkeep"
)

// past has old rows.
type past struct {
	runs, lines int
	cutoff      []time.Time
}

func (p *past) take(left *int, cutoff time.Time, limit int) (int, error) {
	p.cutoff = append(p.cutoff, cutoff)
	n := min(*left, limit)
	*left -= n
	return n, nil
}

func (p *past) DeleteRunsBefore(_ context.Context, cutoff time.Time, limit int) (int, error) {
	return p.take(&p.runs, cutoff, limit)
}

func (p *past) DeleteAuditBefore(_ context.Context, cutoff time.Time, limit int) (int, error) {
	return p.take(&p.lines, cutoff, limit)
}

func (p *past) ForgetAddresses(context.Context, int64) error { return nil }

func (p *past) SweepRegistry(context.Context, time.Time, time.Time) (int, error) { return 0, nil }

// TestRetentionOfRunsAndAudit: both go by the same day, in batches, on one node only.
func TestRetentionOfRunsAndAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, leads := &past{runs: 25, lines: 12}, false
		u := &upkeep.Upkeep{Store: p, Leads: func() bool { return leads }, Cfg: config.Config{
			RetentionDays: 30, RetentionBatch: 10, Location: time.UTC, Logger: slog.New(slog.DiscardHandler),
		}}
		now := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
		require.NoError(t, u.Retention(t.Context(), now))
		require.Equal(t, 37, p.runs+p.lines, "another node does it")
		leads = true
		require.NoError(t, u.Retention(t.Context(), now))
		require.Zero(t, p.runs+p.lines)
		for _, c := range p.cutoff {
			require.Equal(t, time.Date(2026, 10, 22, 0, 0, 0, 0, time.UTC), c)
		}
	})
}
