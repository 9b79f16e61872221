package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// AdoptRuns gives the open runs of owners that are no longer alive to newOwner:
// planned ones stay planned, those that may have been sent become unknown and
// wait to be settled. Each run is adopted by one conditional update. It returns
// the adopted planned runs and how many became unknown.
func (s *Store) AdoptRuns(ctx context.Context, alive []string, newOwner string, limit int) (planned []model.Run, unknown int, err error) {
	notAlive := ""
	var aliveArgs []any
	if len(alive) > 0 {
		notAlive, aliveArgs = " AND owner NOT IN ("+marks(len(alive))+")", anys(alive)
	}
	for _, phase := range []model.RunPhase{model.PhasePlanned, model.PhaseSending, model.PhaseUnknown} {
		list, err := s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log WHERE run_state = ?`+notAlive+` LIMIT ?`,
			append(append([]any{phase}, aliveArgs...), limit)...)
		if err != nil {
			return planned, unknown, err
		}
		to := phase
		if phase == model.PhaseSending {
			to = model.PhaseUnknown
		}
		for i := range list {
			r := &list[i]
			res, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET owner = ?, run_state = ? WHERE id = ? AND run_state = ? AND owner = ?`,
				newOwner, to, r.ID, phase, r.Owner)
			if err != nil {
				return planned, unknown, err
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				continue // somebody else was faster, or the run ended
			}
			r.Owner = newOwner
			if to == model.PhasePlanned {
				planned = append(planned, *r)
			} else {
				unknown++
			}
		}
	}
	return planned, unknown, nil
}

// HandOver gives the planned runs of a node that stops to another owner, in one
// conditional update.
func (s *Store) HandOver(ctx context.Context, owner, newOwner string) (int64, error) {
	res, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET owner = ? WHERE run_state = ? AND owner = ?`,
		newOwner, model.PhasePlanned, owner)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// UnknownRuns lists runs of owner whose sending had no clear answer and is
// older than sentBeforeMS.
func (s *Store) UnknownRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log
		WHERE run_state = ? AND owner = ? AND COALESCE(sent_time, 0) < ? LIMIT ?`, model.PhaseUnknown, owner, sentBeforeMS, limit)
}

// SendingRuns lists runs of owner that were claimed before sentBeforeMS and
// have no answer yet.
func (s *Store) SendingRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log
		WHERE run_state = ? AND owner = ? AND sent_time < ? LIMIT ?`, model.PhaseSending, owner, sentBeforeMS, limit)
}

// Replan puts a run back that certainly never reached its executor.
func (s *Store) Replan(ctx context.Context, owner string, id int64) (bool, error) {
	res, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, sent_time = NULL
		WHERE id = ? AND run_state = ? AND owner = ? AND handle_code = 0`, model.PhasePlanned, id, model.PhaseUnknown, owner)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// AcceptedRuns lists runs that an executor took before acceptedBeforeMS and has
// not reported, of every owner.
func (s *Store) AcceptedRuns(ctx context.Context, plannedBeforeMS, afterID int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.r, false, `SELECT `+runShort+` FROM xxl_job_log
		WHERE run_state = ? AND planned_time < ? AND id > ? ORDER BY id LIMIT ?`, model.PhaseAccepted, plannedBeforeMS, afterID, limit)
}

// DeleteRunsBefore removes ended runs older than the cutoff, at most limit, in
// small steps so that no lock is held for long. It returns how many were removed.
func (s *Store) DeleteRunsBefore(ctx context.Context, cutoff time.Time, limit int) (int, error) {
	removed := 0
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		removed = 0
		ids := map[int64]bool{}
		err := s.idsInto(ctx, tx, ids, `SELECT id FROM xxl_job_log WHERE trigger_time < ?
			AND NOT (handle_code = 0 AND trigger_code IN (0, 200) AND COALESCE(run_state, 0) IN (1, 2, 3, 4))
			ORDER BY trigger_time LIMIT ?`, s.dt(cutoff), limit)
		if err != nil || len(ids) == 0 {
			return err
		}
		var args []any
		for id := range ids {
			args = append(args, id)
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM xxl_job_log WHERE id IN (`+marks(len(args))+`)`, args...)
		removed = len(args)
		return err
	})
	return removed, err
}

// MarkKill notes on a run in progress that a person asked for its end (or, with
// on false, takes that back), so that its result counts as killed whoever
// reports it first. It reports whether the run was still in progress.
func (s *Store) MarkKill(ctx context.Context, id int64, on bool) (bool, error) {
	var reason any
	if on {
		reason = model.ReasonKilled
	}
	res, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET run_reason = ? WHERE id = ? AND handle_code = 0 AND trigger_code IN (0, 200)`, reason, id)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
