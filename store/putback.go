package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Replan puts a run back that seems never to have reached its executor; that it was
// sent once stays on the row: should its result come all the same, it counts. It reports
// whether the run is planned again; that of a job which was stopped or deleted
// meanwhile ends as missed.
func (s *Store) Replan(ctx context.Context, owner string, id int64, now time.Time) (bool, error) {
	// A run by hand stays at its address: a person may have asked for it, and the
	// executor there answers.
	return s.putBack(ctx, id, model.PhaseUnknown, now, `UPDATE xxl_job_log SET run_state = ?, trigger_msg = NULL,
		executor_address = CASE WHEN trigger_type IN (?, ?) THEN executor_address ELSE NULL END
		WHERE id = ? AND run_state = ? AND owner = ? AND handle_code = 0`,
		model.PhasePlanned, model.TriggerManual, model.TriggerAPI, id, model.PhaseUnknown, owner)
}

// unlessRung keeps the time of a run that was sent before without a clear answer: its
// result may still come.
const unlessRung = `CASE WHEN run_note LIKE '%"q":"run"%' THEN sent_time ELSE NULL END`

// Unclaim puts a run back that owner has claimed and certainly not sent, with the
// addresses that a person had asked for, if any, as Replan does. A claim made at
// claimedBeforeMS or later is another one and stays.
func (s *Store) Unclaim(ctx context.Context, owner string, id int64, address string, claimedBeforeMS int64, now time.Time) (bool, error) {
	return s.putBack(ctx, id, model.PhaseSending, now, `UPDATE xxl_job_log SET run_state = ?, sent_time = `+unlessRung+`, executor_address = ?
		WHERE id = ? AND run_state = ? AND owner = ? AND handle_code = 0 AND COALESCE(sent_time, 0) < ?`,
		model.PhasePlanned, null(address), id, model.PhaseSending, owner, claimedBeforeMS)
}

// GiveBack makes runs planned again that owner has claimed ahead of their instant and
// has not sent. Those of jobs that were stopped or deleted meanwhile are left for the
// settling, which ends them.
func (s *Store) GiveBack(ctx context.Context, owner string, ids []int64) error {
	return chunks(compact(ids), 500, func(part []int64) error {
		_, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, sent_time = `+unlessRung+`, executor_address = NULL
			WHERE id IN (`+marks(len(part))+`) AND run_state = ? AND owner = ? AND handle_code = 0
			AND EXISTS (SELECT 1 FROM xxl_job_info j WHERE j.id = job_id AND (j.trigger_status = 1 OR j.carillon_condition <> ''))`,
			append(append([]any{model.PhasePlanned}, anys(part)...), model.PhaseSending, owner)...)
		return err
	})
}

// putBack makes a run in phase from planned with the given update, unless its job
// does not want it any more: a stop could not reach the run while it was being sent.
// It is tried once: whoever asks comes back.
func (s *Store) putBack(ctx context.Context, id int64, from model.RunPhase, now time.Time, update string, args ...any) (planned bool, err error) {
	err = inTxOn(ctx, s.w, 1, func(tx *sql.Tx) error {
		var phase model.RunPhase
		var job int
		var origin model.TriggerType // of its first attempt
		err := tx.QueryRowContext(ctx, `SELECT l.run_state, l.job_id, f.trigger_type FROM xxl_job_log l
			LEFT JOIN xxl_job_log f ON f.id = COALESCE(l.first_run, l.id) WHERE l.id = ?`, id).Scan(nz(&phase), &job, nz(&origin))
		if errors.Is(err, sql.ErrNoRows) || err == nil && phase != from {
			return nil
		}
		reason := ""
		if err == nil && (origin == model.TriggerCron || origin == model.TriggerMisfire) {
			reason, err = s.unwanted(ctx, tx, job)
		}
		if err != nil {
			return err
		}
		back, err := matched(tx.ExecContext(ctx, update, args...))
		if err != nil || !back {
			return err
		}
		if planned = reason == ""; planned {
			return nil
		}
		runs, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id = ?`, id)
		if err != nil {
			return err
		}
		return s.cancel(ctx, tx, runs, reason, model.Say(reason), now)
	})
	return planned && err == nil, err
}

// unwanted says why runs of the schedule of a job are not to be made any more, or "".
// The job is locked, as by those who switch it.
func (s *Store) unwanted(ctx context.Context, tx *sql.Tx, job int) (string, error) {
	var status model.JobStatus
	var condition model.JobCondition
	err := tx.QueryRowContext(ctx, `SELECT trigger_status, carillon_condition FROM xxl_job_info WHERE id = ?`+s.d.forUpdate, job).Scan(&status, nz(&condition))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return model.ReasonCancelled, nil
	case err == nil && status == model.JobStopped && condition == model.JobNormal: // not ended by its schedule
		return model.ReasonPaused, nil
	}
	return "", err
}
