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
		err = r.Scan(&e.ID, &e.AtMS, &e.JobID, nz(&e.RunID), &e.Reason, nz(&e.Fires))
		return e, err
	}, `SELECT id, at, job_id, run_id, reason, fires FROM carillon_alarm_event ORDER BY id LIMIT ?`, limit)
}
