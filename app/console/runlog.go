package console

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	logPoll      = 700 * time.Millisecond
	logSlowest   = 10 * time.Second // between attempts while the executor is silent
	logHeartbeat = 15 * time.Second
	logLifetime  = 30 * time.Minute // then the browser connects again
	logWrite     = 10 * time.Second // a reader that takes nothing for so long is dropped
	logAskAgain  = 3 * time.Second  // who reads is looked at again
	logRounds    = 2000             // bound of one download
)

// logLines is one piece of a log as the browser gets it.
type logLines struct {
	From    int    `json:"from"`
	To      int    `json:"to"`
	Content string `json:"content"`
}

// stream writes server-sent events.
type stream struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	clock Clock
	last  time.Time
}

func (s *stream) send(text string) error {
	// Recorders and some wrappers have no deadline to set; then there is none.
	_ = s.rc.SetWriteDeadline(s.clock.Now().Add(logWrite))
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	s.last = s.clock.Now()
	return s.rc.Flush()
}

func (s *stream) event(name, id string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return s.send(id + "event: " + name + "\ndata: " + string(raw) + "\n\n")
}

// runLogStream follows the log of a run for as long as its reader is logged in
// and may see it. It asks the executor again and again
// in the goroutine of the request, so it ends with the request and leaves
// nothing behind.
func (c *Console) runLogStream(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	if _, err := c.svc.Run(ctx, r.actor(), id); err != nil {
		return err
	}
	from := 1
	if last, err := strconv.Atoi(r.Request().Header.Get("Last-Event-ID")); err == nil && last > 0 {
		from = last + 1
	}
	h := r.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	r.Response().WriteHeader(http.StatusOK)
	s := &stream{w: r.Response(), rc: http.NewResponseController(r.Response()), clock: c.clock}
	// A server's read timeout would otherwise end the request's context.
	_ = s.rc.SetReadDeadline(time.Time{})
	if err := s.send("retry: 2000\n\n"); err != nil {
		return nil
	}
	c.follow(r, s, id, from)
	return nil
}

// follow sends lines until the log ends, the browser goes or time is up.
func (c *Console) follow(r *request, s *stream, id int64, from int) {
	ctx := r.Request().Context()
	wait, asked := logPoll, c.clock.Now()
	for end := c.clock.Now().Add(logLifetime); c.clock.Now().Before(end); {
		var chunk model.LogChunk
		var err error
		if c.clock.Now().Sub(asked) >= logAskAgain {
			asked = c.clock.Now()
			user, askErr := c.askAgain(r)
			if askErr == nil && user == nil {
				_ = s.event("problem", "", r.loc.T("error.logged_out"))
				_ = s.event("end", "", "")
				return
			}
			if err = askErr; err == nil {
				r.user = user
			} else {
				asked = time.Time{} // no line before that is known
			}
		}
		if err == nil {
			chunk, err = c.svc.ReadLog(ctx, r.actor(), id, from)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			text := message(r.loc, err)
			if text == "" {
				text = r.loc.T("error.internal", "ID", r.id)
				c.log.LogAttrs(ctx, slog.LevelError, "reading a run log failed", slog.String("request_id", r.id),
					slog.Int64("log_id", id), slog.Any("error", err))
			}
			if s.event("problem", "", text) != nil {
				return
			}
			switch model.CodeOf(err) {
			case model.CodeNotFound, model.CodeForbidden, model.CodeInvalid:
				_ = s.event("end", "", "") // asking again will not help
				return
			}
			wait = min(wait*2, logSlowest)
		default:
			wait = logPoll
			if chunk.To >= chunk.From && chunk.To >= from {
				if s.event("lines", strconv.Itoa(chunk.To), logLines{chunk.From, chunk.To, chunk.Content}) != nil {
					return
				}
				from = chunk.To + 1
			}
			if chunk.End {
				_ = s.event("end", "", "")
				return
			}
		}
		if c.clock.Now().Sub(s.last) >= logHeartbeat && s.send(": still here\n\n") != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-c.clock.After(wait):
		}
	}
}

// runLog gives the log as far as it is written as plain text.
func (c *Console) runLog(r *request) error {
	id, err := r.idParam()
	if err != nil {
		return err
	}
	ctx := r.Request().Context()
	chunk, err := c.svc.ReadLog(ctx, r.actor(), id, 1)
	if err != nil {
		return err
	}
	h := r.Response().Header()
	h.Set(echo.HeaderContentType, "text/plain; charset=utf-8")
	if r.QueryParam("download") != "" {
		h.Set(echo.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="run-%d.log"`, id))
	}
	r.Response().WriteHeader(http.StatusOK)
	rc := http.NewResponseController(r.Response())
	for range logRounds {
		// A long log may take longer than the server gives a page.
		_ = rc.SetWriteDeadline(c.clock.Now().Add(logWrite))
		if _, err := io.WriteString(r.Response(), chunk.Content); err != nil {
			return nil // the reader went away
		}
		if chunk.End || chunk.To < chunk.From {
			return nil
		}
		if chunk, err = c.svc.ReadLog(ctx, r.actor(), id, chunk.To+1); err != nil {
			_, _ = io.WriteString(r.Response(), "\n"+message(r.loc, err)+"\n")
			return nil
		}
	}
	return nil
}
