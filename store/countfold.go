package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const (
	journalAtOnce = 2000
	// foldedAtOnce is how many jobs share a transaction: it writes three rows for each.
	foldedAtOnce = 100
	// mergeFrom is from how many rows of the journal on they are merged first: a job that
	// is in many of them is then written once.
	mergeFrom = 4
)

// FoldCounts adds what the journal has to the counters, in small transactions, and
// reports whether there may be more. While somebody recounts it does nothing.
func (s *Store) FoldCounts(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := journal(ctx, s.w, stageWritten, journalAtOnce)
	if err != nil {
		return false, err
	}
	if len(rows) >= mergeFrom {
		if err := s.mergeJournal(ctx, rows); err != nil {
			return false, err
		}
		more, rows = len(rows) == journalAtOnce, nil
	}
	merged, err := journal(ctx, s.w, stageMerged, journalAtOnce)
	if err != nil {
		return false, err
	}
	for _, r := range append(merged, rows...) {
		held, err := s.foldRow(ctx, r, now)
		if err != nil || held {
			return false, err
		}
	}
	_, err = s.w.ExecContext(ctx, `UPDATE carillon_count_state SET folded_at = ? WHERE id = 1 AND held_until < ?`, now.UnixMilli(), now.UnixMilli())
	return more, err
}

// mergeJournal puts many rows of the journal together, in rows of a few jobs each.
func (s *Store) mergeJournal(ctx context.Context, rows []journalRow) error {
	all, ids := model.Counted{}, make([]int64, len(rows))
	for i, r := range rows {
		all.Merge(r.body)
		ids[i] = r.id
	}
	byJob := map[int]model.Counted{}
	for k, v := range all {
		if byJob[k.JobID] == nil {
			byJob[k.JobID] = model.Counted{}
		}
		byJob[k.JobID][k] = v
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if err := takeJournal(ctx, tx, ids); err != nil {
			return err
		}
		return chunks(slices.Sorted(maps.Keys(byJob)), foldedAtOnce, func(jobs []int) error {
			part := model.Counted{}
			for _, id := range jobs {
				part.Merge(byJob[id])
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO carillon_count_journal (stage, body) VALUES (?, ?)`, stageMerged, part.Encode())
			return err
		})
	})
}

// takeJournal removes rows of the journal, all of them or ErrCountsTaken.
func takeJournal(ctx context.Context, tx *sql.Tx, ids []int64) error {
	return chunks(ids, 500, func(part []int64) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM carillon_count_journal WHERE id IN (`+marks(len(part))+`)`, anys(part)...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != int64(len(part)) {
			return errors.Join(err, ErrCountsTaken)
		}
		return nil
	})
}

// foldRow adds one row of the journal to the counters. held: somebody recounts.
func (s *Store) foldRow(ctx context.Context, r journalRow, now time.Time) (held bool, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		st, err := s.countState(ctx, tx, true)
		if held = st.heldUntil >= now.UnixMilli(); err != nil || held {
			return err
		}
		if err := takeJournal(ctx, tx, []int64{r.id}); err != nil {
			return err
		}
		if err := s.addDays(ctx, tx, s.dayCounters(r.body)); err != nil {
			return err
		}
		return noteFold(ctx, tx)
	})
	return held, err
}

