package model

import "time"

// ClearScope is which ended runs are removed. Zero values leave a limit out.
type ClearScope struct {
	Groups   []int // when not nil: only runs of these groups (permission)
	GroupID  int
	JobID    int
	Before   time.Time // trigger time
	BeforeID int64
}

// ClearKind is what of the history goes, by the numbers of the known console.
type ClearKind int

// Kinds of clearing (reference: console.md 8.4).
const (
	ClearMonth    ClearKind = 1 + iota // older than a month
	ClearQuarter                       // than three
	ClearHalf                          // than six
	ClearYear                          // than a year
	ClearKeep1k                        // all but the newest 1000
	ClearKeep10k                       // 10 000
	ClearKeep30k                       // 30 000
	ClearKeep100k                      // 100 000
	ClearAll
)

// Since is the time before which runs go, zero when the kind is not about time.
func (k ClearKind) Since(now time.Time) time.Time {
	months := map[ClearKind]int{ClearMonth: 1, ClearQuarter: 3, ClearHalf: 6, ClearYear: 12}[k]
	if months == 0 {
		return time.Time{}
	}
	return now.AddDate(0, -months, 0)
}

// Keep is how many of the newest stay, 0 when the kind is not about numbers.
func (k ClearKind) Keep() int {
	return map[ClearKind]int{ClearKeep1k: 1000, ClearKeep10k: 10_000, ClearKeep30k: 30_000, ClearKeep100k: 100_000}[k]
}

// Valid reports whether there is such a kind.
func (k ClearKind) Valid() bool { return k >= ClearMonth && k <= ClearAll }
