package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// The retention removes whole fires: the attempts of one, and the shards of one broadcast,
// go together, so that what is left can be read and counted.

// spentColumns are what decides whether a run may go.
const spentColumns = `id, job_id, trigger_time, trigger_code, handle_code, run_state, run_reason, first_run, shard_key, parent_run`

// fewAtOnce is how many values are looked up in an index that has NULL nearly everywhere.
// Beyond 200 (eq_range_index_dive_limit) MySQL and MariaDB trust their statistics, which
// take all NULLs for one value, and walk the whole table.
const fewAtOnce = 150

func (s *Store) spentRuns(ctx context.Context, q querier, where string, args ...any) ([]model.Run, error) {
	var r model.Run
	return collect(ctx, q, into(&r, []any{
		&r.ID, &r.JobID, s.scanTime(&r.TriggerTime), &r.TriggerCode, &r.HandleCode, nz(&r.Phase), nz(&r.Reason), nz(&r.FirstID), nz(&r.ShardKey), nz(&r.ParentID),
	}), `SELECT `+spentColumns+` FROM xxl_job_log `+where, args...)
}

// RetireRuns looks at most runs behind a place, in the order of their trigger times and
// before an instant, and removes those that may go, all in one transaction. Runs stay that
// are in progress, that belong to a fire or broadcast of which another run stays, that are
// shown by the run that began them (unless their job has days of its own), and those held.
func (s *Store) RetireRuns(ctx context.Context, after model.RunCursor, before time.Time, p model.Retention, held map[int64]bool, now time.Time, most int) (model.Bite, error) {
	page, end, err := s.runsBehind(ctx, after, before, most)
	if err != nil {
		return model.Bite{}, err
	}
	bite := model.Bite{Looked: len(page), Next: after, End: end}
	if len(page) > 0 {
		last := page[len(page)-1]
		bite.Next = model.RunCursor{At: last.TriggerTime, ID: last.ID}
	}
	page = slices.DeleteFunc(page, func(r model.Run) bool { return !p.Gone(&r, now) || held[r.ID] })
	if len(page) == 0 {
		return bite, nil
	}
	return bite, s.inTx(ctx, func(tx *sql.Tx) error {
		bite.Succeeded, bite.Failed, bite.Missed = 0, 0, 0
		fires, err := s.wholeFires(ctx, tx, page)
		if err != nil {
			return err
		}
		fires = slices.DeleteFunc(fires, func(f []model.Run) bool {
			return slices.ContainsFunc(f, func(r model.Run) bool { return held[r.ID] || !p.Gone(&r, now) })
		})
		if fires, err = s.withoutShown(ctx, tx, fires, p); err != nil || len(fires) == 0 {
			return err
		}
		runs := slices.Concat(fires...)
		for i := range runs {
			switch runs[i].Class() {
			case model.ClassSucceeded:
				bite.Succeeded++
			case model.ClassNotSent:
				bite.Missed++
			default:
				bite.Failed++
			}
		}
		if err := s.removeRuns(ctx, tx, runs); err != nil {
			return err
		}
		return s.addRemoved(ctx, tx, now, model.RetentionDay{Succeeded: int64(bite.Succeeded), Failed: int64(bite.Failed), Missed: int64(bite.Missed)})
	})
}

