package cron

import (
	"fmt"
	"strings"
)

// Keys of a ParseError, stable so that a console can translate them. The names
// in braces are the arguments that come with each.
const (
	ErrEmpty     = "cron.err.empty"      // nothing but blanks
	ErrFields    = "cron.err.fields"     // {count}: not 6 or 7 fields
	ErrZone      = "cron.err.zone"       // {zone}: unknown time zone after CRON_TZ=
	ErrNoDay     = "cron.err.no_day"     // both day and weekday are ?
	ErrTwoDays   = "cron.err.two_days"   // neither day nor weekday is ?
	ErrItemEmpty = "cron.err.item_empty" // an empty place in a list
	ErrSyntax    = "cron.err.syntax"     // {item}: not understood
	ErrRange     = "cron.err.range"      // {value} {min} {max}
	ErrStep      = "cron.err.step"       // {value} {min} {max}
	ErrZeros     = "cron.err.zeros"      // {value}: more leading zeros than 05 has
	ErrOrder     = "cron.err.order"      // {from} {to}: years do not wrap around
	ErrName      = "cron.err.name"       // {name}: not a month or weekday name
	ErrMixed     = "cron.err.mixed"      // {item}: name and number in one range
	ErrNameStep  = "cron.err.name_step"  // {item}: a step after a name
	ErrQuestion  = "cron.err.question"   // {item}: ? belongs to day and weekday, alone
	ErrSpecial   = "cron.err.special"    // {item}: L, W or # where it means nothing
	ErrAlone     = "cron.err.alone"      // {item}: may not be part of a list
	ErrOffset    = "cron.err.offset"     // {value} {min} {max}: the n of L-n
	ErrNth       = "cron.err.nth"        // {value} {min} {max}: the k of d#k
	ErrRate      = "cron.err.rate"       // {value} {min} {max}: fixed rate in seconds
)

var english = map[string]string{
	ErrEmpty:     "the expression is empty",
	ErrFields:    "expected 6 or 7 fields, got {count}",
	ErrZone:      "unknown time zone {zone}",
	ErrNoDay:     "day and weekday cannot both be ?",
	ErrTwoDays:   "one of day and weekday must be ?",
	ErrItemEmpty: "a list has an empty item",
	ErrSyntax:    "cannot understand {item}",
	ErrRange:     "{value} is not between {min} and {max}",
	ErrStep:      "step {value} is not between {min} and {max}",
	ErrZeros:     "{value} has too many leading zeros",
	ErrOrder:     "{from} is after {to}",
	ErrName:      "unknown name {name}",
	ErrMixed:     "{item} mixes a name and a number",
	ErrNameStep:  "{item} has a step after a name, use numbers",
	ErrQuestion:  "? in {item} must stand alone, as the day or the weekday",
	ErrSpecial:   "L, W or # in {item} is not possible here",
	ErrAlone:     "{item} cannot be part of a list",
	ErrOffset:    "{value} days before the last day is not between {min} and {max}",
	ErrNth:       "occurrence {value} is not between {min} and {max}",
	ErrRate:      "fixed rate {value} is not a number of seconds between {min} and {max}",
}

// ParseError says which part of an expression was refused and why.
type ParseError struct {
	Expr  string         // the whole expression, as given
	Field string         // second, minute, hour, day, month, weekday, year; "" is the whole
	Key   string         // one of the Err constants
	Args  map[string]any // what the key documents
}

// Error returns the reason in English.
func (e *ParseError) Error() string {
	text := english[e.Key]
	for name, value := range e.Args {
		text = strings.ReplaceAll(text, "{"+name+"}", fmt.Sprint(value))
	}
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	return fmt.Sprintf("cron %q: %s", e.Expr, text)
}

// fail makes a ParseError out of a key and name, value pairs; Parse adds the rest.
func fail(key string, pairs ...any) error {
	args := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	return &ParseError{Key: key, Args: args}
}
