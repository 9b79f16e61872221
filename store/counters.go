package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
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
	of, owners := jobsOf("job_id", f)
	where, more = where+of, append(more, owners...)
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

// CounterTotal adds up the counters of spans.
func (s *Store) CounterTotal(ctx context.Context, spans []model.Span, f model.CounterFilter) (*model.Counter, error) {
	var sum model.CounterSum
	for _, span := range spans { // one by one: of many at once the engines do not see an index
		where, args := counterWhere([]model.Span{span}, f)
		if _, err := collect(ctx, s.r, func(x row) (none struct{}, err error) {
			var c model.Counter
			var lines, hours, took sql.RawBytes
			if err := x.Scan(append(sumTargets(&c), &lines, &hours, &took)...); err != nil {
				return none, err
			}
			if len(lines) > 0 {
				if err := json.Unmarshal(lines, &c.Lines); err != nil {
					return none, err
				}
			}
			return none, sum.Add(&c, hours, took)
		}, `SELECT expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms, reasons, hours, took FROM carillon_count`+where, args...); err != nil {
			return nil, err
		}
	}
	return sum.Counter(), nil
}

// CountersByUnit gives the sums of each unit of one span, without reasons, hours and durations.
func (s *Store) CountersByUnit(ctx context.Context, span model.Span, f model.CounterFilter) ([]*model.Counter, error) {
	if !f.All() {
		at := map[string]*model.Counter{}
		err := s.packed(ctx, span, f, func(first string, c *model.PackedCount) {
			if at[first] == nil {
				at[first] = &model.Counter{Unit: span.Unit, Start: first}
			}
			c.AddTo(at[first])
		})
		return slices.SortedFunc(maps.Values(at), func(a, b *model.Counter) int { return cmp.Compare(a.Start, b.Start) }), err
	}
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
		err := s.packed(ctx, span, f, func(_ string, c *model.PackedCount) {
			sum := at[c.JobID]
			if sum == nil {
				sum = &model.Counter{JobID: c.JobID, GroupID: c.GroupID}
				at[c.JobID] = sum
				out = append(out, sum)
			}
			c.AddTo(sum)
		})
		if err != nil {
			return nil, err
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

// jobsOf narrows a column with job ids to the jobs of an owner or with a tag, of those
// that may be seen: else it would tell whose job it is that went elsewhere.
func jobsOf(column string, f model.CounterFilter) (where string, args []any) {
	seen, groups := inGroups("i.job_group", f.Groups)
	if f.Owner != "" {
		where, args = where+` AND `+column+` IN (SELECT i.id FROM xxl_job_info i WHERE i.author = ?`+seen+`)`, append(append(args, f.Owner), groups...)
	}
	if f.Tag != "" {
		where, args = where+` AND `+column+` IN (SELECT t.job_id FROM carillon_job_tag t JOIN xxl_job_info i ON i.id = t.job_id WHERE t.tag = ?`+seen+`)`, append(append(args, f.Tag), groups...)
	}
	return where, args
}

// NeverRun gives jobs that are switched on and never had a fire, in the order of their ids.
func (s *Store) NeverRun(ctx context.Context, f model.CounterFilter, limit int) ([]int, error) {
	where, args := inGroups("job_group", f.Groups)
	if f.GroupID != 0 {
		where, args = where+` AND job_group = ?`, append(args, f.GroupID)
	}
	of, more := jobsOf("id", f)
	return collect(ctx, s.r, one[int], `SELECT id FROM xxl_job_info WHERE trigger_status = 1`+where+of+
		` AND NOT EXISTS (SELECT 1 FROM carillon_count c WHERE c.job_id = xxl_job_info.id) ORDER BY id LIMIT ?`, append(append(args, more...), limit)...)
}

// IncidentFigures counts the incidents that opened in a period.
func (s *Store) IncidentFigures(ctx context.Context, from, to time.Time, f model.CounterFilter) (x model.IncidentFigures, err error) {
	where, args := inGroups("group_id", f.Groups)
	if f.GroupID != 0 {
		where, args = where+` AND group_id = ?`, append(args, f.GroupID)
	}
	of, more := jobsOf("job_id", f)
	var took sql.NullFloat64
	err = s.r.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END), 0), AVG(ended_at - opened_at)
		FROM carillon_incident WHERE parent_id IS NULL AND opened_at >= ? AND opened_at < ?`+where+of,
		append(append([]any{from.UnixMilli(), to.UnixMilli()}, args...), more...)...).Scan(&x.Opened, &x.Open, &took)
	if x.RecoveryMS = -1; took.Valid {
		x.RecoveryMS = int64(took.Float64)
	}
	return x, err
}

// JobTitles gives name, owner and executor of jobs; of deleted ones the name, as long as it is known.
func (s *Store) JobTitles(ctx context.Context, ids []int) (map[int]model.Job, error) {
	out := make(map[int]model.Job, len(ids))
	err := chunks(ids, 500, func(part []int) error {
		list, err := collect(ctx, s.r, func(x row) (j model.Job, err error) {
			err = x.Scan(&j.ID, nz(&j.Name), nz(&j.Author), &j.GroupID)
			return j, err
		}, `SELECT job_id, name, '', 0 FROM carillon_gone WHERE job_id IN (`+marks(len(part))+`)
			UNION ALL SELECT id, job_desc, author, job_group FROM xxl_job_info WHERE id IN (`+marks(len(part))+`)`, append(anys(part), anys(part)...)...)
		for _, j := range list { // those that are there come last
			out[j.ID] = j
		}
		return err
	})
	return out, err
}

// Owners lists who is responsible for jobs of the groups (nil = all).
func (s *Store) Owners(ctx context.Context, groups []int, limit int) ([]string, error) {
	where, args := inGroups("job_group", groups)
	return collect(ctx, s.r, one[string], `SELECT DISTINCT author FROM xxl_job_info WHERE author <> ''`+where+` ORDER BY author LIMIT ?`, append(args, limit)...)
}
