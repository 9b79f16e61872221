package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDays: some clocks skip midnight, others have it twice.
func TestDays(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana")
	require.NoError(t, err)
	const full = "2006-01-02 15:04:05 -0700"
	noon := time.Date(2026, 3, 8, 12, 0, 0, 0, havana)
	require.Equal(t, "2026-03-08 01:00:00 -0400", DayStart(noon, 0).Format(full))
	require.Equal(t, "2026-03-07 00:00:00 -0500", DayStart(noon, -1).Format(full))
	require.Equal(t, "2026-03-08 01:00:00 -0400", DayStart(noon.AddDate(0, 0, 7), -7).Format(full))
	require.Equal(t, "2026-11-01 00:00:00 -0400", DayStart(time.Date(2026, 10, 31, 5, 0, 0, 0, havana), 1).Format(full), "the first of two")
	require.Equal(t, []string{"2026-03-07", "2026-03-08", "2026-03-09"}, []string{Day(noon, -1), Day(noon, 0), Day(noon, 1)})
	require.Equal(t, "2026-03-01", Day(time.Date(2026, 2, 28, 23, 0, 0, 0, havana), 1))
}
