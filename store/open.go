// Package store holds all SQL of the center: one file per table or use, one
// text for all engines, the differences in dialect.go. It decides nothing:
// rules, permissions and the clock belong to its callers.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/go-sql-driver/mysql"
)

// Options say which database to open.
type Options struct {
	// URL is sqlite:PATH or mysql://user:password@host:3306/name?params.
	URL string
	// Location is the zone of the DATETIME columns (reference: schema.md 12).
	Location *time.Location
	// Words puts what the center says of a run into its language, for trigger_msg and
	// handle_msg; default: codes and arguments.
	Words func(...model.Said) string
	// MaxConns bounds the connections to a server; 0 = 24.
	MaxConns int
	// Logger takes what the driver has to say of connections that break and what is done
	// about it; nil = nobody.
	Logger *slog.Logger
}

// driverLog brings lines of the driver into the format of the log.
type driverLog struct{ *slog.Logger }

// Print implements mysql.Logger.
func (l driverLog) Print(v ...any) {
	l.Warn("database connection", "says", strings.Join(strings.Fields(fmt.Sprint(v...)), " "))
}

// Store reads and writes the database through pools, so that slow pages and many
// executors that register cannot keep the scheduler from its connections: w writes
// (SQLite: one connection), h reads for the scheduler, e writes what executors say
// of themselves (SQLite: as w), r reads for people.
type Store struct {
	w, h, e, r *sql.DB
	d          dialect
	loc        *time.Location
	words      func(...model.Said) string
	echoes     echoes
	log        *slog.Logger
	beats      *sql.DB          // MySQL only: a connection of its own for each beat that the pool could not carry
	conns      *conns           // MySQL only
	dsn        string           // SQLite only
	slow       driver.Connector // MySQL only: without time-outs, for changes of large tables
}

// executorConns is how many connections registrations may use at a time.
const executorConns = 4

// Open connects and pings. It does not touch the schema.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.MaxConns == 0 {
		o.MaxConns = 24
	}
	if o.Words == nil {
		o.Words = model.PlainWords
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{loc: o.Location, words: o.Words, log: o.Logger}
	switch engine, rest, _ := strings.Cut(o.URL, ":"); engine {
	case "sqlite":
		s.d = sqliteDialect()
		if err := s.openSQLite(rest); err != nil {
			return nil, err
		}
	case "mysql":
		s.d = mysqlDialect()
		cfg, err := mysqlConfig(o.URL, o.Location)
		if err != nil {
			return nil, err
		}
		cfg.Logger = driverLog{o.Logger}
		pages, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		s.r = sql.OpenDB(pages)
		s.r.SetMaxOpenConns(max(4, o.MaxConns/3))
		s.r.SetMaxIdleConns(2)
		s.r.SetConnMaxIdleTime(time.Minute)
		s.r.SetConnMaxLifetime(time.Minute) // after a failover the old server may live on
		long := cfg.Clone()
		long.ReadTimeout, long.WriteTimeout = 0, 0
		if s.slow, err = mysql.NewConnector(long); err != nil {
			return nil, err
		}
		// A process that is paused in the middle of a transaction keeps its locks
		// until the server ends the session: that must be sooner than others give
		// it up. Nobody who is alive pauses so long.
		cfg = cfg.Clone()
		cfg.Params = map[string]string{"wait_timeout": "4", "innodb_lock_wait_timeout": "3"}
		// A server that has become read-only is not the one to write to any more: the
		// driver then takes another connection.
		cfg.RejectReadOnly = true
		s.conns = newConns(time.Now)
		cfg.DialFunc = s.conns.dial
		cfg.ReadTimeout, cfg.WriteTimeout = 8*time.Second, 8*time.Second
		work, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		pool := func(conns int) *sql.DB {
			db := sql.OpenDB(readCommitted{work})
			db.SetMaxOpenConns(conns)
			db.SetMaxIdleConns(conns)
			db.SetConnMaxIdleTime(2 * time.Second)
			db.SetConnMaxLifetime(5 * time.Minute)
			return db
		}
		s.beats = sql.OpenDB(readCommitted{work})
		s.beats.SetMaxOpenConns(1)
		s.beats.SetMaxIdleConns(-1)
		s.w, s.e = pool(o.MaxConns), pool(executorConns)
		s.h = s.w
	default:
		return nil, fmt.Errorf("database URL must begin with sqlite: or mysql:// (got %q)", redact(o.URL))
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot reach the database %s: %w", redact(o.URL), err), s.Close())
	}
	return s, nil
}

