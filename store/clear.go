package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// clearWhere selects the ended runs of a scope.
func (s *Store) clearWhere(c model.ClearScope) (string, []any) {
	where, args := inGroups("job_group", c.Groups)
	if c.GroupID != 0 {
		where, args = where+" AND job_group = ?", append(args, c.GroupID)
	}
	if c.JobID != 0 {
		where, args = where+" AND job_id = ?", append(args, c.JobID)
	}
	if !c.Before.IsZero() {
		where, args = where+" AND trigger_time < ?", append(args, s.dt(c.Before))
	}
	if c.BeforeID != 0 {
		where, args = where+" AND id < ?", append(args, c.BeforeID)
	}
	// An attempt stays as long as a later one of its fire does: without the first nobody
	// knows to which day and hour the fire belongs.
	stays := "o.handle_code = 0 AND o.trigger_code IN (0, 200) AND COALESCE(o.run_state, 0) IN (1, 2, 3, 4)"
	if !c.Before.IsZero() {
		stays, args = stays+" OR o.trigger_time >= ?", append(args, s.dt(c.Before))
	}
	if c.BeforeID != 0 {
		stays, args = stays+" OR o.id >= ?", append(args, c.BeforeID)
	}
	return where + ` AND NOT (handle_code = 0 AND trigger_code IN (0, 200) AND COALESCE(run_state, 0) IN (1, 2, 3, 4))
		AND NOT EXISTS (SELECT 1 FROM xxl_job_log o WHERE o.first_run = COALESCE(xxl_job_log.first_run, xxl_job_log.id) AND o.id > xxl_job_log.id AND (` + stays + `))`, args
}

// NewestRuns gives the id of the oldest of the newest keep runs of a scope: what is older
// than that goes when so many are to stay. 0 means that there are no more than those.
func (s *Store) NewestRuns(ctx context.Context, c model.ClearScope, keep int) (int64, error) {
	where, args := s.clearWhere(model.ClearScope{Groups: c.Groups, GroupID: c.GroupID, JobID: c.JobID})
	var id int64
	err := s.r.QueryRowContext(ctx, `SELECT id FROM xxl_job_log WHERE 1 = 1`+where+` ORDER BY id DESC LIMIT 1 OFFSET ?`, append(args, keep-1)...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// CountClear counts the runs of a scope, at most limit.
func (s *Store) CountClear(ctx context.Context, c model.ClearScope, limit int) (int, error) {
	where, args := s.clearWhere(c)
	var n int
	err := s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM xxl_job_log WHERE 1 = 1`+where+` LIMIT ?) AS t`, append(args, limit)...).Scan(&n)
	return n, err
}

// ClearRuns removes ended runs of a scope, at most limit, and says how many.
func (s *Store) ClearRuns(ctx context.Context, c model.ClearScope, limit int, now time.Time) (int, error) {
	where, args := s.clearWhere(c)
	removed := 0
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		removed = 0
		runs, err := s.spentRuns(ctx, tx, `WHERE 1 = 1`+where+` ORDER BY id LIMIT ?`, append(args, limit)...)
		if err != nil || len(runs) == 0 {
			return err
		}
		removed = len(runs)
		if err := s.removeRuns(ctx, tx, runs); err != nil {
			return err
		}
		return s.addRemoved(ctx, tx, now, model.RetentionDay{ByHand: int64(removed)})
	})
	return removed, err
}
