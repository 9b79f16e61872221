package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
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
		rows, err := s.lockRuns(ctx, tx, list)
		if err != nil {
			return err
		}
		count := tally{}
		won, late := map[int64]*model.Run{}, map[int64]*model.Run{}
		for i, h := range list {
			r := rows[h.RunID]
			switch {
			case r == nil:
				statuses[i] = model.HandledUnknown
			case h.Reason == model.ReasonKillUntaken:
				statuses[i] = model.HandledRepeat
				if r.Reason != model.ReasonKillAsked {
					continue
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
				if r.TriggerCode != 0 && r.TriggerCode != model.CodeSuccess {
					// It had seemed that no executor had taken it.
					if err := s.takeMissBack(ctx, tx, count, r); err != nil {
						return err
					}
				}
				applyHandled(r, h, count)
				won[r.ID] = r
			case r.HandleCode != 0 && r.Reason == model.ReasonLost && h.Reason == "":
				statuses[i] = model.HandledCorrected
				if err := s.correct(ctx, tx, r, h, count, now); err != nil {
					return err
				}
				if h.Code == model.CodeSuccess {
					late[r.ID] = r // a late failure starts no retry: the center's guess may have started one
				}
			default:
				statuses[i] = model.HandledRepeat
				if besideKill(r, h) && won[r.ID] == nil {
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
		after, err := s.followAll(ctx, tx, decided(append(ended, values(late)...)), follow)
		if err != nil {
			return err
		}
		if err := s.insertFresh(ctx, tx, after, now); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
	return statuses, err
}

// lockRuns reads the runs of the list in the order of their ids, so that two
// nodes cannot deadlock.
func (s *Store) lockRuns(ctx context.Context, tx *sql.Tx, list []model.Handled) (map[int64]*model.Run, error) {
	ids := make([]int64, len(list))
	for i, h := range list {
		ids[i] = h.RunID
	}
	rows := make(map[int64]*model.Run, len(list))
	err := chunks(compact(ids), 1000, func(part []int64) error {
		found, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log
			WHERE id IN (`+marks(len(part))+`) ORDER BY id`+s.d.forUpdate, anys(part)...)
		for i := range found {
			rows[found[i].ID] = &found[i]
		}
		return err
	})
	return rows, err
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

// Result codes of executors that tell what happened (reference: protocol.md 3.3).
const (
	codeDiscarded = 407
	codeKilled    = 408
)

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
	case r.Reason == model.ReasonKillAsked:
		holdResult(r, h, count)
	case r.Reason == model.ReasonKilled && h.Code != model.CodeSuccess:
		// Ended because a person asked for it, whoever says so.
	case h.Reason == "" && h.Code == codeDiscarded:
		r.Reason = model.ReasonDiscarded
	case h.Reason == "" && h.Code == codeKilled:
		r.Reason = model.ReasonKilled
	default:
		r.Reason = h.Reason
	}
	if h.Reason == "" {
		r.TriggerCode = model.CodeSuccess // it reported, so it had been accepted
	}
	if r.AcceptedMS == 0 {
		r.AcceptedMS, r.TriggerMsg = h.AcceptedMS, h.TriggerMsg
	}
	r.Phase = model.PhaseFinished
}

// writeHandled writes results; rows that end alike share a statement.
func (s *Store) writeHandled(ctx context.Context, tx *sql.Tx, won []model.Run, now time.Time) error {
	type kind struct {
		code, trigger      int
		reason, triggerMsg string
		accepted, finished int64
	}
	alike := map[kind][]*model.Run{}
	step := tickOf(won)
	for i := range won {
		r := &won[i]
		k := kind{r.HandleCode, r.TriggerCode, r.Reason, r.TriggerMsg, r.AcceptedMS / step * step, r.FinishedMS / step * step}
		alike[k] = append(alike[k], r)
	}
	for k, runs := range alike {
		size, same := 1000, true
		for _, r := range runs {
			same = same && r.HandleMsg == runs[0].HandleMsg
		}
		if !same {
			size = 64 // the engine walks the CASE of the texts for each row
		}
		err := chunks(runs, size, func(part []*model.Run) error {
			byID := make(map[int64]*model.Run, len(part))
			ids := make([]int64, len(part))
			for i, r := range part {
				ids[i], byID[r.ID] = r.ID, r
			}
			msg, args := "?", []any{null(part[0].HandleMsg)}
			if !same {
				msg, args = caseBy(ids, func(id int64) any { return null(byID[id].HandleMsg) }, "handle_msg")
			}
			args = append(args, k.code, k.finished, null(k.accepted), k.trigger, null(cut(k.triggerMsg, textBytes)), null(k.reason), s.dt(now), model.PhaseFinished)
			_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET handle_msg = `+msg+`, handle_code = ?, finished_time = ?,
				accepted_time = COALESCE(accepted_time, ?), trigger_code = ?, trigger_msg = COALESCE(?, trigger_msg), run_reason = ?, handle_time = ?, run_state = ?
				WHERE id IN (`+marks(len(ids))+`) AND handle_code = 0`, append(args, anys(ids)...)...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tickOf is the resolution of times for a batch: coarser when a batch is large and
// its runs were taken over a longer time, so that load does not multiply statements.
func tickOf(runs []model.Run) int64 {
	first, last := int64(math.MaxInt64), int64(0)
	for i := range runs {
		if at := runs[i].AcceptedMS; at != 0 {
			first, last = min(first, at), max(last, at)
		}
	}
	if len(runs) < 100 || last <= first {
		return tick
	}
	return max(tick, (last-first)/16)
}

// correct replaces the center's guess "lost" by what the executor reports late.
func (s *Store) correct(ctx context.Context, tx *sql.Tx, r *model.Run, h model.Handled, count tally, now time.Time) error {
	msg := cut(fmt.Sprintf("%s\n[reported at %s, after the run had been declared lost]", h.Msg, now.In(s.loc).Format(time.DateTime)), handleBytes)
	if h.Code == model.CodeSuccess {
		count.add(r.TriggerTime, 0, 1, -1, 0)
	}
	r.HandleCode, r.HandleMsg, r.Reason = h.Code, msg, ""
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
