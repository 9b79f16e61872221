package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// column is one of our additions to a table of the original. All are nullable,
// so a Java admin may go on writing rows without them (reference: schema.md 11).
type column struct{ table, name, typ string }

func carillonColumns() []column {
	return []column{
		{"xxl_job_info", "carillon_version", "BIGINT NULL"},
		{"xxl_job_info", "carillon_condition", "VARCHAR(20) NULL"},
		{"xxl_job_info", "carillon_reason", "VARCHAR(255) NULL"},

		{"xxl_job_log", "run_state", "TINYINT NULL"},
		{"xxl_job_log", "planned_time", "BIGINT NULL"},
		{"xxl_job_log", "sent_time", "BIGINT NULL"},
		{"xxl_job_log", "accepted_time", "BIGINT NULL"},
		{"xxl_job_log", "finished_time", "BIGINT NULL"},
		{"xxl_job_log", "trigger_type", "VARCHAR(16) NULL"},
		{"xxl_job_log", "owner", "VARCHAR(120) NULL"},
		{"xxl_job_log", "fire_key", "VARCHAR(64) NULL"},
		{"xxl_job_log", "parent_run", "BIGINT NULL"},
		{"xxl_job_log", "first_run", "BIGINT NULL"},
		{"xxl_job_log", "run_reason", "VARCHAR(32) NULL"},

		{"xxl_job_log_report", "missed_count", "INT NULL"},
	}
}

// trustColumns came later: what follows a run, why fires were missed, and how
// fair the routing is.
func trustColumns() []column {
	return []column{
		{"xxl_job_info", "carillon_retry_delay", "INT NULL"},       // seconds before a retry
		{"xxl_job_info", "carillon_retry_growing", "TINYINT NULL"}, // 1: the delay doubles with each attempt
		{"xxl_job_info", "carillon_misfire_after", "INT NULL"},     // seconds; NULL = the center's threshold
		{"xxl_job_info", "carillon_turn", "BIGINT NULL"},           // fires so far, for ROUND

		{"xxl_job_log", "route_turn", "BIGINT NULL"},
		{"xxl_job_log", "shard_key", "VARCHAR(64) NULL"}, // the broadcast that a shard belongs to
		{"xxl_job_log", "lineage", "VARCHAR(255) NULL"},  // job ids from the first parent down, against cycles
		{"xxl_job_log", "missed_fires", "INT NULL"},      // a missed row that stands for many

		{"carillon_node", "plan_at", "BIGINT NULL"}, // when it planned last
		{"carillon_node", "backlog", "INT NULL"},    // due and not sent yet
		{"carillon_node", "late_ms", "INT NULL"},    // p99 of the last minute
		{"carillon_node", "url", "VARCHAR(255) NULL"},
		{"carillon_node", "leaving", "TINYINT NULL"}, // stops: gets no new runs
	}
}

// truthColumns: reasons as data, and what ends sessions.
func truthColumns() []column {
	return []column{
		// JSON: reasons with their arguments, and whom the route asked (model.RunNote)
		{"xxl_job_log", "run_note", "TEXT NULL"},
		// grows with each change of the password: sessions of an older one are over
		{"carillon_user", "session_generation", "BIGINT NULL"},
	}
}

// aheadColumns: what a node that is gone had claimed ahead, and certainly not sent.
func aheadColumns() []column {
	return []column{
		{"carillon_node", "rings_until", "BIGINT NULL"},   // of its claims ahead, those up to here may have been sent
		{"carillon_node", "taken_over_at", "BIGINT NULL"}, // when others took its claims ahead over, last
	}
}

// pageColumns: what people leave for each other on the page of a job.
func pageColumns() []column {
	return []column{{"xxl_job_info", "carillon_note", "TEXT NULL"}} // for on-call, Markdown
}

// pageIndexes finds the parents of a job: few jobs have children.
func pageIndexes() []index {
	return []index{{"xxl_job_info", "carillon_children", "child_jobid", false}}
}

// peopleColumns: rights finer than the original's, and whose sessions there are.
func peopleColumns() []column {
	return []column{
		{"carillon_user", "rights", "TEXT NULL"},            // grants that xxl_job_user.permission cannot say (model.ParseRights)
		{"carillon_user", "disabled", "TINYINT NULL"},       // 1: cannot log in
		{"carillon_user", "start_page", "VARCHAR(50) NULL"}, // path of the console
		{"carillon_session", "user_id", "INT NULL"},
		{"carillon_session", "began_at", "BIGINT NULL"},
		{"carillon_session", "seen_at", "BIGINT NULL"},
		{"carillon_session", "came_from", "VARCHAR(64) NULL"},
		{"carillon_session", "agent", "VARCHAR(255) NULL"},
	}
}

func peopleIndexes() []index {
	return []index{{"carillon_session", "carillon_session_user", "user_id", false}}
}

// scriptColumns: who saved which version of a script.
func scriptColumns() []column {
	return []column{{"xxl_job_logglue", "carillon_author", "VARCHAR(50) NULL"}}
}

// listColumns: which columns of the lists a person wants.
func listColumns() []column {
	return []column{{"carillon_user", "list_columns", "VARCHAR(500) NULL"}} // what differs from the usual ones (model.ListColumns)
}

