package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// phase is where an executor stands in its life; it goes through it once.
type phase int

const (
	fresh phase = iota
	started
	stopping
	stopped
)

// rememberDone is the number of reported runs that are recognised when they
// come again.
const rememberDone = 10_000

// Executor runs jobs for a scheduling center. It is safe for concurrent use.
type Executor struct {
	o         Options
	log       *slog.Logger
	centers   *centers
	out       *outbox
	reader    logReader
	days      *logDays
	logDir    string
	scriptDir string

	// Set by Start.
	address string
	lock    *os.File
	journal *journal
	server  *http.Server
	loops   sync.WaitGroup
	cancel  context.CancelFunc // ends the loops
	beats   sync.WaitGroup     // the registration loop
	goAway  context.CancelFunc // ends it
	failed  chan error         // the server ended by itself
	over    chan struct{}      // closed when Stop is through

	mu        sync.Mutex
	phase     phase
	handlers  map[string]HandlerFunc
	badHandle error
	queues    map[int64]*jobQueue
	active    map[int64]bool // runs that wait or run, by log id
	done      *recent
	workers   int           // goroutines that work off queues
	frozen    bool          // no further run begins
	drained   chan struct{} // closed when stopping and no worker is left
}

// New checks the options. Nothing is opened before Start.
func New(o Options) (*Executor, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Executor{
		o: o, log: o.Logger, centers: newCenters(o), out: newOutbox(), days: newLogDays(o.LogRetentionDays),
		logDir: filepath.Join(o.DataDir, "logs"), scriptDir: filepath.Join(o.DataDir, "scripts"),
		failed: make(chan error, 1), over: make(chan struct{}), drained: make(chan struct{}),
		handlers: map[string]HandlerFunc{}, queues: map[int64]*jobQueue{}, active: map[int64]bool{},
		done: newRecent(rememberDone),
	}, nil
}

// Handle names the function that runs jobs of that handler name. A name that
// is empty or taken, or a nil function, makes Start fail.
func (e *Executor) Handle(name string, h HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if name == "" || h == nil || e.handlers[name] != nil {
		e.badHandle = errors.Join(e.badHandle, fmt.Errorf("executor: handler %q is empty or there twice", name))
		return
	}
	e.handlers[name] = h
}

func (e *Executor) handler(name string) HandlerFunc {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.handlers[name]
}

// Address is what the centers are told, known after Start.
func (e *Executor) Address() string { return e.address }

// Run starts the executor, waits for ctx to end or the server to fail, and
// stops it within StopTimeout.
func (e *Executor) Run(ctx context.Context) error {
	if err := e.Start(ctx); err != nil {
		return err
	}
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-e.failed:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.StopTimeout)
	defer cancel()
	return errors.Join(failure, e.Stop(ctx))
}

// Start opens the data directory and the listener, takes up what the last
// process left, and registers. It can be called once; ctx bounds the start
// only.
func (e *Executor) Start(ctx context.Context) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.badHandle != nil:
		return e.badHandle
	case e.phase != fresh:
		return errors.New("executor: was started or stopped before")
	}
	for _, dir := range []string{e.o.DataDir, e.logDir, e.scriptDir} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("executor: data directory: %w", err)
		}
	}
	if e.lock, err = lockFile(filepath.Join(e.o.DataDir, "lock")); err != nil {
		return fmt.Errorf("executor: data directory: %w", err)
	}
	defer func() {
		if err != nil {
			e.shut()
		}
	}()
	if e.journal, err = openJournal(filepath.Join(e.o.DataDir, "journal.jsonl"), e.log); err != nil {
		return fmt.Errorf("executor: %w", err)
	}
	ln := e.o.Listener
	if ln == nil {
		if ln, err = (&net.ListenConfig{}).Listen(ctx, "tcp", e.o.ListenAddr); err != nil {
			return fmt.Errorf("executor: %w", err)
		}
	}
	if e.address = e.o.Address; e.address == "" {
		e.address = advertised(ln.Addr())
	}
	e.phase = started
	e.restore(e.o.Now())

	e.server = &http.Server{
		Handler: http.HandlerFunc(e.serveHTTP), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		// The center drops idle connections earlier (reference: protocol.md 1.2).
		IdleTimeout: 90 * time.Second,
		ErrorLog:    slog.NewLogLogger(e.log.Handler(), slog.LevelWarn),
	}
	loops, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.cancel = cancel
	e.loops.Go(func() {
		if err := e.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("server failed", "error", err)
			e.failed <- fmt.Errorf("executor: %w", err)
		}
	})
	beats, goAway := context.WithCancel(loops)
	e.goAway = goAway
	e.beats.Go(func() { e.register(beats) })
	e.loops.Go(func() { e.report(loops) })
	e.loops.Go(func() { e.retain(loops) })
	return nil
}

