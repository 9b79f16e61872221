package store

import (
	"cmp"
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
	out := make([]model.Run, 0, len(ids))
	err := chunks(ids, 1000, func(part []int64) (err error) {
		var r model.Run
		out, err = collectOn(ctx, s.h, out, into(&r, s.dueTargets(&r)), `SELECT `+dueColumns+` FROM xxl_job_log
			WHERE id IN (`+marks(len(part))+`) AND run_state = ?`, append(anys(part), model.PhasePlanned)...)
		return err
	})
	return out, err
}

// CountDue counts the runs of owner that were due at nowMS and are not sent, and gives
// the planned instant of the oldest.
func (s *Store) CountDue(ctx context.Context, owner string, nowMS int64) (n int, oldestMS int64, err error) {
	err = s.h.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(planned_time), 0) FROM xxl_job_log WHERE run_state = ? AND owner = ? AND planned_time <= ?`,
		model.PhasePlanned, owner, nowMS).Scan(&n, &oldestMS)
	return n, oldestMS, err
}

// ClaimRuns writes down that owner is about to send these runs. Only those that
// are still planned and still belong to owner are claimed; the result says
// which. A run is sent after its claim is committed and never without one.
//
// A claim ahead of the instant leaves sent_time empty: the run is not sent before
// ConfirmAhead, or a claim like any other, has been written.
func (s *Store) ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	type kind struct {
		address      string
		again, ahead bool
	}
	alike := map[kind][]int64{}
	got := make(map[int64]bool, len(claims))
	for _, c := range claims {
		k := kind{c.Address, c.Again, c.Ahead}
		alike[k] = append(alike[k], c.RunID)
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		clear(got)
		for k, same := range alike {
			// What is claimed ahead by ourselves, maybe without our knowing it, is not sent yet.
			from, fromArgs := `(run_state = ? OR run_state = ? AND sent_time IS NULL)`, []any{model.PhasePlanned, model.PhaseSending}
			set, setArgs, ours, oursArgs := `sent_time = ?`, []any{nowMS}, `sent_time = ?`, []any{nowMS}
			switch {
			case k.again:
				from, fromArgs = `run_state = ?`, []any{model.PhaseSending}
			case k.ahead:
				from, fromArgs = `run_state = ?`, []any{model.PhasePlanned}
				set, setArgs, ours, oursArgs = `sent_time = sent_time`, nil, `sent_time IS NULL`, nil
			}
			err := chunks(compact(same), 1000, func(part []int64) error {
				if s.d.skipLocked != "" { // a row that another session holds must not hold up the others: it comes again
					free, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
						AND `+from+` AND owner = ? AND handle_code = 0 ORDER BY id`+s.d.skipLocked, slices.Concat(anys(part), fromArgs, []any{owner})...)
					if err != nil || len(free) == 0 {
						return err
					}
					part = free
				}
				args := slices.Concat([]any{k.address}, setArgs, []any{model.PhaseSending}, anys(part), fromArgs, []any{owner})
				res, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET executor_address = ?, `+set+`, run_state = ?
					WHERE id IN (`+marks(len(part))+`) AND `+from+` AND owner = ? AND handle_code = 0`, args...)
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
				mine, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
					AND run_state = ? AND owner = ? AND `+ours, slices.Concat(anys(part), []any{model.PhaseSending, owner}, oursArgs)...)
				for _, id := range mine {
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

// NoteWaiting writes on a planned run of owner what it waits for. It reports whether the
// run is one still.
func (s *Store) NoteWaiting(ctx context.Context, owner string, id int64, note model.Note) (bool, error) {
	return matched(s.w.ExecContext(ctx, `UPDATE xxl_job_log SET trigger_msg = ?, run_note = ? WHERE id = ? AND run_state = ? AND owner = ?`,
		s.triggerText("", note), null(note.Encode()), id, model.PhasePlanned, owner))
}

// RecordDispatches writes what came of sending, with the times as measured. A run
// whose callback was faster keeps its result and only learns that it was accepted.
// For refused runs follow decides about a retry, in the same transaction. That an
// executor has a run is true whoever says so; everything else counts only while the
// run belongs to owner: another node may have taken it over and rung it anew.
func (s *Store) RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error {
	alike := map[outcome][]model.Dispatch{}
	for _, d := range list {
		k := outcome{d.Phase, d.Code, d.Reason, d.SentMS > 0}
		alike[k] = append(alike[k], d)
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		count := tally{}
		fires := s.outcomes(tx, count)
		var after []model.Run
		for k, same := range alike {
			same = byRun(same)
			if k.phase == model.PhaseFinished || k.phase == model.PhaseMissed {
				more, err := s.closeRefused(ctx, tx, owner, same, k, fires, follow)
				if err != nil {
					return err
				}
				after = append(after, more...)
			} else if err := s.noteSent(ctx, tx, owner, same, k, fires); err != nil {
				return err
			}
		}
		if err := s.insertFresh(ctx, tx, after, now); err != nil {
			return err
		}
		if err := fires.settle(ctx); err != nil {
			return err
		}
		return s.addTally(ctx, tx, count, now)
	})
}

