package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// PlannedIDs lists the runs that owner has to ring after afterMS up to untilMS,
// earliest or latest first. The index alone answers it, so it may be asked often.
func (s *Store) PlannedIDs(ctx context.Context, owner string, afterMS, untilMS int64, limit int, latest bool) ([]int64, error) {
	order := "ASC"
	if latest {
		order = "DESC"
	}
	return collect(ctx, s.h, one[int64],
		`SELECT id FROM xxl_job_log WHERE run_state = ? AND owner = ? AND planned_time > ? AND planned_time <= ? ORDER BY planned_time `+order+` LIMIT ?`,
		model.PhasePlanned, owner, afterMS, untilMS, limit)
}

// RunsByID reads what ringing needs of runs that are still planned, in no order.
func (s *Store) RunsByID(ctx context.Context, ids []int64) ([]model.Run, error) {
	var out []model.Run
	err := chunks(ids, 1000, func(part []int64) error {
		var r model.Run
		list, err := collect(ctx, s.h, into(&r, s.dueTargets(&r)), `SELECT `+dueColumns+` FROM xxl_job_log
			WHERE id IN (`+marks(len(part))+`) AND run_state = ?`, append(anys(part), model.PhasePlanned)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// CountDue counts the runs of owner that were due at nowMS and are not sent.
func (s *Store) CountDue(ctx context.Context, owner string, nowMS int64) (int, error) {
	var n int
	err := s.h.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE run_state = ? AND owner = ? AND planned_time <= ?`,
		model.PhasePlanned, owner, nowMS).Scan(&n)
	return n, err
}

// ClaimRuns writes down that owner is about to send these runs. Only those that
// are still planned and still belong to owner are claimed; the result says
// which. A run is sent after its claim is committed and never without one.
func (s *Store) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	type kind struct {
		address string
		again   bool
	}
	alike := map[kind][]int64{}
	got := make(map[int64]bool, len(claims))
	for _, c := range claims {
		k := kind{c.Address, c.Again}
		alike[k] = append(alike[k], c.RunID)
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		clear(got)
		for k, same := range alike {
			from := model.PhasePlanned
			if k.again {
				from = model.PhaseSending
			}
			err := chunks(compact(same), 1000, func(part []int64) error {
				args := append([]any{k.address, nowMS, model.PhaseSending}, anys(part)...)
				res, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET executor_address = ?, sent_time = ?, run_state = ?
					WHERE id IN (`+marks(len(part))+`) AND run_state = ? AND owner = ? AND handle_code = 0`, append(args, from, owner)...)
				if err != nil {
					return err
				}
				n, err := res.RowsAffected()
				if err != nil {
					return err
				}
				if int(n) == len(part) {
					for _, id := range part {
						got[id] = true
					}
					return nil
				}
				// Some were cancelled or taken over meanwhile: ask which are ours. Rows
				// that this very call did not change cannot be in "sending" for us,
				// because a run is handed to one claim at a time.
				ours, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
					AND run_state = ? AND owner = ? AND sent_time = ?`, append(anys(part), model.PhaseSending, owner, nowMS)...)
				for _, id := range ours {
					got[id] = true
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return got, err
}

// NoteWaiting writes on a planned run of owner what it waits for.
func (s *Store) NoteWaiting(ctx context.Context, owner string, id int64, msg string) error {
	_, err := s.w.ExecContext(ctx, `UPDATE xxl_job_log SET trigger_msg = ? WHERE id = ? AND run_state = ? AND owner = ?`,
		cut(msg, textBytes), id, model.PhasePlanned, owner)
	return err
}

// tick is the resolution in ms of times that many rows share: rows whose times
// are equal then are written by one statement.
const tick = 10

// RecordDispatches writes what came of sending. A run whose callback was faster
// keeps its result and only learns that it was accepted. For refused runs
// follow decides about a retry, in the same transaction. That an executor has a
// run is true whoever says so; everything else counts only while the run belongs
// to owner: another node may have taken it over and rung it anew.
func (s *Store) RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error {
	type kind struct {
		phase       model.RunPhase
		code        int
		msg, reason string
		at, sent    int64
	}
	alike := map[kind][]int64{}
	step := int64(tick)
	if len(list) > 100 {
		step *= 10
	}
	for _, d := range list {
		k := kind{d.Phase, d.Code, cut(d.Msg, textBytes), d.Reason, d.AtMS / step * step, d.SentMS / step * step}
		alike[k] = append(alike[k], d.RunID)
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		count := tally{}
		var after []model.Run
		for k, same := range alike {
			err := chunks(compact(same), 1000, func(ids []int64) error {
				if k.phase == model.PhaseFinished || k.phase == model.PhaseMissed {
					more, err := s.closeRefused(ctx, tx, owner, ids, model.Dispatch{Phase: k.phase, Code: k.code, Msg: k.msg, Reason: k.reason, AtMS: k.at}, count, follow)
					after = append(after, more...)
					return err
				}
				var accepted any
				fence, args := "", []any{}
				if k.phase == model.PhaseAccepted {
					accepted = k.at
				} else {
					fence, args = " AND owner = ?", append(args, owner)
				}
				args = slices.Concat([]any{null(k.sent), null(k.sent), accepted, k.code, null(k.msg), null(k.reason), k.phase}, anys(ids),
					[]any{model.PhaseSending, model.PhaseUnknown, model.PhaseFinished}, args)
				_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET sent_time = CASE WHEN sent_time > ? THEN sent_time ELSE COALESCE(?, sent_time) END, accepted_time = ?,
					trigger_code = CASE WHEN trigger_code = 0 THEN ? ELSE trigger_code END, trigger_msg = COALESCE(?, trigger_msg),
					run_reason = CASE WHEN handle_code = 0 THEN COALESCE(?, run_reason) ELSE run_reason END,
					run_state = CASE WHEN handle_code = 0 THEN ? ELSE run_state END
					WHERE id IN (`+marks(len(ids))+`) AND run_state IN (?, ?, ?) AND accepted_time IS NULL`+fence, args...)
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := s.insertFresh(ctx, tx, after, now); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
}

// closeRefused ends runs that no executor took, unless a callback proves
// otherwise. All have the outcome d.
func (s *Store) closeRefused(ctx context.Context, tx *sql.Tx, owner string, ids []int64, d model.Dispatch, count tally, follow model.Follow) ([]model.Run, error) {
	open, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`)
		AND handle_code = 0 AND run_state IN (?, ?, ?) AND owner = ? ORDER BY id`+s.d.forUpdate,
		append(anys(ids), model.PhasePlanned, model.PhaseSending, model.PhaseUnknown, owner)...)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	alarm := "alarm_status"
	if d.Phase == model.PhaseMissed {
		alarm = "1" // nobody is to be woken, nothing to be tried again
	}
	args := []any{d.Phase, d.Code, cut(d.Msg, textBytes), null(d.Reason), d.AtMS}
	for i := range open {
		args = append(args, open[i].ID)
	}
	_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, trigger_code = ?, trigger_msg = ?, run_reason = ?, finished_time = ?,
		alarm_status = `+alarm+` WHERE id IN (`+marks(len(open))+`)`, args...)
	if err != nil {
		return nil, err
	}
	for i := range open {
		r := &open[i]
		r.Phase, r.TriggerCode, r.TriggerMsg, r.Reason, r.FinishedMS = d.Phase, d.Code, d.Msg, d.Reason, d.AtMS
		if d.Phase == model.PhaseMissed {
			count.add(r.TriggerTime, -1, 0, 0, r.Fires())
			if err := s.missFire(ctx, tx, count, r, d.Reason); err != nil {
				return nil, err
			}
			continue
		}
		count.add(r.TriggerTime, -1, 0, 1, 0)
	}
	after, err := s.followAll(ctx, tx, open, follow)
	if err != nil || d.Phase == model.PhaseMissed {
		return after, err
	}
	for i := range open {
		r := &open[i]
		if slices.ContainsFunc(after, func(x model.Run) bool { return x.TriggerType == model.TriggerRetry && x.FirstID == r.FirstAttempt() }) {
			continue // not the last attempt
		}
		if err := s.missFire(ctx, tx, count, r, d.Reason); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// MissRuns ends planned runs of owner that will not be made.
func (s *Store) MissRuns(ctx context.Context, owner string, ids []int64, reason, msg string, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		count := tally{}
		err := chunks(ids, 500, func(part []int64) error {
			open, err := s.queryRuns(ctx, tx, brief, `SELECT `+runShort+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
				AND run_state = ? AND owner = ?`+s.d.forUpdate, append(anys(part), model.PhasePlanned, owner)...)
			if err != nil || len(open) == 0 {
				return err
			}
			args := []any{model.PhaseMissed, model.CodeMissed, cut(msg, textBytes), reason, now.UnixMilli()}
			for i := range open {
				args = append(args, open[i].ID)
				count.miss(&open[i], open[i].TriggerTime, reason, true)
			}
			_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, trigger_code = ?, trigger_msg = ?, run_reason = ?,
				finished_time = ?, alarm_status = 1 WHERE id IN (`+marks(len(open))+`)`, args...)
			return err
		})
		if err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
}
