package report

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Kind is how long a report looks back.
type Kind string

// Kinds of periods.
const (
	Day   Kind = "day"
	Week  Kind = "week"
	Month Kind = "month"
	Range Kind = "range"
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Day, Week, Month, Range} }

// longest is how many days a report has at most: counters of two years are looked through.
const longest = 731

// Period is some days of the calendar in the center's zone, First and Last inclusive.
type Period struct {
	Kind        Kind
	First, Last time.Time // as model.Date gives days
}

// NewPeriod reads a period from what an address says: the kind, and a day in it, or the
// first and the last one of a range. What makes no sense becomes what is nearest: the day
// before today, today's week and month. Nothing is in the future, or longer than two years.
func NewPeriod(kind Kind, day, from, to string, today time.Time) Period {
	today = model.Date(today)
	in, err := time.Parse(time.DateOnly, day)
	if err != nil || in.Year() < 1970 {
		if in = today; kind == Day || kind == "" {
			in = today.AddDate(0, 0, -1)
		}
	}
	if in.After(today) {
		in = today
	}
	switch kind {
	case Week:
		return unitPeriod(Week, model.UnitWeek, in)
	case Month:
		return unitPeriod(Month, model.UnitMonth, in)
	case Range:
		first, err := time.Parse(time.DateOnly, from)
		last, err2 := time.Parse(time.DateOnly, to)
		if err2 != nil || last.After(today) {
			last = today
		}
		if err != nil || first.After(last) {
			first = last.AddDate(0, 0, -29)
		}
		if last.Sub(first) >= longest*24*time.Hour {
			first = last.AddDate(0, 0, 1-longest)
		}
		return Period{Range, first, last}
	}
	return Period{Day, in, in}
}

func unitPeriod(kind Kind, u model.Unit, in time.Time) Period {
	first := u.Start(in)
	return Period{kind, first, u.Next(first, 1).AddDate(0, 0, -1)}
}

// Until is the period without the days that are still to come.
func (p Period) Until(today time.Time) Period {
	if today = model.Date(today); p.Last.After(today) && !p.First.After(today) {
		p.Last = today
	}
	return p
}

// Days is how many days the period has.
func (p Period) Days() int { return int(p.Last.Sub(p.First)/(24*time.Hour)) + 1 }

// Step is the period n periods later.
func (p Period) Step(n int) Period {
	switch p.Kind {
	case Week:
		return unitPeriod(Week, model.UnitWeek, p.First.AddDate(0, 0, 7*n))
	case Month:
		return unitPeriod(Month, model.UnitMonth, p.First.AddDate(0, n, 0))
	}
	d := n * p.Days()
	return Period{p.Kind, p.First.AddDate(0, 0, d), p.Last.AddDate(0, 0, d)}
}

// Before is the period before this one; of a day the same day of the week before.
func (p Period) Before() Period {
	if p.Kind == Day {
		return p.Step(-7)
	}
	return p.Step(-1)
}

// UsualDays are the days with which a day is compared: the same day of the last weeks.
func (p Period) UsualDays() []model.Span {
	var out []model.Span
	for n := range model.UsualDays {
		day := p.First.AddDate(0, 0, -7*(n+1)).Format(time.DateOnly)
		out = append(out, model.Span{Unit: model.UnitDay, First: day, Last: day})
	}
	return out
}

// Trend is the unit and the stretch that the line of the report shows: a month of days
// around a day or a week, else the days, weeks or months of the period itself.
func (p Period) Trend() (u model.Unit, first, last time.Time) {
	switch {
	case p.Kind == Day || p.Kind == Week || p.Days() < 28:
		return model.UnitDay, p.Last.AddDate(0, 0, -29), p.Last
	case p.Days() <= 92:
		return model.UnitDay, p.First, p.Last
	case p.Days() <= 400:
		return model.UnitWeek, model.UnitWeek.Start(p.First), model.UnitWeek.Start(p.Last)
	}
	return model.UnitMonth, model.UnitMonth.Start(p.First), model.UnitMonth.Start(p.Last)
}

// Heat is the stretch whose hours are shown: four weeks at least, so that each hour of the
// week was there some times.
func (p Period) Heat() (first, last time.Time) {
	if p.Days() >= 28 {
		return p.First, p.Last
	}
	last = model.UnitWeek.Start(p.Last).AddDate(0, 0, 6)
	return last.AddDate(0, 0, -27), last
}

// Spans are the counters of the period.
func (p Period) Spans() []model.Span { return model.Spans(p.First, p.Last) }
