package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/migrations"
	"github.com/carillon-scheduler/carillon/model"
)

// Run serves until the context ends.
func (c *ServeCmd) Run(ctx context.Context, log *slog.Logger, out *Output) error {
	center, err := Start(ctx, *c, log)
	if err != nil {
		return err
	}
	fmt.Fprintf(out.Out, "Carillon %s is at %s\n", Version(), center.URL)
	if center.AdminPassword != "" {
		fmt.Fprintf(out.Out, "First administrator: user admin, password %s (shown only now)\n", center.AdminPassword)
	}
	err = center.Wait(ctx)
	return errors.Join(err, center.Stop(ctx))
}

// ExecutorCmd runs the sample executor.
type ExecutorCmd struct {
	Center      []string `help:"Base address of the center; several separated by commas." default:"http://127.0.0.1:8080"`
	AppName     string   `help:"Name of the executor in the console." default:"carillon-sample"`
	Listen      string   `help:"Address to listen on." default:"127.0.0.1:9999"`
	Address     string   `help:"Address that the center is told to call; http://HOST:PORT/ of --listen when empty." placeholder:"URL"`
	AccessToken string   `help:"Secret shared with the center; required." placeholder:"TOKEN"`
	Data        string   `help:"Folder for logs, scripts and results that wait." default:"carillon-executor"`
	NoScripts   bool     `help:"Refuse script jobs."`
	LogDays     int      `help:"Days for which logs of runs are kept; 0 = as long as the center keeps runs, -1 = for ever." default:"0"`
}

// Run works until the context ends.
func (c *ExecutorCmd) Run(ctx context.Context, log *slog.Logger) error {
	if strings.TrimSpace(c.AccessToken) == "" {
		return errors.New("no access token: set --access-token or CARILLON_ACCESS_TOKEN to the center's")
	}
	if !c.NoScripts { // the token is in our environment or memory
		if err := keepPrivate(); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", c.Listen, errors.Unwrap(err))
	}
	ex, err := executor.New(executor.Options{
		Centers: c.Center, AppName: c.AppName, Version: Version(), AccessToken: c.AccessToken, Listener: listener, Address: c.Address,
		DataDir: c.Data, NoScripts: c.NoScripts, LogRetentionDays: c.LogDays, Logger: log.With("part", "executor"),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	executor.RegisterSamples(ex)
	return ex.Run(ctx)
}

// MigrateCmd looks after the schema.
type MigrateCmd struct {
	Up     MigrateUpCmd     `cmd:"" help:"Apply what is missing."`
	Status MigrateStatusCmd `cmd:"" help:"List the migrations and when they were applied."`
}

// withSchema opens the database for work on its schema.
func withSchema(ctx context.Context, f DatabaseFlags, do func(*sql.DB, string) error) error {
	st, err := openStore(ctx, f, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	db, done, err := st.MigrationDB()
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return errors.Join(do(db, st.Engine()), done(), st.Close())
}

// MigrateUpCmd applies what is missing.
type MigrateUpCmd struct {
	DatabaseFlags `embed:""`
}

// Run applies the migrations.
func (c *MigrateUpCmd) Run(ctx context.Context, log *slog.Logger, out *Output) error {
	var n int
	err := withSchema(ctx, c.DatabaseFlags, func(db *sql.DB, engine string) (err error) {
		n, err = migrations.Up(ctx, db, engine, log)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out.Out, "%d migrations applied, the schema is up to date\n", n)
	return nil
}

// MigrateStatusCmd lists the migrations.
type MigrateStatusCmd struct {
	DatabaseFlags `embed:""`
}

// Run prints the list.
func (c *MigrateStatusCmd) Run(ctx context.Context, out *Output) error {
	var list []migrations.Status
	err := withSchema(ctx, c.DatabaseFlags, func(db *sql.DB, engine string) (err error) {
		list, err = migrations.List(ctx, db, engine)
		return err
	})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out.Out, 0, 8, 2, ' ', 0)
	for _, m := range list {
		when := "pending"
		if m.Applied {
			when = "applied " + m.AppliedAt.Format(time.DateTime)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\n", m.Version, m.Name, when)
	}
	return w.Flush()
}

// UserCmd looks after accounts.
type UserCmd struct {
	ResetPassword ResetPasswordCmd `cmd:"" help:"Give an account a new random password and print it."`
}

// ResetPasswordCmd gives an account a new password.
type ResetPasswordCmd struct {
	Name          string `arg:"" help:"Name of the account."`
	DatabaseFlags `embed:""`
}

// Run prints the new password.
func (c *ResetPasswordCmd) Run(ctx context.Context, out *Output) error {
	st, err := openStore(ctx, c.DatabaseFlags, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer st.Close()
	if err := prepareSchema(ctx, st, false, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	password, err := jobs.New(jobs.Options{Store: st}).ResetPassword(ctx, c.Name)
	if model.CodeOf(err) == model.CodeNotFound {
		return fmt.Errorf("there is no account %q", c.Name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out.Out, "New password of %s: %s\n", c.Name, password)
	return nil
}

// HealthcheckCmd asks a center whether it lives; container images use it.
type HealthcheckCmd struct {
	Listen string `help:"Address of the center." default:"127.0.0.1:8080"`
	Ready  bool   `help:"Ask whether it can schedule, not only whether it lives."`
}

// Run asks once.
func (c *HealthcheckCmd) Run(ctx context.Context, out *Output) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q: give host:port", c.Listen)
	}
	if host == "" || host == "0.0.0.0" || host == "::" { // what a container listens on
		host = "127.0.0.1"
	}
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no center answers at %s: %w", c.Listen, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the center at %s answers %s", c.Listen, resp.Status)
	}
	fmt.Fprintln(out.Out, "ok")
	return nil
}

// VersionCmd prints the version.
type VersionCmd struct{}

// Run prints it.
func (VersionCmd) Run(out *Output) error {
	b := BuildInfo()
	_, err := fmt.Fprintf(out.Out, "carillon %s %s %s\n", b.Version, b.Build, b.Go)
	return err
}
