package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// AdoptRuns gives the open runs of owners that are gone to the living, evenly:
// planned ones stay planned, those that may have been sent become unknown and
// wait to be settled. The planned runs of a node that is leaving go too: it is in
// keep but not among the new owners. Every run changes hands by a conditional
// update, so of two that adopt only one gets it. It returns how many planned ones
// were adopted and how many others.
func (s *Store) AdoptRuns(ctx context.Context, keep, newOwners []string, limit int) (planned, unknown int, err error) {
	for _, phase := range []model.RunPhase{model.PhasePlanned, model.PhaseSending, model.PhaseUnknown} {
		not, to := keep, phase
		switch phase {
		case model.PhasePlanned:
			not = newOwners
		case model.PhaseSending:
			to = model.PhaseUnknown
		}
		// Asked per owner: an index finds them, while NOT IN would walk all open runs.
		owners, err := s.openOwners(ctx, phase, not)
		if err != nil {
			return planned, unknown, err
		}
		for _, old := range owners {
			list, err := s.queryRuns(ctx, s.h, full, `SELECT `+runColumns+` FROM xxl_job_log
				WHERE run_state = ? AND owner = ? ORDER BY planned_time LIMIT ?`, phase, old, limit)
			if err != nil {
				return planned, unknown, err
			}
			got, err := s.handOver(ctx, list, phase, to, old, newOwners)
			if err != nil {
				return planned, unknown, err
			}
			if to == model.PhasePlanned {
				planned += got
			} else {
				unknown += got
			}
		}
	}
	return planned, unknown, nil
}

