package cron

import (
	"math/bits"
	"strings"
)

// all returns the full set of a field.
func (f *field) all() uint64 { return between(f.min, f.max) }

// every returns n when the set is every n-th value of 0..size-1 from 0 and goes
// on evenly from one round to the next; else 0.
func every(mask uint64, size int) int {
	count := bits.OnesCount64(mask)
	if size%count != 0 || !has(mask, 0) {
		return 0
	}
	n := size / count
	for v := 0; v < size; v += n {
		if !has(mask, v) {
			return 0
		}
	}
	if n == size {
		return 0
	}
	return n
}

// list writes a set with the values joined: one run, which may wrap around,
// as 22–2; at least five evenly spaced values as 0,7,14,…,56; else runs and
// single values.
func (w *words) list(mask uint64, i int, comma, dash string, name func(int) string) string {
	f := &fields[i]
	var values []int
	for m := mask; m != 0; m &= m - 1 {
		values = append(values, first(m))
	}
	n := len(values)
	if from, to, ok := f.wrapped(mask); ok && n > 2 {
		return name(from) + dash + name(to)
	}
	if step, ok := spacing(values); ok && step > 1 && n >= 5 {
		return strings.Join([]string{name(values[0]), name(values[1]), name(values[2]), "…", name(values[n-1])}, comma)
	}
	var parts []string
	for at := 0; at < n; {
		end := at
		for end+1 < n && values[end+1] == values[end]+1 {
			end++
		}
		if end-at < 2 {
			end = at // a run of two is shorter as 1,2
			parts = append(parts, name(values[at]))
		} else {
			parts = append(parts, name(values[at])+dash+name(values[end]))
		}
		at = end + 1
	}
	return strings.Join(parts, comma)
}

// wrapped finds the ends of a single run that goes past the end of the field.
func (f *field) wrapped(mask uint64) (from, to int, ok bool) {
	gap := f.all() &^ mask
	if gap == 0 || !has(mask, f.min) || !has(mask, f.max) {
		return 0, 0, false
	}
	to, from = first(gap)-1, bits.Len64(gap)
	return from, to, mask&between(to+1, from-1) == 0
}

// spacing returns the common difference of neighbours.
func spacing(values []int) (int, bool) {
	if len(values) < 2 {
		return 0, false
	}
	step := values[1] - values[0]
	for i := 2; i < len(values); i++ {
		if values[i]-values[i-1] != step {
			return 0, false
		}
	}
	return step, true
}