// nodeColumns: what executors say of themselves, and what nodes say of their work.
func nodeColumns() []column {
	return []column{
		{"xxl_job_registry", "carillon_report", "TEXT NULL"}, // JSON of model.Report, from our SDK
		{"carillon_node", "late50_ms", "INT NULL"},           // median of the last minute
		{"carillon_node", "slow_waiting", "INT NULL"},        // runs that wait in the slow lane
		{"carillon_node", "sick_loops", "VARCHAR(255) NULL"}, // loops that have not succeeded for long
	}
}

// zoneColumns: in which zone a person reads times.
func zoneColumns() []column {
	return []column{{"carillon_user", "zone", "VARCHAR(64) NULL"}} // IANA name
}

// ownPasswordColumns: whose password was chosen by somebody else.
func ownPasswordColumns() []column {
	return []column{{"carillon_user", "must_change", "TINYINT NULL"}} // 1: an own password is due at the next login
}

// alarmColumns: what nodes say is wrong with them.
func alarmColumns() []column {
	return []column{{"carillon_node", "troubles", "TEXT NULL"}} // JSON of []model.NodeTrouble
}

// mailColumns: where a person gets mail.
func mailColumns() []column {
	return []column{{"carillon_user", "mail", "VARCHAR(254) NULL"}} // as it was typed
}

// countIndexes answer how many jobs there are of each state, and list them by name,
// without a look at each. None of these columns changes when a job fires.
func countIndexes() []index {
	return []index{
		{"xxl_job_info", "carillon_counts", "job_group, trigger_status, schedule_type", false},
		{"xxl_job_info", "carillon_name", "job_desc", false},
	}
}

// endedIndexes finds the jobs whose schedule has no further fire.
func endedIndexes() []index {
	return []index{{"xxl_job_info", "carillon_ended", "carillon_condition", false}}
}

func trustIndexes() []index {
	return []index{{"xxl_job_log", "carillon_shard", "shard_key", false}}
}

// leanIndexes replaces two indexes by one: each of them is written three times in
// the life of a run, and planned runs of one job are found among all planned
// ones, which are few.
func leanIndexes(engine string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		if err := addIndex(ctx, db, engine, index{"xxl_job_log", "carillon_phase", "run_state, owner, planned_time, job_id", false}); err != nil {
			return err
		}
		for _, name := range []string{"carillon_open", "carillon_job_state"} {
			if err := dropIndex(ctx, db, engine, "xxl_job_log", name); err != nil {
				return err
			}
		}
		return nil
	}
}

// dropIndex removes an index when it is there.
func dropIndex(ctx context.Context, db *sql.DB, engine, table, name string) error {
	if engine != MySQL {
		_, err := db.ExecContext(ctx, "DROP INDEX IF EXISTS "+name)
		return err
	}
	var n int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?`, table, name).Scan(&n)
	if err != nil || n == 0 {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("DROP INDEX %s ON %s", name, table))
	return err
}

type index struct {
	table, name, columns string
	unique               bool
}

func carillonIndexes() []index {
	return []index{
		// the planner's scan
		{"xxl_job_info", "carillon_due", "trigger_status, trigger_next_time", false},
		// the ring's and the monitors' scans: runs of one phase, of one owner, by time
		{"xxl_job_log", "carillon_open", "run_state, owner, planned_time", false},
		// no instant of a job is planned twice; rows of others have NULL here
		{"xxl_job_log", "carillon_fire", "fire_key", true},
		{"xxl_job_log", "carillon_first", "first_run", false},
		{"xxl_job_log", "carillon_parent", "parent_run", false},
		{"xxl_job_logglue", "carillon_glue_job", "job_id", false},
	}
}

// addCarillonColumns adds what is missing and nothing else, so it can be run
// again after a crash in the middle (MySQL commits on every DDL statement).
func addCarillonColumns(engine string, columns []column, indexes []index) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		have := map[string][]string{}
		info, err := columnsOf(ctx, db, "xxl_job_info")
		if err != nil {
			return err
		}
		if !slices.Contains(info, "schedule_type") || !slices.Contains(info, "job_desc") {
			return errors.New("the xxl_job tables in this database are of another generation than 3.4: upgrade them first")
		}
		for _, c := range columns {
			if have[c.table] == nil {
				names, err := columnsOf(ctx, db, c.table)
				if err != nil {
					return err
				}
				have[c.table] = names
			}
			if slices.Contains(have[c.table], c.name) {
				continue
			}
			if _, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", c.table, c.name, c.typ)); err != nil {
				return fmt.Errorf("add column %s.%s: %w", c.table, c.name, err)
			}
		}
		for _, ix := range indexes {
			if err := addIndex(ctx, db, engine, ix); err != nil {
				return fmt.Errorf("add index %s: %w", ix.name, err)
			}
		}
		return nil
	}
}

func addIndex(ctx context.Context, db *sql.DB, engine string, ix index) error {
	unique := ""
	if ix.unique {
		unique = "UNIQUE "
	}
	ifNot := "IF NOT EXISTS "
	if engine == MySQL { // has no IF NOT EXISTS here (MariaDB has, MySQL has not)
		ifNot = ""
		var n int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?`, ix.table, ix.name).Scan(&n)
		if err != nil || n > 0 {
			return err
		}
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("CREATE %sINDEX %s%s ON %s (%s)", unique, ifNot, ix.name, ix.table, ix.columns))
	return err
}

// columnsOf reads the column names in lower case, the same way on every engine.
func columnsOf(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	return names, err
}
