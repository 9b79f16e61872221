package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a client may take. Live logs, which last, set deadlines of their own.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 60 * time.Second
	// answerTimeout runs from the end of the header: a body that comes slowly and
	// a client that takes nothing must both end.
	answerTimeout = 90 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 64 << 10
)

// newServer builds the HTTP server; requests end with streams.
func newServer(h http.Handler, log *slog.Logger, streams context.Context) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return streams },
	}
}
