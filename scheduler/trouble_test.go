package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestASlowDatabase is one after a minute without a fast answer, and well after a minute
// without a slow one.
func TestASlowDatabase(t *testing.T) {
	var x troubles
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	pass := func(took time.Duration, n int) []model.NodeTrouble {
		for range n {
			now = now.Add(time.Second)
			x.answered(now, took)
		}
		return x.list(0, 0)
	}
	require.Empty(t, pass(time.Second, 59))
	require.Empty(t, pass(time.Millisecond, 1))
	require.Empty(t, pass(time.Second, 60))
	require.Equal(t, []model.NodeTrouble{{Reason: model.AlarmDatabaseSlow, N: 400}}, pass(400*time.Millisecond, 1))
	require.Len(t, pass(time.Millisecond, 59), 1)
	require.Len(t, pass(time.Second, 1), 1)
	require.Len(t, pass(time.Millisecond, 59), 1)
	require.Empty(t, pass(time.Millisecond, 1))
	require.Empty(t, x.list(29*time.Second, 900))
	require.Equal(t, []model.NodeTrouble{{Reason: model.AlarmOverCapacity, N: 900}}, x.list(30*time.Second, 900))
}
