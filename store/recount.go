package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// ErrCountedMeanwhile means that the counters changed while a day was counted anew: try again.
var ErrCountedMeanwhile = errors.New("the counters changed meanwhile")

// recountHold is for how long nothing is added to the counters while a day is counted.
const recountHold = 10 * time.Minute

// RecountDay counts the fires of a day from its runs and sets the counters right. It
// gives the number of runs and whether anything was wrong. It must not be called for days
// of which runs were removed.
func (s *Store) RecountDay(ctx context.Context, day, now time.Time) (runs int, changed bool, err error) {
	if _, err := s.w.ExecContext(ctx, `UPDATE carillon_count_state SET held_until = ? WHERE id = 1`, now.Add(recountHold).UnixMilli()); err != nil {
		return 0, false, err
	}
	defer func() {
		_, e := s.w.ExecContext(context.WithoutCancel(ctx), `UPDATE carillon_count_state SET held_until = 0 WHERE id = 1`)
		err = errors.Join(err, e)
	}()
	folds, wrong, runs, err := s.differences(ctx, day)
	if err != nil {
		return runs, false, err
	}
	return runs, len(wrong) > 0, s.inTx(ctx, func(tx *sql.Tx) error {
		st, err := s.countState(ctx, tx, true)
		if err != nil {
			return err
		}
		if st.folds != folds {
			return ErrCountedMeanwhile
		}
		if err := s.addDays(ctx, tx, wrong); err != nil {
			return err
		}
		// Whatever became of the packs, for instance by a node of an older version.
		if err := s.packDay(ctx, tx, day); err != nil || len(wrong) == 0 {
			return err
		}
		return noteFold(ctx, tx)
	})
}

// differences is what must be added to the counters of a day so that they are what the
// runs say, without what waits in the journal. All of it is read at one moment.
func (s *Store) differences(ctx context.Context, day time.Time) (folds int64, wrong map[counterKey]*model.Counter, runs int, err error) {
	tx, err := s.r.BeginTx(ctx, &sql.TxOptions{Isolation: s.d.snapshot, ReadOnly: true})
	if err != nil {
		return 0, nil, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	st, err := s.countState(ctx, tx, false)
	if err != nil {
		return 0, nil, 0, err
	}
	all, runs, err := s.countRuns(ctx, tx, day)
	if err != nil {
		return 0, nil, 0, err
	}
	for _, stage := range []int{stageWritten, stageMerged} {
		rows, err := journal(ctx, tx, stage, 1<<30)
		if err != nil {
			return 0, nil, 0, err
		}
		for _, r := range rows {
			for k, v := range r.body {
				if model.Date(time.Unix(k.Hour, 0).In(s.loc)).Equal(model.Date(day)) {
					all.Add(k, -v.N, -v.TookMS)
				}
			}
		}
	}
	wrong = s.dayCounters(all)
	kept, err := collect(ctx, tx, scanCounter, `SELECT `+counterSelect+` FROM carillon_count WHERE unit = ? AND first_day = ? AND job_id <> 0`, int(model.UnitDay), day.Format(time.DateOnly))
	if err != nil {
		return 0, nil, 0, err
	}
	for _, c := range kept {
		key := counterKey{model.UnitDay, c.Start, c.JobID, c.GroupID}
		if wrong[key] == nil {
			wrong[key] = c.Minus()
		} else {
			wrong[key].Add(c.Minus())
		}
	}
	for key, c := range wrong {
		if c.Zero() {
			delete(wrong, key)
		}
	}
	return st.folds, wrong, runs, nil
}

// recountPage is how many fires are read at a time.
const recountPage = 2000

// countRuns counts the fires of a day from their rows.
func (s *Store) countRuns(ctx context.Context, tx *sql.Tx, day time.Time) (all model.Counted, runs int, err error) {
	y, m, d := day.Date()
	// The hours beside it, too: trigger_time is a clock's time, planned_time decides.
	from, to := time.Date(y, m, d, -2, 0, 0, 0, s.loc), time.Date(y, m, d+1, 2, 0, 0, 0, s.loc)
	all = model.Counted{}
	fires := s.outcomes(tx, tally{})
	last, lastAt := int64(0), s.dt(from)
	for {
		type place struct {
			id int64
			at string
		}
		page, err := collect(ctx, tx, func(x row) (p place, err error) { err = x.Scan(&p.id, &p.at); return p, err }, `SELECT id, CAST(trigger_time AS CHAR) FROM xxl_job_log
			WHERE trigger_time >= ? AND trigger_time < ? AND (trigger_time > ? OR id > ?) AND run_state > 0 AND COALESCE(first_run, 0) = 0 ORDER BY trigger_time, id LIMIT ?`,
			lastAt, s.dt(to), lastAt, last, recountPage)
		if err != nil || len(page) == 0 {
			return all, runs, err
		}
		ids := make([]int64, len(page))
		for i, p := range page {
			ids[i] = p.id
		}
		states, err := fires.states(ctx, ids, nil)
		if err != nil {
			return nil, 0, err
		}
		for _, f := range states {
			expected := f
			expected.line, expected.late, expected.rescued, expected.tookMS = model.LedgerExpected, false, false, -1
			if k := expected.key(); !model.Date(time.Unix(k.Hour, 0).In(s.loc)).Equal(model.Date(day)) {
				continue
			}
			runs++
			all.Add(expected.key(), int64(f.n), 0)
			if f.line != "" {
				all.Add(f.key(), int64(f.n), max(0, f.tookMS)*int64(f.n))
			}
		}
		lastAt, last = page[len(page)-1].at, page[len(page)-1].id
	}
}
