package jobs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// ClearInput says whose runs are to be removed: all that the actor administers, those of an
// executor or those of a job.
type ClearInput struct {
	Kind           model.ClearKind
	GroupID, JobID int
	// BeforeID goes on with a clearing that keeps the newest: those that came since are no
	// reason to remove more. 0 = find out.
	BeforeID int64
}

// Clearing is what a clearing would remove, or has removed.
type Clearing struct {
	Runs     int
	More     bool  // there are more than Runs
	BeforeID int64 // to be given back with the next step
}

const (
	clearBatch = 1000
	// clearTime is how long one request removes: the next one goes on.
	clearTime = 5 * time.Second
	// mostCleared is how far runs are counted before they are removed.
	mostCleared = 1_000_000
)

// clearScope is the scope of a clearing; ok is false when nothing is beyond what stays.
func (s *Service) clearScope(ctx context.Context, actor model.Actor, in ClearInput) (c model.ClearScope, ok bool, err error) {
	if !in.Kind.Valid() {
		return c, false, model.Errf(model.CodeInvalid, "field.unknown_value", "Value", int(in.Kind))
	}
	group := in.GroupID
	if in.JobID != 0 {
		j, err := s.Job(ctx, actor, in.JobID)
		if err != nil {
			return c, false, err
		}
		group = j.GroupID
	}
	if group != 0 && !actor.May(model.LevelAdminister, group) || group == 0 && !actor.Admin {
		return c, false, forbidden()
	}
	c = model.ClearScope{GroupID: group, JobID: in.JobID, Before: in.Kind.Since(s.Now()), BeforeID: in.BeforeID}
	if keep := in.Kind.Keep(); keep > 0 && c.BeforeID == 0 {
		if c.BeforeID, err = s.store.NewestRuns(ctx, c, keep); err != nil || c.BeforeID == 0 {
			return c, false, err
		}
	}
	return c, true, nil
}

// CountClear says how many ended runs a clearing would remove, counted up to a million.
func (s *Service) CountClear(ctx context.Context, actor model.Actor, in ClearInput) (Clearing, error) {
	c, ok, err := s.clearScope(ctx, actor, in)
	if err != nil || !ok {
		return Clearing{}, err
	}
	n, err := s.store.CountClear(ctx, c, mostCleared+1)
	return Clearing{Runs: min(n, mostCleared), More: n > mostCleared, BeforeID: c.BeforeID}, err
}

// ClearRuns removes ended runs, a thousand at a time, for a few seconds; More says that some
// are left. What is in progress stays, and so do the numbers of the reports.
func (s *Service) ClearRuns(ctx context.Context, actor model.Actor, in ClearInput) (Clearing, error) {
	c, ok, err := s.clearScope(ctx, actor, in)
	out := Clearing{BeforeID: c.BeforeID}
	if err != nil || !ok {
		s.note(ctx, actor, "runs.clear", thing{kind: model.AuditRun}, err)
		return out, err
	}
	begun := s.now()
	for s.now().Sub(begun) < clearTime {
		n, err := s.store.ClearRuns(ctx, c, clearBatch, s.Now())
		out.Runs += n
		if out.More = n == clearBatch; err != nil || !out.More {
			s.noteCleared(ctx, actor, in, out.Runs)
			return out, err
		}
	}
	s.noteCleared(ctx, actor, in, out.Runs)
	return out, nil
}

func (s *Service) noteCleared(ctx context.Context, actor model.Actor, in ClearInput, n int) {
	if n == 0 {
		return
	}
	s.log.Info("runs removed", "count", n, "kind", int(in.Kind), "executor_id", in.GroupID, "job_id", in.JobID, "user", actor.Name)
	s.note(ctx, actor, "runs.clear", thing{kind: model.AuditRun}, nil, model.Change{Field: "runs", New: itoa(n)},
		model.Change{Field: "kind", New: itoa(int(in.Kind))}, model.Change{Field: "group", New: itoa(in.GroupID)}, model.Change{Field: "job", New: itoa(in.JobID)})
}
