package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

func monthOf(mask uint64) time.Month { return time.Month(first(mask)) }

// date describes the days; "" is every day. tail is what follows the time:
// months and years, where they are not part of the date.
func (w *words) date(e *expression) (date string, tail []string) {
	oneMonth, d := bits.OnesCount64(e.month) == 1, &e.days
	if oneMonth && bits.OnesCount64(d.plain) == 1 && d.last|d.nearest|d.lastNearest|d.weekday == 0 {
		m, dayOf := w.month(first(e.month)), first(d.plain)
		if len(e.years) == 1 && e.years[0].from == e.years[0].to {
			return w.fullDate(e.years[0].from, m, dayOf), nil
		}
		date = w.yearDate(m, dayOf)
	} else {
		date = w.days(d)
		if e.month != fields[month].all() {
			tail = append(tail, fmt.Sprintf(w.onlyIn, w.months(e.month)))
		}
	}
	if e.years != nil {
		tail = append(tail, fmt.Sprintf(w.onlyIn, w.years(e.years)))
	}
	return date, tail
}

func (w *words) days(d *days) string {
	if d.plain == fields[day].all() || d.nth == 0 && d.weekday == fields[weekday].all() {
		return ""
	}
	if d.weekday != 0 {
		return w.weekdays(d)
	}
	var parts []string
	if d.plain != 0 {
		format := w.daysOfMonth
		if bits.OnesCount64(d.plain) == 1 {
			format = w.dayOfMonth
		}
		parts = append(parts, fmt.Sprintf(format, w.numbers(d.plain, day)))
	}
	for m := d.nearest; m != 0; m &= m - 1 {
		parts = append(parts, w.nearest(first(m)))
	}
	for m := d.last; m != 0; m &= m - 1 {
		parts = append(parts, w.last(first(m)))
	}
	for m := d.lastNearest; m != 0; m &= m - 1 {
		parts = append(parts, w.lastNearest(first(m)))
	}
	return strings.Join(parts, w.and)
}

func (w *words) weekdays(d *days) string {
	switch {
	case d.nth == lastWeek:
		return fmt.Sprintf(w.lastWeekday, w.dayNames[first(d.weekday)])
	case d.nth > 0:
		return fmt.Sprintf(w.nthWeekday, w.nth[d.nth], w.dayNames[first(d.weekday)])
	case bits.OnesCount64(d.weekday) == 1:
		return fmt.Sprintf(w.everyWeekday, w.dayNames[first(d.weekday)])
	}
	return w.list(d.weekday, weekday, w.comma, w.dayRange, func(v int) string { return w.dayShort[v] })
}

func (w *words) months(mask uint64) string {
	return fmt.Sprintf(w.monthList, w.list(mask, month, w.comma, "–", func(v int) string { return w.monthNames[v] }))
}

func (w *words) years(spans []span) string {
	out := make([]string, len(spans))
	for i, s := range spans {
		switch {
		case s.to-s.from < s.step:
			out[i] = fmt.Sprintf(w.year, strconv.Itoa(s.from))
		case s.to == fields[year].max && s.step == 1:
			out[i] = fmt.Sprintf(w.yearFrom, s.from)
		case s.to == fields[year].max:
			out[i] = fmt.Sprintf(w.yearFromEvery, s.from, s.step)
		case s.step == 1:
			out[i] = fmt.Sprintf(w.year, fmt.Sprintf("%d–%d", s.from, s.to))
		default:
			out[i] = fmt.Sprintf(w.yearRangeEvery, s.from, s.to, s.step)
		}
	}
	return strings.Join(out, w.comma)
}

func (w *words) numbers(mask uint64, f int) string {
	return w.list(mask, f, w.numberComma, "–", strconv.Itoa)
}
