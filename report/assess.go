package report

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// TargetStore is what looking at targets with a time needs of the database.
type TargetStore interface {
	Targets(ctx context.Context) ([]model.Target, error)
	CountState(ctx context.Context) (model.CountState, error)
	OldestRun(ctx context.Context) (time.Time, error)
	RemovedUntil(ctx context.Context) (time.Time, error)
	FiredJobs(ctx context.Context, t model.TargetSettings, day string, from, limit int) ([]int, error)
	RunsOfDay(ctx context.Context, jobID int, from, to time.Time) ([]model.Run, error)
	JudgeTarget(ctx context.Context, was, is model.Target, day string, days []model.TargetDay) error
}

const (
	// assessAfter is how long results have to be counted after a time or a day's end.
	assessAfter = 2 * time.Minute
	// assessJobs is how many jobs share a transaction, assessSteps how many such steps a pass has.
	assessJobs  = 100
	assessSteps = 20
)

// Assessor looks at each day of targets with a time: after the time, and once more when
// the day is over. Days that nobody looked at are made up. One node does it; a second one
// does no harm.
type Assessor struct {
	Store TargetStore
	Leads func() bool
	Zone  *time.Location // of the center
}

// Pass does what there is to do, and leaves what is much to the next one.
func (a *Assessor) Pass(ctx context.Context, now time.Time) error {
	if !a.Leads() {
		return nil
	}
	list, err := a.Store.Targets(ctx)
	if err != nil {
		return err
	}
	steps := assessSteps
	for _, t := range list {
		for t.Timed() && !t.Off && steps > 0 {
			more, err := a.step(ctx, &t, now)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			steps--
		}
	}
	return nil
}

// step looks at some jobs on the next day of a target, and reports whether it did.
func (a *Assessor) step(ctx context.Context, t *model.Target, now time.Time) (bool, error) {
	last, err := time.Parse(time.DateOnly, t.Judged)
	if err != nil {
		return false, err
	}
	day := last.AddDate(0, 0, 1)
	name := day.Format(time.DateOnly)
	from, to := DayBounds(day, a.Zone)
	due := Due(day, t.By, a.Zone)
	over := !now.Before(to.Add(assessAfter))
	if !over && (t.Early >= name || now.Before(due.Add(assessAfter))) {
		return false, nil
	}
	early := t.Early < name && (!over || t.NextJob > 0) // one that was begun is ended
	upTo := to
	if early {
		upTo = due
	}
	counted, gone, err := a.known(ctx, day, upTo)
	if err != nil || !counted {
		return false, err
	}
	is := *t
	var days []model.TargetDay
	var jobs []int
	if !gone {
		if jobs, err = a.Store.FiredJobs(ctx, t.TargetSettings, name, t.NextJob, assessJobs); err != nil {
			return false, err
		}
	}
	for _, id := range jobs {
		runs, err := a.Store.RunsOfDay(ctx, id, from, to)
		if err != nil {
			return false, err
		}
		days = append(days, Judge(id, runs, from, due))
	}
	if len(jobs) == assessJobs {
		is.NextJob = jobs[len(jobs)-1] + 1
	} else {
		is.NextJob = 0
	}
	if !early || is.NextJob == 0 {
		is.Early = name
	}
	if !early && is.NextJob == 0 {
		is.Judged = name
	}
	if err := a.Store.JudgeTarget(ctx, *t, is, name, days); err != nil {
		return false, err
	}
	*t = is
	return true, nil
}

// known reports whether all fires of a day up to an instant are in the counters, and
// whether runs of the day are gone already.
func (a *Assessor) known(ctx context.Context, day, upTo time.Time) (counted, gone bool, err error) {
	st, err := a.Store.CountState(ctx)
	if err != nil || st.FoldedMS < upTo.UnixMilli() || st.CountedFrom == "" {
		return false, false, err
	}
	removed, err := a.Store.RemovedUntil(ctx)
	if err != nil {
		return false, false, err
	}
	if !removed.IsZero() && !day.After(model.Date(removed.In(a.Zone))) {
		return true, true, nil
	}
	if st.CountedFrom <= day.Format(time.DateOnly) {
		return true, false, nil
	}
	oldest, err := a.Store.OldestRun(ctx) // before the counters: is there anything to be counted?
	return oldest.IsZero() || model.Date(oldest.In(a.Zone)).After(day), false, err
}
