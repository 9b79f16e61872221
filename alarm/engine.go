package alarm

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Store is what deciding needs of the database.
type Store interface {
	AlarmsDue(ctx context.Context, now int64) (bool, error)
	AlarmEvents(ctx context.Context, limit int) ([]model.AlarmEvent, error)
	OpenIncidents(ctx context.Context, limit int) ([]model.Incident, error)
	AlarmRules(ctx context.Context) ([]model.AlarmRule, error)
	Nodes(ctx context.Context) ([]model.Node, error)
	SilentGroups(ctx context.Context) ([]int, error)
	AddressedGroups(ctx context.Context, ids []int) ([]int, error)
	JobsToWatch(ctx context.Context, ids []int) (map[int]model.Job, error)
	OpenRuns(ctx context.Context, plannedBefore int64) ([]model.OpenRun, error)
	UsualDurations(ctx context.Context, jobs []int) (map[int]int64, error)
	RetentionState(ctx context.Context) (model.RetentionState, error)
	BrokenJobs(ctx context.Context) (map[int]int, error)
	LateFires(ctx context.Context, before int64) ([]model.LateFire, error)
	RecentFailures(ctx context.Context, of map[int]int) (map[int]int, error)
	JobsOfRule(ctx context.Context, r model.AlarmRule) ([]model.Job, error)
	SucceededFrom(ctx context.Context, from map[int]int64) ([]int, error)
	SucceededSince(ctx context.Context, of []model.Incident) ([]int, error)
	CountFailures(ctx context.Context, of map[int]model.Streak, limit int) (map[int]int, error)
	Streaks(ctx context.Context, ids []int) (map[int]model.Streak, error)
	SaveAlarms(ctx context.Context, d *model.AlarmDecision, now time.Time) error
}

// How much one pass takes at most, and how often it looks for troubles that are over.
const (
	mostEvents    = 1000
	mostIncidents = 100_000 // open at once; of more, some would not be found again
	mostPages     = 20
	overEvery     = 10 * time.Second
)

// Engine decides, on one node of the center; two that think so do no harm.
type Engine struct {
	Store Store
	// Taken is the error of Store when another node was faster.
	Taken error
	// Leads says that this node decides.
	Leads func() bool
	// Decided is told that the outbox may have something new.
	Decided func()
	// Zone is that of rules that name none.
	Zone *time.Location
	// Next gives the first fire of a job after an instant, the zero time when there is none,
	// and false when its schedule cannot be read.
	Next func(job *model.Job, after time.Time) (time.Time, bool)

	overAt time.Time
	silent map[int]time.Time // executors without an address: since when that is seen
	usual  map[int]usually   // of jobs with a long run
	began  time.Time         // when this node looked first

	ruled    Rules            // that expected was made of
	expected map[int]expected // by rule
}