// readCommitted sets the isolation once per connection instead of once per
// transaction: less gap locking, and statements see what others committed before
// them. The statement is the same in MySQL and MariaDB, the variable is not.
type readCommitted struct{ driver.Connector }

// Connect implements driver.Connector.
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	x, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver cannot set the isolation level"), conn.Close())
	}
	if _, err := x.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (s *Store) openSQLite(path string) error {
	file, query, _ := strings.Cut(path, "?")
	if file == "" {
		return errors.New("sqlite: needs a file name, for example sqlite:carillon.db")
	}
	if dir := filepath.Dir(file); dir != "." {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("folder of the database: %w", err)
		}
	}
	extra, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("parameters of the database URL: %w", err)
	}
	v := url.Values{}
	v.Set("_txlock", "immediate")
	// NORMAL survives a killed process; a site that fears power cuts asks for FULL.
	synchronous := "NORMAL"
	if x := extra.Get("synchronous"); x != "" {
		synchronous = x
	}
	for _, p := range []string{"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", "synchronous(" + synchronous + ")"} {
		v.Add("_pragma", p)
	}
	closeToOthers(file)
	s.dsn = "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + v.Encode()
	if s.w, err = sql.Open("sqlite", s.dsn); err != nil {
		return err
	}
	s.w.SetMaxOpenConns(1)
	s.w.SetMaxIdleConns(1)
	s.e = s.w
	if s.r, err = sql.Open("sqlite", s.dsn+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.r.SetMaxOpenConns(4)
	s.r.SetMaxIdleConns(4)
	if s.h, err = sql.Open("sqlite", s.dsn+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.h.SetMaxOpenConns(3)
	s.h.SetMaxIdleConns(3)
	return nil
}

// closeToOthers makes the file before the engine does: it holds hashes of
// passwords, sources and parameters. The engine gives its -wal and -shm the
// rights of the file; those that are there already get them here. What cannot
// be done is left to the engine, which says what is wrong.
func closeToOthers(file string) {
	if f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		_ = f.Close()
	}
	for _, part := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(file + part); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(file+part, info.Mode().Perm()&^0o077) // fails for who is not the owner
		}
	}
}

func mysqlConfig(raw string, loc *time.Location) (*mysql.Config, error) {
	u, err := url.Parse(raw)
	// The reason would show a part of the password, and so may the rest of a URL
	// in which it ended too soon.
	if err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return nil, errors.New("database URL cannot be read: give mysql://user:password@host:3306/name, " +
			"with / ? # @ : % in user and password percent-encoded")
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", u.Host
	if socket := u.Query().Get("socket"); socket != "" {
		cfg.Net, cfg.Addr = "unix", socket
	} else if u.Port() == "" {
		cfg.Addr += ":3306"
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	if cfg.DBName == "" || strings.Contains(cfg.DBName, "/") {
		return nil, errors.New("database URL needs the name of the database: mysql://user:password@host:3306/name")
	}
	if tls := u.Query().Get("tls"); tls != "" {
		cfg.TLSConfig = tls
	}
	cfg.ParseTime, cfg.Loc, cfg.Collation = true, loc, "utf8mb4_unicode_ci"
	cfg.ClientFoundRows = true // a conditional update counts the rows it matched
	cfg.InterpolateParams = true
	cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = 3*time.Second, 30*time.Second, 30*time.Second
	return cfg, nil
}

// redact hides the password of a database URL.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		scheme, _, _ := strings.Cut(raw, ":")
		return scheme + ":…"
	}
	return u.Redacted()
}

// Engine is "sqlite" or "mysql".
func (s *Store) Engine() string { return s.d.name }

// MigrationDB gives a handle for migrations, which need several connections at
// once, and a function that ends it.
func (s *Store) MigrationDB() (*sql.DB, func() error, error) {
	if s.slow != nil {
		db := sql.OpenDB(s.slow)
		return db, db.Close, nil
	}
	db, err := sql.Open("sqlite", s.dsn)
	if err != nil {
		return nil, nil, err
	}
	return db, db.Close, nil
}

// Location is the zone of the DATETIME columns.
func (s *Store) Location() *time.Location { return s.loc }

// Ping asks the database whether it answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.w.PingContext(ctx); err != nil {
		return err
	}
	var one int
	return s.w.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Close ends all connections.
func (s *Store) Close() error {
	var err error
	for _, db := range []*sql.DB{s.r, s.e, s.h, s.w, s.beats} {
		if db != nil { // closing twice is no error
			err = errors.Join(err, db.Close())
		}
	}
	return err
}
