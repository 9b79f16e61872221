package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Trigger is the body of POST /run (G1 to G3) and /trigger (G4). All twelve
// keys are always sent, strings are never null and integers never negative:
// several clients refuse anything else (reference: protocol.md 2.3).
type Trigger struct {
	JobID          int64  `json:"jobId"`
	Handler        string `json:"executorHandler"`
	Params         string `json:"executorParams"`
	BlockStrategy  string `json:"executorBlockStrategy"`
	TimeoutSec     int64  `json:"executorTimeout"`
	LogID          int64  `json:"logId"`
	LogDateTime    int64  `json:"logDateTime"` // epoch ms of the trigger, whole seconds
	GlueType       string `json:"glueType"`
	GlueSource     string `json:"glueSource"`
	GlueUpdateTime int64  `json:"glueUpdatetime"` // epoch ms, version of the source
	BroadcastIndex int64  `json:"broadcastIndex"`
	BroadcastTotal int64  `json:"broadcastTotal"`
}

// IdleBeat is the body of POST /idleBeat.
type IdleBeat struct {
	JobID int64 `json:"jobId"`
}

// Kill is the body of POST /kill. It kills by job, not by run.
type Kill struct {
	JobID int64 `json:"jobId"`
}

// LogRequest is the body of POST /log. Both spellings of the time key are sent;
// every client ignores the one it does not know.
type LogRequest struct {
	LogID       int64 `json:"logId"`
	LogDateTim  int64 `json:"logDateTim"`
	LogDateTime int64 `json:"logDateTime"`
	FromLineNum int   `json:"fromLineNum"`
}

// Time gives the trigger time in epoch ms under whichever key it came.
func (r LogRequest) Time() int64 {
	if r.LogDateTim != 0 {
		return r.LogDateTim
	}
	return r.LogDateTime
}

// LogResult is the value of the answer to POST /log. Line numbers start at 1,
// both ends are inclusive.
type LogResult struct {
	FromLineNum int    `json:"fromLineNum"`
	ToLineNum   int    `json:"toLineNum"`
	LogContent  string `json:"logContent"`
	IsEnd       bool   `json:"isEnd"`
	// Known says whether the executor ever had the run: it waits there, runs, or has left
	// a log. Ours, nil from other clients: theirs cannot tell a run that waits in their
	// queue from one that never came.
	Known *bool `json:"known,omitempty"`
}

// Registry is the body of POST /api/registry and /api/registryRemove.
type Registry struct {
	Group string `json:"registryGroup"`
	Key   string `json:"registryKey"`   // app name
	Value string `json:"registryValue"` // address, stored verbatim
	// Own is an object with what our SDK says of itself (ReadAbout); nothing of other executors.
	Own json.RawMessage `json:"carillon,omitempty"`
}

// inWords says what is wrong with a value without the names of our types.
func inWords(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want, field := "something else", e.Field
	switch e.Type.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		want = "a whole number"
	case reflect.Float64:
		want = "a number"
	case reflect.String:
		want = "a text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Struct, reflect.Map:
		want = "an object"
	case reflect.Slice:
		want = "a list"
	}
	if field == "" {
		field = "the body"
	}
	return fmt.Errorf("%s must be %s, not %s", field, want, e.Value)
}

// Decode reads exactly one JSON value into v: trailing data is an error, an
// unknown key is not.
func Decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return inWords(err)
	}
	return nil
}
