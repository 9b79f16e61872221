// Package migrations holds the schema of the center as goose migrations, one
// folder per engine, and runs them under a lock so that several nodes may start
// at the same moment.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"
)

// Engines.
const (
	SQLite = "sqlite"
	MySQL  = "mysql"
)

// ErrPending means that the schema is older than the program.
var ErrPending = errors.New("the database schema is older than this program: run \"carillon migrate up\" or start with --migrate")

//go:embed mysql/*.sql sqlite/*.sql
var files embed.FS

// Status is one line of the migration list.
type Status struct {
	Version   int64
	Name      string
	Applied   bool
	AppliedAt time.Time
}

// Up applies what is missing and returns how many migrations that were. Only
// one process at a time does it; the others wait for it. A schema newer than
// the program is an error.
func Up(ctx context.Context, db *sql.DB, engine string, log *slog.Logger) (int, error) {
	release, err := lock(ctx, db, engine, log)
	if err != nil {
		return 0, fmt.Errorf("lock the schema: %w", err)
	}
	defer release()
	p, err := provider(db, engine)
	if err != nil {
		return 0, err
	}
	if err := refuseNewer(ctx, p); err != nil {
		return 0, err
	}
	results, err := p.Up(ctx)
	if err != nil {
		return len(results), fmt.Errorf("migrate: %w", err)
	}
	for _, r := range results {
		log.Info("migration applied", "version", r.Source.Version, "duration", r.Duration)
	}
	return len(results), nil
}

// Check returns ErrPending when the schema is older than the program, and
// another error when it is newer.
func Check(ctx context.Context, db *sql.DB, engine string) error {
	p, err := provider(db, engine)
	if err != nil {
		return err
	}
	if err := refuseNewer(ctx, p); err != nil {
		return err
	}
	pending, err := p.HasPending(ctx)
	if err != nil {
		return err
	}
	if pending {
		return ErrPending
	}
	return nil
}

// List says for each migration whether and when it was applied.
func List(ctx context.Context, db *sql.DB, engine string) ([]Status, error) {
	p, err := provider(db, engine)
	if err != nil {
		return nil, err
	}
	rows, err := p.Status(ctx)
	if err != nil {
		return nil, err
	}
	var out []Status
	for _, r := range rows {
		out = append(out, Status{
			Version: r.Source.Version, Name: nameOf(r.Source),
			Applied: r.State == goose.StateApplied, AppliedAt: r.AppliedAt,
		})
	}
	return out, nil
}

func nameOf(s *goose.Source) string {
	if s.Type == goose.TypeGo {
		return fmt.Sprintf("%05d_carillon_columns", s.Version)
	}
	return s.Path
}

func refuseNewer(ctx context.Context, p *goose.Provider) error {
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if current > target {
		return fmt.Errorf("the database schema (version %d) is newer than this program (version %d): use a newer program", current, target)
	}
	return nil
}

// provider must not be closed: goose would close the caller's database.
func provider(db *sql.DB, engine string) (*goose.Provider, error) {
	dialect := goose.DialectSQLite3
	if engine == MySQL {
		dialect = goose.DialectMySQL
	}
	folder, err := fs.Sub(files, engine)
	if err != nil {
		return nil, err
	}
	columns := goose.NewGoMigration(2, &goose.GoFunc{RunDB: addCarillonColumns(engine, carillonColumns(), carillonIndexes())}, nil)
	trust := goose.NewGoMigration(5, &goose.GoFunc{RunDB: addCarillonColumns(engine, trustColumns(), trustIndexes())}, nil)
	lean := goose.NewGoMigration(6, &goose.GoFunc{RunDB: leanIndexes(engine)}, nil)
	truth := goose.NewGoMigration(7, &goose.GoFunc{RunDB: addCarillonColumns(engine, truthColumns(), nil)}, nil)
	page := goose.NewGoMigration(11, &goose.GoFunc{RunDB: addCarillonColumns(engine, pageColumns(), pageIndexes())}, nil)
	ahead := goose.NewGoMigration(8, &goose.GoFunc{RunDB: addCarillonColumns(engine, aheadColumns(), nil)}, nil)
	people := goose.NewGoMigration(13, &goose.GoFunc{RunDB: addCarillonColumns(engine, peopleColumns(), peopleIndexes())}, nil)
	script := goose.NewGoMigration(14, &goose.GoFunc{RunDB: addCarillonColumns(engine, scriptColumns(), nil)}, nil)
	lists := goose.NewGoMigration(16, &goose.GoFunc{RunDB: addCarillonColumns(engine, listColumns(), nil)}, nil)
	nodes := goose.NewGoMigration(19, &goose.GoFunc{RunDB: addCarillonColumns(engine, nodeColumns(), nil)}, nil)
	zones := goose.NewGoMigration(21, &goose.GoFunc{RunDB: addCarillonColumns(engine, zoneColumns(), nil)}, nil)
	keep := goose.NewGoMigration(20, &goose.GoFunc{RunDB: addRetention(engine)}, nil)
	counts := goose.NewGoMigration(22, &goose.GoFunc{RunDB: addCarillonColumns(engine, nil, countIndexes())}, nil)
	ended := goose.NewGoMigration(23, &goose.GoFunc{RunDB: addCarillonColumns(engine, nil, endedIndexes())}, nil)
	quiet := goose.NewGoMigration(25, &goose.GoFunc{RunDB: settleOldAlarms}, nil)
	mails := goose.NewGoMigration(30, &goose.GoFunc{RunDB: addCarillonColumns(engine, mailColumns(), nil)}, nil)
	own := goose.NewGoMigration(26, &goose.GoFunc{RunDB: addCarillonColumns(engine, ownPasswordColumns(), nil)}, nil)
	told := goose.NewGoMigration(27, &goose.GoFunc{RunDB: addCarillonColumns(engine, alarmColumns(), nil)}, nil)
	packs := goose.NewGoMigration(31, &goose.GoFunc{RunDB: addPacks(engine)}, nil)
	return goose.NewProvider(dialect, db, folder,
		goose.WithTableName("carillon_schema"), goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true), goose.WithGoMigrations(columns, trust, lean, truth, ahead, page, people, script, lists, nodes, zones, keep, counts, ended, quiet, own, told, mails, packs))
}
