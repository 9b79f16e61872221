package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// EnsureLock creates the lock row when it is missing: without it nothing would
// be locked and every node would plan.
func (s *Store) EnsureLock(ctx context.Context) error {
	_, err := s.w.ExecContext(ctx, s.d.insertIgnore+`xxl_job_lock (lock_name) VALUES ('schedule_lock')`)
	return err
}

// PlanDue takes the schedule lock and reads up to limit running jobs whose next
// fire is at or before untilMS, in the order of their fires, with the groups
// they belong to. What plan decides is written in the same transaction: all
// runs and all new fire times, or nothing. It returns how many jobs were read
// and how many rows were written. model.ErrLocked means that another node plans.
//
// Jobs whose executor has no address are read when they are due and not before:
// until then one may register. A job that somebody else has locked is left out.
func (s *Store) PlanDue(ctx context.Context, untilMS int64, limit int, now time.Time,
	plan func([]model.Job, map[int]model.Group) []model.JobPlan) (jobs, runs int, err error) {
	careful, rowLock := false, s.d.noWait
	pass := func(tx *sql.Tx) error {
		var name string
		err := tx.QueryRowContext(ctx, `SELECT lock_name FROM xxl_job_lock WHERE lock_name = 'schedule_lock'`+s.d.lockRow).Scan(&name)
		if err != nil {
			return fmt.Errorf("schedule lock: %w", err)
		}
		where, args, err := s.dueWhere(ctx, tx, untilMS, now)
		if err != nil {
			return err
		}
		due, err := s.queryJobs(ctx, tx, false, `SELECT `+jobColumns+where+` ORDER BY trigger_next_time LIMIT ?`+rowLock, append(args, limit)...)
		if rowLock == s.d.noWait && rowLock != "" && isBusy(err) {
			return errRowLocked
		}
		if isUnreadable(err) {
			jobs, err = limit, s.stopUnreadable(ctx, tx, where, append(args, limit))
			return err
		}
		if err != nil || len(due) == 0 {
			return err
		}
		groups, err := s.groupsOf(ctx, tx, due)
		if err != nil {
			return err
		}
		plans := plan(due, groups)
		jobs = len(due)
		runs, err = s.writePlans(ctx, tx, plans, careful, now)
		return err
	}
	err = inTxOn(ctx, s.w, 1, pass)
	if errors.Is(err, errRowLocked) {
		// A person, a script or another program holds one of them: the others go on. Anew,
		// as some servers are told to roll all back then.
		rowLock = s.d.skipLocked
		err = inTxOn(ctx, s.w, 1, pass)
	}
	if errors.Is(err, errKnownFire) {
		careful = true // somebody turned a next fire back: what was planned before is left out
		err = inTxOn(ctx, s.w, 1, pass)
	}
	if errors.Is(err, errKnownFire) {
		return jobs, runs, s.atTheEnd(ctx, fmt.Errorf("%w, and it cannot be seen", err))
	}
	if isBusy(err) {
		return jobs, runs, model.ErrLocked
	}
	return jobs, runs, s.atTheEnd(ctx, err)
}

// errRowLocked means that another session has locked a due job.
var errRowLocked = errors.New("a due job is locked")

// dueWhere gives FROM and WHERE of the jobs that are to be planned now.
func (s *Store) dueWhere(ctx context.Context, q querier, untilMS int64, now time.Time) (string, []any, error) {
	where, args := ` FROM xxl_job_info WHERE trigger_status = 1 AND trigger_next_time <= ?`, []any{untilMS}
	if untilMS <= now.UnixMilli() {
		return where, args, nil
	}
	empty, err := collect(ctx, q, one[int], `SELECT id FROM xxl_job_group WHERE REPLACE(REPLACE(COALESCE(address_list, ''), ',', ''), ' ', '') = '' ORDER BY id LIMIT 1000`)
	if err != nil || len(empty) == 0 {
		return where, args, err
	}
	where += ` AND (trigger_next_time <= ? OR executor_route_strategy = ? OR job_group NOT IN (` + marks(len(empty)) + `))`
	return where, append(append(args, now.UnixMilli(), model.RouteGlobalBusyover), anys(empty)...), nil
}

// LockedJobs lists the jobs that a pass of PlanDue with the same arguments has left
// out, at most limit, as somebody else had locked them.
func (s *Store) LockedJobs(ctx context.Context, untilMS int64, limit int, now time.Time) ([]int, error) {
	where, args, err := s.dueWhere(ctx, s.w, untilMS, now)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.w, one[int], `SELECT id`+where+` ORDER BY trigger_next_time LIMIT ?`, append(args, limit)...)
}

