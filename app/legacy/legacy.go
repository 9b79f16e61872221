// Package legacy answers at the addresses of the console that people come from:
// its pages lead to ours, and its JSON calls, which scripts use for want of an
// API, answer as there (docs/legacy.md). Every call is one call on the use cases
// with the rights of the person who logged in, so there is no rule of its own here.
package legacy

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// Service is what the calls need from the use cases; jobs.Service has it.
type Service interface {
	FindJobs(ctx context.Context, actor model.Actor, f model.JobFilter) ([]model.Job, int, error)
	AddSources(ctx context.Context, actor model.Actor, list []model.Job) error
	Job(ctx context.Context, actor model.Actor, id int) (model.Job, error)
	AddJob(ctx context.Context, actor model.Actor, in jobs.JobInput) (int, error)
	UpdateJob(ctx context.Context, actor model.Actor, id int, in jobs.JobInput) error
	DeleteJob(ctx context.Context, actor model.Actor, id int) error
	StartJob(ctx context.Context, actor model.Actor, id int) error
	StopJob(ctx context.Context, actor model.Actor, id int) error
	RunNow(ctx context.Context, actor model.Actor, id int, in jobs.RunInput) (int64, error)
	Preview(scheduleType model.ScheduleType, conf, lang string, n int) (jobs.Preview, error)

	FindRuns(ctx context.Context, actor model.Actor, f model.RunFilter) ([]model.Run, int, error)
	ReadLog(ctx context.Context, actor model.Actor, runID int64, fromLine int) (model.LogChunk, error)
	KillRun(ctx context.Context, actor model.Actor, id int64) error
	ClearRuns(ctx context.Context, actor model.Actor, in jobs.ClearInput) (jobs.Clearing, error)
	DayCounts(ctx context.Context, actor model.Actor, from, to time.Time) ([]model.DayCount, error)

	Executors(ctx context.Context, actor model.Actor) (jobs.ExecutorPage, error)
	Executor(ctx context.Context, actor model.Actor, id int) (model.Group, error)
	AddExecutor(ctx context.Context, actor model.Actor, in jobs.ExecutorInput) (int, error)
	UpdateExecutor(ctx context.Context, actor model.Actor, id int, in jobs.ExecutorInput) error
	DeleteExecutor(ctx context.Context, actor model.Actor, id int) error

	Users(ctx context.Context, actor model.Actor) ([]model.User, error)
	Account(ctx context.Context, actor model.Actor, id int) (model.User, error)
	AddUser(ctx context.Context, actor model.Actor, in jobs.UserInput) (int, string, error)
	UpdateUser(ctx context.Context, actor model.Actor, id int, in jobs.UserInput) error
	DeleteUser(ctx context.Context, actor model.Actor, id int) error
	ResetPasswordOf(ctx context.Context, actor model.Actor, id int, password string) (string, error)
	ChangePassword(ctx context.Context, userID int, old, new, from string) (model.User, error)
	Now() time.Time // in the center's zone
}

// Logins are the sessions of the console; console.Console has them.
type Logins interface {
	Enter(req *http.Request, name, password string, remember bool) (token string, err error)
	Visitor(ctx context.Context, token string) (*model.User, error)
	Leave(req *http.Request, token string) error
	From(req *http.Request) string
	Origin(req *http.Request) error
	Cookie(token string, remember bool) *http.Cookie
}

// Options build a Handler.
type Options struct {
	Service Service
	Logins  Logins
	Logger  *slog.Logger
	// BasePath is where the console lives, "/" or "" for the root.
	BasePath string
	// Text says a model error in words.
	Text func(*model.Error) string
	// Next answers every other address.
	Next http.Handler
}

// Handler answers the known addresses and leaves all others to the next one.
type Handler struct {
	Options
	base  string
	calls map[string]action
}

// known is the context path that the console of old has by default.
const known = "/xxl-job-admin"

// New builds a Handler.
func New(o Options) *Handler {
	h := &Handler{Options: o, base: strings.TrimRight("/"+strings.Trim(o.BasePath, "/"), "/")}
	h.calls = h.actions()
	return h
}

// ServeHTTP finds the address, with any of the known context paths before it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := h.strip(r.URL.Path)
	if a, ok := h.calls[path]; ok && a.meant(r) {
		h.answer(w, r, a)
		return
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if to := h.page(path, r.URL.Path, r.URL.Query()); to != "" {
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, h.base+to, http.StatusFound)
			return
		}
	}
	h.Next.ServeHTTP(w, r)
}

// strip takes the context path off.
func (h *Handler) strip(path string) string {
	for _, prefix := range []string{h.base, known} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') && prefix != "" {
			path = rest
			break
		}
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}
