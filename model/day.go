package model

import "time"

// DayStart is the first moment of the day that is so many days after that of t, in the
// zone of t. It is midnight, but for zones whose clocks skip it to begin summer time.
func DayStart(t time.Time, days int) time.Time {
	y, m, d := t.Date()
	want := time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC) // any calendar
	at := time.Date(y, m, d+days, 0, 0, 0, 0, t.Location())
	if at.Day() != want.Day() { // the last hour of the day before
		_, at = at.ZoneBounds()
	}
	return at
}

// Day names the day so many days after that of t, as the reports have it: yyyy-mm-dd.
func Day(t time.Time, days int) string {
	y, m, d := t.Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// DayRange is some days one after the other, named as Day does; zero = the usual ones.
type DayRange struct{ First, Last string }
