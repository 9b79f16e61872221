package migrations

import (
	"context"
	"database/sql"
	"fmt"
)

// keepColumns: for how long runs of a job are kept, where it differs from all the others.
func keepColumns() []column {
	return []column{
		{"xxl_job_info", "carillon_keep_days", "INT NULL"},        // succeeded runs; 0 = for ever, NULL = as all
		{"xxl_job_info", "carillon_keep_failed_days", "INT NULL"}, // all others, the same
	}
}

// keepIndexes find the few jobs with days of their own. Both change with an edit only.
func keepIndexes() []index {
	return []index{
		{"xxl_job_info", "carillon_keep", "carillon_keep_days", false},
		{"xxl_job_info", "carillon_keep_failed", "carillon_keep_failed_days", false},
	}
}

// addRetention adds the days of jobs, the row that says what is kept and how far the
// removing is, and what was removed day by day.
func addRetention(engine string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		if err := addCarillonColumns(engine, keepColumns(), keepIndexes())(ctx, db); err != nil {
			return err
		}
		like := ""
		if engine == MySQL {
			like = " ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin"
		}
		for name, columns := range map[string]string{
			"carillon_retention": `id INT NOT NULL PRIMARY KEY, keep_days INT NULL, keep_failed_days INT NULL, changed_at BIGINT NULL, changed_by VARCHAR(100) NULL,
				asked_at BIGINT NULL, asked_by VARCHAR(100) NULL, began_at BIGINT NULL, seen_at BIGINT NULL, finished_at BIGINT NULL, busy_ms BIGINT NULL, removed BIGINT NULL,
				origin BIGINT NULL, reached BIGINT NULL, target BIGINT NULL, failed TEXT NULL, removed_until BIGINT NULL`,
			"carillon_retention_day": `day VARCHAR(10) NOT NULL PRIMARY KEY, succeeded BIGINT NOT NULL, failed BIGINT NOT NULL, missed BIGINT NOT NULL, by_hand BIGINT NOT NULL,
				incidents BIGINT NOT NULL, audit_lines BIGINT NOT NULL, busy_ms BIGINT NOT NULL, passes INT NOT NULL`,
		} {
			if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)%s", name, columns, like)); err != nil {
				return err
			}
		}
		insert := `INSERT OR IGNORE INTO carillon_retention (id) VALUES (1)`
		if engine == MySQL {
			insert = `INSERT IGNORE INTO carillon_retention (id) VALUES (1)`
		}
		_, err := db.ExecContext(ctx, insert)
		return err
	}
}
