package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// switchAtOnce is how many jobs change in one transaction: few enough that nobody waits
// for long on what it holds.
const switchAtOnce = 200

// SwitchJobs starts or stops many jobs, as SetJobStatus does one, and gives the ids of
// those that it switched. Left out are jobs that somebody else has changed since, or holds
// at the moment (the planner, for instance): it waits for nobody.
func (s *Store) SwitchJobs(ctx context.Context, list []model.JobSwitch, status model.JobStatus, now time.Time) ([]int, error) {
	var done []int
	err := chunks(list, switchAtOnce, func(part []model.JobSwitch) error {
		var some []int
		err := s.inTx(ctx, func(tx *sql.Tx) error {
			var err error
			some, err = s.switchSome(ctx, tx, part, status, now)
			return err
		})
		if err == nil {
			done = append(done, some...)
		}
		return err
	})
	return done, err
}

func (s *Store) switchSome(ctx context.Context, tx *sql.Tx, part []model.JobSwitch, status model.JobStatus, now time.Time) ([]int, error) {
	want := make(map[int]model.JobSwitch, len(part))
	ids := make([]int, len(part))
	for i, j := range part {
		ids[i], want[j.ID] = j.ID, j
	}
	type held struct {
		id      int
		version int64
	}
	locked, err := collect(ctx, tx, func(r row) (x held, err error) {
		err = r.Scan(&x.id, nz(&x.version))
		return x, err
	}, `SELECT id, carillon_version FROM xxl_job_info WHERE id IN (`+marks(len(ids))+`) ORDER BY id`+cmp.Or(s.d.skipLocked, s.d.forUpdate), anys(compact(ids))...)
	if err != nil {
		return nil, err
	}
	var done []int
	for _, x := range locked {
		j := want[x.id]
		if j.Version != x.version {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = ?, trigger_last_time = 0, trigger_next_time = ?,
			carillon_condition = NULL, carillon_reason = NULL, carillon_version = COALESCE(carillon_version, 0) + 1 WHERE id = ?`, status, j.NextMS, x.id); err != nil {
			return nil, err
		}
		done = append(done, x.id)
	}
	if len(done) == 0 {
		return nil, nil
	}
	reason, kinds := model.ReasonPaused, []model.TriggerType{model.TriggerCron, model.TriggerMisfire, model.TriggerRetry}
	if status == model.JobRunning {
		reason, kinds = model.ReasonCancelled, kinds[:2] // it ran already and begins anew
	}
	// By the phase alone: the runs of one job are found among all planned ones, which are few.
	found, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE run_state = ? AND job_id + 0 IN (`+marks(len(done))+`)`,
		slices.Concat([]any{model.PhasePlanned}, anys(done))...)
	if err != nil {
		return nil, err
	}
	var runs []model.Run
	err = chunks(found, 500, func(ids []int64) error {
		more, err := s.queryRuns(ctx, tx, full, `SELECT `+runColumns+` FROM xxl_job_log WHERE id IN (`+marks(len(ids))+`) AND run_state = ?
			AND trigger_type IN (`+marks(len(kinds))+`) ORDER BY id`+s.d.forUpdate, slices.Concat(anys(ids), []any{model.PhasePlanned}, anys(kinds))...)
		runs = append(runs, more...)
		return err
	})
	if err != nil || len(runs) == 0 {
		return done, err
	}
	return done, s.cancel(ctx, tx, runs, reason, model.Say(reason), now)
}