// Pass looks at what happened and at what is due, until nothing is left.
func (e *Engine) Pass(ctx context.Context, now time.Time) error {
	if !e.Leads() {
		return nil
	}
	for range mostPages {
		more, err := e.page(ctx, now)
		if errors.Is(err, e.Taken) {
			return nil // the next pass sees what is left
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (e *Engine) page(ctx context.Context, now time.Time) (more bool, err error) {
	over := now.Sub(e.overAt) >= overEvery
	due, err := e.Store.AlarmsDue(ctx, now.UnixMilli())
	if err != nil || !due && !over {
		return false, err
	}
	w := Work{Now: now}
	if e.Zone != nil { // quiet hours of rules that name no zone are those of the center
		w.Now = now.In(e.Zone)
	}
	if w.Open, err = e.Store.OpenIncidents(ctx, mostIncidents); err != nil {
		return false, err
	}
	if w.Events, err = e.Store.AlarmEvents(ctx, mostEvents); err != nil {
		return false, err
	}
	if over {
		if err := e.watch(ctx, &w); err != nil {
			return false, err
		}
	}
	if len(w.Open) == 0 && len(w.Events) == 0 && len(w.Conditions) == 0 {
		e.overAt = now
		return false, nil
	}
	if !over {
		w.Conditions = e.stillSilent()
	}
	if w.Rules == nil {
		if w.Rules, err = e.Store.AlarmRules(ctx); err != nil {
			return false, err
		}
	}
	if w.Jobs, err = e.Store.JobsToWatch(ctx, jobsOf(w)); err != nil {
		return false, err
	}
	if err := e.count(ctx, &w); err != nil {
		return false, err
	}
	if over {
		if err := e.over(ctx, &w); err != nil {
			return false, err
		}
		e.overAt = now
	}
	if err := e.recent(ctx, &w); err != nil {
		return false, err
	}
	d := Decide(w)
	if d.Empty() {
		return false, nil
	}
	if err := e.Store.SaveAlarms(ctx, d, now); err != nil {
		return false, err
	}
	if len(d.Told) > 0 && e.Decided != nil {
		e.Decided()
	}
	return len(w.Events) == mostEvents, nil
}

func jobsOf(w Work) []int {
	var ids []int
	for _, x := range w.Events {
		ids = append(ids, x.JobID)
	}
	for _, x := range w.Open {
		if x.JobID != 0 {
			ids = append(ids, x.JobID)
		}
	}
	for _, x := range w.Conditions {
		if x.JobID != 0 {
			ids = append(ids, x.JobID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// over finds incidents that no event ends: of jobs that were not sent and have succeeded
// since, of jobs that are stopped or gone, and of jobs that do not fail any more although
// two of their runs ended at one moment and the events came in the other order.
func (e *Engine) over(ctx context.Context, w *Work) error {
	var missed []model.Incident
	var failed []int
	for _, inc := range w.Open {
		if !inc.OfRuns() {
			continue
		}
		job, there := w.Jobs[inc.JobID]
		switch {
		case !there, job.Status == model.JobStopped && job.ScheduleType != model.ScheduleNone:
			w.Ended = append(w.Ended, inc.JobID)
		case notSent(inc.Reason), inc.Reason == model.AlarmAttempt:
			missed = append(missed, inc)
		default:
			failed = append(failed, inc.JobID)
		}
	}
	failing, err := e.Store.Streaks(ctx, failed)
	if err != nil {
		return err
	}
	if w.Well, err = e.Store.SucceededSince(ctx, missed); err != nil {
		return err
	}
	for _, id := range failed {
		if _, still := failing[id]; !still {
			w.Well = append(w.Well, id)
		}
	}
	return nil
}

// How many jobs a pass counts, and how far.
const (
	mostCounted  = 200
	countedUpTo  = 10_000
	countedAhead = 5 * time.Second
)

// count says how often jobs have failed whose incident ends or is told now.
func (e *Engine) count(ctx context.Context, w *Work) error {
	ends := map[int]bool{}
	for _, x := range w.Events {
		if x.Reason == model.OutcomeSucceeded {
			ends[x.JobID] = true
		}
	}
	of := map[int]model.Streak{}
	var lasting []int
	opened := map[int]int64{}
	for _, inc := range w.Open {
		due := inc.TellMS != 0 && inc.TellMS <= w.Now.Add(countedAhead).UnixMilli()
		switch {
		case !inc.OfRuns() || len(of)+len(lasting) >= mostCounted:
		case ends[inc.JobID] && inc.FirstRun != 0:
			of[inc.JobID] = model.Streak{SinceMS: inc.OpenedMS, FirstRun: inc.FirstRun}
		case due:
			lasting = append(lasting, inc.JobID)
			opened[inc.JobID] = inc.OpenedMS
		}
	}
	if len(lasting) > 0 {
		streaks, err := e.Store.Streaks(ctx, lasting)
		if err != nil {
			return err
		}
		for id, x := range streaks {
			x.SinceMS = max(x.SinceMS, opened[id]) // what failed before was part of another trouble
			of[id] = x
		}
	}
	if len(of) == 0 {
		return nil
	}
	var err error
	w.Failed, err = e.Store.CountFailures(ctx, of, countedUpTo)
	return err
}

// recent counts how many of the newest fires of jobs failed, where the rule asks for it and
// something is to be decided.
func (e *Engine) recent(ctx context.Context, w *Work) error {
	of := map[int]int{}
	ask := func(id int) {
		if job, there := w.Jobs[id]; there {
			if r := w.Rules.For(&job); r.OutOf > 0 {
				of[id] = r.OutOf
			}
		}
	}
	for _, x := range w.Events {
		ask(x.JobID)
	}
	for _, id := range w.Well {
		ask(id)
	}
	if len(of) == 0 {
		return nil
	}
	var err error
	w.Recent, err = e.Store.RecentFailures(ctx, of)
	return err
}
