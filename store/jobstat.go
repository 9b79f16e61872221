package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// statRuns is how many of a job's newest runs say how its runs go.
const statRuns = 20

// statColumn is the figure by which a list of jobs is ordered, "" when it is another order.
func statColumn(by model.JobSort) string {
	switch by {
	case model.JobsByDuration:
		return "average_ms"
	case model.JobsByFailures:
		return "failed"
	}
	return ""
}

// jobsByStat gives a page of the jobs in the order of a figure; those without it come last.
// Of a list that is hardly narrowed the index of the figure gives the order, so that the
// jobs behind the page are not read.
func (s *Store) jobsByStat(ctx context.Context, f model.JobFilter, where string, args []any) ([]model.Job, error) {
	column := statColumn(f.Sort)
	join := " JOIN "
	if f.GroupID == 0 && f.Groups == nil && f.Text == "" && f.Tag == "" && f.Marked == 0 && len(f.IDs) == 0 && !f.Failing && !f.OnDemand && !f.Ended && !f.Waiting {
		join = s.d.joinInOrder
	}
	from := ` FROM carillon_job_stat s` + join + `xxl_job_info ON id = s.job_id` + where + ` AND s.` + column + ` IS NOT NULL`
	// The ids first: of the jobs before the page only what the filter asks is read.
	ids, err := collect(ctx, s.r, one[int], `SELECT s.job_id`+from+` ORDER BY `+exactFirst(f.Text)+`s.`+column+` DESC, s.job_id DESC LIMIT ? OFFSET ?`,
		append(args[:len(args):len(args)], f.Limit, f.Offset)...)
	if err != nil {
		return nil, err
	}
	var list []model.Job
	if len(ids) > 0 {
		list, err = s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE id IN (`+marks(len(ids))+`)`, anys(ids)...)
		slices.SortFunc(list, func(a, b model.Job) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	}
	if err != nil || len(list) == f.Limit {
		return list, err
	}
	before := f.Offset + len(list)
	if len(list) == 0 && f.Offset > 0 {
		if err := s.r.QueryRowContext(ctx, `SELECT COUNT(*)`+from, args...).Scan(&before); err != nil {
			return nil, err
		}
	}
	rest, err := s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info`+where+
		` AND NOT EXISTS (SELECT 1 FROM carillon_job_stat s WHERE s.job_id = id AND s.`+column+` IS NOT NULL) ORDER BY `+exactFirst(f.Text)+`id DESC LIMIT ? OFFSET ?`,
		append(args[:len(args):len(args)], f.Limit-len(list), max(0, f.Offset-before))...)
	return append(list, rest...), err
}

// JobsOfNewRuns gives the jobs of the runs that were written down after one, of the most
// newest only, and the newest run.
func (s *Store) JobsOfNewRuns(ctx context.Context, after int64, most int) (jobs []int, newest int64, err error) {
	if err = s.r.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM xxl_job_log`).Scan(&newest); err != nil || newest <= after {
		return nil, newest, err
	}
	jobs, err = collect(ctx, s.r, one[int], `SELECT DISTINCT job_id FROM xxl_job_log WHERE id > ? AND id <= ?`, max(after, newest-int64(most)), newest)
	return jobs, newest, err
}

// JobsOfOpenRuns gives the jobs of runs that have no outcome yet, of so many of them.
func (s *Store) JobsOfOpenRuns(ctx context.Context, most int) ([]int, error) {
	return collect(ctx, s.r, one[int], `SELECT DISTINCT job_id FROM (SELECT job_id FROM xxl_job_log WHERE run_state IN (?, ?, ?, ?) LIMIT ?) AS t`,
		model.PhasePlanned, model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted, most)
}

// JobsAfter gives the ids of jobs behind one, in order.
func (s *Store) JobsAfter(ctx context.Context, id, limit int) ([]int, error) {
	return collect(ctx, s.r, one[int], `SELECT id FROM xxl_job_info WHERE id > ? ORDER BY id LIMIT ?`, id, limit)
}

type jobStat struct {
	average, failed sql.NullInt64
}

// CountJobStats counts anew how the newest runs of jobs went.
func (s *Store) CountJobStats(ctx context.Context, jobs []int, now time.Time) error {
	const figures = `SELECT ? AS job, AVG(CASE WHEN handle_code = 200 AND finished_time > 0 AND COALESCE(accepted_time, sent_time) > 0
			THEN CASE WHEN finished_time > COALESCE(accepted_time, sent_time) THEN finished_time - COALESCE(accepted_time, sent_time) ELSE 0 END END) AS average,
		SUM(CASE WHEN ` + isFailed + ` THEN 1 ELSE 0 END) AS failed, SUM(CASE WHEN ` + isOpen + ` THEN 0 ELSE 1 END) AS ended
		FROM (SELECT handle_code, trigger_code, run_state, run_reason, accepted_time, sent_time, finished_time FROM xxl_job_log WHERE job_id = ? ORDER BY id DESC LIMIT ?) AS t`
	return chunks(jobs, 50, func(part []int) error {
		known := map[int]jobStat{}
		old, err := s.r.QueryContext(ctx, `SELECT i.id, s.average_ms, s.failed FROM xxl_job_info i LEFT JOIN carillon_job_stat s ON s.job_id = i.id WHERE i.id IN (`+marks(len(part))+`)`, anys(part)...)
		if err != nil {
			return err
		}
		defer old.Close()
		for old.Next() {
			var id int
			var st jobStat
			if err := old.Scan(&id, &st.average, &st.failed); err != nil {
				return err
			}
			known[id] = st
		}
		if err := cmp.Or(old.Err(), old.Close()); err != nil {
			return err
		}
		query, args := "", []any{}
		for i, id := range part {
			if i > 0 {
				query += " UNION ALL "
			}
			query += figures
			args = append(args, id, id, statRuns)
		}
		var fresh []any
		rows, err := s.r.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			var average sql.NullFloat64
			var failed, ended sql.NullInt64
			if err := rows.Scan(&id, &average, &failed, &ended); err != nil {
				return err
			}
			st := jobStat{average: sql.NullInt64{Int64: int64(average.Float64), Valid: average.Valid}}
			if ended.Int64 > 0 {
				st.failed = sql.NullInt64{Int64: failed.Int64 * 1000 / ended.Int64, Valid: true}
			}
			if was, there := known[id]; there && was != st { // what is as it was costs no write
				fresh = append(fresh, id, st.average, st.failed, now.UnixMilli())
			}
		}
		if err := cmp.Or(rows.Err(), rows.Close()); err != nil || len(fresh) == 0 {
			return err
		}
		_, err = s.w.ExecContext(ctx, `INSERT INTO carillon_job_stat (job_id, average_ms, failed, counted_at) VALUES `+rowsOf(4, len(fresh)/4)+
			s.d.upsert("job_id", "average_ms", "failed", "counted_at"), fresh...)
		return err
	})
}
