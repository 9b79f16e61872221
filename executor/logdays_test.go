package executor

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

// TestLogDaysOfCenters: what counts of several answers, and of none.
func TestLogDaysOfCenters(t *testing.T) {
	says := func(days ...int) (out []protocol.Reply) {
		for _, n := range days {
			r := protocol.Reply{Code: 200}
			if n >= 0 {
				r.LogDays = &n
			}
			out = append(out, r)
		}
		return out
	}
	for _, c := range []struct{ option, want, a, b int }{
		{0, 7, 7, 7}, {0, 365, 7, 365}, {0, 0, 0, 365}, {0, 0, 7, 0}, {0, 30, -1, -1}, {0, 30, 7, -1}, {9, 9, 7, 365}, {-1, 0, 7, 7},
	} {
		d := newLogDays(c.option)
		d.hear(says(c.a, c.b))
		require.Equal(t, c.want, d.days(), "%+v", c)
		<-d.known
	}
	d := newLogDays(0)
	d.hear(says(365))
	d.hear(says(3))
	require.Equal(t, 3, d.days(), "the newest answer counts")
}

// TestLogsFollowTheCenter: nothing is removed before a center was heard, then what is older
// than it keeps runs.
func TestLogsFollowTheCenter(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)
	var days []string
	for _, ago := range []int{1, 6, 8, 40} {
		day := now.AddDate(0, 0, -ago).Format(time.DateOnly)
		days = append(days, day)
		require.NoError(t, os.Mkdir(filepath.Join(dir, day), 0o755))
	}
	e := &Executor{o: Options{Now: func() time.Time { return now }}, log: slog.New(slog.DiscardHandler), logDir: dir, days: newLogDays(0)}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { e.retain(ctx); close(done) }()
	names := func() (out []string) {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, d := range list {
			out = append(out, d.Name())
		}
		return out
	}
	require.Len(t, names(), 4)
	seven := 7
	e.days.hear([]protocol.Reply{{Code: 200, LogDays: &seven}})
	require.Eventually(t, func() bool { return len(names()) == 2 }, 5*time.Second, time.Millisecond)
	require.Equal(t, []string{days[1], days[0]}, names())
	stop()
	<-done
}
