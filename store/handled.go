package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// handleBytes is how much of a result text is kept: 15 000 characters in the
// original; counted in bytes here so that it always fits.
const handleBytes = 45000

// StoreHandled ends runs: results of executors and decisions of the center. Per
// run only the first one wins; what follows from it (retry, children) is
// written in the same transaction. A result that comes after the center had
// declared the run lost replaces that guess. The statuses come in the order of
// the list. When it returns nil everything is stored.
func (s *Store) StoreHandled(ctx context.Context, list []model.Handled, now time.Time, follow model.Follow) ([]model.HandledStatus, error) {
	var statuses []model.HandledStatus
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		statuses = make([]model.HandledStatus, len(list))
		ids := make([]int64, len(list))
		for i, h := range list {
			ids[i] = h.RunID
		}
		rows := map[int64]*model.Run{}
		// In the order of their ids, so that two nodes cannot deadlock.
		err := chunks(compact(ids), 500, func(part []int64) error {
			found, err := s.queryRuns(ctx, tx, true, `SELECT `+runColumns+` FROM xxl_job_log
				WHERE id IN (`+marks(len(part))+`) ORDER BY id`+s.d.forUpdate, anys(part)...)
			for i := range found {
				rows[found[i].ID] = &found[i]
			}
			return err
		})
		if err != nil {
			return err
		}
		count := tally{}
		var won []model.Run
		for i, h := range list {
			r := rows[h.RunID]
			switch {
			case r == nil:
				statuses[i] = model.HandledUnknown
			case r.HandleCode == 0 && r.Phase != model.PhaseMissed:
				statuses[i] = model.HandledStored
				applyHandled(r, h, count)
				won = append(won, *r)
			case r.HandleCode != 0 && r.Reason == model.ReasonLost && h.Reason == "":
				statuses[i] = model.HandledCorrected
				if err := s.correct(ctx, tx, r, h, count, now); err != nil {
					return err
				}
			default:
				statuses[i] = model.HandledRepeat
			}
		}
		if err := s.writeHandled(ctx, tx, won, now); err != nil {
			return err
		}
		after, err := s.followAll(ctx, tx, won, follow)
		if err != nil {
			return err
		}
		if err := s.insertRuns(ctx, tx, after, now); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
	return statuses, err
}

// applyHandled puts the result into the row in memory and into the counters.
func applyHandled(r *model.Run, h model.Handled, count tally) {
	// A run whose /run was noted as failed and that reports all the same counts anew.
	if r.TriggerCode != 0 && r.TriggerCode != model.CodeSuccess {
		count.add(r.TriggerTime, 0, 0, -1, 0)
	} else {
		count.add(r.TriggerTime, -1, 0, 0, 0)
	}
	if h.Code == model.CodeSuccess {
		count.add(r.TriggerTime, 0, 1, 0, 0)
	} else {
		count.add(r.TriggerTime, 0, 0, 1, 0)
	}
	r.HandleCode, r.HandleMsg, r.FinishedMS = h.Code, cut(h.Msg, handleBytes), h.AtMS
	switch {
	case r.Reason == model.ReasonKilled && h.Code != model.CodeSuccess:
		// Ended because a person asked for it, whoever says so.
	default:
		r.Reason = h.Reason
	}
	if h.Reason == "" {
		r.TriggerCode = model.CodeSuccess // it reported, so it had been accepted
	}
	r.Phase = model.PhaseFinished
}

// writeHandled writes many results in one statement per 200 rows.
func (s *Store) writeHandled(ctx context.Context, tx *sql.Tx, won []model.Run, now time.Time) error {
	byID := make(map[int64]*model.Run, len(won))
	ids := make([]int64, len(won))
	for i := range won {
		ids[i], byID[won[i].ID] = won[i].ID, &won[i]
	}
	return chunks(ids, 200, func(part []int64) error {
		code, args := caseBy(part, func(id int64) int { return byID[id].HandleCode }, "handle_code")
		msg, a2 := caseBy(part, func(id int64) any { return null(byID[id].HandleMsg) }, "handle_msg")
		at, a3 := caseBy(part, func(id int64) int64 { return byID[id].FinishedMS }, "finished_time")
		trig, a4 := caseBy(part, func(id int64) int { return byID[id].TriggerCode }, "trigger_code")
		reason, a5 := caseBy(part, func(id int64) any { return null(byID[id].Reason) }, "run_reason")
		args = slices.Concat(args, a2, a3, a4, a5, []any{s.dt(now), model.PhaseFinished}, anys(part))
		_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_code = `+code+`, handle_msg = `+msg+`, finished_time = `+at+`,
			trigger_code = `+trig+`, run_reason = `+reason+`, handle_time = ?, run_state = ?
			WHERE id IN (`+marks(len(part))+`) AND handle_code = 0`, args...)
		return err
	})
}

// correct replaces the center's guess "lost" by what the executor reports late.
func (s *Store) correct(ctx context.Context, tx *sql.Tx, r *model.Run, h model.Handled, count tally, now time.Time) error {
	msg := cut(fmt.Sprintf("%s\n[reported at %s, after the run had been declared lost]", h.Msg, now.In(s.loc).Format(time.DateTime)), handleBytes)
	if h.Code == model.CodeSuccess {
		count.add(r.TriggerTime, 0, 1, -1, 0)
	}
	r.Reason = ""
	_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_code = ?, handle_msg = ?, handle_time = ?, finished_time = ?, run_reason = NULL
		WHERE id = ?`, h.Code, msg, s.dt(now), h.AtMS, r.ID)
	return err
}

// compact sorts and removes repeats.
func compact[T int | int64](in []T) []T {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