// runsBehind reads runs in the order of their trigger times. Each of its two parts is one
// range of an index: an OR of both would be walked from the beginning. The ids come first,
// from the index alone: with all columns in the question, the whole table would be sorted.
func (s *Store) runsBehind(ctx context.Context, after model.RunCursor, before time.Time, most int) (page []model.Run, end bool, err error) {
	read := func(where string, args ...any) ([]int64, error) {
		return collect(ctx, s.r, one[int64], `SELECT id FROM xxl_job_log WHERE `+where, args...)
	}
	var ids []int64
	switch {
	case after.At.IsZero():
		ids, err = read(`trigger_time < ? ORDER BY trigger_time, id LIMIT ?`, s.dt(before), most)
	case !after.At.Before(before):
		return nil, true, nil
	default:
		if ids, err = read(`trigger_time = ? AND id > ? ORDER BY id LIMIT ?`, s.dt(after.At), after.ID, most); err != nil || len(ids) == most {
			break
		}
		var rest []int64
		rest, err = read(`trigger_time > ? AND trigger_time < ? ORDER BY trigger_time, id LIMIT ?`, s.dt(after.At), s.dt(before), most-len(ids))
		ids = append(ids, rest...)
	}
	if err != nil {
		return nil, false, err
	}
	err = chunks(ids, 500, func(part []int64) error {
		list, err := s.spentRuns(ctx, s.r, `WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		page = append(page, list...)
		return err
	})
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(page, func(a, b model.Run) int { return place[a.ID] - place[b.ID] })
	return page, len(ids) < most, err
}

// wholeFires reads all runs of the fires and broadcasts to which some runs belong.
func (s *Store) wholeFires(ctx context.Context, tx *sql.Tx, runs []model.Run) ([][]model.Run, error) {
	all, fire := map[int64]model.Run{}, map[int64]int64{} // fire: of a run, another one of its fire, up to the first
	var root func(id int64) int64
	root = func(id int64) int64 {
		if up, ok := fire[id]; ok && up != id {
			fire[id] = root(up)
			return fire[id]
		}
		return id
	}
	join := func(a, b int64) {
		if a, b = root(a), root(b); a != b {
			fire[max(a, b)] = min(a, b)
		}
	}
	shards := map[string]int64{}
	take := func(list []model.Run) {
		for _, r := range list {
			all[r.ID] = r
			join(r.ID, r.FirstAttempt())
			if r.ShardKey != "" {
				if one, ok := shards[r.ShardKey]; ok {
					join(r.ID, one)
				} else {
					shards[r.ShardKey] = r.ID
				}
			}
		}
	}
	take(runs)
	var first, retried []int64
	for _, r := range runs {
		first = append(first, r.FirstAttempt())
		if r.FirstID != 0 {
			retried = append(retried, r.FirstID)
		}
	}
	keys := make([]string, 0, len(shards))
	for key := range shards {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	read := func(column string, args []any) error {
		return chunks(args, fewAtOnce, func(part []any) error {
			list, err := s.spentRuns(ctx, tx, `WHERE `+column+` IN (`+marks(len(part))+`)`, part...)
			take(list)
			return err
		})
	}
	if err := read("shard_key", anys(keys)); err != nil {
		return nil, err
	}
	for _, r := range all { // shards that were tried again
		first = append(first, r.FirstAttempt())
	}
	if err := read("first_run", anys(compact(first))); err != nil {
		return nil, err
	}
	if err := read("id", anys(compact(retried))); err != nil {
		return nil, err
	}
	by := map[int64][]model.Run{}
	for id, r := range all {
		by[root(id)] = append(by[root(id)], r)
	}
	out := make([][]model.Run, 0, len(by))
	for _, list := range by {
		out = append(out, list)
	}
	return out, nil
}

// withoutShown leaves out what was begun by a run that stays: its page shows what followed.
// Jobs with days of their own do not wait.
func (s *Store) withoutShown(ctx context.Context, tx *sql.Tx, fires [][]model.Run, p model.Retention) ([][]model.Run, error) {
	waits := func(r *model.Run) bool { return r.ParentID != 0 && !p.Own(r.JobID, r.Class()) }
	var parents []int64
	going := map[int64]bool{}
	for _, f := range fires {
		for i := range f {
			going[f[i].ID] = true
			if waits(&f[i]) {
				parents = append(parents, f[i].ParentID)
			}
		}
	}
	there := map[int64]bool{}
	err := chunks(compact(parents), 500, func(part []int64) error {
		ids, err := collect(ctx, tx, one[int64], `SELECT id FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		for _, id := range ids {
			there[id] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for before := -1; before != len(fires); { // what stays may have begun others
		before = len(fires)
		fires = slices.DeleteFunc(fires, func(f []model.Run) bool {
			stays := slices.ContainsFunc(f, func(r model.Run) bool { return waits(&r) && there[r.ParentID] && !going[r.ParentID] })
			for i := range f {
				if stays {
					delete(going, f[i].ID)
				}
			}
			return stays
		})
	}
	return fires, nil
}

// removeRuns removes runs, and notes how far runs are not complete any more.
func (s *Store) removeRuns(ctx context.Context, tx *sql.Tx, runs []model.Run) error {
	var newest int64
	ids := make([]int64, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
		if !runs[i].TriggerTime.IsZero() {
			newest = max(newest, runs[i].TriggerTime.UnixMilli())
		}
	}
	slices.Sort(ids)
	err := chunks(ids, 500, func(part []int64) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM xxl_job_log WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		return err
	})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE carillon_retention SET removed_until = `+s.d.greatest("COALESCE(removed_until, 0)", "?")+` WHERE id = 1`, newest)
	return err
}

// RemovedUntil is the newest trigger time among all runs that were ever removed, by the
// retention or by hand: what was planned later is complete in the table. It is zero when
// none was.
func (s *Store) RemovedUntil(ctx context.Context) (time.Time, error) {
	st, err := s.RetentionState(ctx)
	if err != nil || st.RemovedUntilMS == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(st.RemovedUntilMS).In(s.loc), nil
}

// HeldRuns lists the runs that open incidents and failing jobs name, as first and as last.
func (s *Store) HeldRuns(ctx context.Context) (map[int64]bool, error) {
	ids, err := collect(ctx, s.r, one[int64], `SELECT first_run FROM carillon_incident WHERE open_subject IS NOT NULL AND first_run IS NOT NULL
		UNION SELECT last_run FROM carillon_incident WHERE open_subject IS NOT NULL AND last_run IS NOT NULL
		UNION SELECT first_run FROM carillon_failing WHERE first_run IS NOT NULL`)
	out := make(map[int64]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

// ForgetJobs removes the names of jobs that were deleted before an instant: their runs were
// planned before.
func (s *Store) ForgetJobs(ctx context.Context, before time.Time) error {
	_, err := s.w.ExecContext(ctx, `DELETE FROM carillon_gone WHERE deleted_at < ?`, before.UnixMilli())
	return err
}