// restore takes up what the journal knows. The caller holds e.mu.
func (e *Executor) restore(now time.Time) {
	for _, en := range e.journal.ordered() {
		switch {
		case en.Done != nil:
			e.done.add(en.Done.LogID)
			e.out.add(*en.Done)
		case en.Start != 0:
			e.finishLocked(*en.Accept, protocol.Callback{Code: protocol.CodeFail, Said: protocol.Say("sdk_ended"),
				Msg: "the executor process ended while this run was under way"})
		case now.Sub(time.UnixMilli(en.At)) > e.o.RestartWindow:
			e.finishLocked(*en.Accept, protocol.Callback{Code: protocol.CodeFail, Said: protocol.Say("sdk_too_late"),
				Msg: "not run: the executor process ended before it began and came back too late"})
		default:
			e.enqueue(*en.Accept)
		}
	}
}

// ErrCutShort is in the error of Stop when runs were told to end: their executor could not
// wait for them any longer.
var ErrCutShort = errors.New("runs were cut short")

// Stop takes no more runs, deregisters, lets what was accepted be run until ctx
// ends, then tells the rest to end, reports the results and closes everything.
// Runs that did not begin stay in the journal for the next start. Log files can
// be read until the end. The error says what was cut short. Stop may be called
// more than once and before Start.
func (e *Executor) Stop(ctx context.Context) error {
	e.mu.Lock()
	switch e.phase {
	case fresh:
		e.phase = stopped
		close(e.over)
	case started:
		e.phase = stopping
		e.checkDrained()
		e.mu.Unlock()
		return e.stop(ctx)
	case stopping, stopped:
	}
	e.mu.Unlock()
	select {
	case <-e.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Executor) stop(ctx context.Context) error {
	e.goAway()
	e.beats.Wait() // or a late beat would undo what follows
	e.deregister(context.WithoutCancel(ctx))
	var cutShort error
	select {
	case <-e.drained:
	case <-ctx.Done():
		cutShort = e.abort()
	}
	// What remains is short and must be done even when the time is over.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.CallTimeout)
	defer cancel()
	e.cancel()
	err := e.server.Shutdown(last)
	switch {
	case errors.Is(err, context.DeadlineExceeded): // a connection that was opened and not used yet counts as busy
		err = e.server.Close()
	case err != nil:
		err = errors.Join(err, e.server.Close())
	}
	e.loops.Wait()
	e.flush(last)
	e.centers.http.CloseIdleConnections()
	e.shut()
	e.mu.Lock()
	e.phase = stopped
	e.mu.Unlock()
	close(e.over)
	return errors.Join(cutShort, err)
}

// abort tells the running runs to end and waits for as long as a killed run may
// take, and a little more to report it.
func (e *Executor) abort() error {
	e.mu.Lock()
	e.frozen = true
	n := 0
	for _, q := range e.queues {
		if q.running != nil {
			q.running.cancel(killed(protocol.Say("sdk_stopped"), nil, "the executor was stopped"))
			n++
		}
	}
	e.mu.Unlock()
	e.log.Warn("stopping: running jobs are told to end", "runs", n)
	t := time.NewTimer(e.o.KillGrace + time.Second)
	defer t.Stop()
	select {
	case <-e.drained:
	case <-t.C:
		return errors.New("executor: a handler did not end when it was told to")
	}
	return fmt.Errorf("executor: %d %w", n, ErrCutShort)
}

// checkDrained wakes Stop when there is nothing left to do. The caller holds
// e.mu.
func (e *Executor) checkDrained() {
	if e.phase == stopping && e.workers == 0 {
		select {
		case <-e.drained:
		default:
			close(e.drained)
		}
	}
}

// shut closes the journal and lets go of the data directory.
func (e *Executor) shut() {
	if e.journal != nil {
		if err := e.journal.close(); err != nil {
			e.log.Error("journal was not closed well", "error", err)
		}
	}
	if e.lock != nil {
		_ = e.lock.Close() // which releases it
	}
}
