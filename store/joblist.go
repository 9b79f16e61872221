package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Jobs lists jobs without sources and says how many match.
func (s *Store) Jobs(ctx context.Context, f model.JobFilter) ([]model.Job, int, error) {
	where, args := jobWhere(f, true)
	var total int
	if err := s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info`+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err := s.JobsOf(ctx, f)
	return list, total, err
}

// JobsOf lists jobs without sources; how many match is known, or nobody asks.
func (s *Store) JobsOf(ctx context.Context, f model.JobFilter) ([]model.Job, error) {
	where, args := jobWhere(f, true)
	var list []model.Job
	var err error
	if statColumn(f.Sort) != "" {
		list, err = s.jobsByStat(ctx, f, where, args)
	} else {
		list, err = s.queryJobs(ctx, s.r, false, `SELECT `+jobColumns+` FROM xxl_job_info`+where+
			` ORDER BY `+exactFirst(f.Text)+jobOrder(f.Sort)+` LIMIT ? OFFSET ?`, append(args, f.Limit, f.Offset)...)
	}
	if err == nil {
		err = s.addTags(ctx, s.r, list)
	}
	return list, err
}

// exactFirst puts the job whose number was typed before those that only have it in a text.
func exactFirst(text string) string {
	id, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	if err != nil || id <= 0 {
		return ""
	}
	return "CASE WHEN id = " + strconv.Itoa(id) + " THEN 0 ELSE 1 END, "
}

// jobOrder is the order of a list; the id makes it the same each time.
func jobOrder(by model.JobSort) string {
	switch by {
	case model.JobsOldest:
		return "id"
	case model.JobsByName:
		return "job_desc, id"
	case model.JobsByNameZA:
		return "job_desc DESC, id"
	case model.JobsByNext:
		return "CASE WHEN trigger_next_time > 0 THEN 0 ELSE 1 END, trigger_next_time, id"
	case model.JobsByLast:
		return "trigger_last_time DESC, id DESC"
	}
	return "id DESC"
}

// CountJobs counts what matches the filter without its status.
func (s *Store) CountJobs(ctx context.Context, f model.JobFilter) (model.JobCounts, error) {
	where, args := jobWhere(f, false)
	var c model.JobCounts
	err := s.r.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN trigger_status = 1 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN trigger_status <> 1 AND schedule_type = 'NONE' THEN 1 ELSE 0 END), 0)
		FROM xxl_job_info`+where, args...).Scan(&c.All, &c.Running, &c.OnDemand)
	if err != nil {
		return c, err
	}
	c.Stopped = c.All - c.Running - c.OnDemand
	// By itself: few jobs are failing, and the counts above are in an index.
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info`+where+` AND `+failingWhere, args...).Scan(&c.Failing)
	if err == nil {
		err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info`+where+` AND `+endedWhere, args...).Scan(&c.Ended)
	}
	if err == nil && f.DueMS > 0 {
		err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_info`+where+` AND `+waitingWhere, append(args, f.DueMS)...).Scan(&c.Waiting)
	}
	return c, err
}

const (
	// endedWhere is true of jobs whose schedule has no further fire.
	endedWhere = `carillon_condition = '` + string(model.JobEnded) + `' AND trigger_status <> 1`
	// waitingWhere is true of jobs with a run that was due by an instant and is not sent.
	waitingWhere = `id IN (SELECT job_id FROM xxl_job_log WHERE run_state = 1 AND planned_time <= ?)`
)

func inGroups(column string, groups []int) (string, []any) {
	if groups == nil {
		return "", nil
	}
	if len(groups) == 0 {
		return " AND 1 = 0", nil
	}
	return " AND " + column + " IN (" + marks(len(groups)) + ")", anys(groups)
}

func jobWhere(f model.JobFilter, withStatus bool) (string, []any) {
	where, args := inGroups("job_group", f.Groups)
	if f.GroupID != 0 {
		where, args = where+" AND job_group = ?", append(args, f.GroupID)
	}
	if len(f.IDs) > 0 {
		where, args = where+" AND id IN ("+marks(len(f.IDs))+")", append(args, anys(f.IDs)...)
	}
	if f.Tag != "" {
		where, args = where+" AND id IN (SELECT t.job_id FROM carillon_job_tag t WHERE t.tag = ?)", append(args, f.Tag)
	}
	if f.Marked != 0 {
		where, args = where+" AND id IN (SELECT v.job_id FROM carillon_favourite v WHERE v.user_id = ?)", append(args, f.Marked)
	}
	if withStatus && f.Status != nil {
		where, args = where+" AND trigger_status = ?", append(args, int(*f.Status))
	}
	if withStatus && f.Scheduled {
		where += " AND schedule_type <> 'NONE'"
	}
	if withStatus && f.OnDemand {
		where += " AND trigger_status <> 1 AND schedule_type = 'NONE'"
	}
	if withStatus && f.Ended {
		where += " AND " + endedWhere
	}
	if withStatus && f.Waiting {
		where, args = where+" AND "+waitingWhere, append(args, f.DueMS)
	}
	if withStatus && f.Failing {
		where += " AND " + failingWhere
	}
	for _, part := range []struct{ column, text string }{{"job_desc", f.Name}, {"executor_handler", f.Handler}, {"author", f.Author}} {
		if part.text != "" {
			where, args = where+" AND "+part.column+" LIKE ? ESCAPE '!'", append(args, "%"+likeEscaper.Replace(part.text)+"%")
		}
	}
	if f.Text != "" {
		like := "%" + likeEscaper.Replace(f.Text) + "%"
		where += ` AND (job_desc LIKE ? ESCAPE '!' OR executor_handler LIKE ? ESCAPE '!' OR author LIKE ? ESCAPE '!'
			OR executor_param LIKE ? ESCAPE '!' OR glue_type <> 'BEAN' AND glue_source LIKE ? ESCAPE '!' OR id = ? OR id IN (SELECT t.job_id FROM carillon_job_tag t WHERE t.tag LIKE ? ESCAPE '!'))`
		id, _ := strconv.Atoi(strings.TrimPrefix(f.Text, "#")) // 0 is no job
		args = append(args, like, like, like, like, like, id, strings.ToLower(like))
	}
	return " WHERE 1 = 1" + where, args
}

// likeEscaper makes % and _ ordinary characters.
var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
