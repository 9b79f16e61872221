package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// glueHistory is how many versions of a script are kept.
const glueHistory = 30

func (s *Store) addGlueHistory(ctx context.Context, tx *sql.Tx, j *model.Job, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_logglue (job_id, glue_type, glue_source, glue_remark, add_time, update_time, carillon_author)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, j.ID, j.GlueType, j.GlueSource, j.GlueRemark, s.dt(now), s.dt(now), null(j.GlueAuthor))
	if err != nil {
		return err
	}
	var oldest int64
	err = tx.QueryRowContext(ctx, `SELECT id FROM xxl_job_logglue WHERE job_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?`, j.ID, glueHistory-1).Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM xxl_job_logglue WHERE job_id = ? AND id < ?`, j.ID, oldest)
	return err
}

// SaveScript replaces source, remark and time of a script and puts the new text into the
// history, guarded by the version of the job that was read. A text that is in no history
// yet, as the sample of a Java admin, is put there first, so that it can be restored.
func (s *Store) SaveScript(ctx context.Context, j *model.Job, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		old := model.Job{ID: j.ID, GlueType: j.GlueType}
		err := tx.QueryRowContext(ctx, `SELECT glue_source, glue_remark, glue_updatetime FROM xxl_job_info WHERE id = ?`, j.ID).
			Scan(nz(&old.GlueSource), nz(&old.GlueRemark), s.scanTime(&old.GlueUpdateTime))
		if err != nil {
			return notFound(err, "error.job_not_found", j.ID)
		}
		res, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET glue_source = ?, glue_remark = ?, glue_updatetime = ?, update_time = ?,
			carillon_version = COALESCE(carillon_version, 0) + 1 WHERE id = ? AND COALESCE(carillon_version, 0) = ?`,
			j.GlueSource, j.GlueRemark, s.dt(j.GlueUpdateTime), s.dt(now), j.ID, j.Version)
		if err := changedOne(res, err, "error.conflict"); err != nil {
			return err
		}
		var known int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_logglue WHERE job_id = ?`, j.ID).Scan(&known); err != nil {
			return err
		}
		if known == 0 && old.GlueSource != "" {
			if err := s.addGlueHistory(ctx, tx, &old, old.GlueUpdateTime); err != nil {
				return err
			}
		}
		return s.addGlueHistory(ctx, tx, j, now)
	})
}

const versionColumns = `id, job_id, glue_type, glue_remark, carillon_author, OCTET_LENGTH(glue_source), add_time`

func (s *Store) versionTargets(v *model.ScriptVersion) []any {
	return []any{&v.ID, &v.JobID, nz(&v.Type), nz(&v.Remark), nz(&v.Author), nz(&v.Bytes), s.scanTime(&v.AddTime)}
}

// ScriptVersions lists the kept versions of a script, newest first, without sources.
func (s *Store) ScriptVersions(ctx context.Context, jobID int) ([]model.ScriptVersion, error) {
	var v model.ScriptVersion
	return collect(ctx, s.r, into(&v, s.versionTargets(&v)), `SELECT `+versionColumns+` FROM xxl_job_logglue WHERE job_id = ?
		ORDER BY id DESC LIMIT 1000`, jobID)
}

// ScriptVersion reads one version with its source; one of another job is missing.
func (s *Store) ScriptVersion(ctx context.Context, jobID, id int) (model.ScriptVersion, error) {
	var v model.ScriptVersion
	err := s.r.QueryRowContext(ctx, `SELECT `+versionColumns+`, glue_source FROM xxl_job_logglue WHERE job_id = ? AND id = ?`, jobID, id).
		Scan(append(s.versionTargets(&v), nz(&v.Source))...)
	return v, notFound(err, "error.version_not_found", id)
}
