package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrorCode sorts errors by what the caller can do about them. The web layers
// turn it into an HTTP status or an envelope code.
type ErrorCode string

// Error codes.
const (
	CodeInvalid     ErrorCode = "invalid"     // the input is wrong; Fields may say where
	CodeNotFound    ErrorCode = "not_found"   // there is no such row, or not for this actor
	CodeForbidden   ErrorCode = "forbidden"   // the actor may not do this
	CodeConflict    ErrorCode = "conflict"    // somebody else changed it meanwhile
	CodeUnavailable ErrorCode = "unavailable" // something needed does not answer; try again
	CodeTooMany     ErrorCode = "too_many"    // too many attempts; Args["Wait"] is a time.Duration
)

// FieldError is what is wrong with one field: a translation key and its arguments.
type FieldError struct {
	Key  string
	Args map[string]any
}

// Error is an error that may be shown to a person: a translation key with
// arguments, and for forms one key per field. Every other error is internal:
// logged with its context and shown as a bland line.
type Error struct {
	Code   ErrorCode
	Key    string
	Args   map[string]any
	Fields map[string]FieldError
	Cause  error
}

// Error gives a line for logs; people see the translation of Key.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Code, e.Key)
	for _, k := range slices.Sorted(maps.Keys(e.Args)) {
		fmt.Fprintf(&b, " %s=%v", k, e.Args[k])
	}
	for _, k := range slices.Sorted(maps.Keys(e.Fields)) {
		fmt.Fprintf(&b, "; %s: %s", k, e.Fields[k].Key)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errf builds an Error with optional key-value arguments.
func Errf(code ErrorCode, key string, kv ...any) *Error {
	return &Error{Code: code, Key: key, Args: args(kv)}
}

// AddField notes what is wrong with a field; the first complaint stays.
func (e *Error) AddField(field, key string, kv ...any) {
	if e.Fields == nil {
		e.Fields = map[string]FieldError{}
	}
	if _, ok := e.Fields[field]; !ok {
		e.Fields[field] = FieldError{Key: key, Args: args(kv)}
	}
}

// CodeOf gives the code of a model error anywhere in the chain, or "".
func CodeOf(err error) ErrorCode {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

func args(kv []any) map[string]any {
	if len(kv) == 0 {
		return nil
	}
	m := make(map[string]any, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		m[fmt.Sprint(kv[i])] = kv[i+1]
	}
	return m
}
