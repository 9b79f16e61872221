package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
)

// rowSet is a column of an update that has a value of its own for each row.
type rowSet struct {
	column string
	// expr is the new value in SQL with %s where the row's value goes; "" = just that.
	expr string
	// value gives the value for the row of ids[i].
	value func(i int) any
	// number says that the values are numbers.
	number bool
}

// updateRows changes many rows in few statements, each row with its own values: those
// of sets, and what fixed sets for all. ids must be in order, without repeats. It
// gives the number of rows that matched.
func (s *Store) updateRows(ctx context.Context, tx *sql.Tx, ids []int64, fixed string, fixedArgs []any, sets []rowSet, where string, whereArgs []any) (int64, error) {
	all := make([]column, len(sets))
	for k, x := range sets {
		all[k] = column{x, make([]any, len(ids))}
		for i := range ids {
			all[k].values[i] = x.value(i)
		}
	}
	var total int64
	for at := 0; at < len(ids); {
		n := fitting(all, at, min(s.d.rowsAtOnce, len(ids)-at))
		query, args := s.d.rowUpdate(ids[at:at+n], fixed, fixedArgs, all, at, where, whereArgs)
		res, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return total, err
		}
		changed, err := res.RowsAffected()
		if err != nil {
			return total, err
		}
		total += changed
		at += n
	}
	return total, nil
}

// fitting is how many rows from a place on share a statement: their texts have about
// 2 MB at most, as servers refuse what is too long.
func fitting(all []column, at, most int) int {
	bytes := 0
	for n := range most {
		for _, c := range all {
			if text, ok := c.values[at+n].(string); ok {
				bytes += len(text)
			}
		}
		if n > 0 && bytes > 2<<20 {
			return n
		}
	}
	return most
}

// column is a rowSet with its values for all rows.
type column struct {
	rowSet
	values []any
}

// split sorts the columns into those whose value is the same for all rows of a statement
// and the others.
func split(all []column, at, n int) (alike, own []column) {
	for _, c := range all {
		c.values = c.values[at : at+n]
		same := true
		for i := 1; i < n && same; i++ {
			same = c.values[i] == c.values[0]
		}
		if same {
			alike = append(alike, c)
		} else {
			own = append(own, c)
		}
	}
	return alike, own
}

func (x rowSet) sql(value string) string {
	if x.expr == "" {
		return x.column + " = " + value
	}
	return x.column + " = " + strings.ReplaceAll(x.expr, "%s", value)
}

// mysqlRowUpdate finds the place of the row's id among all, by halving, and takes the
// value at that place. A join with a list of values takes the servers longer.
func mysqlRowUpdate(ids []int64, fixed string, fixedArgs []any, all []column, at int, where string, whereArgs []any) (string, []any) {
	alike, own := split(all, at, len(ids))
	assign, args := []string{}, []any{}
	for _, x := range alike {
		assign, args = append(assign, x.sql("?")), append(args, x.values[0])
	}
	place := ""
	if len(own) > 0 {
		var b strings.Builder
		b.WriteString("INTERVAL(id")
		for _, id := range ids {
			b.WriteString("," + strconv.FormatInt(id, 10))
		}
		b.WriteString(")")
		place = b.String()
	}
	for _, x := range own {
		value := "ELT(" + place + strings.Repeat(",?", len(ids)) + ")"
		if x.number {
			value = "CAST(" + value + " AS SIGNED)"
		}
		assign = append(assign, x.sql(value))
		args = append(args, x.values...)
	}
	if fixed != "" {
		assign, args = append(assign, fixed), append(args, fixedArgs...)
	}
	args = append(append(args, anys(ids)...), whereArgs...)
	return `UPDATE xxl_job_log SET ` + strings.Join(assign, ", ") + ` WHERE id IN (` + marks(len(ids)) + `)` + where, args
}

// sqliteRowUpdate joins the rows with a list of values.
func sqliteRowUpdate(ids []int64, fixed string, fixedArgs []any, all []column, at int, where string, whereArgs []any) (string, []any) {
	alike, own := split(all, at, len(ids))
	assign, args := []string{}, []any{}
	for _, x := range alike {
		assign, args = append(assign, x.sql("?")), append(args, x.values[0])
	}
	for k, x := range own {
		assign = append(assign, x.sql("v.column"+strconv.Itoa(k+2)))
	}
	if fixed != "" {
		assign, args = append(assign, fixed), append(args, fixedArgs...)
	}
	for i, id := range ids {
		args = append(args, id)
		for _, x := range own {
			args = append(args, x.values[i])
		}
	}
	args = append(args, whereArgs...)
	return `UPDATE xxl_job_log SET ` + strings.Join(assign, ", ") + ` FROM (VALUES ` + rowsOf(1+len(own), len(ids)) + `) AS v WHERE id = v.column1` + where, args
}
