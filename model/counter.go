package model

import "time"

// Counter is what became of the fires of one job, or of all jobs of an executor, on one
// day, in one week or month. Fires belong to the day of their planned instant in the
// center's zone.
type Counter struct {
	Unit           Unit
	Start          string // the first day, 2006-01-02
	JobID, GroupID int    // JobID 0: all jobs of the executor

	Expected  int64
	Succeeded int64
	Rescued   int64 // succeeded, but not at the first attempt
	Failed    int64
	Missed    int64 // were not sent
	Excused   int64 // of these two: because a person or the job's own rule wanted so
	Late      int64 // were sent more than LateAfter after their instant
	TookRuns  int64 // good runs whose duration is known
	TookMS    int64 // how long these took together

	Lines map[string]int64 // fires that failed or were not sent, by reason
	Hours Hours
	Took  Took
}

// Open is how many fires have no outcome yet.
func (c *Counter) Open() int64 { return c.Expected - c.Succeeded - c.Failed - c.Missed }

// Excused reports whether a fire that ends so was wanted so: by a person, or by the job's
// own rule about runs that overlap. Such a fire is no failure of anybody.
func Excused(line string) bool {
	switch line {
	case ReasonPaused, ReasonCancelled, ReasonTakenBack, ReasonKilled, ReasonCovered, ReasonDiscarded, ReasonOverlap:
		return true
	}
	return false
}

// Rated is how many fires count for the success rate: those that have an outcome and were
// not excused.
func (c *Counter) Rated() int64 { return c.Expected - c.Open() - c.Excused }

// Count adds fires of a key; place is the hour of the week.
func (c *Counter) Count(k CountKey, v CountValue, place int) {
	var cell HourCell
	switch {
	case k.Line == LedgerExpected:
		c.Expected += v.N
		cell.Expected = v.N
	case k.Line == OutcomeSucceeded:
		c.Succeeded += v.N
		if k.Rescued {
			c.Rescued += v.N
		}
		if k.Took >= 0 {
			c.TookRuns, c.TookMS = c.TookRuns+v.N, c.TookMS+v.TookMS
			c.Took.Add(Took{k.Took: v.N})
		}
	default:
		if info, known := ReasonOf(k.Line); known && info.Class == ClassNotSent {
			c.Missed += v.N
			cell.Missed = v.N
		} else {
			c.Failed += v.N
			cell.Failed = v.N
		}
		if Excused(k.Line) {
			c.Excused += v.N
		}
		if c.Lines[k.Line] += v.N; c.Lines[k.Line] == 0 {
			delete(c.Lines, k.Line)
		}
	}
	if k.Late {
		c.Late += v.N
	}
	if cell != (HourCell{}) {
		c.Hours.Add(Hours{place: cell})
	}
}

// NewCounter gives an empty counter.
func NewCounter(u Unit, start string, job, group int) *Counter {
	return &Counter{Unit: u, Start: start, JobID: job, GroupID: group, Lines: map[string]int64{}, Hours: Hours{}, Took: Took{}}
}

// Add adds what another has counted.
func (c *Counter) Add(o *Counter) {
	c.Expected, c.Succeeded, c.Rescued = c.Expected+o.Expected, c.Succeeded+o.Succeeded, c.Rescued+o.Rescued
	c.Failed, c.Missed, c.Excused, c.Late = c.Failed+o.Failed, c.Missed+o.Missed, c.Excused+o.Excused, c.Late+o.Late
	c.TookRuns, c.TookMS = c.TookRuns+o.TookRuns, c.TookMS+o.TookMS
	for line, n := range o.Lines {
		if c.Lines[line] += n; c.Lines[line] == 0 {
			delete(c.Lines, line)
		}
	}
	c.Hours.Add(o.Hours)
	c.Took.Add(o.Took)
}

// CounterSum adds up many counters as they are stored. It makes no maps of each: these
// would cost more than reading it.
type CounterSum struct {
	sum   Counter
	hours [7 * 24]HourCell
}

