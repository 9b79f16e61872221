package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
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
	locking := s.d.forUpdate
	pass := func(tx *sql.Tx) error {
		statuses = make([]model.HandledStatus, len(list))
		rows, held, err := s.lockRuns(ctx, tx, list, locking)
		if isLockWait(err) {
			return errRowLocked
		}
		if err != nil {
			return err
		}
		count := tally{}
		fires := s.outcomes(tx, count)
		won, late := map[int64]*model.Run{}, map[int64]*model.Run{}
		for _, i := range guessesLast(list) {
			h := list[i]
			r := rows[h.RunID]
			switch {
			case held[h.RunID]:
				statuses[i] = model.HandledLocked
			case r == nil || s.ofAnother(r, h):
				statuses[i] = model.HandledUnknown
			case h.Reason == model.ReasonKillUntaken:
				statuses[i] = model.HandledRepeat
				if r.Reason != model.ReasonKillAsked {
					continue
				}
				if won[r.ID] == nil { // else it is not counted yet
					if err := fires.touch(ctx, []*model.Run{r}, nil); err != nil {
						return err
					}
				}
				ended, err := s.takeKillBack(ctx, tx, r, count)
				if err == nil && won[r.ID] == nil {
					err = s.writeKill(ctx, tx, r)
					if ended {
						late[r.ID] = r
					}
				}
				if err != nil {
					return err
				}
			case r.HandleCode == 0 && r.Phase != model.PhaseMissed:
				statuses[i] = model.HandledStored
				if r.FirstID != 0 || r.TriggerCode != 0 && r.TriggerCode != model.CodeSuccess {
					// One of many attempts, or it had seemed that no executor had taken it.
					if err := fires.touch(ctx, []*model.Run{r}, nil); err != nil {
						return err
					}
				}
				s.applyHandled(r, h, count)
				won[r.ID] = r
			case r.HandleCode != 0 && r.Reason == model.ReasonLost && h.Reason == "":
				statuses[i] = model.HandledCorrected
				if err := fires.touch(ctx, []*model.Run{r}, nil); err != nil {
					return err
				}
				if err := s.correct(ctx, tx, r, h, count, now); err != nil {
					return err
				}
				late[r.ID] = r
			default:
				statuses[i] = model.HandledRepeat
				if s.besideKill(r, h) && won[r.ID] == nil {
					if err := s.writeKill(ctx, tx, r); err != nil {
						return err
					}
				}
			}
		}
		ended := values(won)
		if err := s.markCovered(ctx, tx, ended); err != nil {
			return err
		}
		if err := s.writeHandled(ctx, tx, ended, now); err != nil {
			return err
		}
		corrected := values(late)
		after, err := s.followAll(ctx, tx, decided(slices.Concat(ended, following(corrected))), follow)
		if err != nil {
			return err
		}
		retried := retriedBy(after)
		for _, part := range [][]model.Run{ended, corrected} {
			for i := range part {
				fires.end(&part[i], retried[part[i].ID])
			}
		}
		done := maps.Clone(retried)
		for i := range ended {
			if info, known := model.ReasonOf(ended[i].Reason); known && info.Final {
				done[ended[i].ID] = true
			}
		}
		if err := s.quiet(ctx, tx, done); err != nil {
			return err
		}
		if err := s.insertFresh(ctx, tx, after, now); err != nil {
			return err
		}
		if err := fires.settle(ctx); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	}
	err := s.inTx(ctx, pass)
	if errors.Is(err, errRowLocked) { // one row must not hold up the results of all others
		locking = s.d.skipLocked
		err = s.inTx(ctx, pass)
	}
	return statuses, err
}

// guessesLast gives the places of the list, those of the center's guess that a run is
// lost after all others: a result that comes at the same moment counts.
func guessesLast(list []model.Handled) []int {
	order := make([]int, 0, len(list))
	for _, guess := range []bool{false, true} {
		for i, h := range list {
			if (h.Reason == model.ReasonLost) == guess {
				order = append(order, i)
			}
		}
	}
	return order
}

