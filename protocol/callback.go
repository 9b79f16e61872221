package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Callback is one result that an executor reports.
type Callback struct {
	LogID       int64
	LogDateTime int64 // epoch ms of the trigger; some send a time of their own clock
	Echo        bool  // it is that of the trigger, for certain
	Said        *Said // of our SDK
	Code        int   // 200 success, 502 time-out, everything else failure; never 0
	Msg         string
}

// wireCallback is the union of the three generations.
type wireCallback struct {
	LogID         json.Number     `json:"logId"`
	LogDateTim    json.RawMessage `json:"logDateTim"`
	LogDateTime   json.RawMessage `json:"logDateTime"`
	Own           json.RawMessage `json:"carillon"`
	HandleCode    json.Number     `json:"handleCode"`
	HandleMsg     json.RawMessage `json:"handleMsg"`
	ExecuteResult *struct {
		Code json.Number     `json:"code"`
		Msg  json.RawMessage `json:"msg"`
	} `json:"executeResult"`
}

// ParseCallbacks reads the body of POST /api/callback in any generation: a list
// (G1 to G3) or an object with callbackList (G4). Per item handleCode counts
// when it is there and not zero, else executeResult.code; a missing code is a
// failure. Messages may be of any JSON type (reference: protocol.md 3.3).
func ParseCallbacks(body []byte) ([]Callback, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil, errors.New("empty body")
	}
	var list []wireCallback
	switch body[0] {
	case '[':
		if err := Decode(body, &list); err != nil {
			return nil, err
		}
	case '{':
		var obj struct {
			CallbackList []wireCallback `json:"callbackList"`
		}
		if err := Decode(body, &obj); err != nil {
			return nil, err
		}
		list = obj.CallbackList
	default:
		return nil, errors.New("neither a list nor an object")
	}
	if len(list) == 0 {
		return nil, errors.New("no callback in the body")
	}
	out := make([]Callback, 0, len(list))
	for i, w := range list {
		id, err := strconv.ParseInt(w.LogID.String(), 10, 64)
		if err != nil || id <= 0 {
			return nil, fmt.Errorf("callback %d: logId %q is no positive number", i, w.LogID)
		}
		own := readOwn(w.Own)
		c := Callback{LogID: id, LogDateTime: cmp.Or(millis(w.LogDateTim), millis(w.LogDateTime)), Echo: own.Echo, Said: own.Said,
			Code: number(w.HandleCode), Msg: text(w.HandleMsg)}
		if c.Code == 0 && w.ExecuteResult != nil {
			c.Code, c.Msg = number(w.ExecuteResult.Code), text(w.ExecuteResult.Msg)
		}
		if c.Code == 0 {
			c.Code = CodeFail
		}
		out = append(out, c)
	}
	return out, nil
}

// MarshalJSON writes the form that every center since 2.2 understands:
// handleCode and executeResult side by side, and both spellings of the time.
func (c Callback) MarshalJSON() ([]byte, error) {
	type result struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	var own *Own
	if c.Said != nil || c.Echo {
		own = &Own{Said: c.Said, Echo: c.Echo}
	}
	return json.Marshal(struct {
		LogID       int64  `json:"logId"`
		LogDateTim  int64  `json:"logDateTim"`
		LogDateTime int64  `json:"logDateTime"`
		HandleCode  int    `json:"handleCode"`
		HandleMsg   string `json:"handleMsg"`
		Result      result `json:"executeResult"`
		Own         *Own   `json:"carillon,omitempty"`
	}{c.LogID, c.LogDateTime, c.LogDateTime, c.Code, c.Msg, result{c.Code, c.Msg}, own})
}

// UnmarshalJSON reads one item as ParseCallbacks does.
func (c *Callback) UnmarshalJSON(b []byte) error {
	list, err := ParseCallbacks(append(append([]byte{'['}, b...), ']'))
	if err == nil {
		*c = list[0]
	}
	return err
}

// number takes an int32 from a JSON number or numeric string, 0 when it is
// missing or not a number of that size.
func number(n json.Number) int {
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0
	}
	return int(f)
}

// millis takes an instant in epoch ms from a JSON number, 0 when it is none.
func millis(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// text takes a string of valid UTF-8 from any JSON value.
func text(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return strings.ToValidUTF8(string(raw), "\ufffd")
}