// outcome is what runs have in common that share statements.
type outcome struct {
	phase  model.RunPhase
	code   int
	reason string
	timed  bool // it is known when the call began
}

// byRun sorts by id; of two words about one run the last one stays.
func byRun(list []model.Dispatch) []model.Dispatch {
	slices.SortStableFunc(list, func(a, b model.Dispatch) int { return cmp.Compare(a.RunID, b.RunID) })
	out := list[:0]
	for i, d := range list {
		if i+1 == len(list) || list[i+1].RunID != d.RunID {
			out = append(out, d)
		}
	}
	return out
}

// noteSent writes that runs were accepted, or that it is not known.
func (s *Store) noteSent(ctx context.Context, tx *sql.Tx, owner string, list []model.Dispatch, k outcome, fires *outcomes) error {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].RunID
	}
	if err := s.touchEnded(ctx, tx, ids, fires); err != nil {
		return err
	}
	sentBefore := "COALESCE(sent_time, 0)"
	if !k.timed { // nobody knows when: not before its instant, for which it may have been claimed ahead
		sentBefore = s.d.greatest(sentBefore, "COALESCE(planned_time, 0)")
	}
	sets := []rowSet{
		{"sent_time", s.d.greatest(sentBefore, "%s"), func(i int) any { return list[i].SentMS }, true},
		{"trigger_msg", "COALESCE(%s, trigger_msg)", func(i int) any { return null(s.triggerText("", list[i].Note)) }, false},
		{"run_note", "COALESCE(%s, run_note)", func(i int) any { return null(list[i].Note.Encode()) }, false},
	}
	fence, fenceArgs := "", []any{}
	if k.phase == model.PhaseAccepted {
		// Its result may be here already: then it was accepted before that.
		sets = append(sets, rowSet{"accepted_time", s.d.least("%s", "COALESCE(finished_time, 9000000000000000)"), func(i int) any { return list[i].AtMS }, true})
	} else {
		fence, fenceArgs = " AND owner = ?", []any{owner}
	}
	_, err := s.updateRows(ctx, tx, ids, `trigger_code = CASE WHEN trigger_code = 0 THEN ? ELSE trigger_code END,
		run_reason = CASE WHEN handle_code = 0 THEN COALESCE(?, run_reason) ELSE run_reason END,
		run_state = CASE WHEN handle_code = 0 THEN ? ELSE run_state END`, []any{k.code, null(k.reason), k.phase}, sets,
		` AND run_state IN (?, ?, ?) AND accepted_time IS NULL`+fence,
		append([]any{model.PhaseSending, model.PhaseUnknown, model.PhaseFinished}, fenceArgs...))
	return err
}

