package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Packs (carillon_count_pack) have the numbers of carillon_count once more, of 200 jobs in
// a row: 90 days of 5000 jobs are 300 of them instead of 65 000 rows.

type packKey struct {
	unit  model.Unit
	first string
	pack  int
}

// packCounters puts counters of jobs into their packs, in the transaction that writes them.
func (s *Store) packCounters(ctx context.Context, tx *sql.Tx, counters []*model.Counter) error {
	change := map[packKey][]*model.Counter{}
	for _, c := range counters {
		if c.JobID != 0 {
			k := packKey{c.Unit, c.Start, model.PackOf(c.JobID)}
			change[k] = append(change[k], c)
		}
	}
	var args []any
	for k, list := range change {
		old, err := collect(ctx, tx, one[[]byte], `SELECT jobs FROM carillon_count_pack WHERE unit = ? AND first_day = ? AND pack = ?`, int(k.unit), k.first, k.pack)
		if err != nil {
			return err
		}
		var p model.CountPack
		if len(old) > 0 {
			if p, err = model.DecodePack(old[0]); err != nil {
				return err
			}
		}
		for _, c := range list {
			p = p.Put(c.Pack())
		}
		args = append(args, int(k.unit), k.first, k.pack, p.Encode())
	}
	if len(change) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO carillon_count_pack (unit, first_day, pack, jobs) VALUES `+rowsOf(4, len(change))+s.d.upsert("unit, first_day, pack", "jobs"), args...)
	return err
}

// packed calls fn with the numbers of each job and day, week or month of a span. f narrows
// it to some jobs or executors; the sums of whole executors are no jobs.
func (s *Store) packed(ctx context.Context, span model.Span, f model.CounterFilter, fn func(first string, c *model.PackedCount)) error {
	jobs, err := s.packJobs(ctx, f)
	if err != nil {
		return err
	}
	query, args := `SELECT CAST(first_day AS CHAR), jobs FROM carillon_count_pack WHERE unit = ? AND first_day BETWEEN ? AND ?`, []any{int(span.Unit), span.First, span.Last}
	if jobs != nil {
		packs := map[int]bool{}
		for id := range jobs {
			packs[model.PackOf(id)] = true
		}
		if len(packs) == 0 {
			return nil
		}
		if len(packs) < 100 { // of more the list helps nobody
			query, args = query+` AND pack IN (`+marks(len(packs))+`)`, append(args, anys(slices.Sorted(maps.Keys(packs)))...)
		}
	}
	want := func(job, group int) bool {
		return (jobs == nil || jobs[job]) && (f.GroupID == 0 || group == f.GroupID) && (f.Groups == nil || slices.Contains(f.Groups, group))
	}
	_, err = collect(ctx, s.r, func(x row) (none struct{}, err error) {
		var first string
		var raw sql.RawBytes
		if err := x.Scan(&first, &raw); err != nil {
			return none, err
		}
		return none, model.EachPacked(raw, want, func(c *model.PackedCount) { fn(first, c) })
	}, query, args...)
	return err
}

// packJobs are the jobs that a filter narrows to; nil = all.
func (s *Store) packJobs(ctx context.Context, f model.CounterFilter) (map[int]bool, error) {
	if f.All() {
		return nil, nil
	}
	ids := f.JobIDs
	if f.Owner != "" || f.Tag != "" {
		where, args := jobsOf("id", f)
		found, err := collect(ctx, s.r, one[int], `SELECT id FROM xxl_job_info WHERE 1 = 1`+where, args...)
		if err != nil {
			return nil, err
		}
		if f.JobIDs != nil {
			found = slices.DeleteFunc(found, func(id int) bool { return !slices.Contains(f.JobIDs, id) })
		}
		ids = found
	}
	out := make(map[int]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, nil
}

// packDay makes the packs of a day, its week and its month anew from the counters.
func (s *Store) packDay(ctx context.Context, tx *sql.Tx, day time.Time) error {
	for _, unit := range []model.Unit{model.UnitDay, model.UnitWeek, model.UnitMonth} {
		first := unit.Start(day).Format(time.DateOnly)
		list, err := collect(ctx, tx, func(x row) (*model.Counter, error) {
			c := &model.Counter{Unit: unit, Start: first}
			err := x.Scan(append([]any{&c.JobID, &c.GroupID}, sumTargets(c)...)...)
			return c, err
		}, `SELECT job_id, group_id, expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms FROM carillon_count WHERE unit = ? AND first_day = ? AND job_id <> 0`, int(unit), first)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_count_pack WHERE unit = ? AND first_day = ?`, int(unit), first); err != nil {
			return err
		}
		if err := chunks(list, 10*model.PackJobs, func(part []*model.Counter) error { return s.packCounters(ctx, tx, part) }); err != nil {
			return err
		}
	}
	return nil
}
