package cron

import (
	"fmt"
	"math/bits"
	"strings"
)

// Describe puts a schedule into words: "Mon–Fri at 08:00", "每 5 分钟，9–17 点".
// lang is en, zh-Hans or zh-Hant; another zh is zh-Hans, anything else en. The
// words come from the parsed sets and not from the text, so two schedules that
// read alike fire alike. A schedule of another package is "" unless it has a
// String method.
func Describe(s Schedule, lang string) string {
	w := wordsFor(lang)
	switch s := s.(type) {
	case fixedRate:
		return w.rate(int(s))
	case *expression:
		text := w.expression(s)
		if s.zone != nil {
			text += " (" + s.zone.String() + ")"
		}
		return text
	case fmt.Stringer:
		return s.String()
	default:
		return ""
	}
}

func (w *words) rate(seconds int) string {
	switch {
	case seconds%3600 == 0:
		return fmt.Sprintf(w.everyHours, seconds/3600)
	case seconds%60 == 0:
		return fmt.Sprintf(w.everyMinutes, seconds/60)
	default:
		return fmt.Sprintf(w.everySeconds, seconds)
	}
}

func (w *words) expression(e *expression) string {
	if e.never || !e.possible() {
		return w.never
	}
	date, tail := w.date(e)
	if clock := w.clock(e); clock != "" {
		if date == "" {
			date = w.everyDay
		}
		return w.join(append([]string{fmt.Sprintf(w.at, date, clock)}, tail...))
	}
	parts := w.intervals(e)
	if date != "" {
		parts = append(parts, date)
	}
	return w.join(append(parts, tail...))
}

// possible says whether any date matches. 28 years hold every kind of year.
func (e *expression) possible() bool {
	from, to := 2000, 2027
	if e.years != nil {
		from, to = fields[year].min, fields[year].min+430
		for _, s := range e.years {
			if s.to > to {
				return true // far away: do not search, do not deny
			}
		}
	}
	for y := from; y <= to; y++ {
		if !e.inYear(y) {
			continue
		}
		for m := e.month; m != 0; m &= m - 1 {
			if e.days.in(y, monthOf(m)) != 0 {
				return true
			}
		}
	}
	return false
}

// maxClocks is how many times of day are listed one by one.
const maxClocks = 6

// clock lists the times of day, or returns "" when an interval reads better.
func (w *words) clock(e *expression) string {
	hours, perHour := bits.OnesCount64(e.hour), bits.OnesCount64(e.minute)*bits.OnesCount64(e.second)
	evenHours := hours > 2 && perHour == 1 && e.second == 1 && every(e.hour, 24) > 0
	if hours*perHour > maxClocks || evenHours {
		return "" // "every 4 h" says more than six times do
	}
	layout := "%02d:%02d"
	if e.second != 1 {
		layout += ":%02d"
	}
	var out []string
	for h := e.hour; h != 0; h &= h - 1 {
		for m := e.minute; m != 0; m &= m - 1 {
			for s := e.second; s != 0; s &= s - 1 {
				args := []any{first(h), first(m), first(s)}
				if e.second == 1 {
					args = args[:2]
				}
				out = append(out, fmt.Sprintf(layout, args...))
			}
		}
	}
	return strings.Join(out, w.comma)
}

// intervals describes the time of day from its fields, the finest first. A
// field that the one before implies is left out.
func (w *words) intervals(e *expression) []string {
	var parts []string
	allMinutes, allHours := e.minute == fields[minute].all(), e.hour == fields[hour].all()
	if e.second != 1 {
		parts = append(parts, w.seconds(e.second, allMinutes))
		if !allMinutes {
			parts = append(parts, w.minutesOf(e.minute, allHours))
		}
		return w.hoursOf(parts, e.hour)
	}
	if n := every(e.minute, 60); n == 1 {
		return w.hoursOf([]string{w.everyMinute}, e.hour)
	} else if n > 1 {
		return w.hoursOf([]string{fmt.Sprintf(w.everyMinutes, n)}, e.hour)
	}
	if bits.OnesCount64(e.minute) == 1 {
		return w.hourly(e)
	}
	return w.hoursOf([]string{fmt.Sprintf(w.atFirst, w.minutesOf(e.minute, allHours))}, e.hour)
}

// hourly describes one minute of some hours.
func (w *words) hourly(e *expression) []string {
	head, left := w.everyHour, e.hour
	if n := every(e.hour, 24); n > 1 {
		head, left = fmt.Sprintf(w.everyHours, n), fields[hour].all()
	}
	if m := first(e.minute); m != 0 {
		head = fmt.Sprintf(w.atMinute, head, m)
	}
	return w.hoursOf([]string{head}, left)
}

func (w *words) seconds(mask uint64, allMinutes bool) string {
	n := every(mask, 60)
	switch {
	case n == 1:
		return w.everySecond
	case n > 1:
		return fmt.Sprintf(w.everySeconds, n)
	case allMinutes:
		return fmt.Sprintf(w.atFirst, fmt.Sprintf(w.secondsEach, w.numbers(mask, second)))
	default:
		return fmt.Sprintf(w.atFirst, fmt.Sprintf(w.secondsSome, w.numbers(mask, second)))
	}
}

func (w *words) minutesOf(mask uint64, allHours bool) string {
	if allHours {
		return fmt.Sprintf(w.minutesEach, w.numbers(mask, minute))
	}
	return fmt.Sprintf(w.minutesSome, w.numbers(mask, minute))
}

func (w *words) hoursOf(parts []string, mask uint64) []string {
	if mask == fields[hour].all() {
		return parts
	}
	return append(parts, fmt.Sprintf(w.hours, w.numbers(mask, hour)))
}
