package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// cancelPlanned turns the scheduled runs of a job that were not sent into
// missed ones. Their fire keys are freed, so a new definition may plan the same
// instants. When the job ends, retries that wait end too; runs that a person or a
// parent asked for stay.
func (s *Store) cancelPlanned(ctx context.Context, tx *sql.Tx, jobID int, reason string, ends bool, now time.Time) error {
	kinds := []model.TriggerType{model.TriggerCron, model.TriggerMisfire}
	if ends {
		kinds = append(kinds, model.TriggerRetry)
	}
	runs, err := s.plannedOf(ctx, tx, jobID, kinds)
	if err != nil || len(runs) == 0 {
		return err
	}
	return s.cancel(ctx, tx, runs, reason, model.Say(reason), now)
}

// cancel turns planned runs, which are locked, into missed ones; said says so in the
// place of what they waited for.
func (s *Store) cancel(ctx context.Context, tx *sql.Tx, runs []model.Run, reason string, said model.Said, now time.Time) error {
	slices.SortFunc(runs, func(a, b model.Run) int { return cmp.Compare(a.ID, b.ID) })
	count := tally{}
	fires := s.outcomes(tx, count)
	if err := fires.touch(ctx, withHistory(runs), nil); err != nil {
		return err
	}
	ids := make([]int64, len(runs))
	freed := 1 // a new definition may plan the same instants
	if reason == model.ReasonTakenBack {
		freed = 0
	}
	for i := range runs {
		r := &runs[i]
		ids[i] = r.ID
		count.add(r.TriggerTime, -1, 0, 0, 1)
		r.Phase, r.TriggerCode, r.Reason, r.Note.Said = model.PhaseMissed, model.CodeMissed, reason, []model.Said{said}
		fires.end(r, false)
	}
	_, err := s.updateRows(ctx, tx, ids, `run_state = ?, trigger_code = ?, run_reason = ?, finished_time = ?, alarm_status = 1,
		fire_key = CASE WHEN ? = 1 THEN NULL ELSE fire_key END`,
		[]any{model.PhaseMissed, model.CodeMissed, reason, now.UnixMilli(), freed}, []rowSet{
			{"trigger_msg", "", func(i int) any { return null(s.triggerText("", runs[i].Note)) }, false},
			{"run_note", "", func(i int) any { return null(runs[i].Note.Encode()) }, false},
		}, "", nil)
	if err != nil {
		return err
	}
	if err := fires.settle(ctx); err != nil {
		return err
	}
	return s.addTally(ctx, tx, count, now)
}

// plannedOf locks the runs of a job, of some kinds, that were not sent. All planned
// runs are few, all runs of a job may be millions: the sum keeps the engine from
// the index on the job.
func (s *Store) plannedOf(ctx context.Context, tx *sql.Tx, jobID int, kinds []model.TriggerType) (runs []model.Run, err error) {
	found, err := collect(ctx, tx, one[int64],
		`SELECT id FROM xxl_job_log WHERE run_state = ? AND job_id + 0 = ?`, model.PhasePlanned, jobID)
	if err != nil {
		return nil, err
	}
	err = chunks(found, 500, func(part []int64) error {
		list, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log
			WHERE id IN (`+marks(len(part))+`) AND run_state = ? AND trigger_type IN (`+marks(len(kinds))+`)`+s.d.forUpdate,
			slices.Concat(anys(part), []any{model.PhasePlanned}, anys(kinds))...)
		runs = append(runs, list...)
		return err
	})
	return runs, err
}

// TakeBack ends a run that is planned and not sent, whoever owns it, because the person
// of that name wants so. One that is being sent meanwhile, or has been, is an error. Its
// fire key stays: what was taken back is not decided once more.
func (s *Store) TakeBack(ctx context.Context, id int64, name string, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var r model.Run
		err := tx.QueryRowContext(ctx, `SELECT `+runColumns+` FROM xxl_job_log WHERE id = ?`+s.d.forUpdate, id).Scan(s.runTargets(&r, full)...)
		if errors.Is(err, sql.ErrNoRows) {
			return model.Errf(model.CodeNotFound, "error.run_not_found", "ID", id)
		}
		if err == nil && (r.Phase != model.PhasePlanned || r.HandleCode != 0) {
			err = model.Errf(model.CodeConflict, "error.not_planned", "ID", id)
		}
		if err != nil {
			return err
		}
		return s.cancel(ctx, tx, []model.Run{r}, model.ReasonTakenBack, model.Say(model.ReasonTakenBack, "Name", name), now)
	})
}
