package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

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
