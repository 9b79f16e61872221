package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// jobColumns leaves out glue_source, which may be megabytes; see jobWithSource.
const jobColumns = `id, job_group, job_desc, add_time, update_time, author, alarm_email,
	schedule_type, schedule_conf, misfire_strategy, executor_route_strategy, executor_handler, executor_param,
	executor_block_strategy, executor_timeout, executor_fail_retry_count, glue_type, glue_remark, glue_updatetime,
	child_jobid, trigger_status, trigger_last_time, trigger_next_time,
	carillon_condition, carillon_reason, carillon_version,
	carillon_retry_delay, carillon_retry_growing, carillon_misfire_after, carillon_turn, carillon_keep_days, carillon_keep_failed_days`

const jobWithSource = jobColumns + `, glue_source`

// jobTargets are where the columns of a job go, made once for many rows.
func (s *Store) jobTargets(j *model.Job, withSource bool) []any {
	dst := []any{
		&j.ID, &j.GroupID, &j.Name, s.scanTime(&j.AddTime), s.scanTime(&j.UpdateTime), nz(&j.Author), nz(&j.AlarmEmail),
		&j.ScheduleType, nz(&j.ScheduleConf), &j.Misfire, nz(&j.Route), nz(&j.Handler), nz(&j.Param),
		nz(&j.Block), &j.TimeoutSec, &j.RetryCount, &j.GlueType, nz(&j.GlueRemark), s.scanTime(&j.GlueUpdateTime),
		nz(&j.ChildIDs), &j.Status, &j.LastMS, &j.NextMS,
		nz(&j.Condition), nz(&j.ConditionReason), nz(&j.Version),
		nz(&j.RetryDelaySec), flag(&j.RetryGrowing), nz(&j.MisfireAfterSec), nz(&j.Turn), keepTarget{&j.Keep.Succeeded}, keepTarget{&j.Keep.Failed},
	}
	if withSource {
		dst = append(dst, nz(&j.GlueSource))
	}
	return dst
}

func (s *Store) queryJobs(ctx context.Context, q querier, withSource bool, query string, args ...any) ([]model.Job, error) {
	var j model.Job
	return collect(ctx, q, into(&j, s.jobTargets(&j, withSource)), query, args...)
}

// readable is chunks for rows that others may have spoiled: where a part cannot be
// read, its items are read one by one and those that cannot are left out.
func readable(ids []int, size int, read func([]int) error) error {
	return chunks(ids, size, func(part []int) error {
		err := read(part)
		if !isUnreadable(err) {
			return err
		}
		for _, id := range part {
			if err := read([]int{id}); err != nil && !isUnreadable(err) {
				return err
			}
		}
		return nil
	})
}

