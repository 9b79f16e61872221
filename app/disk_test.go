package app

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestADiskThatFills is told from the line on until it is two percent below it, and looked at
// every 30 s only.
func TestADiskThatFills(t *testing.T) {
	percent, looked := 89, 0
	d := &disks{paths: []string{"/data"}, limit: 90, used: func(string) (int, bool) { looked++; return percent, percent >= 0 }}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	look := func(p int) []model.NodeTrouble {
		percent, now = p, now.Add(diskEvery)
		return d.troubles(now)
	}
	require.Empty(t, look(89))
	require.Equal(t, []model.NodeTrouble{{Reason: model.AlarmDiskFull, N: 91, What: "/data"}}, look(91))
	require.Len(t, look(88), 1)
	require.Empty(t, look(87))
	require.Empty(t, look(89))
	require.Empty(t, look(-1), "nobody can tell")
	require.Len(t, look(100), 1)
	before := looked
	require.Len(t, d.troubles(now.Add(diskEvery-time.Second)), 1)
	require.Equal(t, before, looked)
	require.Empty(t, (&disks{paths: []string{"/"}, used: d.used}).troubles(now), "switched off")
}

func TestDiskPaths(t *testing.T) {
	require.Equal(t, []string{"/var/lib/carillon"}, diskPaths("sqlite:/var/lib/carillon/data.db?x=1"))
	require.Len(t, diskPaths("sqlite:carillon.db"), 1)
	require.Empty(t, diskPaths("mysql://u:p@h/db"))
	if runtime.GOOS == "linux" {
		percent, ok := diskUsed(t.TempDir())
		require.True(t, ok)
		require.Positive(t, percent)
		require.LessOrEqual(t, percent, 100)
	}
	_, ok := diskUsed("/no/such/folder")
	require.False(t, ok)
}
