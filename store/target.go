package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const targetColumns = `id, name, settings, CAST(judged_day AS CHAR), CAST(early_day AS CHAR), next_job`

func scanTarget(r row) (t model.Target, err error) {
	var settings string
	if err = r.Scan(&t.ID, &t.Name, &settings, &t.Judged, &t.Early, &t.NextJob); err == nil {
		err = json.Unmarshal([]byte(settings), &t.TargetSettings)
	}
	return t, err
}

// Targets lists the targets, by name.
func (s *Store) Targets(ctx context.Context) ([]model.Target, error) {
	return collect(ctx, s.r, scanTarget, `SELECT `+targetColumns+` FROM carillon_target ORDER BY name, id`)
}

// Target reads one; a missing one is model.CodeNotFound.
func (s *Store) Target(ctx context.Context, id int) (model.Target, error) {
	t, err := scanTarget(s.r.QueryRowContext(ctx, `SELECT `+targetColumns+` FROM carillon_target WHERE id = ?`, id))
	return t, notFound(err, "error.target_not_found", int64(id))
}

// SaveTarget writes one, a new one when it has no id, and returns its id. One that counts
// other days than before loses those after t.Judged, and they are looked at anew; else it
// goes on where it was.
func (s *Store) SaveTarget(ctx context.Context, t model.Target) (int, error) {
	settings, err := json.Marshal(t.TargetSettings)
	if err != nil {
		return 0, err
	}
	if t.ID == 0 {
		res, err := s.w.ExecContext(ctx, `INSERT INTO carillon_target (name, settings, judged_day, early_day, next_job) VALUES (?, ?, ?, ?, 0)`, t.Name, string(settings), t.Judged, t.Judged)
		if err != nil {
			return 0, err
		}
		id, err := res.LastInsertId()
		return int(id), err
	}
	return t.ID, s.inTx(ctx, func(tx *sql.Tx) error {
		old, err := scanTarget(tx.QueryRowContext(ctx, `SELECT `+targetColumns+` FROM carillon_target WHERE id = ?`+s.d.forUpdate, t.ID))
		if err != nil {
			return notFound(err, "error.target_not_found", int64(t.ID))
		}
		if old.SameDays(t.TargetSettings) {
			t.Judged, t.Early, t.NextJob = old.Judged, old.Early, old.NextJob
		} else {
			t.Early, t.NextJob = t.Judged, 0
			if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_target_day WHERE target_id = ? AND first_day > ?`, t.ID, t.Judged); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE carillon_target SET name = ?, settings = ?, judged_day = ?, early_day = ?, next_job = ? WHERE id = ?`, t.Name, string(settings), t.Judged, t.Early, t.NextJob, t.ID)
		return err
	})
}

// DeleteTarget removes one with its days.
func (s *Store) DeleteTarget(ctx context.Context, id int) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM carillon_target WHERE id = ?`, id)
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM carillon_target_day WHERE target_id = ?`, id)
		}
		return err
	})
}

// TargetSums adds up the days of targets from first to last (inclusive, 2006-01-02).
func (s *Store) TargetSums(ctx context.Context, ids []int, first, last string) (map[int]model.TargetSum, error) {
	out := map[int]model.TargetSum{}
	return out, chunks(ids, 200, func(part []int) error {
		type sum struct {
			id int
			model.TargetSum
		}
		list, err := collect(ctx, s.r, func(x row) (v sum, err error) {
			err = x.Scan(&v.id, &v.Rated, &v.Good)
			return v, err
		}, `SELECT target_id, COUNT(*), SUM(met) FROM carillon_target_day WHERE target_id IN (`+marks(len(part))+`) AND first_day BETWEEN ? AND ? GROUP BY target_id`, append(anys(part), first, last)...)
		for _, v := range list {
			out[v.id] = v.TargetSum
		}
		return err
	})
}

