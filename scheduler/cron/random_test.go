package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// matcher is the oracle: an expression written down together with what it
// means, one predicate per field, without any of the parser's code.
type matcher struct {
	text   string
	fields [5]map[int]bool // second, minute, hour, month, weekday
	day    func(t time.Time) bool
}

func (m *matcher) match(t time.Time) bool {
	return m.fields[0][t.Second()] && m.fields[1][t.Minute()] && m.fields[2][t.Hour()] &&
		m.fields[3][int(t.Month())] && m.day(t)
}

type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, seed))} }

func (r random) expression() *matcher {
	m := &matcher{}
	texts := make([]string, 6)
	texts[0], m.fields[0] = r.list(0, 59)
	texts[1], m.fields[1] = r.list(0, 59)
	texts[2], m.fields[2] = r.list(0, 23)
	texts[4], m.fields[3] = r.list(1, 12)
	if r.IntN(2) == 0 {
		texts[5] = "?"
		texts[3], m.day = r.days()
	} else {
		texts[3] = "?"
		texts[5], m.day = r.weekdays()
	}
	m.text = strings.Join(texts, []string{" ", "  ", "\t"}[r.IntN(3)])
	return m
}

func (r random) list(low, high int) (string, map[int]bool) {
	set := map[int]bool{}
	var items []string
	for range 1 + r.IntN(2) {
		items = append(items, r.item(low, high, set))
	}
	return strings.Join(items, ","), set
}

func (r random) item(low, high int, set map[int]bool) string {
	size := high - low + 1
	a, b, step := low+r.IntN(size), low+r.IntN(size), 1+r.IntN(size-1)
	add := func(from, count, step int) {
		for i := 0; i < count; i += step {
			set[low+(from-low+i)%size] = true
		}
	}
	switch r.IntN(6) {
	case 0:
		add(low, size, 1)
		return "*"
	case 1:
		add(low, size, step)
		return fmt.Sprintf("%s/%d", []string{"", "*"}[r.IntN(2)], step)
	case 2:
		add(a, high-a+1, step)
		return fmt.Sprintf("%d/%d", a, step)
	case 3:
		add(a, (b-a+size)%size+1, 1)
		return fmt.Sprintf("%d-%d", a, b)
	case 4:
		add(a, (b-a+size)%size+1, step)
		return fmt.Sprintf("%d-%d/%d", a, b, step)
	default:
		add(a, 1, 1)
		return fmt.Sprint(a)
	}
}

func (r random) days() (string, func(time.Time) bool) {
	n := r.IntN(4)
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf("L-%d", n), func(t time.Time) bool { return t.AddDate(0, 0, n+1).Day() == 1 }
	case 1:
		d := 1 + r.IntN(31)
		return fmt.Sprintf("%dW", d), func(t time.Time) bool { return t.Day() == nearestTo(t, d) }
	case 2:
		return fmt.Sprintf("L-%dW,1", n), func(t time.Time) bool {
			return t.Day() == 1 || t.Day() == nearestTo(t, lastDay(t)-n)
		}
	default:
		text, set := r.list(1, 31)
		return text, func(t time.Time) bool { return set[t.Day()] }
	}
}

func (r random) weekdays() (string, func(time.Time) bool) {
	wd, k := r.IntN(7), 1+r.IntN(5)
	is := func(t time.Time) bool { return int(t.Weekday()) == wd }
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("%dL", wd+1), func(t time.Time) bool { return is(t) && t.AddDate(0, 0, 7).Month() != t.Month() }
	case 1:
		return fmt.Sprintf("%d#%d", wd+1, k), func(t time.Time) bool { return is(t) && (t.Day()+6)/7 == k }
	default:
		text, set := r.list(1, 7)
		return text, func(t time.Time) bool { return set[int(t.Weekday())+1] }
	}
}

func lastDay(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// nearestTo looks at both sides of day d for a weekday in the month of t; the
// distance is at most two days, the earlier side first.
func nearestTo(t time.Time, d int) int {
	if d < 1 || d > lastDay(t) {
		return 0
	}
	for _, c := range []int{d, d - 1, d + 1, d - 2, d + 2} {
		wd := time.Date(t.Year(), t.Month(), c, 0, 0, 0, 0, time.UTC).Weekday()
		if c >= 1 && c <= lastDay(t) && wd != time.Saturday && wd != time.Sunday {
			return c
		}
	}
	return 0
}
