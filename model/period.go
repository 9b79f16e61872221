package model

import "time"

// Unit is a stretch of the calendar that counters are kept for.
type Unit int

// Units.
const (
	UnitDay   Unit = 1
	UnitWeek  Unit = 2 // from Monday on
	UnitMonth Unit = 3
)

// Date is a day of the calendar: midnight in UTC, whatever zone it is meant in.
func Date(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Start is the first day of the unit that a day is in.
func (u Unit) Start(day time.Time) time.Time {
	day = Date(day)
	switch u {
	case UnitWeek:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case UnitMonth:
		return day.AddDate(0, 0, 1-day.Day())
	}
	return day
}

// Next is the first day of the unit n units later.
func (u Unit) Next(start time.Time, n int) time.Time {
	switch u {
	case UnitWeek:
		return start.AddDate(0, 0, 7*n)
	case UnitMonth:
		return start.AddDate(0, n, 0)
	}
	return start.AddDate(0, 0, n)
}
