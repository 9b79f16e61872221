package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/app/api"
	"github.com/carillon-scheduler/carillon/app/console"
	"github.com/carillon-scheduler/carillon/app/legacy"
	"github.com/carillon-scheduler/carillon/executorclient"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/scheduler"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/store"
)

// The parts define what they need where they use it; here the fit is proved.
var (
	_ scheduler.Store    = (*store.Store)(nil)
	_ jobs.Store         = (*store.Store)(nil)
	_ alarm.Store        = (*store.Store)(nil)
	_ alarm.Outbox       = (*store.Store)(nil)
	_ alarm.Sender       = (*teller)(nil)
	_ report.KeepStore   = (*store.Store)(nil)
	_ report.MailStore   = (*store.Store)(nil)
	_ report.TargetStore = (*store.Store)(nil)
	_ jobs.Teller        = (*teller)(nil)
	_ jobs.Ringer        = (*scheduler.Scheduler)(nil)
	_ api.Service        = (*jobs.Service)(nil)
	_ api.Completer      = (*scheduler.Scheduler)(nil)
	_ console.Service    = (*jobs.Service)(nil)
	_ legacy.Service     = (*jobs.Service)(nil)
	_ legacy.Logins      = (*console.Console)(nil)
	_ scheduler.Executor = ringing{}
	_ jobs.Executors     = asking{}
)

// ringing lets the scheduler ring through the executor client.
type ringing struct{ *executorclient.Client }

// Run implements scheduler.Executor.
func (r ringing) Run(ctx context.Context, address string, t protocol.Trigger) call.Sent {
	out := r.Client.Run(ctx, address, t)
	sent := call.Sent{Said: out.Said, Code: out.Code, Msg: out.Msg, Unreachable: out.Unreachable, Gone: out.Unreachable && errors.Is(out.Err, syscall.ECONNREFUSED)}
	switch out.State {
	case executorclient.Accepted:
		sent.State = call.Accepted
	case executorclient.Refused:
		sent.State, sent.WrongToken = call.Refused, !out.Unreachable && protocol.WrongToken(out.Code, out.Msg)
	}
	return sent
}

// Beat implements scheduler.Executor.
func (r ringing) Beat(ctx context.Context, address string) error {
	err := r.Client.Beat(ctx, address)
	return answered(ctx, true, "", err)
}

// IdleBeat implements scheduler.Executor.
func (r ringing) IdleBeat(ctx context.Context, address string, jobID int64) (bool, error) {
	idle, msg, err := r.Client.IdleBeat(ctx, address, jobID)
	return idle, answered(ctx, idle, msg, err)
}

// GlobalIdleBeat implements scheduler.Executor.
func (r ringing) GlobalIdleBeat(ctx context.Context, address string) (bool, error) {
	idle, msg, err := r.Client.GlobalIdleBeat(ctx, address)
	return idle, answered(ctx, idle, msg, err)
}

// answered writes down what was answered and marks the error.
func answered(ctx context.Context, yes bool, msg string, err error) error {
	code := protocol.CodeSuccess
	if a, ok := errors.AsType[*executorclient.AnswerError](err); ok {
		code, msg = a.Code, a.Msg
	} else if err != nil {
		code, msg = 0, err.Error()
	} else if !yes {
		code = protocol.CodeFail
	}
	call.Answered(ctx, code, msg)
	return gone(err)
}

// gone marks the errors that mean that nothing listens at the address.
func gone(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w", call.ErrGone, err)
	}
	return err
}

// asking lets the use cases read logs and kill runs.
type asking struct{ *executorclient.Client }

// ReadLog implements jobs.Executors.
func (a asking) ReadLog(ctx context.Context, address string, runID int64, triggered time.Time, fromLine int) (model.LogChunk, error) {
	at := triggered.UnixMilli()
	res, err := a.Client.Log(ctx, address, protocol.LogRequest{LogID: runID, LogDateTim: at, LogDateTime: at, FromLineNum: fromLine})
	return model.LogChunk{From: res.FromLineNum, To: res.ToLineNum, Content: res.LogContent, End: res.IsEnd}, err
}

// Kill implements jobs.Executors.
func (a asking) Kill(ctx context.Context, address string, jobID int) error {
	_, err := a.Client.Kill(ctx, address, int64(jobID))
	return err
}

// Ping implements jobs.Executors.
func (a asking) Ping(ctx context.Context, address string) (model.LastCall, *model.Report) {
	began := time.Now()
	about, err := a.Client.Ping(ctx, address)
	out := model.LastCall{AtMS: began.UnixMilli(), Code: protocol.CodeSuccess, TookMS: time.Since(began).Milliseconds()}
	var answer *executorclient.AnswerError
	var dial *net.OpError
	switch {
	case err == nil:
	case errors.As(err, &answer):
		out.Code, out.Text, out.Reason = answer.Code, answer.Msg, model.ReasonRefused
		if protocol.WrongToken(answer.Code, answer.Msg) {
			out.Reason = model.ReasonWrongToken
		}
	case errors.As(err, &dial) && dial.Op == "dial":
		out.Code, out.Text, out.Reason = 0, err.Error(), model.ReasonUnreached
	default:
		out.Code, out.Text, out.Reason = 0, err.Error(), model.CallNoAnswer
	}
	return out, api.ReportOf(about)
}
