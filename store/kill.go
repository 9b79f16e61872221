package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// MarkKill notes on a run in progress that a person asks for its end, before the
// executor is asked: its own report may be faster than ours. Whether the executor
// takes the order is told by a Handled, ReasonKilled or ReasonKillUntaken. The wire
// kills by job, so the other runs in progress of the job at that address are noted
// too: one that fails now was killed, but nobody asked for its end, so one that
// succeeds did. It reports whether the run itself was still in progress.
func (s *Store) MarkKill(ctx context.Context, r *model.Run) (bool, error) {
	open, err := matched(s.w.ExecContext(ctx, `UPDATE xxl_job_log SET run_reason = ? WHERE id = ? AND handle_code = 0 AND trigger_code IN (0, 200)`,
		model.ReasonKillAsked, r.ID))
	if err != nil || !open {
		return false, err
	}
	return true, s.markBeside(ctx, s.w, r, model.ReasonKilled)
}

// markBeside notes the reason on the other runs in progress of the run's job at its address.
func (s *Store) markBeside(ctx context.Context, q querier, r *model.Run, reason string) error {
	_, err := q.ExecContext(ctx, `UPDATE xxl_job_log SET run_reason = ? WHERE job_id + 0 = ? AND run_state IN (?, ?)
		AND executor_address = ? AND handle_code = 0 AND trigger_code IN (0, 200) AND id <> ? AND COALESCE(run_reason, '') <> ?`,
		null(reason), r.JobID, model.PhaseUnknown, model.PhaseAccepted, r.Address, r.ID, model.ReasonKillAsked)
	return err
}

// holdResult is what becomes of a result that comes while nobody knows yet whether
// the executor took the order to end the run: the run has ended, but nothing follows
// from it. Its success is held as the code "killed".
func holdResult(r *model.Run, h model.Handled, count tally) {
	switch {
	case h.Reason == model.ReasonKilled:
		r.Reason = model.ReasonKilled // the order was taken
	case h.Reason != "", h.Code == codeKilled:
		r.Reason = model.ReasonKilled // nobody will report it, or the executor says so itself
	case h.Code == model.CodeSuccess:
		r.HandleCode = codeKilled
		count.add(r.TriggerTime, 0, -1, 1, 0)
	}
}

// reported is the code of the executor for a run whose result is held.
func reported(r *model.Run) int {
	if r.HandleCode == codeKilled {
		return model.CodeSuccess
	}
	return r.HandleCode
}

// decided leaves out runs whose result is held.
func decided(runs []model.Run) []model.Run {
	return slices.DeleteFunc(runs, func(r model.Run) bool { return r.Reason == model.ReasonKillAsked })
}

// beside goes between what the center and what the executor say about a killed run.
const beside = "; its executor reported code "

// besideKill puts together what the center and the executor say about a run that a
// person ended, whoever says it first. It reports whether the row changed.
func besideKill(r *model.Run, h model.Handled) bool {
	switch {
	case r.Reason == model.ReasonKillAsked && h.Reason == model.ReasonKilled:
		r.HandleMsg = killText(h.Msg, reported(r), r.HandleMsg)
		r.HandleCode, r.Reason = h.Code, model.ReasonKilled
	case r.Reason == model.ReasonKilled && h.Reason == "" && strings.HasPrefix(r.HandleMsg, model.KilledBy) &&
		!strings.Contains(r.HandleMsg, beside) && r.HandleMsg != h.Msg:
		r.HandleMsg = killText(r.HandleMsg, h.Code, h.Msg)
	default:
		return false
	}
	return true
}

func killText(who string, code int, words string) string {
	text := fmt.Sprintf("%s%s%d", who, beside, code)
	if words != "" {
		text += ":\n" + words
	}
	return cut(text, handleBytes)
}

func (s *Store) writeKill(ctx context.Context, tx *sql.Tx, r *model.Run) error {
	_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_code = ?, handle_msg = ?, run_reason = ? WHERE id = ?`,
		r.HandleCode, r.HandleMsg, null(r.Reason), r.ID)
	return err
}

// takeKillBack undoes MarkKill: the executor did not take the order. A result that
// came meanwhile counts as what it is; then it reports true, and what follows from
// the run is still to be written. The row of the run itself is left to the caller.
func (s *Store) takeKillBack(ctx context.Context, tx *sql.Tx, r *model.Run, count tally) (bool, error) {
	if err := s.markBeside(ctx, tx, r, ""); err != nil {
		return false, err
	}
	r.Reason = ""
	if r.HandleCode == 0 {
		return false, nil
	}
	switch r.HandleCode = reported(r); r.HandleCode {
	case model.CodeSuccess:
		count.add(r.TriggerTime, 0, 1, -1, 0)
	case codeDiscarded:
		r.Reason = model.ReasonDiscarded
	}
	return true, nil
}
