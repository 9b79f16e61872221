package cron

import (
	"strconv"
	"strings"
)

// ParseLenient reads an expression that is in the database already. Older
// schedulers took sloppy forms such as 5X, MON-FRI/2 or 1,,2, and their jobs
// must keep running exactly as they did; new input belongs to Parse. What Parse
// accepts means the same here. A row that was accepted but cannot fire, such as
// 8#2, gives a schedule that never does.
func ParseLenient(expr string) (Schedule, error) {
	if e, err := parse(expr); err == nil {
		return e, nil
	}
	zone, texts, err := split(expr)
	if err != nil {
		return nil, err
	}
	never := false
	for i, text := range texts {
		clean, fires := fields[i].clean(i, text)
		texts[i] = clean
		never = never || !fires
	}
	e, err := build(texts)
	if err != nil {
		return nil, withExpr(err, expr)
	}
	e.text, e.zone, e.never = expr, zone, never
	return e, nil
}

// clean rewrites a field to the strict form with the old meaning. What it does
// not know it leaves alone, for the strict parser to refuse. When fires is
// false the field matches nothing, and text is only a placeholder.
func (f *field) clean(i int, text string) (clean string, fires bool) {
	var items []string
	gone := false
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		if (i == day || i == weekday) && item[0] == '?' && len(item) <= 2 {
			return "?", true // one ? decides for the whole field
		}
		if i == year && item[0] == 'L' {
			gone = true
			continue
		}
		item = f.cleanItem(i, item)
		if i == year {
			if item = cleanYear(item); item == "" {
				gone = true
				continue
			}
		}
		items = append(items, item)
	}
	if len(items) == 0 && gone {
		return "*", false
	}
	text = strings.Join(items, ",")
	if i == weekday && strings.Count(text, "#") == 1 && !strings.Contains(text, "L") {
		return f.cleanNth(items, text)
	}
	return text, true
}

// cleanItem keeps the part of an item that was understood. The rest of an item
// after a complete prefix used to be ignored.
func (f *field) cleanItem(i int, item string) string {
	switch c := item[0]; {
	case c == '*' || c == '/':
		return cleanStar(item)
	case '0' <= c && c <= '9':
		return f.cleanNumber(i, item)
	case i == weekday && c == 'L':
		return "L"
	case i == day && item == "L-W":
		return "LW"
	case len(f.names) > 0:
		return f.cleanName(i, item)
	default:
		return item
	}
}

func cleanStar(item string) string {
	text, ok := strings.CutPrefix(strings.TrimPrefix(item, "*"), "/")
	if !ok {
		return "*"
	}
	sign := strings.TrimLeft(text, "+-")
	step, rest := digits(sign)
	switch {
	case step == "" || len(text)-len(sign) > 1 || strings.HasPrefix(rest, "/"):
		return item
	case step == "0" || text[0] == '-':
		return "*"
	default:
		return "*/" + step
	}
}

func (f *field) cleanNumber(i int, item string) string {
	from, rest := digits(item)
	switch {
	case rest == "":
		return from
	case rest[0] == 'L' || rest[0] == 'W' || rest[0] == '#':
		return f.cleanMark(i, from, rest, item)
	case rest[0] == '/':
		step, rest := digits(rest[1:])
		switch {
		case step == "" || strings.HasPrefix(rest, "/"):
			return item
		case step == "0":
			return from
		default:
			return from + "/" + step
		}
	case rest[0] == '-':
		return f.cleanRange(from, rest[1:], item)
	default:
		return from
	}
}

// cleanRange reads what follows "from-".
func (f *field) cleanRange(from, text, item string) string {
	to, rest := digits(text)
	if to == "" {
		return item
	}
	if to == "0" && f.min == 1 {
		to = strconv.Itoa(f.max)
	}
	if !strings.HasPrefix(rest, "/") {
		return from + "-" + to
	}
	step, _ := digits(rest[1:])
	if step == "" {
		return item
	}
	// A step of 0, or one beyond the field, leaves only the first value.
	if n, err := strconv.Atoi(step); err != nil || n == 0 || n > f.maxStep {
		if f == &fields[year] {
			return from
		}
		return f.onlyFirst(from, to)
	}
	return from + "-" + to + "/" + step
}

// onlyFirst is the first value of a range, still refused when the range is bad.
func (f *field) onlyFirst(from, to string) string {
	if _, err := f.item(from + "-" + to); err != nil {
		return from + "-" + to
	}
	return from
}

// cleanMark reads L, W or # after a weekday or a day of month.
func (f *field) cleanMark(i int, value, rest, item string) string {
	switch {
	case rest[0] == 'L' && i == weekday:
		return value + "L"
	case rest[0] == 'W' && i == day:
		return value + "W"
	case rest[0] == '#' && i == weekday:
		if k, _ := digits(rest[1:]); k != "" {
			return value + "#" + k
		}
	}
	return item
}

// cleanName knows names by three letters: JUNE is JUN, but MONDAY-FRIDAY is
// only MON, and a step after a name never counted.
func (f *field) cleanName(i int, item string) string {
	if len(item) < 3 || !f.isName(item[:3]) {
		return item
	}
	name, rest := item[:3], item[3:]
	switch {
	case strings.HasPrefix(rest, "-"):
		if len(rest) < 4 || !f.isName(rest[1:4]) {
			return item
		}
		return name + rest[:4]
	case i == weekday && rest != "" && (rest[0] == 'L' || rest[0] == '#'):
		return f.cleanMark(i, name, rest, item)
	default:
		return name
	}
}

func (f *field) isName(text string) bool {
	_, named, err := f.value(text, text)
	return err == nil && named
}
