// Package api is the machine side of the center: the calls of executors
// (registry, registryRemove, callback), the job management calls for scripts,
// and health. It answers in the envelope that every known client accepts, with
// HTTP status 200 also for refusals, because the clients of the field read the
// code in the body only (reference: protocol.md 1.1, 3.1).
package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// Service is what the calls need from the use cases; jobs.Service has it.
type Service interface {
	Register(ctx context.Context, reg model.Registration) error
	LogDays(ctx context.Context) (model.KeepDays, error)
	Deregister(ctx context.Context, reg model.Registration) error
	Job(ctx context.Context, actor model.Actor, id int) (model.Job, error)
	AddJob(ctx context.Context, actor model.Actor, in jobs.JobInput) (int, error)
	UpdateJob(ctx context.Context, actor model.Actor, id int, in jobs.JobInput) error
	DeleteJob(ctx context.Context, actor model.Actor, id int) error
	StartJob(ctx context.Context, actor model.Actor, id int) error
	StopJob(ctx context.Context, actor model.Actor, id int) error
	RunNow(ctx context.Context, actor model.Actor, id int, in jobs.RunInput) (int64, error)
}

// Completer stores results of runs and returns when they are stored.
type Completer interface {
	Complete(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error)
}

// Options build an API.
type Options struct {
	Service   Service
	Completer Completer
	// Tokens: every call must carry one of them; the current one is never empty in production.
	Tokens protocol.Tokens
	Logger *slog.Logger
	Now    func() time.Time
	// Text says a model error in words.
	Text func(*model.Error) string
	// Ready reports why the node cannot schedule, or nil.
	Ready func(context.Context) error
	// Details are further lines for people who look at /readyz.
	Details func() string
	// Metrics answers GET /metrics; nil = not found.
	Metrics http.Handler
	// From finds the address of whoever calls, for the audit; nil = not noted.
	From func(*http.Request) string
}

// API answers machines.
type API struct {
	Options
	old oldCalls
}

// New builds an API.
func New(o Options) *API { return &API{Options: o} }

// oldCalls counts the calls with the previous token.
type oldCalls struct {
	mu   sync.Mutex
	n    int64
	last time.Time
	from string
}

// OldCalls says how many calls came with the previous token, when the last one came and
// from where: the change of the token is complete when there are none any more.
func (a *API) OldCalls() (n int64, last time.Time, from string) {
	a.old.mu.Lock()
	defer a.old.mu.Unlock()
	return a.old.n, a.old.last, a.old.from
}

func (a *API) noteOld(remote string) {
	a.old.mu.Lock()
	defer a.old.mu.Unlock()
	a.old.n++
	a.old.last, a.old.from = a.Now(), remote
}

// call is one API call: the body is complete and at most protocol.MaxBody long.
type call func(ctx context.Context, body []byte) (protocol.Answer, error)

// Routes puts everything on e. The addresses of the original's two context
// paths are served alike: executors have them in their files.
func (a *API) Routes(e *echo.Echo) {
	calls := map[string]call{
		"registry": a.registry, "registryRemove": a.registryRemove, "callback": a.callback,
		"addJob": a.addJob, "updateJob": a.updateJob, "removeJob": a.removeJob,
		"startJob": a.startJob, "stopJob": a.stopJob, "triggerJob": a.triggerJob,
	}
	for _, prefix := range []string{"/api", "/xxl-job-admin/api"} {
		e.Any(prefix, a.handle(nil))
		e.Any(prefix+"/*", a.handle(nil))
		for name, c := range calls {
			e.Any(prefix+"/"+name, a.handle(c))
		}
	}
	// HEAD too: load balancers probe with it.
	probes := []string{http.MethodGet, http.MethodHead}
	e.Match(probes, "/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.Match(probes, "/readyz", a.readyz)
	if a.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(a.Metrics))
	}
}

func (a *API) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := a.Ready(ctx); err != nil {
		return c.String(http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n"+a.Details())
	}
	return c.String(http.StatusOK, "ready\n"+a.Details())
}

// handle checks a call in the order of the original: method, token, name, body.
func (a *API) handle(do call) echo.HandlerFunc {
	return func(c echo.Context) error {
		answer := a.serve(c.Response().Writer, c.Request(), do)
		c.Response().Header().Set("Cache-Control", "no-store")
		return c.JSON(http.StatusOK, answer)
	}
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, do call) protocol.Answer {
	if r.Method != http.MethodPost {
		return protocol.Fail("invalid request: the method must be POST")
	}
	ok, old := a.Tokens.Accepts(r.Header.Get(protocol.HeaderToken), a.Now())
	if old {
		a.noteOld(r.RemoteAddr)
	}
	if !ok {
		a.Logger.Warn("API call with a wrong access token", "path", r.URL.Path, "remote", r.RemoteAddr)
		return protocol.Fail("the access token is wrong: send it in the header %s", protocol.HeaderToken)
	}
	if do == nil {
		return protocol.Fail("unknown API call %q", r.URL.Path)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, protocol.MaxBody))
	if _, tooBig := errors.AsType[*http.MaxBytesError](err); tooBig {
		return protocol.Fail("the body is larger than %d bytes", protocol.MaxBody)
	}
	if err != nil {
		return protocol.Fail("cannot read the body")
	}
	if len(body) == 0 {
		return protocol.Fail("the body is empty")
	}
	ctx := r.Context()
	if a.From != nil {
		ctx = context.WithValue(ctx, fromKey{}, a.From(r))
	}
	answer, err := do(ctx, body)
	if err == nil {
		return answer
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		a.Logger.Info("API call refused", "path", r.URL.Path, "remote", r.RemoteAddr, "error", e)
		return protocol.Fail("%s", a.Text(e))
	}
	if r.Context().Err() == nil {
		a.Logger.Error("API call failed", "path", r.URL.Path, "remote", r.RemoteAddr, "error", err)
	}
	return protocol.Fail("internal error: it is not known whether anything was changed, look before you try again")
}

// decode reads the body or says what is wrong with it.
func decode(body []byte, v any) error {
	if err := protocol.Decode(body, v); err != nil {
		return &model.Error{Code: model.CodeInvalid, Key: "error.json", Args: map[string]any{"Reason": err.Error()}, Cause: err}
	}
	return nil
}
