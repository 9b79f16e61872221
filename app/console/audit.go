package console

import (
	"errors"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
)

// The log says who came in and who was turned away. What anybody can cause is
// counted after some lines, so that nobody fills the disk.
const (
	auditLines  = 30 // of a kind within auditWindow
	auditWindow = time.Minute
	auditName   = 50 // characters of a name that is logged as it was typed
)

// audit writes the lines about logins and passwords.
type audit struct {
	log   *slog.Logger
	clock Clock
	mu    sync.Mutex
	kinds map[string]*auditKind // by message, of which there are a few
}

type auditKind struct {
	began           time.Time
	lines, withheld int
}

func newAudit(log *slog.Logger, clock Clock) *audit {
	return &audit{log: log, clock: clock, kinds: map[string]*auditKind{}}
}

// note writes one line, or counts it when there were many like it. The next
// line that is written says how many were not.
func (a *audit) note(r *request, level slog.Level, msg, user string, more ...slog.Attr) {
	withheld, ok := a.room(msg)
	if !ok {
		return
	}
	attrs := append([]slog.Attr{
		slog.String("user", shortened(user)), slog.String("ip", r.RealIP()), slog.String("request_id", r.id),
	}, more...)
	if withheld > 0 {
		attrs = append(attrs, slog.Int("lines_withheld", withheld))
	}
	a.log.LogAttrs(r.Request().Context(), level, msg, attrs...)
}

func (a *audit) room(msg string) (withheld int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.kinds[msg]
	if k == nil {
		k = &auditKind{}
		a.kinds[msg] = k
	}
	if now := a.clock.Now(); now.Sub(k.began) >= auditWindow {
		k.began, k.lines = now, 0
	}
	if k.lines >= auditLines {
		k.withheld++
		return 0, false
	}
	k.lines++
	withheld, k.withheld = k.withheld, 0
	return withheld, true
}

func shortened(name string) string {
	if utf8.RuneCountInString(name) <= auditName {
		return name
	}
	return string([]rune(name[:min(len(name), 4*auditName)])[:auditName]) + "…"
}

// refused notes a password that did not get through.
func (a *audit) refused(r *request, what, user string, err error) {
	switch e, _ := errors.AsType[*model.Error](err); {
	case e == nil:
	case e.Code == model.CodeTooMany && e.Key == "error.login_busy":
		a.note(r, slog.LevelWarn, what+" refused: too many passwords are being checked", user)
	case e.Code == model.CodeTooMany:
		wait, _ := e.Args["Wait"].(time.Duration)
		a.note(r, slog.LevelWarn, what+" refused: too many attempts", user, slog.Duration("wait", wait.Round(time.Second)))
	case e.Code == model.CodeInvalid:
		a.note(r, slog.LevelWarn, what+" failed", user)
	}
}
