package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// takeover adopts what dead nodes left behind; the restart of a single node is
// the same case.
type takeover struct {
	store Store
	cfg   Config
	node  *node
	nudge func()
}

const (
	adoptBatch = 2000
	// overdueBatch is how many late runs are decided at once.
	overdueBatch = 20000
)

func (t *takeover) adopt(ctx context.Context, now time.Time) error {
	for {
		more, err := t.adoptSome(ctx, now)
		if err != nil || !more || ctx.Err() != nil {
			return err
		}
		now = t.cfg.Now()
	}
}

// adoptSome adopts a batch and reports whether there may be more.
func (t *takeover) adoptSome(ctx context.Context, now time.Time) (more bool, err error) {
	// Who slept knows old neighbours: it looks around first.
	if !t.node.leads() || t.node.sinceBeat(now) > t.cfg.NodeDeadAfter/3 {
		return false, nil
	}
	// What is too late is decided while it still belongs to the node that is gone:
	// after that any of the living might ring it.
	late, err := t.store.OrphanedRuns(ctx, t.node.owners(), now.Add(-t.cfg.TakeoverWindow).UnixMilli(), overdueBatch)
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
	planned, unknown, err := t.store.AdoptRuns(ctx, t.node.living(), t.node.owners(), adoptBatch)
	if err != nil {
		return false, fmt.Errorf("adopt runs: %w", err)
	}
	if planned == 0 && unknown == 0 && missed == 0 {
		return false, nil
	}
	t.cfg.Logger.Info("took over runs of a node that is gone", "planned", planned, "unknown", unknown, "missed", missed)
	t.nudge()
	return planned >= adoptBatch || unknown >= adoptBatch, nil
}

// missOverdue ends those of the runs that are beyond the takeover window.
func (t *takeover) missOverdue(ctx context.Context, now time.Time, runs []model.Run) (int, error) {
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
	jobs, err := t.store.JobsByID(ctx, list)
	if err != nil {
		return 0, err
	}
	_, miss := Overdue(now, t.cfg.TakeoverWindow, runs, jobs)
	if len(miss) == 0 {
		return 0, nil
	}
	byOwner := map[string][]int64{}
	for i := range miss {
		byOwner[miss[i].Owner] = append(byOwner[miss[i].Owner], miss[i].ID)
	}
	msg := fmt.Sprintf("not made: its node was gone for longer than the takeover window of %s, misfire rule", t.cfg.TakeoverWindow)
	for owner, list := range byOwner {
		if err := t.store.MissRuns(ctx, owner, list, model.ReasonTakeover, msg, now); err != nil {
			return len(miss), err
		}
	}
	return len(miss), nil
}

// afterPause looks at this node's own planned runs when the process itself was
// stopped for longer than the window (SIGSTOP, a suspended machine).
func (t *takeover) afterPause(ctx context.Context, now time.Time) error {
	owner := t.node.owner()
	for {
		ids, err := t.store.PlannedIDs(ctx, owner, 0, now.Add(-t.cfg.TakeoverWindow).UnixMilli(), overdueBatch, false)
		if err != nil {
			return err
		}
		late, err := t.store.RunsByID(ctx, ids)
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