// noteFold lets whoever recounts see that the counters have changed.
func noteFold(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE carillon_count_state SET folds = folds + 1 WHERE id = 1`)
	return err
}

// dayCounters puts fires into counters of days and jobs.
func (s *Store) dayCounters(all model.Counted) map[counterKey]*model.Counter {
	out := map[counterKey]*model.Counter{}
	for k, v := range all {
		at := time.Unix(k.Hour, 0).In(s.loc)
		key := counterKey{model.UnitDay, at.Format(time.DateOnly), k.JobID, k.GroupID}
		if out[key] == nil {
			out[key] = model.NewCounter(model.UnitDay, key.first, k.JobID, k.GroupID)
		}
		out[key].Count(k, v, model.HourOfWeek(at))
	}
	return out
}

// addDays adds counters of days and jobs to those that are kept: of days, weeks and
// months, of the jobs and of all jobs of their executors.
func (s *Store) addDays(ctx context.Context, tx *sql.Tx, days map[counterKey]*model.Counter) error {
	change := map[counterKey]*model.Counter{}
	for k, c := range days {
		day, err := time.Parse(time.DateOnly, k.first)
		if err != nil {
			return err
		}
		for _, unit := range []model.Unit{model.UnitDay, model.UnitWeek, model.UnitMonth} {
			first := unit.Start(day).Format(time.DateOnly)
			for _, job := range []int{k.job, 0} {
				key := counterKey{unit, first, job, k.group}
				if change[key] == nil {
					change[key] = model.NewCounter(unit, first, job, k.group)
				}
				change[key].Add(c)
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(change), counterKey.compare)
	return chunks(keys, 100, func(part []counterKey) error {
		old, err := s.countersByKey(ctx, tx, part)
		if err != nil {
			return err
		}
		var args []any
		var list []*model.Counter
		for _, key := range part {
			c := change[key]
			list = append(list, c)
			if was := old[key]; was != nil {
				c.Add(was)
			}
			args = append(args, int(key.unit), key.first, key.job, key.group, c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS,
				encodeLines(c.Lines), c.Hours.Encode(), c.Took.Encode())
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO carillon_count (`+counterColumns+`) VALUES `+rowsOf(16, len(part))+
			s.d.upsert("unit, first_day, job_id, group_id", "expected", "succeeded", "rescued", "failed", "missed", "excused", "late", "took_runs", "took_ms", "reasons", "hours", "took"), args...)
		if err != nil {
			return err
		}
		return s.packCounters(ctx, tx, list)
	})
}

const counterColumns = `unit, first_day, job_id, group_id, expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms, reasons, hours, took`

// counterSelect are the same columns to be read.
const counterSelect = `unit, CAST(first_day AS CHAR), job_id, group_id, expected, succeeded, rescued, failed, missed, excused, late, took_runs, took_ms, reasons, hours, took`

type counterKey struct {
	unit       model.Unit
	first      string
	job, group int
}

func (k counterKey) compare(o counterKey) int {
	return cmp.Or(cmp.Compare(k.unit, o.unit), cmp.Compare(k.first, o.first), cmp.Compare(k.job, o.job), cmp.Compare(k.group, o.group))
}

// countersByKey reads counters to be changed. The keys are in order.
func (s *Store) countersByKey(ctx context.Context, tx *sql.Tx, keys []counterKey) (map[counterKey]*model.Counter, error) {
	out := make(map[counterKey]*model.Counter, len(keys))
	for len(keys) > 0 {
		args := []any{int(keys[0].unit), keys[0].first}
		n := 0
		for n < len(keys) && keys[n].unit == keys[0].unit && keys[n].first == keys[0].first {
			args = append(args, keys[n].job)
			n++
		}
		list, err := collect(ctx, tx, scanCounter, `SELECT `+counterSelect+` FROM carillon_count WHERE unit = ? AND first_day = ? AND job_id IN (`+marks(n)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			out[counterKey{c.Unit, c.Start, c.JobID, c.GroupID}] = c
		}
		keys = keys[n:]
	}
	return out, nil
}

func scanCounter(x row) (*model.Counter, error) {
	c := &model.Counter{}
	var lines sql.NullString
	var hours, took []byte
	err := x.Scan(&c.Unit, &c.Start, &c.JobID, &c.GroupID, &c.Expected, &c.Succeeded, &c.Rescued, &c.Failed, &c.Missed, &c.Excused, &c.Late, &c.TookRuns, &c.TookMS, &lines, &hours, &took)
	if err != nil {
		return nil, err
	}
	c.Lines = map[string]int64{}
	if lines.String != "" {
		err = json.Unmarshal([]byte(lines.String), &c.Lines)
	}
	if err == nil {
		c.Hours, err = model.DecodeHours(hours)
	}
	if err == nil {
		c.Took, err = model.DecodeTook(took)
	}
	return c, err
}

func encodeLines(lines map[string]int64) any {
	if len(lines) == 0 {
		return nil
	}
	out, err := json.Marshal(lines)
	if err != nil { // a map of numbers
		return nil
	}
	return string(out)
}

// countState is how far counting has come.
type countState struct {
	folds, foldedAt, heldUntil int64
	countedFrom, checkedDay    string
}

func (s *Store) countState(ctx context.Context, q querier, lock bool) (st countState, err error) {
	query := `SELECT folds, folded_at, held_until, COALESCE(CAST(counted_from AS CHAR), ''), COALESCE(CAST(checked_day AS CHAR), '') FROM carillon_count_state WHERE id = 1`
	if lock {
		query += s.d.forUpdate
	}
	err = q.QueryRowContext(ctx, query).Scan(&st.folds, &st.foldedAt, &st.heldUntil, &st.countedFrom, &st.checkedDay)
	return st, err
}
