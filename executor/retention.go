package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// logDaysUnsaid is for how long logs are kept when no center says how long it keeps runs.
const logDaysUnsaid = 30

// logDays is for how long logs are kept.
type logDays struct {
	mu     sync.Mutex
	keep   int // 0 = for ever
	follow bool
	known  chan struct{} // closed when keep is known
}

func newLogDays(option int) *logDays {
	d := &logDays{keep: max(0, option), follow: option == 0, known: make(chan struct{})}
	if !d.follow {
		close(d.known)
	}
	return d
}

// hear takes what centers answered to a registration: of several the longest counts.
func (d *logDays) hear(said []protocol.Reply) {
	if !d.follow {
		return
	}
	keep := 0
	for i, r := range said {
		days := logDaysUnsaid
		if r.LogDays != nil && *r.LogDays >= 0 {
			days = *r.LogDays
		}
		if i == 0 || days == 0 || keep != 0 && days > keep {
			keep = days
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keep = keep
	select {
	case <-d.known:
	default:
		close(d.known)
	}
}

// days is the number of days, 0 = for ever.
func (d *logDays) days() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keep
}

// retain clears old logs at once and then daily until ctx ends. Before a center has said
// for how long it keeps runs, it does nothing.
func (e *Executor) retain(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-e.days.known:
	}
	for {
		if keep := e.days.days(); keep > 0 {
			n, err := clearLogs(e.logDir, e.o.Now(), keep)
			if err != nil {
				e.log.Warn("old logs were not cleared", "error", err)
			}
			if n > 0 {
				e.log.Info("old logs were cleared", "days", n, "kept_for_days", keep)
			}
		}
		if !pause(ctx, 24*time.Hour) {
			return
		}
	}
}

// clearLogs removes the folders of days that are more than keep days before
// now and gives their number.
func clearLogs(dir string, now time.Time, keep int) (int, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	oldest := now.Local().AddDate(0, 0, -keep).Format(time.DateOnly)
	var n int
	var errs []error
	for _, d := range list {
		day := d.Name()
		if _, err := time.Parse(time.DateOnly, day); err != nil || !d.IsDir() || day >= oldest {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, day)); err != nil {
			errs = append(errs, err)
			continue
		}
		n++
	}
	return n, errors.Join(errs...)
}

// pause waits and reports whether it was to the end.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
