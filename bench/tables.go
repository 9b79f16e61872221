package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// jobRow is a job as it is put into xxl_job_info, with the columns that every
// center on these tables knows.
type jobRow struct {
	name     string
	kind     string // CRON, FIX_RATE, NONE
	conf     string
	misfire  string
	route    string
	handler  string
	retries  int
	children string
	status   int
	next     int64 // epoch ms
}

// insertJobs adds jobs and gives their ids in order.
func insertJobs(ctx context.Context, db *sql.DB, group int, jobs []jobRow) ([]int, error) {
	now := time.Now().UTC().Format(time.DateTime)
	for part := range slices.Chunk(jobs, 500) {
		var values []string
		var args []any
		for _, j := range part {
			values = append(values, `(?,?,?,?,'bench',?,?,?,?,?,'','SERIAL_EXECUTION',0,?,'BEAN','','',?,?,?,0,?)`)
			args = append(args, group, j.name, now, now, j.kind, j.conf, j.misfire, j.route, j.handler, j.retries, now, j.children, j.status, j.next)
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO xxl_job_info (job_group, job_desc, add_time, update_time, author, schedule_type, schedule_conf,
			misfire_strategy, executor_route_strategy, executor_handler, executor_param, executor_block_strategy, executor_timeout,
			executor_fail_retry_count, glue_type, glue_source, glue_remark, glue_updatetime, child_jobid, trigger_status, trigger_last_time, trigger_next_time)
			VALUES `+strings.Join(values, ","), args...); err != nil {
			return nil, fmt.Errorf("put jobs into the table: %w", err)
		}
	}
	rows, err := db.QueryContext(ctx, `SELECT id FROM xxl_job_info WHERE job_group = ? ORDER BY id DESC LIMIT ?`, group, len(jobs))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return ids, rows.Err()
}

// switchOff stops all jobs of the measurement.
func switchOff(ctx context.Context, db *sql.DB, group int) error {
	_, err := db.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = 0 WHERE job_group = ?`, group)
	return err
}

func addGroup(ctx context.Context, db *sql.DB, app string) (int, error) {
	if _, err := db.ExecContext(ctx, `INSERT INTO xxl_job_group (app_name, title, address_type, update_time) VALUES (?, 'bench', 0, ?)`,
		app, time.Now().UTC().Format(time.DateTime)); err != nil {
		return 0, fmt.Errorf("put an executor into the table: %w", err)
	}
	var id int
	err := db.QueryRowContext(ctx, `SELECT id FROM xxl_job_group WHERE app_name = ?`, app).Scan(&id)
	return id, err
}

func hasColumn(ctx context.Context, db *sql.DB, table, column string) (bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	return slices.Contains(names, column), err
}

// runRow is one row of xxl_job_log. Without our columns the planned instant is the
// trigger time, whole seconds, and the rest is empty.
type runRow struct {
	ID                     int64
	Job                    int
	Planned                int64 // epoch ms
	Trigger                string
	State                  int
	TriggerCode, Handled   int
	Reason, Shard, Owner   string
	RetryLeft, MissedFires int
	First, Parent          int64
	At                     int64 // epoch s of the trigger time; 0 without our columns
}

// call is what an executor is told of a run.
type call struct{ run, job, at int64 } // at: trigger time, epoch s

func (r *runRow) call() call { return call{r.ID, int64(r.Job), r.At} }

// States of our column run_state.
const (
	stateOpenMax  = 3 // planned, sending, unknown
	stateFinished = 5
	stateMissed   = 6
)

// readRuns reads all runs of a group, a piece at a time.
func readRuns(ctx context.Context, s *site) ([]runRow, error) {
	columns := `trigger_time, 'CRON', 0, NULL, NULL, 0, 0, 0`
	if s.extended {
		columns = `COALESCE(planned_time, 0), COALESCE(trigger_type, ''), COALESCE(run_state, 0), run_reason, owner,
			COALESCE(missed_fires, 0), COALESCE(first_run, 0), COALESCE(parent_run, 0)`
	} else if strings.HasPrefix(s.database, "mysql:") {
		columns = strings.Replace(columns, "trigger_time", "UNIX_TIMESTAMP(trigger_time) * 1000", 1)
	}
	var out []runRow
	for after := s.since; ; {
		n := len(out)
		rows, err := s.db.QueryContext(ctx, `SELECT id, job_id, trigger_code, handle_code, executor_sharding_param, executor_fail_retry_count, `+columns+`
			FROM xxl_job_log WHERE job_group = ? AND id > ? ORDER BY id LIMIT 20000`, s.group, after)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var r runRow
			var shard, reason, owner sql.NullString
			if err := rows.Scan(&r.ID, &r.Job, &r.TriggerCode, &r.Handled, &shard, &r.RetryLeft,
				&r.Planned, &r.Trigger, &r.State, &reason, &owner, &r.MissedFires, &r.First, &r.Parent); err != nil {
				return nil, err
			}
			r.Shard, r.Reason, r.Owner = shard.String, reason.String, owner.String
			if s.extended {
				r.At = r.Planned / 1000
			}
			out = append(out, r)
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		if len(out) == n {
			return out, nil
		}
		after = out[len(out)-1].ID
	}
}
