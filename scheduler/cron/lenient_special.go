package cron

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// cleanNth handles d#k, alone or in a list. In a list the k went to the
// smallest weekday of all; the weekday was not checked, 0 meant Saturday and 8
// or more nothing at all.
func (f *field) cleanNth(items []string, text string) (clean string, fires bool) {
	smallest, k := math.MaxInt, ""
	for _, item := range items {
		head, n, nth := strings.Cut(item, "#")
		if nth {
			k = n
		}
		v, err := strconv.Atoi(head)
		if !nth || err != nil {
			s, err := f.item(head)
			if err != nil {
				return text, true
			}
			v = bits.TrailingZeros64(f.mask(s))
		}
		smallest = min(smallest, v)
	}
	if smallest == 0 {
		smallest = f.max
	}
	if smallest > f.max {
		return "1#" + k, false
	}
	return strconv.Itoa(smallest) + "#" + k, true
}

// cleanYear cuts off what lies outside 1970-9999, which used to be accepted and
// never came. Nothing left gives "".
func cleanYear(item string) string {
	const far = 999_999_999
	wide := field{min: 0, max: far, maxStep: far}
	s, err := wide.item(item)
	if err != nil || !isDigits(item[:1]) || s.to < s.from {
		return item
	}
	f := &fields[year]
	if s.from < f.min {
		s.from += (f.min - s.from + s.step - 1) / s.step * s.step
	}
	s.to = min(s.to, f.max)
	switch {
	case s.from > s.to:
		return ""
	case s.step > s.to-s.from:
		return strconv.Itoa(s.from)
	}
	return strconv.Itoa(s.from) + "-" + strconv.Itoa(s.to) + "/" + strconv.Itoa(s.step)
}

// digits splits leading digits off, without needless zeros.
func digits(s string) (number, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	number = s[:len(s)-len(rest)]
	if number != "" {
		if number = strings.TrimLeft(number, "0"); number == "" {
			number = "0"
		}
	}
	return number, rest
}
