package store

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// RunsDuring lists the runs of a filter that were under way in its period, without texts,
// newest first: those that began in it, at most f.Limit, and when all of them fit, those
// that began up to lookBack before it and had not ended. Both ends of the period must be
// given. more reports that the period has runs that are left out.
func (s *Store) RunsDuring(ctx context.Context, f model.RunFilter, lookBack time.Duration) (list []model.Run, more bool, err error) {
	where, args := s.runWhere(f)
	const from, order = `SELECT ` + runShort + ` FROM xxl_job_log l WHERE 1 = 1`, ` ORDER BY trigger_time DESC, id DESC LIMIT ?`
	list, err = s.queryRuns(ctx, s.r, brief, from+where+order, append(args, f.Limit+1)...)
	if err != nil || len(list) > f.Limit {
		return list[:min(len(list), f.Limit)], err == nil, err
	}
	begin, rest := f.From, f.Limit-len(list)
	f.From, f.To = begin.Add(-lookBack), begin
	where, args = s.runWhere(f)
	where += ` AND (` + isOpen + ` OR COALESCE(finished_time, 0) > ?)`
	older, err := s.queryRuns(ctx, s.r, brief, from+where+order, append(args, begin.UnixMilli(), rest+1)...)
	return slices.Concat(list, older[:min(len(older), rest)]), len(older) > rest, err
}

// RunningSchedules counts the jobs of the groups (nil = all) that are started and have a
// schedule, by schedule; those of a fixed rate also by the minute of their next fire.
func (s *Store) RunningSchedules(ctx context.Context, groups []int) ([]model.ScheduleCount, error) {
	limitTo, args := inGroups("job_group", groups)
	return collect(ctx, s.r, func(r row) (c model.ScheduleCount, err error) {
		var minute float64
		err = r.Scan(&c.Type, nz(&c.Conf), &minute, &c.Jobs)
		c.NextMS = int64(minute) * 60_000
		return c, err
	}, `SELECT schedule_type, schedule_conf, CASE WHEN schedule_type = 'FIX_RATE' THEN (trigger_next_time - trigger_next_time % 60000) / 60000 ELSE 0 END AS next_minute, COUNT(*)
		FROM xxl_job_info WHERE trigger_status = 1 AND schedule_type <> 'NONE' AND trigger_next_time > 0`+limitTo+`
		GROUP BY schedule_type, schedule_conf, next_minute`, args...)
}

// JobsOfSchedules names the first started jobs of the groups (nil = all) that have one of
// some cron expressions.
func (s *Store) JobsOfSchedules(ctx context.Context, groups []int, confs []string, limit int) ([]model.Job, error) {
	if len(confs) == 0 {
		return nil, nil
	}
	limitTo, args := inGroups("job_group", groups)
	return collect(ctx, s.r, func(r row) (j model.Job, err error) {
		err = r.Scan(&j.ID, &j.GroupID, &j.Name)
		return j, err
	}, `SELECT id, job_group, job_desc FROM xxl_job_info WHERE trigger_status = 1 AND schedule_type = 'CRON' AND trigger_next_time > 0`+limitTo+`
		AND schedule_conf IN (`+marks(len(confs))+`) ORDER BY id LIMIT ?`, append(append(args, anys(confs)...), limit)...)
}
