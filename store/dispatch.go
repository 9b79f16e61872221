package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// PlannedRuns reads the runs that owner has to ring up to untilMS, earliest first.
func (s *Store) PlannedRuns(ctx context.Context, owner string, untilMS int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.r, true, `SELECT `+runColumns+` FROM xxl_job_log
		WHERE run_state = ? AND owner = ? AND planned_time <= ? ORDER BY planned_time LIMIT ?`,
		model.PhasePlanned, owner, untilMS, limit)
}

// ClaimRuns writes down that owner is about to send these runs. Only those that
// are still planned and still belong to owner are claimed; the result says
// which. A run is sent after its claim is committed and never without one.
func (s *Store) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	got := make(map[int64]bool, len(claims))
	byID := make(map[int64]model.Claim, len(claims))
	ids := make([]int64, 0, len(claims))
	for _, c := range claims {
		if _, twice := byID[c.RunID]; !twice {
			ids = append(ids, c.RunID)
		}
		byID[c.RunID] = c
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		clear(got)
		return chunks(ids, 500, func(part []int64) error {
			address, args := caseBy(part, func(id int64) string { return byID[id].Address }, "executor_address")
			sharding, more := caseBy(part, func(id int64) any { return null(byID[id].Sharding) }, "executor_sharding_param")
			args = append(append(args, more...), nowMS, model.PhaseSending)
			args = append(append(args, anys(part)...), model.PhasePlanned, owner)
			res, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET executor_address = `+address+`, executor_sharding_param = `+sharding+`,
				sent_time = ?, run_state = ? WHERE id IN (`+marks(len(part))+`) AND run_state = ? AND owner = ?`, args...)
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
			return s.idsInto(ctx, tx, got, `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
				AND run_state = ? AND owner = ? AND sent_time = ?`, append(anys(part), model.PhaseSending, owner, nowMS)...)
		})
	})
	return got, err
}

func (s *Store) idsInto(ctx context.Context, q querier, into map[int64]bool, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		into[id] = true
	}
	return rows.Err()
}

// RecordDispatches writes what came of sending. A run whose callback was faster
// keeps its result and only learns that it was accepted. For refused runs
// follow decides about a retry, in the same transaction.
func (s *Store) RecordDispatches(ctx context.Context, list []model.Dispatch, now time.Time, follow model.Follow) error {
	type kind struct {
		phase       model.RunPhase
		code        int
		msg, reason string
	}
	groups := map[kind][]model.Dispatch{}
	for _, d := range list {
		k := kind{d.Phase, d.Code, cut(d.Msg, textBytes), d.Reason}
		groups[k] = append(groups[k], d)
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		count := tally{}
		var after []model.Run
		for k, same := range groups {
			err := chunks(same, 500, func(part []model.Dispatch) error {
				if k.phase == model.PhaseFinished {
					more, err := s.closeRefused(ctx, tx, part, count, follow)
					after = append(after, more...)
					return err
				}
				ids, at := make([]int64, len(part)), make(map[int64]int64, len(part))
				for i, d := range part {
					ids[i], at[d.RunID] = d.RunID, d.AtMS
				}
				accepted, args := "accepted_time", []any(nil)
				if k.phase == model.PhaseAccepted {
					accepted, args = caseBy(ids, func(id int64) int64 { return at[id] }, "accepted_time")
				}
				args = append(args, k.code, null(k.msg), null(k.reason), k.phase)
				args = append(append(args, anys(ids)...), model.PhaseSending, model.PhaseUnknown, model.PhaseFinished)
				_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET accepted_time = `+accepted+`,
					trigger_code = CASE WHEN trigger_code = 0 THEN ? ELSE trigger_code END, trigger_msg = COALESCE(?, trigger_msg),
					run_reason = CASE WHEN handle_code = 0 THEN ? ELSE run_reason END,
					run_state = CASE WHEN handle_code = 0 THEN ? ELSE run_state END
					WHERE id IN (`+marks(len(ids))+`) AND run_state IN (?, ?, ?) AND accepted_time IS NULL`, args...)
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := s.insertRuns(ctx, tx, after, now); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
}

// closeRefused ends runs that no executor took, unless a callback proves otherwise.
func (s *Store) closeRefused(ctx context.Context, tx *sql.Tx, part []model.Dispatch, count tally, follow model.Follow) ([]model.Run, error) {
	byID := make(map[int64]model.Dispatch, len(part))
	ids := make([]int64, len(part))
	for i, d := range part {
		ids[i], byID[d.RunID] = d.RunID, d
	}
	open, err := s.queryRuns(ctx, tx, true, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`)
		AND handle_code = 0 AND run_state IN (?, ?, ?)`+s.d.forUpdate, append(anys(ids), model.PhasePlanned, model.PhaseSending, model.PhaseUnknown)...)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	first := part[0] // all are of one kind
	args := []any{model.PhaseFinished, first.Code, cut(first.Msg, textBytes), null(first.Reason), first.AtMS}
	for i := range open {
		args = append(args, open[i].ID)
	}
	_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, trigger_code = ?, trigger_msg = ?, run_reason = ?, finished_time = ?
		WHERE id IN (`+marks(len(open))+`)`, args...)
	if err != nil {
		return nil, err
	}
	for i := range open {
		r, d := &open[i], byID[open[i].ID]
		r.Phase, r.TriggerCode, r.TriggerMsg, r.Reason, r.FinishedMS = model.PhaseFinished, d.Code, d.Msg, d.Reason, d.AtMS
		count.add(r.TriggerTime, -1, 0, 1, 0)
	}
	return s.followAll(ctx, tx, open, follow)
}

// followAll loads the jobs that follow needs and collects what it decides.
func (s *Store) followAll(ctx context.Context, tx *sql.Tx, ended []model.Run, follow model.Follow) ([]model.Run, error) {
	if follow == nil || len(ended) == 0 {
		return nil, nil
	}
	var ids []int
	for i := range ended {
		ids = append(ids, ended[i].JobID)
	}
	jobs, err := s.jobsByID(ctx, tx, compact(ids))
	if err != nil {
		return nil, err
	}
	var children []int
	for _, j := range jobs {
		// What cannot be read stops nothing; the planner quarantines broken jobs.
		list, _ := model.ChildIDList(j.ChildIDs)
		children = append(children, list...)
	}
	more, err := s.jobsByID(ctx, tx, compact(children))
	if err != nil {
		return nil, err
	}
	for id, j := range more {
		jobs[id] = j
	}
	var out []model.Run
	for i := range ended {
		out = append(out, follow(ended[i], jobs)...)
	}
	return out, nil
}

// MissRuns ends planned runs of owner that will not be made.
func (s *Store) MissRuns(ctx context.Context, owner string, ids []int64, reason, msg string, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		count := tally{}
		err := chunks(ids, 500, func(part []int64) error {
			open, err := s.queryRuns(ctx, tx, false, `SELECT `+runShort+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
				AND run_state = ? AND owner = ?`+s.d.forUpdate, append(anys(part), model.PhasePlanned, owner)...)
			if err != nil || len(open) == 0 {
				return err
			}
			args := []any{model.PhaseMissed, model.CodeMissed, cut(msg, textBytes), reason, now.UnixMilli()}
			for i := range open {
				args = append(args, open[i].ID)
				count.add(open[i].TriggerTime, -1, 0, 0, 1)
			}
			_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, trigger_code = ?, trigger_msg = ?, run_reason = ?,
				finished_time = ?, alarm_status = 1 WHERE id IN (`+marks(len(open))+`)`, args...)
			return err
		})
		return errors.Join(err, s.addTally(ctx, tx, count, now))
	})
}