// touchEnded prepares for runs of the list whose result was faster: their times change, and
// with them how long they took.
func (s *Store) touchEnded(ctx context.Context, tx *sql.Tx, ids []int64, fires *outcomes) error {
	return chunks(ids, 1000, func(part []int64) error {
		found, err := collect(ctx, tx, func(x row) (r model.Run, err error) {
			err = x.Scan(&r.ID, nz(&r.FirstID), nz(&r.Phase))
			return r, err
		}, `SELECT id, first_run, run_state FROM xxl_job_log WHERE id IN (`+marks(len(part))+`) AND accepted_time IS NULL ORDER BY id`+s.d.forUpdate, anys(part)...)
		if err != nil {
			return err
		}
		var ended []*model.Run
		for i := range found {
			if found[i].Phase == model.PhaseFinished {
				ended = append(ended, &found[i])
			}
		}
		if len(ended) == 0 {
			return nil
		}
		return fires.touch(ctx, ended, nil)
	})
}

// closeRefused ends runs that no executor took, unless a callback proves otherwise.
// All have the outcome k; the list is in the order of ids.
func (s *Store) closeRefused(ctx context.Context, tx *sql.Tx, owner string, list []model.Dispatch, k outcome, fires *outcomes, follow model.Follow) ([]model.Run, error) {
	byID := make(map[int64]*model.Dispatch, len(list))
	var open []model.Run
	err := chunks(list, 1000, func(part []model.Dispatch) error {
		args := make([]any, len(part))
		for i := range part {
			args[i], byID[part[i].RunID] = part[i].RunID, &part[i]
		}
		found, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
			AND handle_code = 0 AND run_state IN (?, ?, ?) AND owner = ? ORDER BY id`+s.d.forUpdate,
			append(args, model.PhasePlanned, model.PhaseSending, model.PhaseUnknown, owner)...)
		open = append(open, found...)
		return err
	})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	if err := fires.touch(ctx, withHistory(open), nil); err != nil {
		return nil, err
	}
	count := fires.count
	ids := make([]int64, len(open))
	for i := range open {
		r, d := &open[i], byID[open[i].ID]
		ids[i] = r.ID
		r.Phase, r.TriggerCode, r.Reason = k.phase, k.code, k.reason
		if r.SentMS = max(r.SentMS, d.SentMS); r.SentMS != 0 && !k.timed && k.phase == model.PhaseFinished {
			r.SentMS = max(r.SentMS, r.PlannedMS)
		}
		r.FinishedMS = max(d.AtMS, r.SentMS)
		if !d.Note.IsZero() {
			r.Note = d.Note
			r.TriggerMsg = s.triggerText("", d.Note)
		}
		if k.phase == model.PhaseMissed {
			count.add(r.TriggerTime, -1, 0, 0, r.Fires())
		} else {
			count.add(r.TriggerTime, -1, 0, 1, 0)
		}
	}
	after, err := s.followAll(ctx, tx, open, follow)
	if err != nil {
		return nil, err
	}
	retried := retriedBy(after)
	for i := range open {
		fires.end(&open[i], retried[open[i].ID])
	}
	_, err = s.updateRows(ctx, tx, ids, `run_state = ?, trigger_code = ?, run_reason = ?`, []any{k.phase, k.code, null(k.reason)}, []rowSet{
		{"sent_time", "", func(i int) any { return null(open[i].SentMS) }, true},
		{"finished_time", "", func(i int) any { return open[i].FinishedMS }, true},
		{"trigger_msg", "", func(i int) any { return null(open[i].TriggerMsg) }, false},
		{"run_note", "", func(i int) any { return null(open[i].Note.Encode()) }, false},
		{"alarm_status", "", func(i int) any { return alarmAfter(&open[i], retried) }, true},
	}, "", nil)
	return after, err
}

// retriedBy gives the ids of the runs that have a retry among those that follow.
func retriedBy(after []model.Run) map[int64]bool {
	out := map[int64]bool{}
	for i := range after {
		if after[i].TriggerType == model.TriggerRetry {
			out[after[i].RetryOf] = true
		}
	}
	return out
}

// alarmAfter is the alarm_status of a run that has ended: 1, nobody is to be woken and
// nothing to be tried again, when it was not to be made or when its retry is written
// down already. A Java admin beside us must not try it again.
func alarmAfter(r *model.Run, retried map[int64]bool) int {
	if r.Phase == model.PhaseMissed || retried[r.ID] {
		return 1
	}
	return r.AlarmStatus
}
