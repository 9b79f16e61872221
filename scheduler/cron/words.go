package cron

import (
	"fmt"
	"strings"
)

// words is the vocabulary of one language. The %s and %d of each format take
// the values in the order that Describe gives them.
type words struct {
	never, everyDay                                    string
	everySecond, everySeconds                          string
	everyMinute, everyMinutes                          string
	everyHour, everyHours, atMinute                    string
	at, atFirst                                        string
	secondsEach, secondsSome, minutesEach, minutesSome string
	hours                                              string
	dayOfMonth, daysOfMonth                            string
	everyWeekday, lastWeekday, nthWeekday, dayRange    string
	onlyIn, monthList                                  string
	year, yearFrom, yearFromEvery, yearRangeEvery      string
	comma, clauseComma, numberComma, and               string

	dayNames, dayShort, nth, monthNames []string // from 1

	month                      func(m int) string
	fullDate                   func(year int, month string, day int) string
	yearDate                   func(month string, day int) string
	last, nearest, lastNearest func(n int) string
}

func (w *words) join(parts []string) string { return strings.Join(parts, w.clauseComma) }

func wordsFor(lang string) *words {
	switch {
	case strings.HasPrefix(lang, "zh-Hant"):
		return &traditional
	case strings.HasPrefix(lang, "zh"):
		return &simplified
	default:
		return &englishWords
	}
}

var englishWords = words{
	never: "never", everyDay: "every day",
	everySecond: "every second", everySeconds: "every %d s",
	everyMinute: "every minute", everyMinutes: "every %d min",
	everyHour: "every hour", everyHours: "every %d h", atMinute: "%s at minute %d",
	at: "%s at %s", atFirst: "at %s",
	secondsEach: "second %s of each minute", secondsSome: "second %s",
	minutesEach: "minute %s of each hour", minutesSome: "minute %s",
	hours:      "%s h",
	dayOfMonth: "day %s of the month", daysOfMonth: "days %s of the month",
	everyWeekday: "every %s", lastWeekday: "last %s", nthWeekday: "%s %s", dayRange: "–",
	onlyIn: "in %s", monthList: "%s",
	year: "%s", yearFrom: "%d and later", yearFromEvery: "%d and every %d years after",
	yearRangeEvery: "%d–%d every %d years",
	comma:          ", ", clauseComma: ", ", numberComma: ",", and: " and ",
	dayNames:   strings.Fields("- Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
	dayShort:   strings.Fields("- Sun Mon Tue Wed Thu Fri Sat"),
	nth:        strings.Fields("- first second third fourth fifth"),
	monthNames: englishMonths,
	month:      func(m int) string { return englishMonths[m] },
	fullDate: func(year int, month string, day int) string {
		return fmt.Sprintf("on %d %s %d", day, month, year)
	},
	yearDate: func(month string, day int) string { return fmt.Sprintf("every year on %d %s", day, month) },
	last:     func(n int) string { return beforeLast(n) + "last day of the month" },
	nearest:  func(d int) string { return "weekday nearest to the " + ordinal(d) },
	lastNearest: func(n int) string {
		if n == 0 {
			return "last weekday of the month"
		}
		return "weekday nearest to " + beforeLast(n) + "last day of the month"
	},
}

var englishMonths = strings.Fields("- Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")

func beforeLast(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 day before the "
	default:
		return fmt.Sprintf("%d days before the ", n)
	}
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