// Add adds a counter, with its hours and durations as Encode of Hours and Took wrote them.
func (s *CounterSum) Add(c *Counter, hours, took []byte) error {
	if s.sum.Took == nil {
		s.sum = *NewCounter(0, "", 0, 0)
	}
	s.sum.Add(c)
	r := numbers{in: hours}
	for len(r.in) > 0 {
		i, n := r.signed(), HourCell{r.signed(), r.signed(), r.signed()}
		if i < 0 || i >= int64(len(s.hours)) {
			return ErrBadCount
		}
		x := &s.hours[i]
		x.Expected, x.Failed, x.Missed = x.Expected+n.Expected, x.Failed+n.Failed, x.Missed+n.Missed
	}
	r.in = took
	for b := 0; len(r.in) > 0; {
		b += int(r.signed())
		s.sum.Took[b] += r.signed()
	}
	if r.bad {
		return ErrBadCount
	}
	return nil
}

// Counter is the sum.
func (s *CounterSum) Counter() *Counter {
	out := NewCounter(0, "", 0, 0)
	out.Add(&s.sum)
	for i, x := range s.hours {
		if x != (HourCell{}) {
			out.Hours[i] = x
		}
	}
	return out
}

// Minus is what takes the counter back when it is added.
func (c *Counter) Minus() *Counter {
	out := NewCounter(c.Unit, c.Start, c.JobID, c.GroupID)
	out.Expected, out.Succeeded, out.Rescued, out.Failed, out.Missed = -c.Expected, -c.Succeeded, -c.Rescued, -c.Failed, -c.Missed
	out.Excused = -c.Excused
	out.Late, out.TookRuns, out.TookMS = -c.Late, -c.TookRuns, -c.TookMS
	for line, n := range c.Lines {
		out.Lines[line] = -n
	}
	for i, h := range c.Hours {
		out.Hours[i] = HourCell{-h.Expected, -h.Failed, -h.Missed}
	}
	for b, n := range c.Took {
		out.Took[b] = -n
	}
	return out
}

// Zero reports whether nothing is counted.
func (c *Counter) Zero() bool {
	return c.Expected == 0 && c.Succeeded == 0 && c.Failed == 0 && c.Missed == 0 && c.Excused == 0 && c.Late == 0 && c.Rescued == 0 && c.TookRuns == 0 && c.TookMS == 0 && len(c.Lines) == 0 && len(c.Hours) == 0 && len(c.Took) == 0
}

// Span are whole units of the calendar, from the first day of one to that of another.
type Span struct {
	Unit        Unit
	First, Last string // the first days of the first and of the last unit, 2006-01-02
}

// Spans takes the days from first to last (inclusive) apart into few units: whole months,
// what is left into weeks, and then into days.
func Spans(first, last time.Time) []Span {
	var out []Span
	first, last = Date(first), Date(last)
	for at := first; !at.After(last); {
		unit := UnitDay
		for _, u := range []Unit{UnitMonth, UnitWeek} {
			if u.Start(at).Equal(at) && !u.Next(at, 1).AddDate(0, 0, -1).After(last) {
				unit = u
				break
			}
		}
		day := at.Format(time.DateOnly)
		if n := len(out); n > 0 && out[n-1].Unit == unit {
			out[n-1].Last = day
		} else {
			out = append(out, Span{unit, day, day})
		}
		at = unit.Next(at, 1)
	}
	return out
}

// CounterFilter says whose fires are summed up. Zero values mean "all".
type CounterFilter struct {
	Groups     []int // when not nil: only those of these executors (permission)
	GroupID    int
	JobIDs     []int // when not nil: only these jobs
	Owner, Tag string
}

// All reports whether it is about all jobs of executors, so that their sums do.
func (f CounterFilter) All() bool { return f.JobIDs == nil && f.Owner == "" && f.Tag == "" }

// CountState is how far the counters have come.
type CountState struct {
	FoldedMS int64 // when what had happened was added last, epoch ms
	Waiting  int   // rows of the journal that are not
	// CountedFrom is the first day that was counted, 2006-01-02; "" = what happened before
	// the counters existed is still being counted.
	CountedFrom string
	Checked     string // the last day that was counted anew when it was over
}

// IncidentFigures are the incidents of a period in numbers.
type IncidentFigures struct {
	Opened int // within the period
	Open   int // of these still
	// RecoveryMS is how long those that ended took on average, ms; -1 = none has ended.
	RecoveryMS int64
}
