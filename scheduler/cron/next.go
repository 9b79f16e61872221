package cron

import (
	"math/bits"
	"time"
)

const daySeconds = 24 * 60 * 60

// Next returns the first instant later than t at which the expression matches.
// The result is in the zone of the expression, else in that of t.
func (e *expression) Next(t time.Time) time.Time {
	if e.never {
		return time.Time{}
	}
	zone := e.zone
	if zone == nil {
		zone = t.Location()
	}
	limit := t.In(zone).Year() + horizon
	// Fractions are dropped after the second is added: 10:00:00.5 may be
	// followed by 10:00:01.
	start := t.Unix() + 1
	wall := start + offsetAt(start, zone)
	for {
		var ok bool
		if wall, ok = e.nextWall(wall, limit); !ok {
			return time.Time{}
		}
		at, resume, ok := instant(wall, zone)
		if ok && at >= start {
			return time.Unix(at, 0).In(zone)
		}
		wall = resume
	}
}

// nextWall returns the first matching wall time not before wall. Wall times are
// counted in seconds as if the zone were UTC, which keeps them free of jumps.
func (e *expression) nextWall(wall int64, limit int) (int64, bool) {
	c := time.Unix(wall, 0).UTC()
	year, month, day := c.Date()
	clock, ok := e.nextClock(c.Clock())
	if !ok {
		day++
	}
	today := ok
	for ; year <= limit; year++ {
		if e.inYear(year) {
			for m := next(e.month, int(month)); m <= 12; m = next(e.month, m+1) {
				if m != int(month) {
					day, today = 1, false
				}
				d := next(e.days.in(year, time.Month(m)), day)
				if d <= 31 {
					if !today || d != day {
						clock = e.firstClock()
					}
					return time.Date(year, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() + clock, true
				}
			}
		}
		// Month 0 never matches, so every later month starts at its first day.
		month, day, today = 0, 1, false
	}
	return 0, false
}

// nextClock returns the first matching time of day not before h:m:s, in seconds
// since midnight.
func (e *expression) nextClock(h, m, s int) (int64, bool) {
	if has(e.hour, h) {
		if has(e.minute, m) {
			if n := next(e.second, s); n < 60 {
				return clockSeconds(h, m, n), true
			}
		}
		if n := next(e.minute, m+1); n < 60 {
			return clockSeconds(h, n, first(e.second)), true
		}
	}
	if n := next(e.hour, h+1); n < 24 {
		return clockSeconds(n, first(e.minute), first(e.second)), true
	}
	return 0, false
}

func (e *expression) firstClock() int64 {
	return clockSeconds(first(e.hour), first(e.minute), first(e.second))
}

func clockSeconds(h, m, s int) int64 { return int64(h*3600 + m*60 + s) }

func has(mask uint64, v int) bool { return mask>>v&1 == 1 }

func first(mask uint64) int { return bits.TrailingZeros64(mask) }

// next returns the smallest member not below from, or 64.
func next(mask uint64, from int) int {
	return bits.TrailingZeros64(mask >> from << from)
}
