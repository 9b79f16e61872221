package model

import (
	"math"
	"slices"
)

const (
	// UsualDays is how many days of the same weekday a day is compared with, UsualLeast on how
	// many of them there must have been fires: what is new has nothing to be compared with.
	UsualDays  = 4
	UsualLeast = 3
	// usualSpread is how many median deviations a figure may be from the median, and oddRuns how
	// many runs, without being unusual.
	usualSpread = 3
	oddRuns     = 3
)

// UsualFigure is what a figure usually is: the median, and how far from it is still usual.
type UsualFigure struct{ Median, Spread float64 }

func usualFigure(values []float64) UsualFigure {
	m := median(values)
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - m)
	}
	return UsualFigure{m, usualSpread * median(off)}
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Beyond reports whether a value is not usual.
func (f UsualFigure) Beyond(value float64) bool { return math.Abs(value-f.Median) > f.Spread }

// Odd reports whether a number of runs is not usual, and differs by some runs at least.
func (f UsualFigure) Odd(n int64) bool {
	return f.Beyond(float64(n)) && math.Abs(float64(n)-f.Median) >= oddRuns
}

// Usual is what a weekday usually is like.
type Usual struct {
	// Days is how many of the days had fires. Known says that these are enough.
	Days int
	// Over: the day that is compared is over; before that, no difference is unusual.
	Over bool

	Expected, Succeeded, Rescued, Failed, Missed, Late UsualFigure

	Lost UsualFigure // fires that failed or were not sent and were not excused
	Rate UsualFigure // percent; of days with some rated fires
	Long UsualFigure // ms: how long the long runs of a day took
}

// Known reports whether there is something to compare with.
func (u *Usual) Known() bool { return u != nil && u.Days >= UsualLeast }

// Odd reports whether a number is unusual for the day.
func (u *Usual) Odd(f UsualFigure, n int64) bool { return u.Known() && u.Over && f.Odd(n) }

// OddRate reports whether a day's success rate is unusual, and not by one or two runs.
func (u *Usual) OddRate(c *Counter) bool {
	return u.Known() && u.Over && c.Rated() > 0 && u.Rate.Beyond(percentOf(c)) && u.Lost.Odd(c.Failed+c.Missed-c.Excused)
}

func percentOf(c *Counter) float64 { return 100 * float64(c.Succeeded) / float64(c.Rated()) }

// UsualOf makes of the counters of some days what is usual, and a counter with the medians
// and with the durations of all these days. Of too few it is empty.
func UsualOf(days []*Counter, over bool) (*Usual, *Counter) {
	days = slices.DeleteFunc(slices.Clone(days), func(c *Counter) bool { return c.Expected <= 0 })
	u, typical := &Usual{Days: len(days), Over: over}, NewCounter(0, "", 0, 0)
	if !u.Known() {
		return u, typical
	}
	figure := func(of func(*Counter) int64) (UsualFigure, int64) {
		var values []float64
		for _, c := range days {
			values = append(values, float64(of(c)))
		}
		f := usualFigure(values)
		return f, int64(math.Round(f.Median))
	}
	u.Expected, typical.Expected = figure(func(c *Counter) int64 { return c.Expected })
	u.Succeeded, typical.Succeeded = figure(func(c *Counter) int64 { return c.Succeeded })
	u.Rescued, typical.Rescued = figure(func(c *Counter) int64 { return c.Rescued })
	u.Failed, typical.Failed = figure(func(c *Counter) int64 { return c.Failed })
	u.Missed, typical.Missed = figure(func(c *Counter) int64 { return c.Missed })
	u.Late, typical.Late = figure(func(c *Counter) int64 { return c.Late })
	u.Lost, _ = figure(func(c *Counter) int64 { return c.Failed + c.Missed - c.Excused })
	_, typical.Excused = figure(func(c *Counter) int64 { return c.Excused })
	lines := map[string]bool{}
	var rates, long []float64
	for _, c := range days {
		typical.TookRuns, typical.TookMS = typical.TookRuns+c.TookRuns, typical.TookMS+c.TookMS
		typical.Took.Add(c.Took)
		for line := range c.Lines {
			lines[line] = true
		}
		if c.Rated() > 0 {
			rates = append(rates, percentOf(c))
		}
		if n := c.Took.Total(); n > 0 {
			long = append(long, float64(c.Took.Quantile(LongPart(n))))
		}
	}
	u.Rate, u.Long = usualFigure(rates), usualFigure(long)
	for line := range lines {
		if _, n := figure(func(c *Counter) int64 { return c.Lines[line] }); n > 0 {
			typical.Lines[line] = n
		}
	}
	return u, typical
}

// LongPart is which part of the durations of so many runs is called the long ones: from 20 on
// p95, else the longest.
func LongPart(n int64) float64 {
	if n < 20 {
		return 1
	}
	return 0.95
}