// ofAnother reports whether a result belongs to another run that once had this id: a
// database that lost its last commits gives ids again. A run that was never sent has
// no result, and the trigger time must fit when the executor tells it.
func (s *Store) ofAnother(r *model.Run, h model.Handled) bool {
	if h.Reason != "" { // the center's own word
		return false
	}
	if r.Phase == model.PhasePlanned && r.SentMS == 0 && h.Call == nil {
		return true
	}
	if h.TriggerMS == 0 || r.Phase == model.PhaseForeign {
		return false
	}
	// The stored time has no zone: an hour of autumn is read as the one before or after.
	const second = 1000
	same := h.TriggerMS == r.TriggerTime.UnixMilli() || h.TriggerMS/second == r.PlannedMS/second
	if h.Echo {
		return !same
	}
	// Java sends the trigger time back, others a moment of the run by their own clock,
	// which may be wrong. Who has sent back nothing else for a while is taken at its word.
	return s.echoes.note(r.Address, same) && !same
}

// handledText is what handle_msg says: the executor's words as they are, or those of
// the center.
func (s *Store) handledText(h model.Handled) string {
	if h.Msg == "" && len(h.Said) > 0 {
		return cut(s.words(h.Said...), handleBytes)
	}
	return cut(h.Msg, handleBytes)
}

// lockRuns reads the runs of the list in the order of their ids, so that two
// nodes cannot deadlock. held are those that were left out as another session has them.
func (s *Store) lockRuns(ctx context.Context, tx *sql.Tx, list []model.Handled, locking string) (rows map[int64]*model.Run, held map[int64]bool, err error) {
	ids := make([]int64, len(list))
	for i, h := range list {
		ids[i] = h.RunID
	}
	rows, held = make(map[int64]*model.Run, len(list)), map[int64]bool{}
	err = chunks(compact(ids), 1000, func(part []int64) error {
		found, err := s.queryRunsOn(ctx, tx, make([]model.Run, 0, len(part)), full, `SELECT `+runColumns+` FROM xxl_job_log
			WHERE id IN (`+marks(len(part))+`) ORDER BY id`+locking, anys(part)...)
		for i := range found {
			rows[found[i].ID] = &found[i]
		}
		if err != nil || locking == s.d.forUpdate {
			return err
		}
		there, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, id := range there {
			held[id] = rows[id] == nil
		}
		return err
	})
	return rows, held, err
}

// following leaves out late failures: the center's guess that the run was lost may have
// started a retry. One whose kill was taken back has none yet.
func following(runs []model.Run) []model.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r model.Run) bool { return r.HandleCode != model.CodeSuccess && r.Corrected })
}

// values gives the runs in the order of their ids, so that what follows from them
// is locked and written in one order by all.
func values(runs map[int64]*model.Run) []model.Run {
	out := make([]model.Run, 0, len(runs))
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		out = append(out, *runs[id])
	}
	return out
}

// applyHandled puts the result into the row in memory and into the report.
func (s *Store) applyHandled(r *model.Run, h model.Handled, count tally) {
	// A run whose /run was noted as failed and that reports all the same counts anew.
	if r.TriggerCode != 0 && r.TriggerCode != model.CodeSuccess {
		count.add(r.TriggerTime, 0, 0, -1, 0)
	} else {
		count.add(r.TriggerTime, -1, 0, 0, 0)
	}
	if c := h.Call; c != nil && r.AcceptedMS == 0 {
		r.AcceptedMS, r.SentMS = c.AtMS, max(r.SentMS, c.SentMS)
		if !c.Note.IsZero() {
			r.Note, r.TriggerMsg = c.Note, s.triggerText("", c.Note)
		}
	}
	r.HandleCode, r.HandleMsg = h.Code, s.handledText(h)
	if r.Reason == model.ReasonLost && h.Reason == "" {
		r.Note.Said = append(r.Note.Said, model.Say("late_truth", "ReportedAt", h.AtMS))
	}
	r.Note.Own = h.Msg == "" && len(h.Said) > 0
	switch {
	case r.Reason == model.ReasonKillAsked:
		holdResult(r, h)
	case r.Reason == model.ReasonKilled && h.Code != model.CodeSuccess:
		// Ended because a person asked for it, whoever says so.
	case h.Reason == "" && h.Code == model.CodeDiscarded:
		r.Reason = model.ReasonDiscarded
	case h.Reason == "" && h.Code == model.CodeKilled:
		r.Reason = model.ReasonKilled
	default:
		r.Reason = h.Reason
	}
	if h.Reason == "" {
		r.TriggerCode = model.CodeSuccess // it reported, so it had been accepted
	}
	if r.SentMS != 0 && r.AcceptedMS == 0 && h.Call == nil { // it may have been claimed ahead of its instant
		r.SentMS = max(r.SentMS, r.PlannedMS)
	}
	if r.AcceptedMS != 0 { // a result may overtake the answer to the call
		r.AcceptedMS = max(min(r.AcceptedMS, h.AtMS), r.SentMS)
	}
	r.FinishedMS = max(h.AtMS, r.AcceptedMS, r.SentMS) // clocks of two nodes differ
	r.Note.Said = append(r.Note.Said, h.Said...)
	r.Phase = model.PhaseFinished
	if r.HandleCode == model.CodeSuccess {
		count.add(r.TriggerTime, 0, 1, 0, 0)
	} else {
		count.add(r.TriggerTime, 0, 0, 1, 0)
	}
}