// Definitions reads of many jobs what is needed to ring; those that are missing or
// cannot be read are left out.
func (s *Store) Definitions(ctx context.Context, ids []int) (map[int]*model.Definition, error) {
	out := make(map[int]*model.Definition, len(ids))
	err := readable(ids, 500, func(part []int) error {
		var d model.Definition
		list, err := collectOn(ctx, s.h, make([]model.Definition, 0, len(part)), into(&d, []any{
			&d.ID, &d.GroupID, nz(&d.Route), nz(&d.Handler), nz(&d.Param), nz(&d.Block), &d.TimeoutSec, &d.GlueType, nz(&d.GlueSource), s.scanTime(&d.GlueUpdateTime),
		}), `SELECT id, job_group, executor_route_strategy, executor_handler, executor_param, executor_block_strategy, executor_timeout,
			glue_type, glue_source, glue_updatetime FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		for i := range list {
			out[list[i].ID] = &list[i]
		}
		return err
	})
	return out, err
}

// Job reads one job with its source; a missing one is model.CodeNotFound.
func (s *Store) Job(ctx context.Context, id int) (model.Job, error) {
	var j model.Job
	err := s.r.QueryRowContext(ctx, `SELECT `+jobWithSource+` FROM xxl_job_info WHERE id = ?`, id).Scan(s.jobTargets(&j, true)...)
	if err != nil {
		return j, notFound(err, "error.job_not_found", id)
	}
	list := []model.Job{j}
	err = s.addTags(ctx, s.r, list)
	return list[0], err
}

// JobsByID reads many jobs with their sources and without their tags, in no order; missing
// ones are left out.
func (s *Store) JobsByID(ctx context.Context, ids []int) (map[int]model.Job, error) {
	return s.jobsByID(ctx, s.h, ids)
}

func (s *Store) jobsByID(ctx context.Context, q querier, ids []int) (map[int]model.Job, error) {
	out := make(map[int]model.Job, len(ids))
	err := readable(ids, 500, func(part []int) error {
		list, err := s.queryJobs(ctx, q, true,
			`SELECT `+jobWithSource+` FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, j := range list {
			out[j.ID] = j
		}
		return err
	})
	return out, err
}

// NextJobs lists the running jobs that fire next.
func (s *Store) NextJobs(ctx context.Context, groups []int, limit int) ([]model.Job, error) {
	limitTo, args := inGroups("job_group", groups)
	return s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info
		WHERE trigger_status = 1 AND trigger_next_time > 0`+limitTo+` ORDER BY trigger_next_time LIMIT ?`, append(args, limit)...)
}

// JobsByName reads the jobs of an executor that have one of the names, with their
// sources. Names are compared as the database does; callers compare again.
func (s *Store) JobsByName(ctx context.Context, groupID int, names []string) ([]model.Job, error) {
	var out []model.Job
	err := chunks(names, 200, func(part []string) error {
		list, err := s.queryJobs(ctx, s.r, true, `SELECT `+jobWithSource+` FROM xxl_job_info WHERE job_group = ? AND job_desc IN (`+marks(len(part))+`) ORDER BY id`,
			append([]any{groupID}, anys(part)...)...)
		out = append(out, list...)
		return err
	})
	if err == nil {
		err = s.addTags(ctx, s.r, out)
	}
	return out, err
}

// handlersRead bounds how many jobs are looked at for suggestions.
const handlersRead = 2000

// Handlers lists the handlers of an executor's newest jobs, the most used first.
func (s *Store) Handlers(ctx context.Context, groupID, limit int) ([]string, error) {
	var name string
	return collect(ctx, s.r, into(&name, []any{&name}), `SELECT executor_handler FROM (SELECT executor_handler FROM xxl_job_info
		WHERE job_group = ? AND glue_type = ? AND executor_handler <> '' ORDER BY id DESC LIMIT ?) AS newest
		GROUP BY executor_handler ORDER BY COUNT(*) DESC, executor_handler LIMIT ?`, groupID, model.GlueBean, handlersRead, limit)
}

func (s *Store) jobValues(j *model.Job) []any {
	return []any{
		j.GroupID, j.Name, j.Author, j.AlarmEmail, j.ScheduleType, j.ScheduleConf, j.Misfire, j.Route, j.Handler, j.Param,
		j.Block, j.TimeoutSec, j.RetryCount, j.ChildIDs, s.dt(j.UpdateTime),
		null(j.RetryDelaySec), null(j.RetryGrowing), null(j.MisfireAfterSec), keepValue(j.Keep.Succeeded), keepValue(j.Keep.Failed),
	}
}

// InsertJob writes a new, stopped job and returns its id.
func (s *Store) InsertJob(ctx context.Context, j *model.Job) (int, error) {
	var id int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		args := append(s.jobValues(j), s.dt(j.AddTime), j.GlueType, j.GlueSource, j.GlueRemark, s.dt(j.GlueUpdateTime))
		res, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_info (job_group, job_desc, author, alarm_email, schedule_type, schedule_conf,
			misfire_strategy, executor_route_strategy, executor_handler, executor_param, executor_block_strategy, executor_timeout,
			executor_fail_retry_count, child_jobid, update_time,
			carillon_retry_delay, carillon_retry_growing, carillon_misfire_after, carillon_keep_days, carillon_keep_failed_days, add_time, glue_type, glue_source, glue_remark, glue_updatetime,
			trigger_status, trigger_last_time, trigger_next_time, carillon_version)
			VALUES (`+marks(len(args))+`, 0, 0, 0, 1)`, args...)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		if id > model.MaxID {
			return model.Errf(model.CodeInvalid, "error.id_range", "Value", id)
		}
		if err := s.setTags(ctx, tx, int(id), j.Tags); err != nil || !j.GlueType.IsScript() {
			return err
		}
		j.ID = int(id)
		return s.addGlueHistory(ctx, tx, j, j.AddTime)
	})
	return int(id), err
}

