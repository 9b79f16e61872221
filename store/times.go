package store

import (
	"database/sql"
	"fmt"
	"time"
)

const dateTime = "2006-01-02 15:04:05"

// dt writes a DATETIME: wall clock in the store's zone, whole seconds
// (MySQL would round a fraction up, MariaDB cuts it; reference: schema.md 12).
func (s *Store) dt(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.In(s.loc).Format(dateTime)
}

// since is a lower bound for DATETIMEs at or after t. Around the end of daylight
// saving time the wall clock goes back: later instants have smaller values then.
func (s *Store) since(t time.Time) any {
	_, before := t.In(s.loc).Zone()
	_, after := t.Add(10 * time.Minute).In(s.loc).Zone()
	return s.dt(t.Add(time.Duration(min(0, after-before)) * time.Second))
}

// timeScanner reads a DATETIME of either engine as wall clock in the zone.
type timeScanner struct {
	dst *time.Time
	loc *time.Location
}

func (s *Store) scanTime(dst *time.Time) sql.Scanner { return timeScanner{dst, s.loc} }

// Scan implements sql.Scanner.
func (ts timeScanner) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*ts.dst = time.Time{}
	case time.Time:
		// The driver's idea of the zone does not matter: the fields are the value.
		*ts.dst = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), 0, ts.loc)
	case string:
		return ts.parse(v)
	case []byte:
		return ts.parse(string(v))
	default:
		return fmt.Errorf("cannot read a time from %T", v)
	}
	return nil
}

func (ts timeScanner) parse(text string) error {
	if len(text) > len(dateTime) {
		text = text[:len(dateTime)]
	}
	t, err := time.ParseInLocation(dateTime, text, ts.loc)
	*ts.dst = t
	return err
}

// orZero reads a nullable value as its zero value.
type orZero[T any] struct{ dst *T }

// Scan implements sql.Scanner.
func (o orZero[T]) Scan(v any) error {
	var n sql.Null[T]
	if err := n.Scan(v); err != nil {
		return err
	}
	*o.dst = n.V
	return nil
}

// truth reads a number as a flag: 0 and NULL are false.
type truth struct{ dst *bool }

// Scan implements sql.Scanner.
func (f truth) Scan(v any) error {
	var n sql.Null[int64]
	err := n.Scan(v)
	*f.dst = n.V != 0
	return err
}

func flag(dst *bool) sql.Scanner { return truth{dst} }

func nz[T any](dst *T) sql.Scanner { return orZero[T]{dst} }

// null writes the zero value as NULL.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