// writeHandled writes results; rows that end alike share a statement, each with its
// own times and texts.
func (s *Store) writeHandled(ctx context.Context, tx *sql.Tx, won []model.Run, now time.Time) error {
	type kind struct {
		code, trigger int
		reason        string
	}
	alike := map[kind][]*model.Run{}
	for i := range won {
		r := &won[i]
		k := kind{r.HandleCode, r.TriggerCode, r.Reason}
		alike[k] = append(alike[k], r)
	}
	for k, runs := range alike {
		slices.SortFunc(runs, func(a, b *model.Run) int { return cmp.Compare(a.ID, b.ID) })
		ids := make([]int64, len(runs))
		for i, r := range runs {
			ids[i] = r.ID
		}
		_, err := s.updateRows(ctx, tx, ids, `handle_code = ?, trigger_code = ?, run_reason = ?, handle_time = ?, run_state = ?`,
			[]any{k.code, k.trigger, null(k.reason), s.dt(now), model.PhaseFinished}, []rowSet{
				{"handle_msg", "", func(i int) any { return null(runs[i].HandleMsg) }, false},
				{"finished_time", "", func(i int) any { return runs[i].FinishedMS }, true},
				{"accepted_time", "", func(i int) any { return null(runs[i].AcceptedMS) }, true},
				{"sent_time", "", func(i int) any { return null(runs[i].SentMS) }, true},
				{"trigger_msg", "", func(i int) any { return null(runs[i].TriggerMsg) }, false},
				{"run_note", "", func(i int) any { return null(runs[i].Note.Encode()) }, false},
			}, ` AND handle_code = 0`, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// quiet notes on runs whose retry is written down, and on those that end for good, that
// nobody is to be woken for them and that a Java admin beside us must not try them again.
func (s *Store) quiet(ctx context.Context, tx *sql.Tx, done map[int64]bool) error {
	return chunks(slices.Sorted(maps.Keys(done)), 1000, func(part []int64) error {
		_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = 1 WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		return err
	})
}

// correct replaces the center's guess "lost" by what the executor reports late.
func (s *Store) correct(ctx context.Context, tx *sql.Tx, r *model.Run, h model.Handled, count tally, now time.Time) error {
	if h.Code == model.CodeSuccess {
		count.add(r.TriggerTime, 0, 1, -1, 0)
	}
	r.Corrected = true
	r.HandleCode, r.HandleMsg, r.Reason, r.FinishedMS = h.Code, s.handledText(h), "", max(h.AtMS, r.AcceptedMS, r.SentMS)
	r.Note.Own = h.Msg == "" && len(h.Said) > 0
	r.Note.Said = append(append(r.Note.Said, model.Say("late_truth", "ReportedAt", now.UnixMilli())), h.Said...)
	_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_code = ?, handle_msg = ?, handle_time = ?, finished_time = ?, run_reason = NULL, run_note = ?
		WHERE id = ?`, h.Code, null(r.HandleMsg), s.dt(now), r.FinishedMS, null(r.Note.Encode()), r.ID)
	return err
}

// compact sorts and removes repeats.
func compact[T int | int64](in []T) []T {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
