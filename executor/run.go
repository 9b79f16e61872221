package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// HandlerFunc does the work of a run. It should return soon after ctx ends,
// which happens on kill, time-out and stop: the next run of the job waits for
// it. An error is reported as failure with its text, a panic likewise, with the
// stack in the log of the run.
type HandlerFunc func(ctx context.Context, run *Run) error

// Run is one run as its handler sees it.
type Run struct {
	JobID      int64
	LogID      int64 // identity of the run
	Handler    string
	Param      string
	Time       time.Time // the instant of the trigger, whole seconds
	ShardIndex int       // from 0
	ShardTotal int       // at least 1

	out *logWriter

	mu     sync.Mutex
	result string
}

// Logf writes to the log of the run, which the console shows.
func (r *Run) Logf(format string, args ...any) { r.out.line(fmt.Sprintf(format, args...)) }

// Write makes the log of the run an io.Writer, for example for the output of a
// command. It never fails.
func (r *Run) Write(p []byte) (int, error) { return r.out.Write(p) }

// Logger gives a structured logger that writes to the log of the run.
func (r *Run) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r.out, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // the log stamps each line itself
			}
			return a
		},
	}))
}

// SetResult sets the message that is reported when the run succeeds.
func (r *Run) SetResult(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = fmt.Sprintf(format, args...)
}

// stopCause says why a run was ended from outside and how that is reported.
type stopCause struct {
	code int
	text string
	said *protocol.Said
	// waiting is said of a run that had not begun.
	waiting *protocol.Said
}

// Error gives the reason in words.
func (c *stopCause) Error() string { return c.text }

func killed(said, waiting *protocol.Said, format string, args ...any) error {
	return &stopCause{code: protocol.CodeFail, text: fmt.Sprintf(format, args...), said: said, waiting: waiting}
}

// task is an accepted run.
type task struct {
	trigger protocol.Trigger
	ctx     context.Context // set when it begins
	cancel  context.CancelCauseFunc
}

// execute runs the task to its end and reports it. A handler that goes on
// although it was told to end is reported after KillGrace; execute still waits
// for it, so that a job never runs twice at a time.
func (e *Executor) execute(t *task) {
	tr := t.trigger
	defer t.cancel(nil)
	e.keep(entry{Start: tr.LogID})
	out := newLogWriter(logPath(e.logDir, tr.LogID, tr.LogDateTime), e.o.MaxLogBytes, e.o.Now)
	run := &Run{
		JobID: tr.JobID, LogID: tr.LogID, Handler: tr.Handler, Param: tr.Params, Time: time.UnixMilli(tr.LogDateTime),
		ShardIndex: int(tr.BroadcastIndex), ShardTotal: int(max(tr.BroadcastTotal, 1)), out: out,
	}
	run.Logf("run %d of job %d begins: %s, parameter %q, shard %d of %d",
		run.LogID, run.JobID, workName(tr), run.Param, run.ShardIndex, run.ShardTotal)

	ctx, stop := t.ctx, context.CancelFunc(func() {})
	if tr.TimeoutSec > 0 {
		d := time.Duration(min(tr.TimeoutSec, maxTimeoutSec)) * e.o.timeoutUnit
		ctx, stop = context.WithTimeoutCause(ctx, d, &stopCause{code: protocol.CodeTimeout, text: "time-out after " + d.String(), said: protocol.Say("sdk_timeout", "LimitMS", d.Milliseconds())})
	}
	defer stop()
	began := e.o.Now()
	ended := make(chan error, 1)
	go func() { ended <- e.work(ctx, run, tr) }()

	var err error
	returned := true
	select {
	case err = <-ended:
	case <-ctx.Done():
		run.Logf("told to end: %v", context.Cause(ctx))
		grace := time.NewTimer(e.o.KillGrace)
		select {
		case err = <-ended:
		case <-grace.C:
			returned = false
			run.Logf("did not end within %s; the job stays busy until it does", e.o.KillGrace)
		}
		grace.Stop()
	}
	res := verdict(ctx, run, err)
	run.Logf("run ends after %s with code %d %s", e.o.Now().Sub(began).Round(time.Millisecond), res.Code, res.Msg)
	if err := out.close(); err != nil {
		e.log.Warn("log of a run is incomplete", "log_id", tr.LogID, "job_id", tr.JobID, "error", err)
	}
	e.finish(tr, res)
	if !returned {
		<-ended
	}
}

// maxTimeoutSec keeps the time-out within a time.Duration: ten years.
const maxTimeoutSec = 10 * 366 * 24 * 3600

// work calls the handler or the script.
func (e *Executor) work(ctx context.Context, run *Run, tr protocol.Trigger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			run.Logf("panic: %v\n%s", p, debug.Stack())
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if kind, ok := scriptKinds()[tr.GlueType]; ok {
		return e.runScript(ctx, run, tr, kind)
	}
	h := e.handler(tr.Handler)
	if h == nil { // accepted before a restart that dropped the handler
		return noHandler(tr.Handler)
	}
	return h(ctx, run)
}

// verdict says what is reported: the reason for which the run was ended from
// outside counts more than what the handler made of it.
func verdict(ctx context.Context, run *Run, err error) protocol.Callback {
	if c, ok := errors.AsType[*stopCause](context.Cause(ctx)); ok {
		return protocol.Callback{Code: c.code, Msg: c.text, Said: c.said}
	}
	if err != nil {
		return protocol.Callback{Code: protocol.CodeFail, Msg: err.Error(), Said: saidOf(err)}
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	return protocol.Callback{Code: protocol.CodeSuccess, Msg: run.result}
}

func noHandler(name string) error {
	return &refusal{fmt.Sprintf("this executor has no handler %q", name), protocol.Say("sdk_no_handler", "Handler", name)}
}

// refusal is an error with a code for readers in other languages.
type refusal struct {
	text string
	said *protocol.Said
}

// Error gives the English text.
func (r *refusal) Error() string { return r.text }

func saidOf(err error) *protocol.Said {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.said
	}
	return nil
}

// workName says what a trigger runs.
func workName(tr protocol.Trigger) string {
	if tr.GlueType == glueBean {
		return "handler " + tr.Handler
	}
	return "script " + tr.GlueType
}
