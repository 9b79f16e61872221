package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// leaveTimeout bounds the clearing of a center that is not ours, also after Ctrl-C.
const leaveTimeout = 40 * time.Second

// leave takes the jobs and the executor of a measurement off a center that goes on
// running: what stays would work beside the next measurement. The runs stay, they are
// the center's history. It works although ctx has ended.
func (s *site) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if err := switchOff(ctx, s.db, s.group); err != nil {
		return fmt.Errorf("stop the jobs of the measurement: %w", err)
	}
	// What is planned already would end as runs of jobs that are gone.
	var err error
	if s.extended {
		err = s.drained(ctx)
	} else {
		err = pause(ctx, 6*time.Second) // centers of this kind look 5 s ahead
	}
	for _, c := range s.counters {
		c.kill()
	}
	app := `(SELECT app_name FROM xxl_job_group WHERE id = ?)`
	for _, statement := range []string{
		`DELETE FROM xxl_job_info WHERE job_group = ?`,
		`DELETE FROM xxl_job_registry WHERE registry_key = ` + app,
		`DELETE FROM xxl_job_group WHERE id = ?`,
	} {
		err = errors.Join(err, s.insist(ctx, statement, s.group))
	}
	if err != nil {
		return fmt.Errorf("the center keeps jobs or the executor of the measurement (executor %d): %w", s.group, err)
	}
	return nil
}

// drained waits until no run of the measurement is still to be sent, for a while.
func (s *site) drained(ctx context.Context) error {
	for range 100 {
		var open int
		err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM xxl_job_log WHERE run_state BETWEEN 1 AND ? AND job_group = ?`, stateOpenMax, s.group).Scan(&open)
		if err != nil || open == 0 {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// insist repeats a statement that the working center may hold up or make a victim.
func (s *site) insist(ctx context.Context, statement string, args ...any) (err error) {
	for range 20 {
		if _, err = s.db.ExecContext(ctx, statement, args...); err == nil || ctx.Err() != nil {
			return err
		}
		_ = pause(ctx, 250*time.Millisecond)
	}
	return err
}
