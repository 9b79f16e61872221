package app

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	diskEvery = 30 * time.Second
	diskSlack = 2 // percent below the line at which a full disk counts as well again
)

// disks watches the file systems that this node writes to.
type disks struct {
	paths []string
	limit int // percent; 0 = they are not watched
	used  func(path string) (percent int, ok bool)

	mu     sync.Mutex
	at     time.Time
	full   map[string]bool
	latest []model.NodeTrouble
}

// diskPaths are the folders of this node's files: of a database that is a file.
func diskPaths(database string) []string {
	path, is := strings.CutPrefix(database, "sqlite:")
	if !is {
		return nil
	}
	path, _, _ = strings.Cut(path, "?")
	full, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	return []string{filepath.Dir(full)}
}

// troubles names the disks that are nearly full; they are looked at every 30 s.
func (d *disks) troubles(now time.Time) []model.NodeTrouble {
	if d.limit <= 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && now.Sub(d.at) < diskEvery {
		return d.latest
	}
	d.at, d.latest = now, nil
	full := map[string]bool{}
	for _, path := range d.paths {
		percent, ok := d.used(path)
		if !ok {
			continue
		}
		if percent >= d.limit || d.full[path] && percent >= d.limit-diskSlack {
			full[path] = true
			d.latest = append(d.latest, model.NodeTrouble{Reason: model.AlarmDiskFull, N: int64(percent), What: path})
		}
	}
	d.full = full
	return d.latest
}
