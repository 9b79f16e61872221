package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// counterWhere selects counters of spans.
func counterWhere(spans []model.Span, f model.CounterFilter) (string, []any) {
	if len(spans) == 0 {
		return ` WHERE 1 = 0`, nil
	}
	var parts []string
	var args []any
	for _, x := range spans {
		parts = append(parts, `unit = ? AND first_day BETWEEN ? AND ?`)
		args = append(args, int(x.Unit), x.First, x.Last)
	}
	where, more := inGroups("group_id", f.Groups)
	if f.GroupID != 0 {
		where, more = where+` AND group_id = ?`, append(more, f.GroupID)
	}
	switch {
	case f.All():
		where += ` AND job_id = 0`
	case f.JobIDs != nil:
		if len(f.JobIDs) == 0 {
			return ` WHERE 1 = 0`, nil
		}
		where, more = where+` AND job_id IN (`+marks(len(f.JobIDs))+`)`, append(more, anys(f.JobIDs)...)
	default:
		where += ` AND job_id <> 0`
	}
	if f.Owner != "" {
		where, more = where+` AND job_id IN (SELECT id FROM xxl_job_info WHERE author = ?)`, append(more, f.Owner)
	}
	if f.Tag != "" {
		where, more = where+` AND job_id IN (SELECT job_id FROM carillon_job_tag WHERE tag = ?)`, append(more, f.Tag)
	}
	return ` WHERE (` + strings.Join(parts, " OR ") + `)` + where, append(args, more...)
}

// Counters reads the counters of spans with all that they know: those of executors as a
// whole, or of the jobs that the filter narrows them to.
func (s *Store) Counters(ctx context.Context, spans []model.Span, f model.CounterFilter) ([]*model.Counter, error) {
	where, args := counterWhere(spans, f)
	return collect(ctx, s.r, scanCounter, `SELECT `+counterSelect+` FROM carillon_count`+where, args...)
}

// sums are the columns of a counter that SQL can add up.
const sums = `SUM(expected), SUM(succeeded), SUM(rescued), SUM(failed), SUM(missed), SUM(excused), SUM(late), SUM(took_runs), SUM(took_ms)`

func sumTargets(c *model.Counter) []any {
	return []any{&c.Expected, &c.Succeeded, &c.Rescued, &c.Failed, &c.Missed, &c.Excused, &c.Late, &c.TookRuns, &c.TookMS}
}

// CountersByUnit gives the sums of each unit of one span, without reasons, hours and durations.
func (s *Store) CountersByUnit(ctx context.Context, span model.Span, f model.CounterFilter) ([]*model.Counter, error) {
	where, args := counterWhere([]model.Span{span}, f)
	return collect(ctx, s.r, func(x row) (*model.Counter, error) {
		c := &model.Counter{Unit: span.Unit}
		err := x.Scan(append([]any{&c.Start}, sumTargets(c)...)...)
		return c, err
	}, `SELECT CAST(first_day AS CHAR), `+sums+` FROM carillon_count`+where+` GROUP BY first_day ORDER BY first_day`, args...)
}

// CountersByJob gives the sums of each job over spans, without reasons, hours and durations.
func (s *Store) CountersByJob(ctx context.Context, spans []model.Span, f model.CounterFilter) ([]*model.Counter, error) {
	at := map[int]*model.Counter{}
	var out []*model.Counter
	for _, span := range spans {
		where, args := counterWhere([]model.Span{span}, f)
		if f.All() {
			where = strings.Replace(where, ` AND job_id = 0`, ` AND job_id <> 0`, 1)
		}
		part, err := collect(ctx, s.r, func(x row) (*model.Counter, error) {
			c := &model.Counter{}
			err := x.Scan(append([]any{&c.JobID, &c.GroupID}, sumTargets(c)...)...)
			return c, err
		}, `SELECT job_id, MAX(group_id), `+sums+` FROM carillon_count`+where+` GROUP BY job_id`, args...)
		if err != nil {
			return nil, err
		}
		for _, c := range part {
			if known := at[c.JobID]; known != nil {
				known.Add(c)
			} else {
				at[c.JobID] = c
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// CountState says how far the counters have come.
func (s *Store) CountState(ctx context.Context) (model.CountState, error) {
	st, err := s.countState(ctx, s.r, false)
	out := model.CountState{FoldedMS: st.foldedAt, CountedFrom: st.countedFrom, Checked: st.checkedDay}
	if err == nil {
		err = s.r.QueryRowContext(ctx, `SELECT COUNT(*) FROM carillon_count_journal`).Scan(&out.Waiting)
	}
	return out, err
}

// NoteCounted writes down from which day on everything is counted, and up to which it was
// counted anew; "" leaves one as it is.
func (s *Store) NoteCounted(ctx context.Context, from, checked string) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_count_state SET counted_from = COALESCE(?, counted_from), checked_day = COALESCE(?, checked_day) WHERE id = 1`, null(from), null(checked))
	return err
}

// OldestRun gives the trigger time of the oldest run; zero when there is none.
func (s *Store) OldestRun(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.r.QueryRowContext(ctx, `SELECT trigger_time FROM xxl_job_log WHERE trigger_time IS NOT NULL ORDER BY trigger_time LIMIT 1`).Scan(s.scanTime(&at))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at, err
}