// FiredJobs lists jobs of a target that had fires on a day (2006-01-02), as the counters
// know them: from an id on, in the order of their ids.
func (s *Store) FiredJobs(ctx context.Context, t model.TargetSettings, day string, from, limit int) ([]int, error) {
	where, args := counterWhere([]model.Span{{Unit: model.UnitDay, First: day, Last: day}}, t.Filter())
	if t.Filter().All() {
		where = strings.Replace(where, ` AND job_id = 0`, ` AND job_id <> 0`, 1)
	}
	return collect(ctx, s.r, one[int], `SELECT DISTINCT job_id FROM carillon_count`+where+` AND job_id >= ? AND expected > 0 ORDER BY job_id LIMIT ?`, append(args, from, limit)...)
}

const (
	// mostOfDay is how many attempts of a job are read for a day; of those after them only
	// the first ones that succeeded.
	mostOfDay     = 2000
	mostGoodOfDay = 200
)

// RunsOfDay reads the attempts of a job that may belong to a day, in the order of their
// ids. It reads by the index of jobs, between the ids that the runs of that time have.
func (s *Store) RunsOfDay(ctx context.Context, jobID int, from, to time.Time) ([]model.Run, error) {
	near := func(compare, order string, at time.Time) (id int64, err error) {
		err = s.r.QueryRowContext(ctx, `SELECT id FROM xxl_job_log WHERE trigger_time `+compare+` ? ORDER BY trigger_time `+order+`, id `+order+` LIMIT 1`, s.dt(at)).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return id, err
	}
	// trigger_time is a clock's time: the hours beside the day, too.
	before, err := near("<", "DESC", from.Add(-2*time.Hour))
	if err != nil {
		return nil, err
	}
	after, err := near(">=", "ASC", to.Add(2*time.Hour))
	if err != nil {
		return nil, err
	}
	const columns = `id, trigger_code, handle_code, run_state, run_reason, trigger_time, first_run, job_id, planned_time, finished_time, shard_key`
	var x model.Run
	read := func(more string, args ...any) ([]model.Run, error) {
		return collect(ctx, s.r, into(&x, []any{
			&x.ID, &x.TriggerCode, &x.HandleCode, nz(&x.Phase), nz(&x.Reason), s.scanTime(&x.TriggerTime), nz(&x.FirstID), &x.JobID, nz(&x.PlannedMS), nz(&x.FinishedMS), nz(&x.ShardKey),
		}), `SELECT `+columns+` FROM xxl_job_log WHERE job_id = ? AND id > ? AND id < ?`+more+` ORDER BY id LIMIT ?`, args...)
	}
	after = cmp.Or(after, 1<<62)
	out, err := read("", jobID, min(before, after), after, mostOfDay)
	if err != nil || len(out) < mostOfDay {
		return out, err
	}
	good, err := read(" AND handle_code = 200", jobID, out[len(out)-1].ID, after, mostGoodOfDay)
	return append(out, good...), err
}

// JudgeTarget writes how jobs did on a day, and how far the target is. Whoever finds that
// another node did it, or that the target was changed meanwhile, writes nothing.
func (s *Store) JudgeTarget(ctx context.Context, was, is model.Target, day string, days []model.TargetDay) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		old, err := scanTarget(tx.QueryRowContext(ctx, `SELECT `+targetColumns+` FROM carillon_target WHERE id = ?`+s.d.forUpdate, was.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil || !old.SameDays(was.TargetSettings) || old.Judged != was.Judged || old.Early != was.Early || old.NextJob != was.NextJob {
			return err
		}
		var gone []int
		var args []any
		n := 0
		for _, d := range days {
			if !d.Counts {
				gone = append(gone, d.JobID)
				continue
			}
			args = append(args, was.ID, day, d.JobID, d.Met, null(d.DoneMS))
			n++
		}
		if len(gone) > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_target_day WHERE target_id = ? AND first_day = ? AND job_id IN (`+marks(len(gone))+`)`, append([]any{was.ID, day}, anys(gone)...)...); err != nil {
				return err
			}
		}
		if n > 0 {
			if _, err := tx.ExecContext(ctx, `INSERT INTO carillon_target_day (target_id, first_day, job_id, met, done_at) VALUES `+rowsOf(5, n)+
				s.d.upsert("target_id, first_day, job_id", "met", "done_at"), args...); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE carillon_target SET judged_day = ?, early_day = ?, next_job = ? WHERE id = ?`, is.Judged, is.Early, is.NextJob, was.ID)
		return err
	})
}