// UpdateJob writes what people may edit. The update is guarded by the version
// that was read: when somebody else saved meanwhile it is a conflict and
// nothing changes. With reschedule the planned runs of the old schedule are
// cancelled in the same transaction and j.NextMS is taken over; planned runs
// that stay get the new handler and parameter. With newSource the script is
// replaced and put into the history.
func (s *Store) UpdateJob(ctx context.Context, j *model.Job, reschedule, newSource bool, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		set := `job_group = ?, job_desc = ?, author = ?, alarm_email = ?, schedule_type = ?, schedule_conf = ?, misfire_strategy = ?,
			executor_route_strategy = ?, executor_handler = ?, executor_param = ?, executor_block_strategy = ?, executor_timeout = ?,
			executor_fail_retry_count = ?, child_jobid = ?, update_time = ?,
			carillon_retry_delay = ?, carillon_retry_growing = ?, carillon_misfire_after = ?, carillon_keep_days = ?, carillon_keep_failed_days = ?, carillon_version = COALESCE(carillon_version, 0) + 1`
		args := s.jobValues(j)
		if newSource {
			set += `, glue_source = ?, glue_remark = ?, glue_updatetime = ?`
			args = append(args, j.GlueSource, j.GlueRemark, s.dt(j.GlueUpdateTime))
		}
		if reschedule {
			set += `, trigger_status = ?, trigger_next_time = ?, carillon_condition = NULL, carillon_reason = NULL`
			args = append(args, j.Status, j.NextMS)
		}
		res, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET `+set+` WHERE id = ? AND COALESCE(carillon_version, 0) = ?`,
			append(args, j.ID, j.Version)...)
		if err := changedOne(res, err, "error.conflict"); err != nil {
			return err
		}
		if err := s.setTags(ctx, tx, j.ID, j.Tags); err != nil {
			return err
		}
		if newSource {
			if err := s.addGlueHistory(ctx, tx, j, now); err != nil {
				return err
			}
		}
		if reschedule {
			return s.cancelPlanned(ctx, tx, j.ID, model.ReasonCancelled, false, now)
		}
		runs, err := s.plannedOf(ctx, tx, j.ID, []model.TriggerType{model.TriggerCron, model.TriggerMisfire})
		if err != nil {
			return err
		}
		return chunks(runs, 500, func(part []model.Run) error {
			args := []any{j.GroupID, j.Handler, j.Param}
			for i := range part {
				args = append(args, part[i].ID)
			}
			_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET job_group = ?, executor_handler = ?, executor_param = ?
				WHERE id IN (`+marks(len(part))+`)`, args...)
			return err
		})
	})
}

// SetJobStatus starts or stops a job: status and next fire in one narrow update,
// guarded by the version that was read (the next fire was computed from it); its
// planned runs are cancelled in the same transaction. Starting clears what the
// scheduler had noted about the job.
func (s *Store) SetJobStatus(ctx context.Context, id int, version int64, status model.JobStatus, nextMS int64, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = ?, trigger_last_time = 0, trigger_next_time = ?,
			carillon_condition = NULL, carillon_reason = NULL, carillon_version = COALESCE(carillon_version, 0) + 1
			WHERE id = ? AND COALESCE(carillon_version, 0) = ?`, status, nextMS, id, version)
		if err := changedOne(res, err, "error.conflict"); err != nil {
			return err
		}
		reason := model.ReasonPaused
		if status == model.JobRunning {
			reason = model.ReasonCancelled // it ran already and begins anew
		}
		return s.cancelPlanned(ctx, tx, id, reason, status == model.JobStopped, now)
	})
}

// DeleteJob removes the job and its script history and cancels its planned
// runs. Runs that were made stay until the retention ends them, and the name of the
// job with them.
func (s *Store) DeleteJob(ctx context.Context, id int, now time.Time) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO carillon_gone (job_id, name, deleted_at) SELECT id, job_desc, ? FROM xxl_job_info WHERE id = ?`+
			s.d.upsert("job_id", "name", "deleted_at"), now.UnixMilli(), id)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_info WHERE id = ?`, id)
		if err := changedOne(res, err, "error.job_not_found"); err != nil {
			return err
		}
		for _, table := range []string{"xxl_job_logglue", "carillon_route", "carillon_failing", "carillon_job_tag", "carillon_favourite", "carillon_job_stat"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE job_id = ?`, id); err != nil {
				return err
			}
		}
		return s.cancelPlanned(ctx, tx, id, model.ReasonCancelled, true, now)
	})
}

// changedOne turns "no row matched" into an error with the given key.
func changedOne(res sql.Result, err error, key string) error {
	if ok, err := matched(res, err); err != nil || ok {
		return err
	}
	code := model.CodeNotFound
	if key == "error.conflict" {
		code = model.CodeConflict
	}
	return model.Errf(code, key)
}

// notFound turns "no rows" into a model error that names the id.
func notFound(err error, key string, id any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return model.Errf(model.CodeNotFound, key, "ID", id)
	}
	return err
}
