package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

// JobNote reads what people noted for who is on call for a job; a missing job is
// model.CodeNotFound.
func (s *Store) JobNote(ctx context.Context, id int) (note string, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT carillon_note FROM xxl_job_info WHERE id = ?`, id).Scan(nz(&note))
	return note, notFound(err, "error.job_not_found", id)
}

// SetJobNote replaces the note of a job. When it is not old any more, it is a conflict
// and nothing changes.
func (s *Store) SetJobNote(ctx context.Context, id int, old, note string) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var is string
		err := tx.QueryRowContext(ctx, `SELECT carillon_note FROM xxl_job_info WHERE id = ?`+s.d.forUpdate, id).Scan(nz(&is))
		if err != nil {
			return notFound(err, "error.job_not_found", id)
		}
		if is != old {
			return model.Errf(model.CodeConflict, "error.conflict")
		}
		_, err = tx.ExecContext(ctx, `UPDATE xxl_job_info SET carillon_note = ? WHERE id = ?`, null(note), id)
		return err
	})
}
