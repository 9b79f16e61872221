package migrations_test

import (
	"database/sql"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/migrations"
	"github.com/carillon-scheduler/carillon/model"
)

// TestTheTablesAreDocumented: docs/data.md has every side table and column of ours as
// the database has them, every state and reason, and every key of a note.
func TestTheTablesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile("../docs/data.md")
	require.NoError(t, err)
	doc := string(raw)
	// A part of the text is what follows the heading or the row that names a table.
	part := func(from string, to ...string) string {
		_, rest, found := strings.Cut(doc, from)
		require.True(t, found, "docs/data.md has no %q", from)
		for _, end := range to {
			rest, _, _ = strings.Cut(rest, end)
		}
		return rest
	}
	where := map[string]string{
		"xxl_job_log": part("`xxl_job_log`", "\n## "), "xxl_job_info": part("## A job: `xxl_job_info`", "\n## "),
		"xxl_job_registry":   part("`xxl_job_registry`", "\n## "),
		"xxl_job_logglue":    part("`xxl_job_logglue`", "\n## "),
		"xxl_job_log_report": part("## The ledger", "\n## "), "carillon_ledger": part("## The ledger", "\n## "),
	}
	original, err := os.ReadFile("sqlite/00001_xxl_job_tables.sql")
	require.NoError(t, err)
	each(t, func(t *testing.T, db *sql.DB, engine string) {
		_, err := migrations.Up(t.Context(), db, engine, quiet())
		require.NoError(t, err)
		query := `SELECT name FROM sqlite_master WHERE type = 'table'`
		if engine == migrations.MySQL {
			query = `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`
		}
		ours := 0
		for _, table := range names(t, db, query) {
			rows, err := db.Query("SELECT * FROM " + table + " LIMIT 0")
			require.NoError(t, err)
			columns, err := rows.Columns()
			require.NoError(t, err)
			require.NoError(t, rows.Close())
			text := where[table]
			if strings.HasPrefix(table, "carillon_") && text == "" {
				text = part("| `"+table+"` |", "\n| `carillon_")
			}
			for _, c := range columns {
				if strings.HasPrefix(table, "xxl_") && regexp.MustCompile(`\b`+c+`\b`).Match(original) || strings.HasPrefix(table, "sqlite_") {
					continue
				}
				ours++
				require.Contains(t, text, "`"+c+"`", "the column %s of %s is not in docs/data.md", c, table)
			}
		}
		require.Greater(t, ours, 50)
	})
	for _, r := range model.Reasons() {
		heading := "| failed |"
		if r.Class == model.ClassNotSent {
			heading = "| not sent |"
		}
		require.Regexp(t, "(?m)^\\|[^|]*`"+r.Code+"`", part(heading, "\n\n"), "the reason %s is not in docs/data.md", r.Code)
	}
	require.Contains(t, where["carillon_ledger"], "`"+model.LedgerExpected+"`")
	require.Contains(t, where["carillon_ledger"], "`"+model.OutcomeSucceeded+"`")
	for _, phase := range []string{"| 1 | planned |", "| 2 | sending |", "| 3 | unknown |", "| 4 | accepted |", "| 5 | finished |", "| 6 | missed |"} {
		require.Contains(t, doc, phase)
	}
	note := part("### `run_note`", "\n## ")
	for _, typ := range []reflect.Type{reflect.TypeFor[model.Note](), reflect.TypeFor[model.Said](), reflect.TypeFor[model.Attempt]()} {
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			require.Contains(t, note, "`"+key+"`", "%s.%s", typ.Name(), typ.Field(i).Name)
		}
	}
}

func names(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		out = append(out, name)
	}
	require.NoError(t, rows.Err())
	return out
}
