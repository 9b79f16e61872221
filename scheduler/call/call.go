// Package call says what may come of calling an executor and how the rooms of the
// scheduler see the client that does it.
package call

import (
	"context"
	"errors"

	"github.com/carillon-scheduler/carillon/protocol"
)

// State is the three-valued outcome of ringing an executor.
type State int

// Outcomes of ringing.
const (
	Unknown  State = iota // may or may not have arrived
	Accepted              // the executor has it
	Refused               // certainly not taken
)

// Sent is what came of ringing.
type Sent struct {
	State       State
	Code        int
	Msg         string
	Unreachable bool // refused because there was no connection to the address
	Gone        bool // unreachable because nothing listens there
	WrongToken  bool // refused because of the token
	Said        *protocol.Said
}

// Answer is what an executor said to a question, for the record of a run.
type Answer struct {
	Code int // 0 = none
	Text string
}

type answerKey struct{}

// WithAnswer gives a context under which a client writes down what was answered.
func WithAnswer(ctx context.Context, to *Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, to)
}

// Answered writes down what was answered, if somebody wants to know.
func Answered(ctx context.Context, code int, text string) {
	if to, ok := ctx.Value(answerKey{}).(*Answer); ok {
		*to = Answer{Code: code, Text: text}
	}
}

// ErrGone in the error of a probe means that nothing listens at the address: the
// process that was there has ended.
var ErrGone = errors.New("nothing listens at the address")

// Executor is the small client to executors; app adapts executorclient to it.
type Executor interface {
	Run(ctx context.Context, address string, t protocol.Trigger) Sent
	Beat(ctx context.Context, address string) error
	IdleBeat(ctx context.Context, address string, jobID int64) (idle bool, err error)
	GlobalIdleBeat(ctx context.Context, address string) (idle bool, err error)
	Log(ctx context.Context, address string, q protocol.LogRequest) (protocol.LogResult, error)
}
