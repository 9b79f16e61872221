package console

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

// database is what is stored, without what notes who came.
type database struct {
	t  *testing.T
	db *sql.Conn // one: it knows when others have written

	version int
	read    []string // cells of that version
	all     string
}

func openDatabase(t *testing.T, file string) *database {
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(conn.Close(), db.Close())) })
	return &database{t: t, db: conn}
}

// cells gives all values, and one text of them to compare. They are read when somebody has
// written since.
func (d *database) cells() ([]string, string) {
	var version int
	require.NoError(d.t, d.db.QueryRowContext(d.t.Context(), `PRAGMA data_version`).Scan(&version))
	if version != d.version {
		d.version = version
		d.read = d.readCells()
		d.all = strings.Join(d.read, "\x1f")
	}
	return d.read, d.all
}

func (d *database) readCells() (cells []string) {
	names, err := d.db.QueryContext(d.t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`)
	require.NoError(d.t, err)
	var tables []string
	for names.Next() {
		var name string
		require.NoError(d.t, names.Scan(&name))
		if !slices.Contains([]string{"carillon_audit", "carillon_session"}, name) {
			tables = append(tables, name)
		}
	}
	require.NoError(d.t, names.Close())
	for _, name := range tables {
		rows, err := d.db.QueryContext(d.t.Context(), "SELECT * FROM "+name+" ORDER BY 1")
		require.NoError(d.t, err)
		columns, err := rows.Columns()
		require.NoError(d.t, err)
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			require.NoError(d.t, rows.Scan(to...))
			for i, v := range values {
				if raw, ok := v.([]byte); ok {
					v = string(raw)
				}
				if columns[i] == "last_seen" || columns[i] == "password" && name == "xxl_job_user" { // its hash is made anew by a login
					continue
				}
				cells = append(cells, fmt.Sprint(v))
			}
		}
		require.NoError(d.t, rows.Err())
		require.NoError(d.t, rows.Close())
	}
	return cells
}

// blank is what a browser shows of a text: no NUL, nothing that is no text.
func blank(s string) string {
	s = strings.ToValidUTF8(s, "")
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || c == 0 || c == '\r' {
			return -1
		}
		return c
	}, s))
}
