package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

// addAlarmEvents writes down what people may be told of, in the transaction that decided it.
func (s *Store) addAlarmEvents(ctx context.Context, tx *sql.Tx, news []model.AlarmEvent) error {
	return chunks(news, 500, func(part []model.AlarmEvent) error {
		args := make([]any, 0, 5*len(part))
		for _, e := range part {
			args = append(args, e.AtMS, e.JobID, null(e.RunID), cut(e.Reason, 30), null(e.Fires))
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO carillon_alarm_event (at, job_id, run_id, reason, fires) VALUES `+rowsOf(5, len(part)), args...)
		return err
	})
}

// AlarmEvents gives the oldest events that nobody has looked at.
func (s *Store) AlarmEvents(ctx context.Context, limit int) ([]model.AlarmEvent, error) {
	return collect(ctx, s.r, func(r row) (e model.AlarmEvent, err error) {
		err = r.Scan(&e.ID, &e.AtMS, &e.JobID, nz(&e.RunID), &e.Reason, nz(&e.Fires), nz(&e.GroupID))
		return e, err
	}, `SELECT e.id, e.at, e.job_id, e.run_id, e.reason, e.fires, CASE WHEN e.reason = 'succeeded' THEN r.job_group END
		FROM (SELECT id, at, job_id, run_id, reason, fires FROM carillon_alarm_event ORDER BY id LIMIT ?) AS e LEFT JOIN xxl_job_log r ON r.id = e.run_id ORDER BY e.id`, limit)
}

// raise writes events down, each job and reason once. A failure of a job whose trouble is told
// already, or is about to be, says nothing new: of such ones only the runs are settled. So
// thousands of jobs that go on failing cost next to nothing.
//
// Only of jobs in again, which were failing before: who was well in between has a trouble of
// its own, although the old one may not be closed yet.
func (s *Store) raise(ctx context.Context, tx *sql.Tx, news []model.AlarmEvent, again map[int]bool) error {
	if len(news) == 0 {
		return nil
	}
	var jobs []int
	for _, e := range news {
		if failedAgain(e) && again[e.JobID] {
			jobs = append(jobs, e.JobID)
		}
	}
	known := map[int]bool{}
	err := chunks(compact(jobs), 500, func(part []int) error {
		subjects := make([]any, len(part))
		for i, id := range part {
			subjects[i] = model.JobSubject(id)
		}
		list, err := collect(ctx, tx, one[int], `SELECT i.job_id FROM carillon_incident i LEFT JOIN carillon_incident p ON p.id = i.parent_id
			WHERE i.open_subject IN (`+marks(len(subjects))+`) AND (i.told_at IS NOT NULL OR i.tell_at IS NOT NULL OR p.open_subject IS NOT NULL)`, subjects...)
		for _, id := range list {
			known[id] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	var fresh []model.AlarmEvent
	var settled []int64
	at := map[model.AlarmEvent]int{}
	for _, e := range news {
		if failedAgain(e) && known[e.JobID] {
			if e.RunID != 0 {
				settled = append(settled, e.RunID)
			}
			continue
		}
		key := model.AlarmEvent{JobID: e.JobID, Reason: e.Reason}
		if i, there := at[key]; there && e.RunID == 0 {
			fresh[i].Fires += e.Fires
			continue
		}
		at[key] = len(fresh)
		fresh = append(fresh, e)
	}
	err = chunks(compact(settled), 1000, func(part []int64) error {
		_, err := tx.ExecContext(ctx, `UPDATE xxl_job_log SET alarm_status = 1 WHERE id IN (`+marks(len(part))+`) AND alarm_status = 0`, anys(part)...)
		return err
	})
	if err != nil {
		return err
	}
	return s.addAlarmEvents(ctx, tx, fresh)
}

// raiseAttempts writes down attempts that failed and will be tried again, when a rule wants to
// hear of such: of each job the last.
func (s *Store) raiseAttempts(ctx context.Context, tx *sql.Tx, list []model.AlarmEvent) error {
	if len(list) == 0 {
		return nil
	}
	wanted, err := collect(ctx, tx, one[int], `SELECT id FROM carillon_alarm_rule WHERE settings LIKE '%"eachAttempt":true%' LIMIT 1`)
	if err != nil || len(wanted) == 0 {
		return err
	}
	at := map[int]int{}
	var fresh []model.AlarmEvent
	for _, e := range list {
		if i, there := at[e.JobID]; there {
			fresh[i] = e
			continue
		}
		at[e.JobID] = len(fresh)
		fresh = append(fresh, e)
	}
	return s.addAlarmEvents(ctx, tx, fresh)
}

// failedAgain reports whether an event may be one more failure of a job that fails.
func failedAgain(e model.AlarmEvent) bool {
	info, known := model.ReasonOf(e.Reason)
	return e.Reason != model.OutcomeSucceeded && (!known || info.Class == model.ClassFailed)
}
