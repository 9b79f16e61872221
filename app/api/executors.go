package api

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// registry takes a beat. An executor of our SDK is told for how long logs are wanted.
func (a *API) registry(ctx context.Context, body []byte) (protocol.Answer, error) {
	reg, err := registration(body)
	if err == nil {
		err = a.Service.Register(ctx, reg)
	}
	answer := protocol.OK(nil)
	if err != nil || reg.Report == nil {
		return answer, err
	}
	days, err := a.Service.LogDays(ctx)
	if err != nil { // the beat counts all the same
		a.Logger.Warn("executors are not told for how long logs are wanted", "error", err)
		return answer, nil
	}
	answer.LogDays = new(max(0, int(days)))
	return answer, nil
}

func (a *API) registryRemove(ctx context.Context, body []byte) (protocol.Answer, error) {
	reg, err := registration(body)
	if err == nil {
		err = a.Service.Deregister(ctx, reg)
	}
	return protocol.OK(nil), err
}

func registration(body []byte) (model.Registration, error) {
	var in protocol.Registry
	if err := decode(body, &in); err != nil {
		return model.Registration{}, err
	}
	return model.Registration{Group: in.Group, Key: in.Key, Address: in.Value, Report: ReportOf(protocol.ReadAbout(in.Own))}, nil
}

// callback stores results before it answers. When the database is away the
// answer is a failure, so the executor keeps the results and sends them again.
// Results of runs that do not exist are named; they fail the call only when
// nothing else was in it, because Java executors resend a refused batch as a
// whole and for ever.
func (a *API) callback(ctx context.Context, body []byte) (protocol.Answer, error) {
	in, err := protocol.ParseCallbacks(body)
	if err != nil {
		return protocol.Answer{}, &model.Error{Code: model.CodeInvalid, Key: "error.json", Args: map[string]any{"Reason": err.Error()}, Cause: err}
	}
	now := a.Now().UnixMilli()
	list := make([]model.Handled, len(in))
	for i, c := range in {
		list[i] = model.Handled{RunID: c.LogID, Code: c.Code, Msg: c.Msg, AtMS: now, TriggerMS: c.LogDateTime, Echo: c.Echo}
		if c.Said != nil {
			said := model.Said{Code: c.Said.Code, Args: map[string]any{"Text": c.Msg}} // for those who do not know the code
			maps.Copy(said.Args, c.Said.Args)
			list[i].Msg, list[i].Said = "", []model.Said{said}
		}
	}
	statuses, err := a.Completer.Complete(ctx, list)
	if err != nil {
		return protocol.Answer{}, fmt.Errorf("store %d callbacks: %w", len(list), err)
	}
	var unknown []string
	for i, st := range statuses {
		if st == model.HandledLocked {
			return protocol.Answer{}, fmt.Errorf("run %d is locked by another session of the database", list[i].RunID) // sent again as a whole: the others count as repeats
		}
		if st == model.HandledUnknown {
			unknown = append(unknown, fmt.Sprint(list[i].RunID))
		}
	}
	if len(unknown) == 0 {
		return protocol.OK(nil), nil
	}
	a.Logger.Warn("callback for runs that do not exist", "log_ids", unknown, "of", len(list))
	text := "unknown run " + strings.Join(unknown, ", ")
	if len(unknown) == len(list) {
		return protocol.Fail("%s", text), nil
	}
	return protocol.Answer{Code: protocol.CodeSuccess, Msg: "stored, except: " + text}, nil
}

// ReportOf takes over what an executor says of itself, within bounds; nil of nil.
func ReportOf(a *protocol.About) *model.Report {
	if a == nil {
		return nil
	}
	r := &model.Report{Version: a.Version, SDK: a.SDK, Language: a.Language, Handlers: a.Handlers, Running: a.Running, Waiting: a.Waiting}
	for _, t := range a.Types {
		r.Types = append(r.Types, model.GlueType(t))
	}
	return r.Bounded()
}
