package cron

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// fixedRate is a schedule that fires so many seconds after the given time.
type fixedRate int64

// FixedRate returns the schedule "seconds after the last time". It refuses
// anything outside 1..2^31-1 with a *ParseError.
func FixedRate(seconds int) (Schedule, error) {
	if seconds < 1 || seconds > math.MaxInt32 {
		return nil, rateError(strconv.Itoa(seconds))
	}
	return fixedRate(seconds), nil
}

// ParseFixedRate reads the number of seconds from the configuration of a job.
func ParseFixedRate(conf string) (Schedule, error) {
	text := strings.Trim(conf, " \t")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || text[0] == '+' {
		return nil, rateError(conf)
	}
	return FixedRate(int(n))
}

func rateError(conf string) error {
	return &ParseError{Expr: conf, Key: ErrRate, Args: map[string]any{"value": conf, "min": 1, "max": math.MaxInt32}}
}

// Next returns t plus the rate, rounded up to a whole second: never sooner than the
// rate (reference: scheduler.md 2).
func (r fixedRate) Next(t time.Time) time.Time {
	at := t.Unix() + int64(r)
	if t.Nanosecond() > 0 {
		at++
	}
	return time.Unix(at, 0).In(t.Location())
}

// String returns the number of seconds, as ParseFixedRate reads it.
func (r fixedRate) String() string { return strconv.FormatInt(int64(r), 10) }
