package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// tries is how often a transaction is repeated that lost a deadlock.
const tries = 6

// querier is a database handle or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inTx runs fn in a write transaction and commits when it returns nil. It
// rolls back on error and on panic, and tries again when the engine says that
// trying again helps: fn must be repeatable. Inside fn only tx may be used:
// with one SQLite connection anything else would wait for ever.
func (s *Store) inTx(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return inTxOn(ctx, s.w, tries, fn)
}

// inTxOn does the same with the connections of db, n times at most.
func inTxOn(ctx context.Context, db *sql.DB, n int, fn func(tx *sql.Tx) error) error {
	for try := 1; ; try++ {
		err := once(ctx, db, fn)
		if isBadRow(err) {
			return fmt.Errorf("%w: %w", model.ErrBadRow, err)
		}
		if err == nil || try >= n || !isRetryable(err) {
			return err
		}
		pause := time.Duration(rand.IntN(10*try)+1) * time.Millisecond
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// errCommit means that it is not known whether a transaction was written.
var errCommit = errors.New("commit")

func once(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit; also runs on panic
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// row is what scanning needs of a result.
type row interface{ Scan(dest ...any) error }

// collect runs a query and reads each of its rows with scan.
func collect[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	return collectOn(ctx, q, nil, scan, query, args...)
}

// collectOn appends the rows to out: where many large ones are expected, a slice that
// has the room is a third of the memory of one that grows.
func collectOn[T any](ctx context.Context, q querier, out []T, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// one is a scan for collect that reads rows of a single column.
func one[T any](x row) (v T, err error) {
	err = x.Scan(&v)
	return v, err
}

// matched reports whether a statement found a row to change.
func matched(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// into is a scan for collect that reads every row into v through the same targets.
func into[T any](v *T, targets []any) func(row) (T, error) {
	return func(x row) (T, error) {
		var zero T
		*v = zero
		err := x.Scan(targets...)
		return *v, err
	}
}

// marks gives "?,?,?" for n arguments.
func marks(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}

// rowsOf gives "(?,?),(?,?)" for n rows of so many columns.
func rowsOf(columns, n int) string {
	return strings.TrimSuffix(strings.Repeat("("+marks(columns)+"),", n), ",")
}

// anys turns a slice into query arguments.
func anys[T any](in []T) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = v
	}
	return out
}

// caseBy builds "CASE id WHEN ? THEN ? … ELSE other END" and its arguments.
func caseBy[K comparable, V any](ids []K, value func(K) V, other string) (string, []any) {
	var b strings.Builder
	args := make([]any, 0, 2*len(ids))
	b.WriteString("CASE id")
	for _, id := range ids {
		b.WriteString(" WHEN ? THEN ?")
		args = append(args, id, value(id))
	}
	b.WriteString(" ELSE " + other + " END")
	return b.String(), args
}

// chunks calls fn with at most size items at a time.
func chunks[T any](in []T, size int, fn func([]T) error) error {
	for len(in) > 0 {
		n := min(size, len(in))
		if err := fn(in[:n]); err != nil {
			return err
		}
		in = in[n:]
	}
	return nil
}

// cut shortens a text to at most n bytes without breaking a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const dots = "…"
	n -= len(dots)
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + dots
}

// textBytes is the size of a MySQL TEXT column.
const textBytes = 65535
