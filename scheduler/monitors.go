package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// lostMonitor looks into runs that an executor took long ago and never
// reported. Before a run is declared lost its executor is asked: a long healthy
// run never is.
type lostMonitor struct {
	store    Store
	exec     Executor
	cfg      Config
	complete func(context.Context, []model.Handled) ([]model.HandledStatus, error)
	idleOnce map[int64]time.Time // found idle at; the loop alone uses it
}

// callbackGrace is how long an idle executor may still be trying to call back
// (Java executors resend every 30 s; reference: protocol.md 3.3).
const callbackGrace = 90 * time.Second

func (m *lostMonitor) check(ctx context.Context, now time.Time) error {
	regs, err := m.store.Registrations(ctx)
	if err != nil {
		return fmt.Errorf("registrations: %w", err)
	}
	registered := make(map[string]bool, len(regs))
	for _, r := range regs {
		registered[r.Address] = true
	}
	seen := map[int64]time.Time{}
	before := now.Add(-m.cfg.LostAfter).UnixMilli()
	for after := int64(0); ; {
		runs, err := m.store.AcceptedRuns(ctx, before, after, 500)
		if err != nil {
			return fmt.Errorf("open runs: %w", err)
		}
		for i := range runs {
			if err := m.checkOne(ctx, now, &runs[i], registered[runs[i].Address], seen); err != nil {
				return err
			}
		}
		if len(runs) < 500 {
			m.idleOnce = seen
			return nil
		}
		after = runs[len(runs)-1].ID
	}
}

func (m *lostMonitor) checkOne(ctx context.Context, now time.Time, r *model.Run, registered bool, seen map[int64]time.Time) error {
	call, cancel := context.WithTimeout(ctx, m.cfg.SendTimeout)
	idle, err := m.exec.IdleBeat(call, r.Address, int64(r.JobID))
	cancel()
	why := ""
	switch {
	case err != nil && registered:
		return nil // it beats, so it will answer again
	case err != nil:
		why = fmt.Sprintf("the executor at %s is gone: %v", r.Address, err)
	case !idle:
		return nil
	default:
		first, ok := m.idleOnce[r.ID]
		if !ok {
			first = now
		}
		seen[r.ID] = first
		if now.Sub(first) < callbackGrace {
			return nil
		}
		why = "the executor no longer runs this job and has not called back"
	}
	m.cfg.Logger.Warn("run is lost", "log_id", r.ID, "job_id", r.JobID, "why", why)
	_, err = m.complete(ctx, []model.Handled{{
		RunID: r.ID, Code: model.CodeFail, Reason: model.ReasonLost, AtMS: now.UnixMilli(), Msg: "result lost: " + why,
	}})
	return err
}

// retention removes ended runs that are older than the configured days, in
// small batches; what is left over waits for the next tick.
func (s *Scheduler) retention(ctx context.Context, now time.Time) error {
	if s.cfg.RetentionDays <= 0 {
		return nil
	}
	y, mo, d := now.In(s.cfg.Location).Date()
	cutoff := time.Date(y, mo, d-s.cfg.RetentionDays, 0, 0, 0, 0, s.cfg.Location)
	total := 0
	for range 20 {
		n, err := s.store.DeleteRunsBefore(ctx, cutoff, s.cfg.RetentionBatch)
		total += n
		if err != nil {
			return fmt.Errorf("retention: %w", err)
		}
		if n < s.cfg.RetentionBatch {
			break
		}
	}
	if total > 0 {
		s.cfg.Logger.Info("old runs removed", "count", total, "before", cutoff)
	}
	return nil
}

// sweepRegistry removes addresses that stopped beating.
func (s *Scheduler) sweepRegistry(ctx context.Context, now time.Time) error {
	n, err := s.store.SweepRegistry(ctx, now.Add(-s.cfg.RegistryDead), now)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if n > 0 {
		s.cfg.Logger.Info("executor addresses removed, no beat", "count", n, "limit", s.cfg.RegistryDead)
	}
	return nil
}
