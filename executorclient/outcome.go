package executorclient

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/protocol"
)

// State says what is known about a run after the executor was called.
type State int

// The three states. The zero value is the careful one.
const (
	Unknown  State = iota // the executor may or may not have queued the run
	Accepted              // the executor queued the run
	Refused               // the executor did not queue the run, for certain
)

// String gives the word for logs.
func (s State) String() string {
	switch s {
	case Accepted:
		return "accepted"
	case Refused:
		return "refused"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Outcome is what came of calling an executor to run a job.
type Outcome struct {
	State State
	// Code is the code of the wire: 200 when accepted, that of the answer when
	// refused (500 when there was none), 0 when unknown.
	Code int
	// Msg explains the outcome to people, at most 1000 bytes.
	Msg string
	// Unreachable is set on a refused run of which nothing was sent: bad
	// address, no connection, or the context ended before there was one.
	Unreachable bool
	// Said is the same as a code, of our SDK.
	Said *protocol.Said
	// Err is the cause when there was no readable answer.
	Err error
}

func unreachable(err error) Outcome {
	return Outcome{State: Refused, Code: 500, Msg: cut(err.Error()), Unreachable: true, Err: err}
}

func unknown(err error) Outcome {
	return Outcome{State: Unknown, Msg: cut(err.Error()), Err: err}
}

// maxMsg is the length in bytes to which messages are cut.
const maxMsg = 1000

// cut shortens s to maxMsg bytes of valid UTF-8.
func cut(s string) string { return cutTo(s, maxMsg) }

func cutTo(s string, limit int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= limit {
		return s
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
