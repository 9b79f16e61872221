package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/app/api"
	"github.com/carillon-scheduler/carillon/app/console"
	"github.com/carillon-scheduler/carillon/app/legacy"
	"github.com/carillon-scheduler/carillon/executorclient"
	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/migrations"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/views"
)

// openTimeout is how long a start waits for the database.
const openTimeout = 8 * time.Second

// Center is a running scheduling center.
type Center struct {
	// URL is where the console answers, with the real port.
	URL string
	// AdminPassword is set when this start made up the first password.
	AdminPassword string
	// Jobs are the use cases, for what runs in the same process.
	Jobs *jobs.Service

	cfg     ServeCmd
	log     *slog.Logger
	store   *store.Store
	sched   *scheduler.Scheduler
	client  *executorclient.Client
	server  *http.Server
	streams context.CancelFunc // ends long answers (live logs) at stop
	stopped chan struct{}
	served  chan error
	stop    chan struct{} // closed to end the housekeeping
	pprof   func() error  // ends the profiler
}

// Start opens the database, brings its schema up to date, starts the loops and
// serves. It returns when the center answers. Everything it started is undone
// when it fails.
func Start(ctx context.Context, cfg ServeCmd, log *slog.Logger) (_ *Center, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	loc, err := cfg.location()
	if err != nil {
		return nil, err
	}
	c := &Center{cfg: cfg, log: log, served: make(chan error, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	// The port first: a second start by mistake must not touch the database.
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", cfg.Listen, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			_ = listener.Close()
			if c.store != nil {
				err = errors.Join(err, c.store.Close())
			}
		}
	}()
	texts, err := i18n.New(cfg.Lang)
	if err != nil {
		return nil, err
	}
	if c.store, err = openStoreIn(ctx, cfg.DatabaseFlags, texts.Localizer(cfg.Lang), log); err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, c.store, cfg.Migrate, log); err != nil {
		return nil, err
	}
	if err := c.build(cfg, listener, loc, texts); err != nil {
		return nil, err
	}
	if c.AdminPassword, err = c.Jobs.EnsureAdmin(ctx, cfg.AdminPassword); err != nil {
		if model.CodeOf(err) == model.CodeInvalid {
			return nil, errors.New("--admin-password must have 8 to 72 characters")
		}
		return nil, fmt.Errorf("first administrator: %w", err)
	}
	if c.pprof, err = servePprof(cfg.Pprof); err != nil {
		return nil, err
	}
	if err := c.sched.Start(ctx); err != nil {
		return nil, errors.Join(err, c.pprof())
	}
	go func() { c.served <- c.server.Serve(listener) }()
	go c.keepHouse()
	// What starting took is not needed any more. The migrations leave 12 MB in a pool, which
	// only a second collection takes away: kept, they would let the heap grow by as much.
	runtime.GC()
	debug.FreeOSMemory()
	giveBackProgram()
	log.Info("center started", "url", c.URL, "config", &c.cfg)
	return c, nil
}

// openStore opens the database; lang is the language of what the center writes into it.
func openStore(ctx context.Context, f DatabaseFlags, lang string, log *slog.Logger) (*store.Store, error) {
	texts, err := i18n.New(lang)
	if err != nil {
		return nil, err
	}
	return openStoreIn(ctx, f, texts.Localizer(lang), log)
}

func openStoreIn(ctx context.Context, f DatabaseFlags, words *i18n.Localizer, log *slog.Logger) (*store.Store, error) {
	loc, err := f.location()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return store.Open(ctx, store.Options{
		URL: f.Database, Location: loc, Logger: log.With("part", "store"),
		Words: func(said ...model.Said) string { return views.Words(words, loc, said...) },
	})
}

func prepareSchema(ctx context.Context, st *store.Store, migrate bool, log *slog.Logger) error {
	db, done, err := st.MigrationDB()
	if err != nil {
		return err
	}
	if migrate {
		_, err = migrations.Up(ctx, db, st.Engine(), log)
	} else {
		err = migrations.Check(ctx, db, st.Engine())
	}
	return errors.Join(err, done())
}

