package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // the tables

	"github.com/carillon-scheduler/carillon/store/storetest/mariadb"
)

const adminPassword = "bench-password"

// SiteFlags say what is measured.
type SiteFlags struct {
	Engine        string `help:"Database to start." enum:"mariadb,sqlite" default:"mariadb"`
	Durable       bool   `help:"Let MariaDB keep every commit when it is killed." default:"true" negatable:""`
	Nodes         int    `help:"Centers to start." default:"1"`
	Executors     int    `help:"Executors that only count." default:"4"`
	Center        string `help:"Measure a center that runs already: its addresses, separated by commas." placeholder:"URL"`
	Database      string `help:"Database of that center: mysql://user:password@host:3306/name or sqlite:PATH." placeholder:"URL"`
	ExecutorToken string `help:"Access token of that center." placeholder:"TOKEN"`
	Keep          bool   `help:"Keep the temporary folder with the logs of the centers."`
}

// site is one running site: database, centers, executors.
type site struct {
	flags    SiteFlags
	dir      string
	token    string
	maria    *mariadb.Server // nil when not ours
	database string          // URL
	db       *sql.DB
	nodes    []*node
	proxies  []*proxy
	counters []*counter
	group    int   // id of the executors' group
	jobs     []int // of the checker
	byHand   int   // job that is only made when somebody asks
	asks     []ask
	backlog  int   // jobs that an outage leaves
	extended bool  // the run table has our columns
	since    int64 // runs up to this id were there before
}

// siteNeeds are what a measurement wants beside the flags.
type siteNeeds struct {
	proxies bool          // one before each node's database
	runFor  time.Duration // of one run in the executor
	pool    int           // MB of MariaDB's memory
	args    []string      // for each node
	seed    func(context.Context, *site) error
}

// open starts everything; close ends it.
func (f SiteFlags) open(ctx context.Context, needs siteNeeds) (_ *site, err error) {
	s := &site{flags: f, token: "bench-token"}
	if s.dir, err = os.MkdirTemp("", "carillon-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	var centers []string
	if f.Center != "" {
		if f.Database == "" || f.ExecutorToken == "" {
			return nil, errors.New("--center needs --database and --executor-token")
		}
		s.token, s.database, centers = f.ExecutorToken, f.Database, strings.Split(strings.TrimSuffix(f.Center, "/"), ",")
	} else if err := s.startDatabase(ctx, needs.pool); err != nil {
		return nil, err
	}
	if s.db, err = openTables(s.database); err != nil {
		return nil, err
	}
	if f.Center == "" {
		if err := s.startNodes(ctx, needs); err != nil {
			return nil, err
		}
		for _, n := range s.nodes {
			centers = append(centers, n.url)
		}
	}
	if s.extended, err = hasColumn(ctx, s.db, "xxl_job_log", "planned_time"); err != nil {
		return nil, fmt.Errorf("the run table: %w", err)
	}
	return s, s.startExecutors(ctx, centers, needs.runFor)
}

func (s *site) startDatabase(ctx context.Context, pool int) (err error) {
	if s.flags.Engine == "sqlite" {
		s.database = "sqlite:" + filepath.Join(s.dir, "bench.db")
		return nil
	}
	if s.maria, err = mariadb.Start(ctx, mariadb.Options{Durable: s.flags.Durable, BufferPoolMB: pool}); err != nil {
		return err
	}
	s.database, err = s.maria.Create(ctx, "bench")
	return err
}

func (s *site) startNodes(ctx context.Context, needs siteNeeds) error {
	for i := range s.flags.Nodes {
		database := s.database
		if needs.proxies && s.maria != nil {
			p, err := newProxy(fmt.Sprintf("127.0.0.1:%d", s.maria.Port))
			if err != nil {
				return err
			}
			s.proxies = append(s.proxies, p)
			database = strings.Replace(database, fmt.Sprintf("127.0.0.1:%d", s.maria.Port), p.addr(), 1)
		}
		// Small and capital letters, so that the fault rename goes both ways.
		n, err := newNode(fmt.Sprintf("%c%d", "nN"[i%2], i+1), database, s.token, s.dir, needs.args...)
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
		if err := n.start(ctx); err != nil {
			return err
		}
		if i == 0 && needs.seed != nil {
			if err := needs.seed(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// startExecutors starts them and waits until the center has their addresses.
func (s *site) startExecutors(ctx context.Context, centers []string, runFor time.Duration) error {
	app := fmt.Sprintf("bench%d", time.Now().UnixMilli())
	id, err := addGroup(ctx, s.db, app)
	if err != nil {
		return err
	}
	s.group = id
	for range s.flags.Executors {
		c, err := newCounter(app, s.token, centers, runFor)
		if err != nil {
			return err
		}
		s.counters = append(s.counters, c)
		if err := c.start(); err != nil {
			return err
		}
	}
	for range 600 { // the original looks every 30 s
		var list sql.NullString
		if err := s.db.QueryRowContext(ctx, `SELECT address_list FROM xxl_job_group WHERE id = ?`, id).Scan(&list); err != nil {
			return err
		}
		if list.String != "" && strings.Count(list.String, ",")+1 == s.flags.Executors {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("the executors registered, but the center does not list them")
}

// close ends what open started. A center that runs already keeps nothing of it.
func (s *site) close(ctx context.Context) error {
	var err error
	if s.flags.Center != "" && s.group != 0 {
		err = s.leave(ctx)
	}
	for _, c := range s.counters {
		c.kill()
	}
	for _, n := range s.nodes {
		n.kill()
	}
	for _, p := range s.proxies {
		p.close()
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	if s.maria != nil {
		err = errors.Join(err, s.maria.Stop())
	}
	if !s.flags.Keep {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// rings gives what reached all executors.
func (s *site) rings() map[call]ring {
	out := map[call]ring{}
	for _, c := range s.counters {
		for key, r := range c.counted() {
			if !s.extended {
				key.at = 0 // the zone of the tables is not known
			}
			if old, ok := out[key]; ok {
				r.times += old.times
				r.first = min(r.first, old.first)
			}
			out[key] = r
		}
	}
	return out
}

func openTables(database string) (*sql.DB, error) {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)")
	}
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	c, err := mysql.ParseDSN(fmt.Sprintf("%s@tcp(%s)%s?time_zone=%%27%%2B00:00%%27", u.User, u.Host, u.Path))
	if err != nil {
		return nil, err
	}
	c.Logger = &mysql.NopLogger{} // the database is killed on purpose
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
