package i18n

import (
	"strconv"
	"strings"
	"time"
)

// Duration gives at most two units, as precise as a person needs: 840 ms,
// 5.2 s, 4 min 12 s, 9 d.
func (l *Localizer) Duration(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	unit := func(key string, n any) string { return l.T("dur."+key, "N", n) }
	two := func(bigKey string, big int64, smallKey string, small int64) string {
		if small == 0 {
			return unit(bigKey, big)
		}
		return unit(bigKey, big) + " " + unit(smallKey, small)
	}
	switch {
	case d < time.Second:
		return unit("ms", d.Milliseconds())
	case d < 9950*time.Millisecond:
		return unit("s", strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0"))
	case d < time.Minute:
		return unit("s", int64(d.Seconds()))
	case d < time.Hour:
		return two("m", int64(d/time.Minute), "s", int64(d%time.Minute/time.Second))
	case d < 24*time.Hour:
		return two("h", int64(d/time.Hour), "m", int64(d%time.Hour/time.Minute))
	case d < 10*24*time.Hour:
		return two("d", int64(d/(24*time.Hour)), "h", int64(d%(24*time.Hour)/time.Hour))
	}
	return unit("d", int64(d/(24*time.Hour)))
}

// Millis is Duration for milliseconds; negative means unknown.
func (l *Localizer) Millis(ms int64) string {
	if ms < 0 {
		return "–"
	}
	return l.Duration(time.Duration(ms) * time.Millisecond)
}

// Age is a duration in whole seconds, for texts such as "12 s ago".
func (l *Localizer) Age(d time.Duration) string {
	if d < time.Second {
		return l.T("dur.s", "N", 0)
	}
	return l.Duration(d.Truncate(time.Second))
}

// Relative says when t is, seen from now: in 42 s, 3 min ago.
func (l *Localizer) Relative(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d >= time.Second:
		return l.T("dur.in", "Duration", l.Duration(d.Truncate(time.Second)))
	case d > -time.Second:
		return l.T("dur.now")
	}
	return l.T("dur.ago", "Duration", l.Duration((-d).Truncate(time.Second)))
}

// Number groups the digits of n.
func (l *Localizer) Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Percent gives part of whole with enough digits to see a rare failure, and
// never rounds an imperfect result up to 100.
func (l *Localizer) Percent(part, whole int) string {
	if whole <= 0 {
		return "–"
	}
	if part >= whole {
		return l.T("num.percent", "N", "100")
	}
	hundredths := int64(part) * 10000 / int64(whole)
	return l.T("num.percent", "N", strconv.FormatFloat(float64(hundredths)/100, 'f', 2, 64))
}

// Formats of points in time. They are ISO like in every language, so columns
// line up and nobody has to guess which number is the month.
const (
	formatDateTime = "2006-01-02 15:04:05"
	formatClock    = "15:04:05"
	formatMillis   = "15:04:05.000"
)

// DateTime gives date and time to the second.
func DateTime(t time.Time) string { return t.Format(formatDateTime) }

// Clock gives the time of day to the second.
func Clock(t time.Time) string { return t.Format(formatClock) }

// ClockMillis gives the time of day to the millisecond.
func ClockMillis(t time.Time) string { return t.Format(formatMillis) }
