package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// The ledger counts fires, not attempts: a fire has succeeded when one of its attempts
// has, else it is what its last attempt is. It belongs to the day of its first attempt.

// attempt is one try to make a fire.
type attempt struct {
	id   int64
	line string // of the ledger; "" = open
	at   time.Time
}

// outcomes counts the fires whose attempts change in one transaction.
type outcomes struct {
	s     *Store
	tx    *sql.Tx
	count tally
	known map[int64]string // outcomes of attempts that are not written yet
}

func (s *Store) outcomes(tx *sql.Tx, t tally) *outcomes {
	return &outcomes{s: s, tx: tx, count: t, known: map[int64]string{}}
}

// reopen takes back how a run was counted whose outcome is about to change.
func (o *outcomes) reopen(ctx context.Context, r *model.Run) error {
	if r.Recounted {
		return nil
	}
	r.Recounted = true
	list, err := o.attempts(ctx, r)
	if err != nil {
		return err
	}
	if line := outcomeOf(list); line != "" {
		o.count.fires(dayOf(list, r), line, -r.Fires())
	}
	return nil
}

// end counts a run that has its outcome, retried or not.
func (o *outcomes) end(ctx context.Context, r *model.Run, retried bool) error {
	line := r.Outcome()
	if r.FirstID == 0 && !r.Recounted { // nearly all
		o.known[r.ID] = line
		if !retried && line != "" {
			o.count.fires(r.TriggerTime, line, r.Fires())
		}
		return nil
	}
	if err := o.reopen(ctx, r); err != nil {
		return err
	}
	o.known[r.ID] = line
	list, err := o.attempts(ctx, r)
	if err != nil {
		return err
	}
	if retried {
		list = append(list, attempt{})
	}
	if line := outcomeOf(list); line != "" {
		o.count.fires(dayOf(list, r), line, r.Fires())
	}
	return nil
}

// attempts lists the tries of the fire that a run belongs to, in order.
func (o *outcomes) attempts(ctx context.Context, r *model.Run) ([]attempt, error) {
	const columns = `id, trigger_code, handle_code, run_state, run_reason, trigger_time`
	var x model.Run
	rows, err := collect(ctx, o.tx, into(&x, []any{&x.ID, &x.TriggerCode, &x.HandleCode, nz(&x.Phase), nz(&x.Reason), o.s.scanTime(&x.TriggerTime)}),
		`SELECT `+columns+` FROM xxl_job_log WHERE id = ? UNION ALL SELECT `+columns+` FROM xxl_job_log WHERE first_run = ? ORDER BY 1`,
		r.FirstAttempt(), r.FirstAttempt())
	if err != nil {
		return nil, err
	}
	out := make([]attempt, len(rows))
	for i := range rows {
		out[i] = attempt{rows[i].ID, rows[i].Outcome(), rows[i].TriggerTime}
		if line, known := o.known[out[i].id]; known {
			out[i].line = line
		}
	}
	return out, nil
}

func outcomeOf(list []attempt) string {
	for _, a := range list {
		if a.line == model.OutcomeSucceeded {
			return a.line
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].line
}

func dayOf(list []attempt, r *model.Run) time.Time {
	if len(list) > 0 {
		return list[0].at
	}
	return r.TriggerTime
}
