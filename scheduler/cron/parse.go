package cron

import (
	"errors"
	"strings"
	"time"
)

const zonePrefix = "CRON_TZ="

// Parse reads an expression that somebody has just written. It accepts exactly
// the grammar in the package documentation, and single leading zeros such as
// 05; everything else is a *ParseError.
func Parse(expr string) (Schedule, error) {
	e, err := parse(expr)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parse(expr string) (*expression, error) {
	zone, texts, err := split(expr)
	if err != nil {
		return nil, err
	}
	e, err := build(texts)
	if err != nil {
		return nil, withExpr(err, expr)
	}
	e.text, e.zone = expr, zone
	return e, nil
}

// split takes the zone off and returns the fields in upper case.
func split(expr string) (*time.Location, []string, error) {
	texts := strings.FieldsFunc(expr, func(r rune) bool { return r == ' ' || r == '\t' })
	var zone *time.Location
	if len(texts) > 0 && strings.HasPrefix(texts[0], zonePrefix) {
		name := texts[0][len(zonePrefix):]
		var err error
		zone, err = time.LoadLocation(name)
		// "" and Local would load too, but say nothing about where.
		if err != nil || name == "" || name == "Local" {
			return nil, nil, withExpr(fail(ErrZone, "zone", name), expr)
		}
		texts = texts[1:]
	}
	switch n := len(texts); n {
	case 6, 7:
	case 0:
		return nil, nil, withExpr(fail(ErrEmpty), expr)
	default:
		return nil, nil, withExpr(fail(ErrFields, "count", n), expr)
	}
	for i := range texts {
		texts[i] = upper(texts[i])
	}
	return zone, texts, nil
}

func build(texts []string) (*expression, error) {
	e := &expression{}
	for i, mask := range []*uint64{&e.second, &e.minute, &e.hour, nil, &e.month} {
		if mask == nil {
			continue
		}
		if err := fields[i].list(texts[i], func(s span) { *mask |= fields[i].mask(s) }); err != nil {
			return nil, withField(err, i)
		}
	}
	if err := e.days.parseDay(texts[day]); err != nil {
		return nil, withField(err, day)
	}
	if err := e.days.parseWeekday(texts[weekday]); err != nil {
		return nil, withField(err, weekday)
	}
	switch noDay, noWeekday := texts[day] == "?", texts[weekday] == "?"; {
	case noDay && noWeekday:
		return nil, fail(ErrNoDay)
	case !noDay && !noWeekday:
		return nil, fail(ErrTwoDays)
	}
	if len(texts) > year {
		if err := e.parseYears(texts[year]); err != nil {
			return nil, withField(err, year)
		}
	}
	return e, nil
}

func (e *expression) parseYears(text string) error {
	f, all := &fields[year], false
	err := f.list(text, func(s span) {
		if s == (span{f.min, f.max, 1}) {
			all = true
		}
		e.years = append(e.years, s)
	})
	if all {
		e.years = nil
	}
	return err
}

func withField(err error, i int) error {
	var pe *ParseError
	if errors.As(err, &pe) {
		pe.Field = fields[i].name
	}
	return err
}

func withExpr(err error, expr string) error {
	var pe *ParseError
	if errors.As(err, &pe) {
		pe.Expr = expr
	}
	return err
}

// upper changes ASCII only: strings.ToUpper would turn other letters, such as
// the long s, into ours.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}
