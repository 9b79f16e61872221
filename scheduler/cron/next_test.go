package cron

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func mustParse(t testing.TB, expr string) Schedule {
	t.Helper()
	s, err := Parse(expr)
	require.NoError(t, err)
	return s
}

// Every second of a window is asked of the oracle, and Next must stop at
// exactly those it names.
func TestNextAgainstSeconds(t *testing.T) {
	const window = 2 * time.Hour
	r := newRandom(1)
	fired := 0
	for range 150 {
		m := r.expression()
		s := mustParse(t, m.text)
		start := time.Date(2024+r.IntN(5), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9), time.UTC)
		end := start.Add(window)
		next := s.Next(start)
		for at := start.Truncate(time.Second).Add(time.Second); at.Before(end); at = at.Add(time.Second) {
			if m.match(at) {
				require.Equal(t, at, next, "%s from %s", m.text, start)
				next = s.Next(next)
				fired++
			}
		}
		require.True(t, next.IsZero() || !next.Before(end), "%s from %s: %s", m.text, start, next)
	}
	require.Greater(t, fired, 100)
}

// The same for the days, over three years.
func TestNextAgainstDays(t *testing.T) {
	r := newRandom(2)
	for range 150 {
		m := r.expression()
		m.fields[0], m.fields[1], m.fields[2] = map[int]bool{0: true}, map[int]bool{0: true}, map[int]bool{0: true}
		s := mustParse(t, "0 0 0 "+strings.Join(strings.Fields(m.text)[3:], " "))
		start := time.Date(2023+r.IntN(3), 1, 1, 12, 0, 0, 0, time.UTC)
		end := start.AddDate(3, 0, 0)
		next := s.Next(start)
		for at := start.Add(12 * time.Hour); at.Before(end); at = at.AddDate(0, 0, 1) {
			if m.match(at) {
				require.Equal(t, at, next, "%s from %s", m.text, start)
				next = s.Next(next)
			}
		}
		require.True(t, next.IsZero() || !next.Before(end), "%s from %s: %s", m.text, start, next)
	}
}

func TestNextDaylightSaving(t *testing.T) {
	tests := []struct{ name, expr, start, want string }{
		{"gap is skipped that day", "0 30 2 * * ?", "2026-03-07T12:00:00-05:00", "2026-03-09T02:30:00-04:00"},
		{"gap does not stop the rest", "0 0/30 * * * ?", "2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00"},
		{"every second jumps over the gap", "* * * * * ?", "2026-03-08T01:59:59-05:00", "2026-03-08T03:00:00-04:00"},
		{"overlap fires on the second pass", "0 30 1 * * ?", "2026-10-31T12:00:00-04:00", "2026-11-01T01:30:00-05:00"},
		{"and only there", "0 30 1 * * ?", "2026-11-01T01:30:00-05:00", "2026-11-02T01:30:00-05:00"},
		{"start in the first pass", "0 0/30 * * * ?", "2026-11-01T01:10:00-04:00", "2026-11-01T01:30:00-05:00"},
		{"last second of the first pass", "* * * * * ?", "2026-11-01T01:59:59-04:00", "2026-11-01T01:00:00-05:00"},
		{"hole of an hour", "0 0 * * * ?", "2026-11-01T00:00:00-04:00", "2026-11-01T01:00:00-05:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start, err := time.Parse(time.RFC3339, tt.start)
			require.NoError(t, err)
			got := mustParse(t, "CRON_TZ=America/New_York "+tt.expr).Next(start)
			require.Equal(t, tt.want, got.Format(time.RFC3339))
			require.Equal(t, "America/New_York", got.Location().String())
		})
	}
}

// Samoa had no 30 December 2011.
func TestNextSkipsMissingDay(t *testing.T) {
	s := mustParse(t, "CRON_TZ=Pacific/Apia 0 0 12 * * ?")
	got := s.Next(time.Date(2011, 12, 29, 23, 0, 0, 0, time.UTC))
	require.Equal(t, "2011-12-31T12:00:00+14:00", got.Format(time.RFC3339))
}

func TestNextDropsFractions(t *testing.T) {
	start := time.Date(2026, 1, 1, 10, 0, 0, 500e6, time.UTC)
	require.Equal(t, time.Date(2026, 1, 1, 10, 0, 1, 0, time.UTC), mustParse(t, "* * * * * ?").Next(start))
}

func TestNextHorizon(t *testing.T) {
	s := mustParse(t, "0 0 0 1 1 ? 2126")
	require.Equal(t, 2126, s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Year())
	require.Zero(t, s.Next(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)))
}

// Neither an impossible date nor a day that always falls into the gap may keep
// the caller waiting.
func TestNextGivesUpQuickly(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, expr := range []string{
		"* * * 30 2 ?",
		"* * * L-30 2,4,6,9,11 ?",
		"CRON_TZ=America/New_York * * 2 ? 3 1#2",
	} {
		s := mustParse(t, expr)
		began := time.Now()
		require.Zero(t, s.Next(start), expr)
		// A search second by second takes minutes; the rest is the race detector.
		require.Less(t, time.Since(began), 250*time.Millisecond, expr)
	}
}

func BenchmarkNext(b *testing.B) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(b, err)
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(b, err)
	for _, bm := range []struct {
		name, expr string
		zone       *time.Location
	}{
		{"every5s", "*/5 * * * * ?", time.UTC},
		{"every5s/shanghai", "*/5 * * * * ?", shanghai},
		{"workday/newyork", "0 30 9 ? * MON-FRI", newYork},
		{"lastday/newyork", "0 0 6 LW * ?", newYork},
		{"leapday", "0 0 0 29 2 ?", time.UTC},
		{"impossible", "0 0 0 30 2 ?", shanghai},
		{"alwaysgap", "* * 2 ? 3 1#2", newYork},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := mustParse(b, bm.expr)
			start := time.Date(2026, 7, 1, 10, 0, 0, 0, bm.zone)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(start)
			}
		})
	}
}
