// Package report says how runs went: it keeps the counters that reports are read from true
// (Keeper), and makes reports of them (Build). It knows neither SQL nor HTML, and gets the
// time as a parameter.
package report

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// KeepStore is what keeping the counters needs of the database.
type KeepStore interface {
	FoldCounts(ctx context.Context, now time.Time) (more bool, err error)
	CountState(ctx context.Context) (model.CountState, error)
	RecountDay(ctx context.Context, day, now time.Time) (runs int, changed bool, err error)
	NoteCounted(ctx context.Context, from, checked string) error
	OldestRun(ctx context.Context) (time.Time, error)
	RemovedUntil(ctx context.Context) (time.Time, error)
}

const (
	// foldShare: adding to the counters takes one part of so many of the time at most.
	foldShare   = 20
	longestWait = time.Minute
	mostFolds   = 50
	// checkAt is how long a day is over before it is counted anew.
	checkAt = 3 * time.Hour
)

// everything is the day from which on all is counted when there is nothing left to count.
const everything = "1970-01-01"

// Keeper adds to the counters what has happened, counts what happened before there were
// counters, and counts each day once more when it is over. One node does it; a second one
// does no harm.
type Keeper struct {
	Store KeepStore
	// Taken and Meanwhile are errors of Store: another node was faster.
	Taken, Meanwhile error
	Leads            func() bool
	Zone             *time.Location
	Log              *slog.Logger
	Now              func() time.Time // for measuring how long it takes

	notBefore time.Time
	counted   bool // everything before the counters is
}

// Pass does what there is to do.
func (k *Keeper) Pass(ctx context.Context, now time.Time) error {
	if !k.Leads() || now.Before(k.notBefore) {
		return nil
	}
	began := k.Now()
	for range mostFolds {
		more, err := k.Store.FoldCounts(ctx, now)
		if errors.Is(err, k.Taken) {
			return nil
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	err := k.count(ctx, now)
	if errors.Is(err, k.Meanwhile) {
		err = nil
	}
	k.notBefore = now.Add(min(longestWait, foldShare*k.Now().Sub(began)))
	return err
}

// count counts one day anew, if there is one to be counted.
func (k *Keeper) count(ctx context.Context, now time.Time) error {
	today := model.Date(now.In(k.Zone))
	if k.counted && now.In(k.Zone).Sub(model.DayStart(now.In(k.Zone), 0)) < checkAt {
		return nil
	}
	st, err := k.Store.CountState(ctx)
	if err != nil {
		return err
	}
	removed, err := k.Store.RemovedUntil(ctx)
	if err != nil {
		return err
	}
	whole := func(day time.Time) bool { // no run of the day is gone
		return removed.IsZero() || day.After(model.Date(removed.In(k.Zone)))
	}
	if !k.counted {
		day, done, err := k.before(ctx, st, today)
		if err != nil {
			return err
		}
		if !done && whole(day) {
			if _, _, err := k.Store.RecountDay(ctx, day, now); err != nil {
				return err
			}
			return k.Store.NoteCounted(ctx, day.Format(time.DateOnly), "")
		}
		if st.CountedFrom != everything { // what is older has no runs, or not all of them
			if err := k.Store.NoteCounted(ctx, everything, ""); err != nil {
				return err
			}
		}
		k.counted = true
	}
	yesterday := today.AddDate(0, 0, -1)
	if st.Checked >= yesterday.Format(time.DateOnly) || now.In(k.Zone).Sub(model.DayStart(now.In(k.Zone), 0)) < checkAt {
		return nil
	}
	if whole(yesterday) {
		runs, changed, err := k.Store.RecountDay(ctx, yesterday, now)
		if err != nil {
			return err
		}
		if changed {
			k.Log.Warn("the counters of a day were not what its runs say and were set right", "day", yesterday.Format(time.DateOnly), "fires", runs)
		}
	}
	return k.Store.NoteCounted(ctx, "", yesterday.Format(time.DateOnly))
}

// before is the next day to be counted of those before the counters, the newest first.
func (k *Keeper) before(ctx context.Context, st model.CountState, today time.Time) (day time.Time, done bool, err error) {
	if st.CountedFrom == "" {
		return today, false, nil
	}
	first, err := time.Parse(time.DateOnly, st.CountedFrom)
	if err != nil {
		return day, false, err
	}
	oldest, err := k.Store.OldestRun(ctx)
	if err != nil || oldest.IsZero() || !model.Date(oldest.In(k.Zone)).Before(first) {
		return day, true, err
	}
	return first.AddDate(0, 0, -1), false, nil
}
