package upkeep_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/scheduler/upkeep"
)

// past has old rows.
type past struct {
	upkeep.RetentionStore // of another test

	written, open []int // jobs of all runs in order, and of those without an outcome
	jobs          int   // their ids are 1 to this
	counted       [][]int
}

func (p *past) JobsOfNewRuns(_ context.Context, after int64, _ int) (jobs []int, newest int64, err error) {
	for i := int(after); i < len(p.written); i++ {
		jobs = append(jobs, p.written[i])
	}
	return jobs, int64(len(p.written)), nil
}
func (p *past) JobsOfOpenRuns(context.Context, int) ([]int, error) { return p.open, nil }
func (p *past) JobsAfter(_ context.Context, id, limit int) ([]int, error) {
	var out []int
	for i := id + 1; i <= p.jobs && len(out) < limit; i++ {
		out = append(out, i)
	}
	return out, nil
}
func (p *past) CountJobStats(_ context.Context, jobs []int, _ time.Time) error {
	p.counted = append(p.counted, jobs)
	return nil
}
func (p *past) SweepRegistry(context.Context, time.Time, time.Time) (int, error) { return 0, nil }

// TestFigures: jobs are counted when they have new runs, until these have ended, and all of
// them in turn; what is too much for one pass waits for the next.
func TestFigures(t *testing.T) {
	p := &past{jobs: 2000, written: []int{1500, 1501, 1500}, open: []int{1501}}
	u := &upkeep.Upkeep{Store: p, Leads: func() bool { return true }}
	pass := func() []int {
		require.NoError(t, u.Figures(t.Context(), time.Time{}))
		return p.counted[len(p.counted)-1]
	}
	first := pass()
	require.Equal(t, []int{1, 100, 1500, 1501}, []int{first[0], first[99], first[100], first[101]})
	p.open = nil
	second := pass()
	require.Equal(t, 101, second[0], "in turn")
	require.Equal(t, 1501, second[len(second)-1], "its run was open")
	require.NotContains(t, pass(), 1501)
	for i := range 1500 {
		p.written = append(p.written, i+501)
	}
	require.Len(t, pass(), 1100, "100 in turn, 1000 with new runs")
	rest := pass()
	require.Equal(t, 2000, rest[len(rest)-1], "the others")
	for range 17 {
		rest = pass()
	}
	require.Equal(t, 1, rest[0], "the turn begins again")
}
