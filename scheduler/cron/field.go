package cron

import (
	"strconv"
	"strings"
)

// Positions of the fields in an expression.
const (
	second = iota
	minute
	hour
	day
	month
	weekday
	year
)

type field struct {
	name     string
	min, max int
	maxStep  int
	names    []string // of min, min+1, ...
}

var fields = [...]field{
	second:  {name: "second", min: 0, max: 59, maxStep: 59},
	minute:  {name: "minute", min: 0, max: 59, maxStep: 59},
	hour:    {name: "hour", min: 0, max: 23, maxStep: 23},
	day:     {name: "day", min: 1, max: 31, maxStep: 31},
	month:   {name: "month", min: 1, max: 12, maxStep: 12, names: strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")},
	weekday: {name: "weekday", min: 1, max: 7, maxStep: 7, names: strings.Fields("SUN MON TUE WED THU FRI SAT")},
	year:    {name: "year", min: 1970, max: 9999, maxStep: 9999},
}

// span is every step-th value of from..to; it wraps around when to < from.
type span struct{ from, to, step int }

// mask returns the values of a span as bits.
func (f *field) mask(s span) uint64 {
	to := s.to
	if to < s.from {
		to += f.max - f.min + 1
	}
	var mask uint64
	for v := s.from; v <= to; v += s.step {
		w := v
		if w > f.max {
			w -= f.max - f.min + 1
		}
		mask |= 1 << w
	}
	return mask
}

// list reads a comma separated list of plain items.
func (f *field) list(text string, add func(span)) error {
	for item := range strings.SplitSeq(text, ",") {
		s, err := f.item(item)
		if err != nil {
			return err
		}
		add(s)
	}
	return nil
}

// item reads "*", V, V-V and their steps.
func (f *field) item(item string) (span, error) {
	if item == "" {
		return span{}, fail(ErrItemEmpty)
	}
	head, stepText, stepped := strings.Cut(item, "/")
	s := span{f.min, f.max, 1}
	named := false
	var err error
	if head != "*" && (head != "" || !stepped) {
		fromText, toText, ranged := strings.Cut(head, "-")
		if s.from, named, err = f.value(fromText, item); err != nil {
			return span{}, err
		}
		switch {
		case ranged:
			var toNamed bool
			if s.to, toNamed, err = f.value(toText, item); err != nil {
				return span{}, err
			}
			if named != toNamed {
				return span{}, fail(ErrMixed, "item", item)
			}
		case !stepped:
			s.to = s.from
		}
	}
	if s.to < s.from && f == &fields[year] {
		return span{}, fail(ErrOrder, "from", s.from, "to", s.to)
	}
	if !stepped {
		return s, nil
	}
	if named {
		return span{}, fail(ErrNameStep, "item", item)
	}
	s.step, err = number(stepText, item, 1, f.maxStep, ErrStep)
	return s, err
}

// value reads a number or a name; item is what an error shows.
func (f *field) value(text, item string) (v int, named bool, err error) {
	if isDigits(text) {
		v, err = number(text, item, f.min, f.max, ErrRange)
		return v, false, err
	}
	for i, name := range f.names {
		if text == name {
			return f.min + i, true, nil
		}
	}
	switch {
	case strings.Contains(text, "?"):
		return 0, false, fail(ErrQuestion, "item", item)
	case len(f.names) > 0 && len(text) > 2 && isLetters(text):
		return 0, false, fail(ErrName, "name", text)
	case strings.ContainsAny(text, "LW#"):
		return 0, false, fail(ErrSpecial, "item", item)
	default:
		return 0, false, fail(ErrSyntax, "item", item)
	}
}

// number reads a decimal number; key is the error when it is out of range.
func number(text, item string, low, high int, key string) (int, error) {
	if !isDigits(text) {
		return 0, fail(ErrSyntax, "item", item)
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		return 0, fail(key, "value", text, "min", low, "max", high)
	}
	if len(text) > 2 && text[0] == '0' {
		return 0, fail(ErrZeros, "value", text)
	}
	return v, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isLetters(s string) bool { return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }
