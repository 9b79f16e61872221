package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
)

// Takeover adopts what dead nodes left behind; the restart of a single node is
// the same case.
type Takeover struct {
	Store Store
	Cfg   config.Config
	Node  *Node
	Nudge func()
}

const (
	// AdoptBatch is how many runs change hands at once.
	AdoptBatch = 2000
	// overdueBatch is how many late runs are decided at once.
	overdueBatch = 20000
)

// Adopt takes over all that dead nodes left.
func (t *Takeover) Adopt(ctx context.Context, now time.Time) error {
	for {
		more, err := t.adoptSome(ctx, now)
		if err != nil || !more || ctx.Err() != nil {
			return err
		}
		now = t.Cfg.Now()
	}
}

// adoptSome adopts a batch and reports whether there may be more.
func (t *Takeover) adoptSome(ctx context.Context, now time.Time) (more bool, err error) {
	// Who slept knows old neighbours: it looks around first.
	if !t.Node.Leads() || t.Node.SinceBeat(now) > t.Cfg.NodeDeadAfter/2 {
		return false, nil
	}
	// What was claimed ahead and never sent is as good as planned. It is put back first, so
	// that it is decided and adopted with the rest.
	back, err := t.Store.PutBackAhead(ctx, t.Node.Living(), AdoptBatch)
	if err != nil {
		return false, fmt.Errorf("runs claimed ahead: %w", err)
	}
	if back >= AdoptBatch {
		return true, nil
	}
	// What is too late is decided while it still belongs to the node that is gone:
	// after that any of the living might ring it.
	late, err := t.Store.OrphanedRuns(ctx, t.Node.Owners(), now.Add(-t.Cfg.TakeoverWindow).UnixMilli(), overdueBatch)
	if err != nil {
		return false, fmt.Errorf("orphaned runs: %w", err)
	}
	missed, err := t.missOverdue(ctx, now, late)
	if err != nil {
		return false, fmt.Errorf("overdue runs: %w", err)
	}
	if len(late) >= overdueBatch && missed > 0 {
		return true, nil // there may be more of them: nothing changes hands before all are decided
	}
	planned, unknown, err := t.Store.AdoptRuns(ctx, t.Node.Living(), t.Node.Owners(), AdoptBatch)
	if err != nil {
		return false, fmt.Errorf("adopt runs: %w", err)
	}
	if planned == 0 && unknown == 0 && missed == 0 {
		return false, nil
	}
	t.Cfg.Logger.Info("took over runs of a node that is gone", "planned", planned, "unknown", unknown, "missed", missed)
	t.Nudge()
	return planned >= AdoptBatch || unknown >= AdoptBatch, nil
}

// missOverdue ends those of the runs that are beyond the takeover window.
func (t *Takeover) missOverdue(ctx context.Context, now time.Time, runs []model.Run) (int, error) {
	if len(runs) == 0 {
		return 0, nil
	}
	ids := map[int]bool{}
	var list []int
	for i := range runs {
		if !ids[runs[i].JobID] {
			ids[runs[i].JobID] = true
			list = append(list, runs[i].JobID)
		}
	}
	jobs, err := t.Store.JobsByID(ctx, list)
	if err != nil {
		return 0, err
	}
	_, miss := rule.Overdue(now, t.Cfg.TakeoverWindow, runs, jobs)
	if len(miss) == 0 {
		return 0, nil
	}
	byOwner := map[string][]model.Dispatch{}
	for i := range miss {
		r := &miss[i]
		byOwner[r.Owner] = append(byOwner[r.Owner], model.Dispatch{
			RunID: r.ID, Phase: model.PhaseMissed, Code: model.CodeMissed, Reason: model.ReasonTakeover, AtMS: now.UnixMilli(),
			Note: model.Note{Route: r.Note.Route, Said: []model.Said{model.Say(model.ReasonTakeover,
				"LateMS", now.UnixMilli()-r.PlannedMS, "Owner", r.Owner, "Strategy", string(jobs[r.JobID].Misfire))}},
		})
	}
	for owner, list := range byOwner {
		if err := t.Store.RecordDispatches(ctx, owner, list, now, nil); err != nil {
			return len(miss), err
		}
	}
	return len(miss), nil
}

// AfterPause looks at this node's own planned runs when the process itself was
// stopped for longer than the window (SIGSTOP, a suspended machine).
func (t *Takeover) AfterPause(ctx context.Context, now time.Time) error {
	owner := t.Node.Owner()
	for {
		ids, err := t.Store.PlannedIDs(ctx, owner, 0, now.Add(-t.Cfg.TakeoverWindow).UnixMilli(), overdueBatch, false)
		if err != nil {
			return err
		}
		late, err := t.Store.RunsByID(ctx, ids)
		if err != nil {
			return err
		}
		late = slices.DeleteFunc(late, func(r model.Run) bool { return r.Owner != owner })
		missed, err := t.missOverdue(ctx, now, late)
		if err != nil || missed == 0 || len(ids) < overdueBatch {
			return err
		}
	}
}