// build wires the parts; nothing runs yet.
func (c *Center) build(cfg ServeCmd, listener net.Listener, loc *time.Location, texts *i18n.Bundle) error {
	c.URL = "http://" + listener.Addr().String() + strings.TrimSuffix(cfg.BasePath, "/") + "/"
	centerURL := strings.TrimSuffix(cfg.PublicURL, "/")
	if centerURL == "" {
		centerURL = "http://" + listener.Addr().String()
	}
	tokens, err := cfg.tokens()
	if err != nil {
		return err
	}
	c.client = executorclient.New(executorclient.Options{Token: tokens.Current, Previous: tokens.Previous, Until: tokens.Until, Timeout: cfg.ExecutorTimeout, InsecureTLS: cfg.InsecureTLS})
	space := &disks{paths: diskPaths(cfg.Database), limit: cfg.DiskFullAt, used: diskUsed}
	c.sched = scheduler.New(c.store, ringing{c.client}, scheduler.Config{
		NodeName: cfg.nodeName(), Version: Version(), Location: loc, Logger: c.log.With("part", "scheduler"),
		URL: centerURL, MisfireAfter: cfg.MisfireAfter, NodeDeadAfter: cfg.NodeDeadAfter,
		SendTimeout: cfg.ExecutorTimeout, RegistryDead: cfg.RegistryTimeout, RetentionDays: cfg.RetentionDays,
		Troubles: space.troubles,
	})
	tell, err := newTeller(cfg, c.store, texts, loc, centerURL+strings.TrimSuffix(cfg.BasePath, "/"))
	if err != nil {
		return err
	}
	var machine *api.API
	c.Jobs = jobs.New(jobs.Options{
		System: func(ctx context.Context) (model.System, error) { return c.system(machine)(ctx) },

		Store: c.store, Ringer: c.sched, Executors: asking{c.client}, Teller: tell, Location: loc, Logger: c.log.With("part", "jobs"),
		AliveFor: cfg.RegistryTimeout, RetentionDays: cfg.RetentionDays,
	})
	c.alarms(tell)
	proxies, err := cfg.proxies()
	if err != nil {
		return err
	}
	english := texts.Localizer("en")
	machine = api.New(api.Options{
		Service: c.Jobs, Completer: c.sched, Tokens: tokens, Logger: c.log.With("part", "api"), Now: time.Now,
		Text: func(e *model.Error) string { return errorText(english, e) }, Ready: c.ready,
		Details: func() string { return capacityLine(c.sched.Stats().Load) + loopLines(c.sched.Liveness(), time.Now()) },
		Metrics: metricsHandler(c.sched), From: clientAddress(proxies),
	})
	version := BuildInfo()
	options := console.Options{
		Service: c.Jobs, Sessions: c.store.Sessions(), Logger: c.log.With("part", "console"), BasePath: cfg.BasePath, Texts: texts,
		Secure: strings.HasPrefix(cfg.PublicURL, "https:"), CenterURL: centerURL,
		Version: version.Version, Build: version.Build, GoVersion: version.Go,
		SourceURL: "https://github.com/carillon-scheduler/carillon", Licence: "Apache-2.0", MailSet: cfg.SmtpURL != "", IPExtractor: clientAddress(proxies),
	}
	if cfg.PublicURL != "" {
		options.TrustedOrigins = []string{origin(cfg.PublicURL)}
	}
	pages, err := console.New(options)
	if err != nil {
		return err
	}
	streams, end := context.WithCancel(context.Background())
	c.streams = end
	var people http.Handler = pages
	if cfg.LegacyConsole {
		words := texts.Localizer(cfg.Lang)
		people = legacy.New(legacy.Options{
			Service: c.Jobs, Logins: pages, Logger: c.log.With("part", "legacy"), BasePath: cfg.BasePath, Next: pages,
			Text: func(e *model.Error) string { return errorText(words, e) },
		})
	}
	c.server = newServer(c.mux(machine, people), c.log, streams)
	return nil
}

// mux sends machines to the API and people to the console.
func (c *Center) mux(machine *api.API, pages http.Handler) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, ctx echo.Context) { // the API answers every path that gets here
		c.log.Error("API error outside its envelope", "path", ctx.Request().URL.Path, "error", err)
		_ = ctx.NoContent(http.StatusInternalServerError)
	}
	machine.Routes(e)
	m := http.NewServeMux()
	for _, p := range machinePaths() {
		m.Handle(p, e)
		if strings.HasSuffix(p, "/api") {
			m.Handle(p+"/", e)
		}
	}
	m.Handle("/", pages)
	if base := strings.TrimSuffix(c.cfg.BasePath, "/"); base != "" {
		m.Handle("/{$}", http.RedirectHandler(base+"/", http.StatusSeeOther))
	}
	return m
}

func origin(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// errorText says a model error in words, field by field.
func errorText(l *i18n.Localizer, e *model.Error) string {
	if len(e.Fields) == 0 {
		return l.Error(e.Key, e.Args)
	}
	return fieldTexts(l, e.Fields)
}

// ready reports why the center cannot schedule, or nil.
func (c *Center) ready(ctx context.Context) error {
	if err := c.sched.Ready(); err != nil {
		return err
	}
	if err := c.store.Ping(ctx); err != nil {
		c.log.Warn("database does not answer", "error", err)
		return errors.New("the database does not answer")
	}
	return nil
}

// loopLines say for each loop when it last succeeded.
// capacityLine says when the node does not keep up.
func capacityLine(l dispatch.Load) string {
	if l.Over == 0 {
		return ""
	}
	return fmt.Sprintf("beyond capacity for %s: %d runs are due and not sent, the oldest is %s late\n", l.Over.Round(time.Second), l.Backlog, l.Oldest.Round(time.Second))
}

func loopLines(list []loop.Liveness, now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, l := range list {
		last := "never succeeded"
		if !l.LastOK.IsZero() {
			last = fmt.Sprintf("succeeded %.1f s ago", now.Sub(l.LastOK).Seconds())
		}
		fmt.Fprintf(w, "loop %s\t%s\tevery %s\t%d passes\t%d failed\n", l.Name, last, l.Every, l.Passes, l.Errors)
	}
	_ = w.Flush() // into memory
	return b.String()
}

// keepHouse removes sessions that ended.
func (c *Center) keepHouse() {
	defer close(c.stopped)
	ticker := time.NewTicker(10 * time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			if err := c.store.Sessions().DeleteExpired(ctx); err != nil {
				c.log.Warn("cannot remove old sessions", "error", err)
			}
			cancel()
		}
	}
}

// Wait blocks until ctx ends or something happens after which the center cannot go on.
func (c *Center) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.sched.Fatal():
		return err
	case err := <-c.served:
		return fmt.Errorf("the server ended: %w", err)
	}
}

// Stop ends the center in order: no new plans, planned runs handed over, calls
// in flight finished, callbacks taken until then, then HTTP and the database.
func (c *Center) Stop(ctx context.Context) error {
	c.log.Info("center stops")
	c.sched.StopScheduling(ctx)
	close(c.stop)
	c.streams()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := c.server.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) { // a client that keeps its connection must not fail the stop
		c.log.Warn("clients that did not end were cut off")
		err = c.server.Close()
	}
	c.sched.Close(ctx)
	c.client.Close()
	<-c.stopped
	err = errors.Join(err, c.pprof(), c.store.Close())
	c.log.Info("center stopped")
	return err
}
