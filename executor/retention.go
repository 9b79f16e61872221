package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// retain clears old logs at once and then daily until ctx ends.
func (e *Executor) retain(ctx context.Context) {
	if e.o.LogRetentionDays < 0 {
		return
	}
	for {
		n, err := clearLogs(e.logDir, e.o.Now(), e.o.LogRetentionDays)
		if err != nil {
			e.log.Warn("old logs were not cleared", "error", err)
		}
		if n > 0 {
			e.log.Info("old logs were cleared", "days", n)
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
