package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Answer is what either side answers. Value is written under "content" and
// "data", the keys of the old and the new generations.
type Answer struct {
	Code  int
	Msg   string
	Value any // nil, or anything that marshals
	Said  *Said
	About *About // of an executor, on /beat
	// LogDays, of a center to our SDK on a registration, is for how many days logs of runs are
	// wanted at most; 0 = for ever, nil = nothing is said.
	LogDays *int
}

// OK answers success with an optional value.
func OK(value any) Answer { return Answer{Code: CodeSuccess, Value: value} }

// Fail answers a failure with a text for people.
func Fail(format string, args ...any) Answer {
	return Answer{Code: CodeFail, Msg: fmt.Sprintf(format, args...)}
}

// MarshalJSON writes the superset that every known client accepts
// (reference: protocol.md 3.4): msg is null when there is none.
func (a Answer) MarshalJSON() ([]byte, error) {
	var msg *string
	if a.Msg != "" {
		msg = &a.Msg
	}
	return json.Marshal(struct {
		Code    int     `json:"code"`
		Msg     *string `json:"msg"`
		Content any     `json:"content"`
		Data    any     `json:"data"`
		Success bool    `json:"success"`
		Own     *Own    `json:"carillon,omitempty"`
	}{a.Code, msg, a.Value, a.Value, a.Code == CodeSuccess, ownOf(a)})
}

func ownOf(a Answer) *Own {
	if a.Said == nil && a.About == nil && a.LogDays == nil {
		return nil
	}
	return &Own{Said: a.Said, About: a.About, LogDays: a.LogDays}
}

// Reply is an answer as it was read: the value stays raw.
type Reply struct {
	Code  int
	Msg   string
	Value json.RawMessage // nil when missing or null
	Said  *Said           // of our SDK
	About *About          // of our SDK, on /beat
	// LogDays is of our center on a registration; nil = it says nothing.
	LogDays *int
}

// ParseReply reads an answer of any known executor or center: an object with
// code and content or data, or the array in callback form that one Go client
// sends when it refuses a run (reference: protocol.md 8.4).
func ParseReply(body []byte) (Reply, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return Reply{}, errors.New("empty answer")
	}
	if body[0] == '[' {
		list, err := ParseCallbacks(body)
		if err != nil {
			return Reply{}, fmt.Errorf("answer is an array, not of callback form: %w", err)
		}
		return Reply{Code: list[0].Code, Msg: list[0].Msg}, nil
	}
	var w struct {
		Code    *json.Number    `json:"code"`
		Msg     json.RawMessage `json:"msg"`
		Content json.RawMessage `json:"content"`
		Data    json.RawMessage `json:"data"`
		Own     json.RawMessage `json:"carillon"`
	}
	if err := Decode(body, &w); err != nil {
		return Reply{}, fmt.Errorf("answer is no JSON object: %w", err)
	}
	if w.Code == nil || number(*w.Code) == 0 {
		return Reply{}, errors.New("answer has no code")
	}
	own := readOwn(w.Own)
	r := Reply{Code: number(*w.Code), Msg: text(w.Msg), Value: w.Data, Said: own.Said, About: own.About, LogDays: own.LogDays}
	if len(r.Value) == 0 || string(r.Value) == "null" {
		r.Value = w.Content
	}
	if string(r.Value) == "null" {
		r.Value = nil
	}
	return r, nil
}

// readOwn reads what our SDK adds; what is none of ours is empty.
func readOwn(raw json.RawMessage) Own {
	var o Own
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o.Said != nil && (len(o.Said.Code) > 64 || len(raw) > 4096) {
		return Own{}
	}
	return o
}

// WrongToken reports whether an answer refuses the token. The wire has no code for it:
// Java answers 500 with one of two texts, others 401 or 402 (reference: protocol.md 9).
func WrongToken(code int, msg string) bool {
	if code == CodeSuccess || code == 0 {
		return false
	}
	msg = strings.ToLower(msg)
	return strings.Contains(msg, "access token") || strings.Contains(msg, "accesstoken") || strings.Contains(msg, "access-token")
}