// OrphanedRuns lists planned runs, due before beforeMS, of owners that are not
// among those that will take them over.
func (s *Store) OrphanedRuns(ctx context.Context, newOwners []string, beforeMS int64, limit int) ([]model.Run, error) {
	owners, err := s.openOwners(ctx, model.PhasePlanned, newOwners)
	if err != nil {
		return nil, err
	}
	var out []model.Run
	for _, old := range owners {
		ids, err := s.PlannedIDs(ctx, old, 0, beforeMS, limit, false)
		if err != nil {
			return nil, err
		}
		runs, err := s.RunsByID(ctx, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

// openOwners lists who owns runs in a phase, without those in not. It jumps from
// owner to owner along the index.
func (s *Store) openOwners(ctx context.Context, phase model.RunPhase, not []string) ([]string, error) {
	var out []string
	for last := ""; ; {
		var next sql.NullString
		err := s.h.QueryRowContext(ctx, `SELECT MIN(owner) FROM xxl_job_log WHERE run_state = ? AND owner > ?`, phase, last).Scan(&next)
		if err != nil || !next.Valid {
			return out, err
		}
		if last = next.String; !slices.Contains(not, last) {
			out = append(out, last)
		}
	}
}

// handOver deals the runs out to the new owners, each a share in one update.
func (s *Store) handOver(ctx context.Context, list []model.Run, from, to model.RunPhase, old string, newOwners []string) (int, error) {
	total := 0
	shares := map[string][]int64{}
	for i := range list {
		o := newOwners[i%len(newOwners)]
		shares[o] = append(shares[o], list[i].ID)
	}
	for _, owner := range newOwners {
		err := chunks(shares[owner], 500, func(ids []int64) error {
			n := 0
			err := s.inTx(ctx, func(tx *sql.Tx) error {
				n = 0
				// Locked first: who changed hands meanwhile is no longer found.
				locked, err := collect(ctx, tx, one[int64],
					`SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`) AND run_state = ? AND owner = ? ORDER BY id`+s.d.forUpdate,
					append(anys(ids), from, old)...)
				if err != nil || len(locked) == 0 {
					return err
				}
				_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET owner = ?, run_state = ? WHERE id IN (`+marks(len(locked))+`)`,
					append([]any{owner, to}, anys(locked)...)...)
				n = len(locked)
				return err
			})
			if err == nil {
				total += n
			}
			return err
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// HandOver deals the planned runs of a node that stops out to other owners.
func (s *Store) HandOver(ctx context.Context, owner string, newOwners []string) (int, error) {
	total := 0
	for {
		list, err := s.queryRuns(ctx, s.w, brief, `SELECT `+runShort+` FROM xxl_job_log
			WHERE run_state = ? AND owner = ? ORDER BY planned_time LIMIT 2000`, model.PhasePlanned, owner)
		if err != nil || len(list) == 0 {
			return total, err
		}
		got, err := s.handOver(ctx, list, model.PhasePlanned, model.PhasePlanned, owner, newOwners)
		total += got
		if err != nil || got == 0 {
			return total, err
		}
	}
}

// UnknownRuns lists runs of owner whose sending had no clear answer and is older
// than sentBeforeMS, those planned earliest or latest first.
func (s *Store) UnknownRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int, latest bool) ([]model.Run, error) {
	order := "ASC"
	if latest {
		order = "DESC"
	}
	return s.queryRuns(ctx, s.h, full, `SELECT `+runColumns+` FROM xxl_job_log
		WHERE run_state = ? AND owner = ? AND COALESCE(sent_time, 0) < ? ORDER BY planned_time `+order+` LIMIT ?`, model.PhaseUnknown, owner, sentBeforeMS, limit)
}

// SendingRuns lists runs of owner that were claimed before sentBeforeMS, or ahead of an
// instant before it, and have no answer yet.
func (s *Store) SendingRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.h, full, `SELECT `+runColumns+` FROM xxl_job_log
		WHERE run_state = ? AND owner = ? AND COALESCE(sent_time, planned_time) < ? LIMIT ?`, model.PhaseSending, owner, sentBeforeMS, limit)
}

// AcceptedRuns lists runs that an executor took and has not reported, of every
// owner, those planned before plannedBeforeMS, by id after afterID.
func (s *Store) AcceptedRuns(ctx context.Context, plannedBeforeMS, afterID int64, limit int) ([]model.Run, error) {
	return s.queryRuns(ctx, s.h, brief, `SELECT `+runShort+` FROM xxl_job_log
		WHERE run_state = ? AND planned_time < ? AND id > ? ORDER BY id LIMIT ?`, model.PhaseAccepted, plannedBeforeMS, afterID, limit)
}

// CloseElsewhere ends runs whose result another center on this database took (a Java
// admin writes the result and nothing of ours), and counts them. What follows from the
// result is that center's.
func (s *Store) CloseElsewhere(ctx context.Context, ids []int64, now time.Time) error {
	return chunks(ids, 500, func(part []int64) error {
		return s.inTx(ctx, func(tx *sql.Tx) error {
			phases := []any{model.PhasePlanned, model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted}
			runs, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)
				AND handle_code <> 0 AND run_state IN (?, ?, ?, ?) ORDER BY id`+s.d.forUpdate, append(anys(part), phases...)...)
			if err != nil || len(runs) == 0 {
				return err
			}
			count := tally{}
			fires := s.outcomes(tx, count)
			changed := make([]int64, len(runs))
			open := map[int64]bool{} // so they were counted
			for i := range runs {
				open[runs[i].ID] = true
			}
			if err := fires.touch(ctx, withHistory(runs), open); err != nil {
				return err
			}
			for i := range runs {
				r := &runs[i]
				changed[i] = r.ID
				good := 0
				if r.HandleCode == model.CodeSuccess {
					good = 1
				}
				count.add(r.TriggerTime, -1, good, 1-good, 0)
				r.Phase, r.FinishedMS = model.PhaseFinished, now.UnixMilli()
				if !r.HandleTime.IsZero() {
					r.FinishedMS = max(r.HandleTime.UnixMilli(), r.SentMS, r.AcceptedMS)
				}
				r.Note.Said = append(r.Note.Said, model.Say("closed_elsewhere"))
				fires.end(r, false)
			}
			if _, err := s.updateRows(ctx, tx, changed, `run_state = ?`, []any{model.PhaseFinished}, []rowSet{
				{"finished_time", "", func(i int) any { return runs[i].FinishedMS }, true},
				{"run_note", "", func(i int) any { return null(runs[i].Note.Encode()) }, false},
			}, "", nil); err != nil {
				return err
			}
			if err := fires.settle(ctx); err != nil {
				return err
			}
			return s.addTally(ctx, tx, count, now)
		})
	})
}
