package model

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeepDays says for how many days runs are kept. It is written as people write it: nothing
// for the default, 0 for ever.
type KeepDays int

// Values that are no number of days.
const (
	KeepDefault KeepDays = 0 // as all the others
	KeepForever KeepDays = -1
)

// MaxKeepDays bounds what may be asked for: a hundred years.
const MaxKeepDays = 36500

// String is the value as people write it: "", "0" or the days.
func (k KeepDays) String() string {
	switch k {
	case KeepDefault:
		return ""
	case KeepForever:
		return "0"
	}
	return strconv.Itoa(int(k))
}

// ParseKeepDays reads what String writes. ok is false for what is no number; a number may
// be out of range, see Valid.
func ParseKeepDays(text string) (k KeepDays, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return KeepDefault, true
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return keepUnreadable, false
	}
	return KeepDaysOf(n), true
}

// keepUnreadable is refused wherever a number of days is checked.
const keepUnreadable KeepDays = -2

// KeepDaysOf is a number as people write it: 0 = for ever.
func KeepDaysOf(n int) KeepDays {
	switch {
	case n == 0:
		return KeepForever
	case n < 0:
		return keepUnreadable
	}
	return KeepDays(n)
}

// Valid reports whether the value can be meant.
func (k KeepDays) Valid() bool { return k >= KeepForever && k <= MaxKeepDays }

// Or is the value, or another one where it is the default.
func (k KeepDays) Or(other KeepDays) KeepDays {
	if k == KeepDefault {
		return other
	}
	return k
}

// Longer reports whether k keeps for longer than other. Neither is the default.
func (k KeepDays) Longer(other KeepDays) bool {
	return other != KeepForever && (k == KeepForever || k > other)
}

// Cutoff is the instant before which runs go: the midnight so many days before the day of
// now, in the zone of now. It is zero when they stay for ever.
func (k KeepDays) Cutoff(now time.Time) time.Time {
	if k <= 0 {
		return time.Time{}
	}
	return DayStart(now, -int(k))
}

// Keep says for how long runs are kept by what became of them.
type Keep struct {
	Succeeded KeepDays
	Failed    KeepDays // and those that were not sent, and those without a result
}

// Or fills in what is left open.
func (k Keep) Or(other Keep) Keep {
	return Keep{k.Succeeded.Or(other.Succeeded), k.Failed.Or(other.Failed)}
}

// Longest is the longer of both.
func (k Keep) Longest() KeepDays {
	if k.Failed.Longer(k.Succeeded) {
		return k.Failed
	}
	return k.Succeeded
}

// Of is what counts for a class of runs.
func (k Keep) Of(c Class) KeepDays {
	if c == ClassSucceeded {
		return k.Succeeded
	}
	return k.Failed
}

// Retention is for how long runs of every job are kept.
type Retention struct {
	Keep Keep         // of all; no default in it
	Jobs map[int]Keep // of jobs with days of their own
}

// Of is what counts for a job.
func (r Retention) Of(job int) Keep { return r.Jobs[job].Or(r.Keep) }

// Own reports whether a job says itself for how long such runs are kept.
func (r Retention) Own(job int, c Class) bool { return r.Jobs[job].Of(c) != KeepDefault }

// Gone reports whether a run, taken alone, may be removed.
func (r Retention) Gone(run *Run, now time.Time) bool {
	if run.InProgress() || run.TriggerTime.IsZero() {
		return false
	}
	cutoff := r.Of(run.JobID).Of(run.Class()).Cutoff(now)
	return run.TriggerTime.Before(cutoff)
}

// Days lists the different numbers of days, the shortest first, without for ever.
func (r Retention) Days() []KeepDays {
	var out []KeepDays
	add := func(k Keep) { out = append(out, k.Succeeded, k.Failed) }
	add(r.Keep)
	for job := range r.Jobs {
		add(r.Of(job))
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(k KeepDays) bool { return k <= 0 })
}

// Longest is the longest that any run is kept.
func (r Retention) Longest() KeepDays {
	longest := r.Keep.Longest()
	for job := range r.Jobs {
		if k := r.Of(job).Longest(); k.Longer(longest) {
			longest = k
		}
	}
	return longest
}

// RunCursor is a place among runs in the order of their trigger times.
type RunCursor struct {
	At time.Time // zero = before all
	ID int64
}

// Bite is what one step of the retention did.
type Bite struct {
	Looked                    int // runs that were looked at
	Succeeded, Failed, Missed int // removed, by class; those without a result count as failed
	Next                      RunCursor
	End                       bool // nothing is left before the end of the period
}

// Removed is how many runs the step removed.
func (b Bite) Removed() int { return b.Succeeded + b.Failed + b.Missed }

// Times of the retention.
const (
	// RetentionEvery is how often it begins anew.
	RetentionEvery = 10 * time.Minute
	// RetentionOverdue is after how long without an end somebody should look.
	RetentionOverdue = 48 * time.Hour
)

// RetentionState is what was set in the console, and how far the removing is. Instants are
// epoch milliseconds, 0 = never.
type RetentionState struct {
	Own       Keep // as set in the console; the default = as the center was started
	ChangedMS int64
	ChangedBy string

	AskedMS int64 // when somebody asked for a pass
	AskedBy string

	BeganMS    int64 // the last pass
	SeenMS     int64 // its last sign of life
	FinishedMS int64 // when one came to its end, last
	BusyMS     int64 // of the last pass: how long the database was busy with it
	Removed    int64 // of the last pass: runs
	OriginMS   int64 // of a pass that goes on: trigger time of the first run that it saw
	ReachedMS  int64 // of a pass that goes on: trigger time up to which it has come
	TargetMS   int64 // and up to which it goes
	Failed     string

	RemovedUntilMS int64 // the newest trigger time among all runs that were ever removed
}

// Working reports whether a pass goes on.
func (s *RetentionState) Working() bool { return s.BeganMS > s.FinishedMS }

// Due reports whether a pass is to begin, or to go on.
func (s *RetentionState) Due(now time.Time) bool {
	since := now.UnixMilli() - s.BeganMS // less than 0: the clock was set back, or differs
	return s.Working() || max(s.AskedMS, s.ChangedMS) > s.BeganMS || since >= RetentionEvery.Milliseconds() || since < -RetentionEvery.Milliseconds()
}

// NextMS is when the next pass begins, 0 = now.
func (s *RetentionState) NextMS(now time.Time) int64 {
	if s.Due(now) {
		return 0
	}
	return s.BeganMS + RetentionEvery.Milliseconds()
}

// Overdue is for how long no pass has come to its end, 0 = one has within RetentionOverdue,
// or the center has not had the time since its first.
func (s *RetentionState) Overdue(now time.Time) time.Duration {
	since := s.FinishedMS
	if since == 0 {
		since = s.BeganMS
	}
	if late := now.Sub(time.UnixMilli(since)); since > 0 && late >= RetentionOverdue {
		return late
	}
	return 0
}

// RetentionDay is what was removed on one day.
type RetentionDay struct {
	Day                       string // yyyy-mm-dd in the zone of the center
	Succeeded, Failed, Missed int64  // runs
	ByHand                    int64  // runs that people removed
	Incidents, AuditLines     int64
	BusyMS                    int64
	Passes                    int
}

// Runs is how many runs were removed in all.
func (d RetentionDay) Runs() int64 { return d.Succeeded + d.Failed + d.Missed + d.ByHand }
