package migrations

import (
	"context"
	"database/sql"
)

// settledAtOnce is how many ids one statement of settleOldAlarms looks at.
const settledAtOnce = 20_000

// settleOldAlarms says on runs that failed before there were alarms that nobody is told of
// them any more: neither we nor a Java admin that comes back. It goes through the runs in
// pieces, so nothing is locked for long, and may be repeated.
func settleOldAlarms(ctx context.Context, db *sql.DB) error {
	var first, last sql.NullInt64
	if err := db.QueryRowContext(ctx, `SELECT MIN(id), MAX(id) FROM xxl_job_log`).Scan(&first, &last); err != nil || !last.Valid {
		return err
	}
	for id := first.Int64; id <= last.Int64; id += settledAtOnce {
		_, err := db.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = 1 WHERE id >= ? AND id < ? AND alarm_status = 0 AND run_state IN (5, 6) AND handle_code <> 200`,
			id, id+settledAtOnce)
		if err != nil {
			return err
		}
	}
	return nil
}