// atTheEnd says so when err comes from ids that have reached the end of their type:
// the engines' own words mislead.
func (s *Store) atTheEnd(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	var last int64
	if e := s.w.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM xxl_job_log`).Scan(&last); e != nil || last < math.MaxInt64-int64(1<<20) {
		return err
	}
	return fmt.Errorf("the ids of runs have reached the end of their range (%d): %w", last, err)
}

func (s *Store) writePlans(ctx context.Context, tx *sql.Tx, plans []model.JobPlan, careful bool, now time.Time) (int, error) {
	n := 0
	for i := range plans {
		n += len(plans[i].Runs)
	}
	rows := make([]model.Run, 0, n)
	byID := make(map[int]*model.JobPlan, len(plans))
	var going []int
	for i := range plans {
		p := &plans[i]
		rows = append(rows, p.Runs...)
		byID[p.JobID] = p
		if p.Condition != model.JobNormal {
			if err := s.stopJob(ctx, tx, p); err != nil {
				return 0, err
			}
			continue
		}
		going = append(going, p.JobID)
	}
	insert := s.insertRuns
	if careful {
		insert = s.insertFresh
	}
	if err := insert(ctx, tx, rows, now); err != nil {
		return 0, err
	}
	return len(rows), s.advance(ctx, tx, going, byID)
}

// nextTurn begins the new turn of a job; a value that others wrote may be anything.
const nextTurn = `CASE WHEN carillon_turn BETWEEN 0 AND 9000000000000000 THEN carillon_turn ELSE 0 END + `

// isUnreadable reports whether a value in a row is none that its column should
// have (SQLite keeps what it is given, and other programs write, too).
func isUnreadable(err error) bool {
	return err != nil && strings.Contains(err.Error(), "sql: Scan error")
}

// stopUnreadable finds the due jobs whose rows cannot be read and quarantines
// them, so that the others go on.
func (s *Store) stopUnreadable(ctx context.Context, tx *sql.Tx, where string, args []any) error {
	ids, err := collect(ctx, tx, one[int], `SELECT id`+where+` ORDER BY trigger_next_time LIMIT ?`, args...)
	if err != nil {
		return err
	}
	stopped := 0
	for _, id := range ids {
		_, err := s.queryJobs(ctx, tx, false, `SELECT `+jobColumns+` FROM xxl_job_info WHERE id = ?`, id)
		if err == nil {
			continue
		}
		if !isUnreadable(err) {
			return err
		}
		stopped++
		if _, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = 0, trigger_next_time = 0, carillon_condition = ?, carillon_reason = ? WHERE id = ?`,
			model.JobQuarantined, model.Say("broken_row", "Text", err.Error()).Encode(), id); err != nil {
			return err
		}
	}
	if stopped == 0 {
		return errors.New("due jobs cannot be read, and none of them alone is at fault")
	}
	return nil
}

// advance moves the jobs' fire times. The rows were locked when they were read, so
// the distance is enough; that a job still runs is checked all the same. Jobs that
// move as far share a statement: thousands of jobs that fire each second are common.
func (s *Store) advance(ctx context.Context, tx *sql.Tx, ids []int, byID map[int]*model.JobPlan) error {
	type move struct {
		last, next int64 // from the old next fire
		turns      int
	}
	alike := map[move][]int{}
	var alone []int
	for _, id := range ids {
		p := byID[id]
		if p.LastMS < p.OldMS || p.OldMS == 0 { // nothing was made
			alone = append(alone, id)
			continue
		}
		m := move{p.LastMS - p.OldMS, p.NextMS - p.OldMS, p.Turns}
		alike[m] = append(alike[m], id)
	}
	check := func(res sql.Result, err error, want int) error {
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || int(n) != want {
			return errors.Join(err, fmt.Errorf("%d of %d jobs were changed by others during the scan; it is repeated", want-int(n), want))
		}
		return nil
	}
	for m, same := range alike {
		if len(same) < 4 {
			alone = append(alone, same...)
			continue
		}
		err := chunks(same, 1000, func(part []int) error {
			// MySQL assigns from left to right: the last fire first.
			res, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_last_time = trigger_next_time + ?, trigger_next_time = trigger_next_time + ?,
				carillon_turn = `+nextTurn+`? WHERE id IN (`+marks(len(part))+`) AND trigger_status = 1`,
				append([]any{m.last, m.next, m.turns}, anys(part)...)...)
			return check(res, err, len(part))
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(alone)
	// The engine walks a CASE for each row, so these statements are short.
	return chunks(alone, 64, func(ids []int) error {
		last, args := caseBy(ids, func(id int) int64 { return byID[id].LastMS }, "trigger_last_time")
		next, nextArgs := caseBy(ids, func(id int) int64 { return byID[id].NextMS }, "trigger_next_time")
		turns, turnArgs := caseBy(ids, func(id int) int { return byID[id].Turns }, "0")
		old, oldArgs := caseBy(ids, func(id int) int64 { return byID[id].OldMS }, "-1")
		args = slices.Concat(args, nextArgs, turnArgs, anys(ids), oldArgs)
		// MySQL assigns from left to right, so the guard must not follow the assignment: it is in WHERE.
		res, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_last_time = `+last+`, trigger_next_time = `+next+`,
			carillon_turn = `+nextTurn+turns+`
			WHERE id IN (`+marks(len(ids))+`) AND trigger_status = 1 AND trigger_next_time = `+old, args...)
		return check(res, err, len(ids))
	})
}

// LastPlanMS is when any node planned last, by that node's clock; 0 = never.
func (s *Store) LastPlanMS(ctx context.Context) (int64, error) {
	var ms int64
	err := s.w.QueryRowContext(ctx, `SELECT COALESCE(MAX(plan_at), 0) FROM carillon_node`).Scan(&ms)
	return ms, err
}

// NotePlan writes down that this node has planned everything that was due.
func (s *Store) NotePlan(ctx context.Context, name string, epoch, nowMS int64) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_node SET plan_at = ? WHERE name = ? AND epoch = ?`, nowMS, name, epoch)
	return err
}

// stopJob ends or quarantines a job, visibly. The last fire stays on show.
func (s *Store) stopJob(ctx context.Context, tx *sql.Tx, p *model.JobPlan) error {
	_, err := tx.ExecContext(ctx, `UPDATE xxl_job_info SET trigger_status = 0, trigger_last_time = ?, trigger_next_time = 0,
		carillon_condition = ?, carillon_reason = ? WHERE id = ? AND trigger_status = 1 AND trigger_next_time = ?`,
		p.LastMS, p.Condition, p.Reason.Encode(), p.JobID, p.OldMS)
	return err
}
