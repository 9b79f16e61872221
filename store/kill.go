package store

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

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
func holdResult(r *model.Run, h model.Handled) {
	switch {
	case h.Reason != "", h.Code == model.CodeKilled:
		r.Reason = model.ReasonKilled // the order was taken, or nobody will report it
	case h.Code == model.CodeSuccess:
		r.HandleCode = model.CodeKilled
		sayReported(r, h.Code)
	default:
		sayReported(r, h.Code)
	}
}

// sayReported keeps beside a kill what the executor reported; it says so once.
func sayReported(r *model.Run, code int) bool {
	if slices.ContainsFunc(r.Note.Said, func(s model.Said) bool { return s.Code == "reported" }) {
		return false
	}
	r.Note.Said = append(r.Note.Said, model.Say("reported", "Result", strconv.Itoa(code)))
	return true
}

// reported is the code of the executor for a run whose result is held.
func reported(r *model.Run) int {
	if r.HandleCode == model.CodeKilled {
		return model.CodeSuccess
	}
	return r.HandleCode
}

// decided leaves out runs whose result is held.
func decided(runs []model.Run) []model.Run {
	return slices.DeleteFunc(runs, func(r model.Run) bool { return r.Reason == model.ReasonKillAsked })
}

// besideKill puts together what the center and the executor say about a run that a
// person ended, whoever says it first: the words of the executor stay as they are. It
// reports whether the row changed.
func (s *Store) besideKill(r *model.Run, h model.Handled) bool {
	switch {
	case r.Reason == model.ReasonKillAsked && h.Reason == model.ReasonKilled:
		r.HandleCode, r.Reason = h.Code, model.ReasonKilled
		r.Note.Said = append(slices.Clone(h.Said), r.Note.Said...)
		return true
	case r.Reason == model.ReasonKilled && h.Reason == "" && r.Note.Own && sayReported(r, h.Code):
		if h.Msg != "" {
			r.HandleMsg, r.Note.Own = cut(h.Msg, handleBytes), false
		}
		return true
	}
	return false
}

func (s *Store) writeKill(ctx context.Context, tx *sql.Tx, r *model.Run) error {
	_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_code = ?, handle_msg = ?, run_reason = ?, run_note = ?,
		alarm_status = CASE WHEN ? THEN 1 ELSE alarm_status END WHERE id = ?`,
		r.HandleCode, r.HandleMsg, null(r.Reason), null(r.Note.Encode()), r.Reason == model.ReasonKilled, r.ID)
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
	r.Note.Said = slices.DeleteFunc(r.Note.Said, func(s model.Said) bool { return s.Code == "reported" })
	if r.HandleCode == 0 {
		return false, nil
	}
	switch r.HandleCode = reported(r); r.HandleCode {
	case model.CodeSuccess:
		count.add(r.TriggerTime, 0, 1, -1, 0)
	case model.CodeDiscarded:
		r.Reason = model.ReasonDiscarded
	}
	return true, nil
}
