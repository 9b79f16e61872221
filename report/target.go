package report

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Due is when a time of day is on a day in a zone. One that a change of the clock skips is
// when it skips; of one that comes twice it is the second.
func Due(day time.Time, by string, zone *time.Location) time.Time {
	at, err := time.Parse("15:04", by)
	if err != nil {
		at = time.Time{}
	}
	y, m, d := day.Date()
	due := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, zone)
	begin, end := due.ZoneBounds()
	wall := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC)
	}
	want := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC)
	switch is := wall(due); { // skipped: it is a moment beside
	case is.After(want):
		return begin
	case is.Before(want):
		return end
	}
	if !end.IsZero() {
		_, is := due.Zone()
		_, next := end.Zone()
		if again := due.Add(time.Duration(is-next) * time.Second); !again.Before(end) && wall(again).Equal(want) {
			return again
		}
	}
	return due
}

// DayBounds are the first moment of a day and that of the next one.
func DayBounds(day time.Time, zone *time.Location) (from, to time.Time) {
	y, m, d := day.Date()
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	return model.DayStart(noon, 0), model.DayStart(noon, 1)
}

// Judge says whether a job was done in time on a day. The day counts when a fire was
// planned between from and due, and not all such fires were excused; it is met when one
// of them, with all its shards, succeeded by due. runs are attempts of the job in the
// order of their ids; those of fires whose first attempt is not among them are left out.
func Judge(jobID int, runs []model.Run, from, due time.Time) model.TargetDay {
	type fire struct {
		outcome string
		doneMS  int64
		shards  string
	}
	out := model.TargetDay{JobID: jobID}
	fires := map[int64]*fire{}
	for i := range runs {
		r := &runs[i]
		f := fires[r.FirstAttempt()]
		if r.FirstAttempt() == r.ID {
			planned := r.PlannedMS
			if planned == 0 {
				planned = r.TriggerTime.UnixMilli()
			}
			if planned < from.UnixMilli() || planned >= due.UnixMilli() {
				continue
			}
			f = &fire{shards: r.ShardKey}
			fires[r.ID] = f
		}
		if f == nil || f.outcome == model.OutcomeSucceeded {
			continue
		}
		if f.outcome = r.Outcome(); f.outcome == model.OutcomeSucceeded {
			f.doneMS = r.FinishedMS
		}
	}
	broadcasts := map[string]*fire{} // all shards of each: done when the last one is
	whole := func(f *fire) {
		if f.outcome == model.OutcomeSucceeded && (out.DoneMS == 0 || f.doneMS < out.DoneMS) {
			out.DoneMS = f.doneMS
		}
	}
	for _, f := range fires {
		out.Counts = out.Counts || !model.Excused(f.outcome)
		if f.shards == "" {
			whole(f)
			continue
		}
		b := broadcasts[f.shards]
		if b == nil {
			b = &fire{outcome: f.outcome}
			broadcasts[f.shards] = b
		}
		b.doneMS = max(b.doneMS, f.doneMS)
		if f.outcome != model.OutcomeSucceeded {
			b.outcome = f.outcome
		}
	}
	for _, b := range broadcasts {
		whole(b)
	}
	out.Met = out.DoneMS != 0 && out.DoneMS <= due.UnixMilli()
	return out
}
