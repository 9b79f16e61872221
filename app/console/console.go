// Package console serves the pages that people use: login, jobs, runs,
// executors and the rest. It binds requests, makes one call on the Service and
// draws the answer with package views; rules live in package jobs. The web
// framework is confined to this package.
package console

import (
	"compress/gzip"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/static"
)

// Options says how the console is to be built. Service and Sessions are required.
type Options struct {
	Service  Service
	Sessions scs.Store // where logins are kept; scs.CtxStore is honoured
	Logger   *slog.Logger
	Clock    Clock

	// BasePath is the path below which the console lives, "/" or "" for the root.
	BasePath string
	// Texts are those of the console; nil = read them, with Language as the default.
	Texts *i18n.Bundle
	// Language is used when neither user nor browser has a wish; "" = zh-Hans.
	Language string
	// Secure marks cookies for HTTPS only: set it when people come by TLS.
	Secure bool
	// TrustedOrigins may send forms although they are another origin, for
	// example the public address in front of a proxy that changes Host.
	TrustedOrigins []string
	// IPExtractor finds the address of the person; nil = the peer of the connection.
	IPExtractor echo.IPExtractor
	// CenterURL is what executors are told to register at, in the sample command.
	CenterURL string

	Version, Build, GoVersion string
	SourceURL, Licence        string
	// MailSet says that alarms can be mailed.
	MailSet bool
}

// Clock is the edge to real time.
type Clock interface {
	Now() time.Time
	// After gives a channel that receives once, when d has passed.
	After(d time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Console is the handler of all pages.
type Console struct {
	opt      Options
	base     string
	svc      Service
	log      *slog.Logger
	clock    Clock
	texts    *i18n.Bundle
	files    *static.Files
	sessions *scs.SessionManager
	origins  *http.CrossOriginProtection
	audit    *audit
	packers  sync.Pool // of *gzip.Writer: each is large
	echo     *echo.Echo

	importing chan struct{} // files that are being read
	once      once
}

// New builds the console.
func New(opt Options) (*Console, error) {
	if opt.Service == nil || opt.Sessions == nil {
		return nil, errors.New("console: Service and Sessions are required")
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Clock == nil {
		opt.Clock = realClock{}
	}
	if opt.IPExtractor == nil {
		opt.IPExtractor = echo.ExtractIPDirect()
	}
	texts := opt.Texts
	if texts == nil {
		var err error
		if texts, err = i18n.New(opt.Language); err != nil {
			return nil, err
		}
	}
	files, err := static.New()
	if err != nil {
		return nil, err
	}
	c := &Console{
		opt: opt, base: strings.TrimRight("/"+strings.Trim(opt.BasePath, "/"), "/"), svc: opt.Service, log: opt.Logger,
		clock: opt.Clock, texts: texts, files: files, origins: http.NewCrossOriginProtection(),
		audit: newAudit(opt.Logger, opt.Clock), importing: make(chan struct{}, importsAtOnce),
		once: once{forms: map[string]*onceForm{}},
	}
	for _, o := range opt.TrustedOrigins {
		if err := c.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("console: trusted origin: %w", err)
		}
	}
	c.packers.New = func() any { return gzip.NewWriter(nil) }
	c.sessions = newSessions(opt, c.base, c.sessionFailed)
	c.echo = echo.New()
	c.echo.IPExtractor = opt.IPExtractor
	c.echo.HTTPErrorHandler = c.lastResort
	c.routes()
	return c, nil
}

// Handler serves everything below the base path.
func (c *Console) Handler() http.Handler { return c.echo }

// ServeHTTP makes the console itself a handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.echo.ServeHTTP(w, r) }
