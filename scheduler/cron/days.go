package cron

import (
	"math/bits"
	"time"
)

// days is the union of everything the day or the weekday field asks for.
type days struct {
	plain       uint64 // bit d: day d
	last        uint64 // bit n: n days before the last day
	nearest     uint64 // bit d: weekday nearest to day d
	lastNearest uint64 // bit n: weekday nearest to n days before the last day
	weekday     uint64 // bit 1..7, Sunday first
	nth         int    // which weekday of the month: 0 each, 1..5, or lastWeek
}

const lastWeek = -1

// in returns the matching days of one month.
func (d *days) in(year int, month time.Month) uint64 {
	firstDay := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	length := monthLength(year, month)
	offset := int(firstDay.Weekday()) // of day 1, 0 is Sunday
	mask := d.plain
	for m := d.last; m != 0; m &= m - 1 {
		if day := length - bits.TrailingZeros64(m); day >= 1 {
			mask |= 1 << day
		}
	}
	for m := d.nearest; m != 0; m &= m - 1 {
		if day := bits.TrailingZeros64(m); day <= length {
			mask |= 1 << nearestWeekday(day, length, offset)
		}
	}
	for m := d.lastNearest; m != 0; m &= m - 1 {
		if day := length - bits.TrailingZeros64(m); day >= 1 {
			mask |= 1 << nearestWeekday(day, length, offset)
		}
	}
	for m := d.weekday; m != 0; m &= m - 1 {
		mask |= d.weekdays(1+(bits.TrailingZeros64(m)+6-offset)%7, length)
	}
	return mask & between(1, length)
}

// weekdays returns the chosen ones among first, first+7, first+14 ...
func (d *days) weekdays(first, length int) uint64 {
	const weekly = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	switch d.nth {
	case 0:
		return weekly << first
	case lastWeek:
		return 1 << (first + (length-first)/7*7)
	default:
		return 1 << (first + 7*(d.nth-1))
	}
}

// nearestWeekday moves a day off the weekend without leaving the month.
func nearestWeekday(day, length, offset int) int {
	switch time.Weekday((offset + day - 1) % 7) {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == length {
			return day - 2
		}
		return day + 1
	default:
		return day
	}
}

func monthLength(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// between returns the mask of the values from..to.
func between(from, to int) uint64 { return 1<<(to+1) - 1<<from }
