package cron

import (
	"strconv"
	"strings"
)

// Suggest gives what somebody who wrote a refused expression most likely meant: the
// five fields of Unix cron, its @names, or a * in the place of the ?. What it gives can
// be parsed; ok is false when there is no safe guess.
func Suggest(expr string) (better string, ok bool) {
	if _, err := Parse(expr); err == nil {
		return "", false
	}
	texts := strings.Fields(expr)
	prefix := ""
	if len(texts) > 0 && strings.HasPrefix(texts[0], zonePrefix) {
		prefix, texts = texts[0]+" ", texts[1:]
	}
	switch len(texts) {
	case 1:
		texts = strings.Fields(named(strings.ToLower(texts[0])))
	case 5:
		texts = fromFive(texts)
	}
	if len(texts) != 6 && len(texts) != 7 {
		return "", false
	}
	oneOfTwo(texts)
	better = prefix + strings.Join(texts, " ")
	_, err := Parse(better)
	return better, err == nil
}

// named gives the meaning of the short names of Unix cron.
func named(name string) string {
	switch name {
	case "@yearly", "@annually":
		return "0 0 0 1 1 ?"
	case "@monthly":
		return "0 0 0 1 * ?"
	case "@weekly":
		return "0 0 0 ? * SUN"
	case "@daily", "@midnight":
		return "0 0 0 * * ?"
	case "@hourly":
		return "0 0 * * * ?"
	}
	return ""
}

// fromFive puts the second before the fields and counts weekdays from 1 = Sunday.
func fromFive(texts []string) []string {
	out := append([]string{"0"}, texts...)
	items := strings.Split(out[weekday], ",")
	for i, item := range items {
		head, step, stepped := strings.Cut(item, "/")
		from, to, ranged := strings.Cut(head, "-")
		switch {
		case ranged && from == "0" && to == "7":
			head = "*"
		case ranged:
			head = fromZero(from) + "-" + fromZero(to)
		default:
			head = fromZero(from)
		}
		if items[i] = head; stepped {
			items[i] += "/" + step
		}
	}
	out[weekday] = strings.Join(items, ",")
	return out
}

// fromZero counts a weekday from 1 that was counted from 0; 7 is Sunday, too. Names stay.
func fromZero(text string) string {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= 7 {
		return strconv.Itoa(n%7 + 1)
	}
	return text
}

// oneOfTwo makes the one of day and weekday that says nothing a ?.
func oneOfTwo(texts []string) {
	switch {
	case texts[day] == "?" && texts[weekday] == "?":
		texts[day] = "*"
	case texts[day] == "?" || texts[weekday] == "?":
	case texts[weekday] == "*":
		texts[weekday] = "?"
	case texts[day] == "*":
		texts[day] = "?"
	}
}
