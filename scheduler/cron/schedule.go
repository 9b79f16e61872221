package cron

import (
	"time"

	robfig "github.com/robfig/cron/v3"
)

// Schedule tells when something is due next. Implementations of this package
// are immutable and safe for concurrent use.
type Schedule interface {
	// Next returns the first instant strictly later than t, in whole seconds,
	// or the zero time when there is none.
	Next(t time.Time) time.Time
}

// Anything that runs robfig schedules can run ours.
var _ robfig.Schedule = Schedule(nil)

// horizon is how many years ahead Next looks before it answers "never".
const horizon = 100

// expression is a parsed cron expression. Sets are bit masks: bit v of a field
// stands for the value v.
type expression struct {
	text                        string
	zone                        *time.Location // nil: that of the given time
	never                       bool           // a stored row that cannot fire, see ParseLenient
	second, minute, hour, month uint64
	days                        days
	years                       []span // nil: every year
}

// String returns the expression as it was given.
func (e *expression) String() string { return e.text }

func (e *expression) inYear(year int) bool {
	if e.years == nil {
		return true
	}
	for _, s := range e.years {
		if s.from <= year && year <= s.to && (year-s.from)%s.step == 0 {
			return true
		}
	}
	return false
}
