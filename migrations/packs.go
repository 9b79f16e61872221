package migrations

import (
	"context"
	"database/sql"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// addPacks makes the packs of counters that reports are read from (model.CountPack), of
// the counters that are there.
func addPacks(engine string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		table := `CREATE TABLE IF NOT EXISTS carillon_count_pack (
			unit TINYINT NOT NULL, first_day DATE NOT NULL, pack INT NOT NULL, jobs BLOB NOT NULL, PRIMARY KEY (unit, first_day, pack))`
		if engine == MySQL {
			table += ` ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`
		}
		if _, err := db.ExecContext(ctx, table); err != nil {
			return err
		}
		type unit struct {
			unit  int
			first string
		}
		var units []unit
		rows, err := db.QueryContext(ctx, `SELECT DISTINCT unit, CAST(first_day AS CHAR) FROM carillon_count`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var u unit
			if err := rows.Scan(&u.unit, &u.first); err != nil {
				return err
			}
			units = append(units, u)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, u := range units {
			packs, err := packsOf(ctx, db, u.unit, u.first)
			if err != nil {
				return err
			}
			var args []any
			for pack, p := range packs {
				args = append(args, u.unit, u.first, pack, p.Encode())
			}
			if len(args) == 0 {
				continue
			}
			if _, err := db.ExecContext(ctx, `REPLACE INTO carillon_count_pack (unit, first_day, pack, jobs) VALUES `+strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?), `, len(packs)), `, `), args...); err != nil {
				return err
			}
		}
		return nil
	}
}

func packsOf(ctx context.Context, db *sql.DB, unit int, first string) (map[int]model.CountPack, error) {
	rows, err := db.QueryContext(ctx, `SELECT job_id, group_id, expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms
		FROM carillon_count WHERE unit = ? AND first_day = ? AND job_id <> 0`, unit, first)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int]model.CountPack{}
	for rows.Next() {
		var c model.Counter
		if err := rows.Scan(&c.JobID, &c.GroupID, &c.Expected, &c.Succeeded, &c.Rescued, &c.Failed, &c.Missed, &c.Excused, &c.Late, &c.TookRuns, &c.TookMS); err != nil {
			return nil, err
		}
		pack := model.PackOf(c.JobID)
		out[pack] = out[pack].Put(c.Pack())
	}
	return out, rows.Err()
}
