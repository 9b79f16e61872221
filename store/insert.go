package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

const insertRunColumns = `(job_group, job_id, executor_address, executor_handler, executor_param, executor_sharding_param,
	executor_fail_retry_count, trigger_time, trigger_code, trigger_msg, handle_code, alarm_status,
	run_state, planned_time, finished_time, trigger_type, owner, fire_key, parent_run, first_run, run_reason,
	route_turn, shard_key, lineage, missed_fires, run_note)`

func (s *Store) runValues(r *model.Run) []any {
	return []any{
		r.GroupID, r.JobID, null(r.Address), r.Handler, r.Param, null(r.Sharding), r.RetryLeft, s.dt(r.TriggerTime),
		r.TriggerCode, null(s.triggerText(r.TriggerMsg, r.Note)), r.HandleCode, r.AlarmStatus,
		r.Phase, r.PlannedMS, null(r.FinishedMS), r.TriggerType, null(r.Owner), null(r.FireKey), null(r.ParentID), null(r.FirstID), null(r.Reason),
		null(r.Turn), null(r.ShardKey), null(r.Lineage), null(r.MissedFires), null(r.Note.Encode()),
	}
}

// errKnownFire means that a fire key exists already. The transaction is repeated
// with insertFresh.
var errKnownFire = errors.New("a fire was decided before")

// insertFresh writes those of the runs whose fire was not decided before.
func (s *Store) insertFresh(ctx context.Context, tx *sql.Tx, runs []model.Run, now time.Time) error {
	known := map[string]bool{}
	err := chunks(runs, 500, func(part []model.Run) error {
		var keys []any
		for i := range part {
			if part[i].FireKey != "" {
				keys = append(keys, part[i].FireKey)
			}
		}
		if len(keys) == 0 {
			return nil
		}
		found, err := collect(ctx, tx, one[string],
			`SELECT fire_key FROM xxl_job_log WHERE fire_key IN (`+marks(len(keys))+`)`, keys...)
		for _, key := range found {
			known[key] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	var fresh []model.Run
	for _, r := range runs {
		if r.FireKey == "" || !known[r.FireKey] {
			fresh = append(fresh, r)
			known[r.FireKey] = true // shards that end together start their children together
		}
	}
	return s.insertRuns(ctx, tx, fresh, now)
}

// insertRuns writes many runs in few statements and counts them. When one of the
// fire keys exists already it writes nothing that is kept: errKnownFire.
func (s *Store) insertRuns(ctx context.Context, tx *sql.Tx, runs []model.Run, now time.Time) error {
	count, decided := tally{}, newVerdicts()
	err := bySize(runs, func(part []model.Run) error {
		const columns = 26
		args := make([]any, 0, columns*len(part))
		for i := range part {
			args = append(args, s.runValues(&part[i])...)
			countNew(count, &part[i], s.loc)
			if p := part[i].Phase; p == model.PhaseFinished || p == model.PhaseMissed {
				decided.note(part[i].JobID, 0, part[i].FinishedMS, part[i].Outcome(), model.AlarmEvent{Fires: part[i].Fires()})
			}
		}
		res, err := tx.ExecContext(ctx, s.d.insertIgnore+`xxl_job_log `+insertRunColumns+` VALUES `+rowsOf(columns, len(part)), args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || int(n) != len(part) {
			return errors.Join(err, errKnownFire)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.noteFailing(ctx, tx, decided); err != nil {
		return err
	}
	return s.addTally(ctx, tx, count, now)
}

// bySize calls fn with at most 300 runs and about 1 MB of parameters at a time:
// servers refuse statements that are too long.
func bySize(runs []model.Run, fn func([]model.Run) error) error {
	for len(runs) > 0 {
		n, bytes := 0, 0
		for n < len(runs) && n < 300 && (n == 0 || bytes+len(runs[n].Param) < 1<<20) {
			bytes += len(runs[n].Param)
			n++
		}
		if err := fn(runs[:n]); err != nil {
			return err
		}
		runs = runs[n:]
	}
	return nil
}

// countNew counts a run that is written down. Retries are no fires of their own.
func countNew(count tally, r *model.Run, loc *time.Location) {
	at := r.TriggerTime.In(loc)
	if r.FirstID == 0 {
		count.fires(fireOf(r, at, model.LedgerExpected), r.Fires())
	}
	switch r.Phase {
	case model.PhaseMissed:
		count.miss(r, at, false)
	case model.PhaseFinished: // decided where it was planned
		count.add(at, 0, 0, 1, 0)
		count.fires(fireOf(r, at, r.Outcome()), r.Fires())
	default:
		count.add(at, 1, 0, 0, 0)
	}
}

// InsertRun writes one run and returns its id. When the answer to the commit is lost it
// looks for the fire key, which must be set: an error that is no *model.Error means that
// nothing was written, model.CodeUnavailable that nobody knows.
func (s *Store) InsertRun(ctx context.Context, r *model.Run, now time.Time) (int64, error) {
	id, err := s.insertRun(ctx, r, now)
	if err == nil || r.FireKey == "" || errors.Is(err, model.ErrBadRow) {
		return id, err
	}
	for try := range 4 {
		select { // the server may still be at it
		case <-ctx.Done():
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		}
		look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		e := s.w.QueryRowContext(look, `SELECT id FROM xxl_job_log WHERE fire_key = ?`, r.FireKey).Scan(&id)
		cancel()
		switch {
		case e == nil:
			return id, nil
		case errors.Is(e, sql.ErrNoRows) && !errors.Is(err, errCommit):
			return 0, err
		}
	}
	return 0, &model.Error{Code: model.CodeUnavailable, Key: "error.run_unknown", Cause: err}
}

func (s *Store) insertRun(ctx context.Context, r *model.Run, now time.Time) (int64, error) {
	var id int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		v := s.runValues(r)
		res, err := tx.ExecContext(ctx, `INSERT INTO xxl_job_log `+insertRunColumns+` VALUES (`+marks(len(v))+`)`, v...)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		count := tally{}
		countNew(count, r, s.loc)
		return s.addTally(ctx, tx, count, now)
	})
	return id, err
}

// AddShards makes a planned run the first of n shards and writes the others,
// once. It reports whether the run was still planned and owned by owner.
func (s *Store) AddShards(ctx context.Context, r *model.Run, total int, now time.Time) (bool, error) {
	ok := false
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		key := "s:" + strconv.FormatInt(r.ID, 10)
		var err error
		ok, err = matched(tx.ExecContext(ctx, `UPDATE xxl_job_log SET executor_sharding_param = ?, shard_key = ?
			WHERE id = ? AND run_state = ? AND owner = ? AND executor_sharding_param IS NULL`,
			"0/"+itoa(total), key, r.ID, model.PhasePlanned, r.Owner))
		if err != nil || !ok {
			return err
		}
		var rest []model.Run
		for i := 1; i < total; i++ {
			x := *r
			x.Sharding = itoa(i) + "/" + itoa(total)
			x.FireKey, x.ShardKey = key+":"+itoa(i), key
			rest = append(rest, x)
		}
		return s.insertFresh(ctx, tx, rest, now)
	})
	return ok, err
}

func itoa(n int) string { return strconv.Itoa(n) }
