package alarm

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Deadline is the latest time of day by which the jobs of a rule had to be done.
type Deadline struct {
	At   time.Time
	From time.Time // when that day began, in the zone of the rule
}

// LastDeadline gives the latest deadline of a rule that is not after now, and false when the
// rule has none or it is more than a week ago. A time that the clock skips counts from the
// moment it skips it, one that it shows twice from the first.
func LastDeadline(s model.AlarmSettings, now time.Time, loc *time.Location) (Deadline, bool) {
	clock, err := time.Parse("15:04", s.DoneBy)
	if err != nil {
		return Deadline{}, false
	}
	loc = zoneOf(s, loc)
	today := now.In(loc)
	for back := range 9 { // a day may be left out
		// Noon is there on every day.
		noon := time.Date(today.Year(), today.Month(), today.Day()-back, 12, 0, 0, 0, loc)
		if len(s.DoneDays) > 0 && !slices.Contains(s.DoneDays, int(noon.Weekday())) {
			continue
		}
		if at := firstAt(noon, clock.Hour(), clock.Minute()); !at.After(now) {
			return Deadline{At: at, From: firstAt(noon, 0, 0)}, true
		}
	}
	return Deadline{}, false
}

func zoneOf(s model.AlarmSettings, loc *time.Location) *time.Location {
	if s.Zone != "" {
		if z, err := time.LoadLocation(s.Zone); err == nil {
			return z
		}
	}
	if loc == nil {
		return time.UTC
	}
	return loc
}

// firstAt is the first instant at which the wall clock shows a time of a day, or a later one.
func firstAt(day time.Time, hour, minute int) time.Time {
	about := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, day.Location())
	want := wall(day.Year(), day.Month(), day.Day(), hour, minute)
	for at := about.Add(-3 * time.Hour); at.Before(about.Add(3 * time.Hour)); at = at.Add(time.Minute) {
		if y, m, d := at.Date(); wall(y, m, d, at.Hour(), at.Minute()) >= want {
			return at
		}
	}
	return about
}

func wall(year int, month time.Month, day, hour, minute int) int {
	return ((year*13+int(month))*32+day)*1440 + hour*60 + minute
}

// mostFires is how many fires of the day before a deadline are looked at.
const mostFires = 5000

// ExpectedFrom says of a job that had to be done by a deadline from when on the fire is planned
// whose success counts, and false when none was due. A job that fires on that day before the
// deadline needs one of that day; one that fired the evening before, its last fire. Jobs
// without a schedule count when the rule names them or their tag.
func ExpectedFrom(d Deadline, scope string, job *model.Job, next func(*model.Job, time.Time) (time.Time, bool)) (time.Time, bool) {
	if job.ScheduleType == model.ScheduleNone {
		return d.From, scope == model.ScopeJob || scope == model.ScopeTag
	}
	fire, known := next(job, d.From.Add(-time.Second))
	if !known || !fire.IsZero() && fire.Before(d.At) { // a schedule that nobody can read does not excuse it
		return d.From, true
	}
	for _, hours := range []time.Duration{1, 4, 24} { // most have their last fire late, and many have thousands
		last, at := time.Time{}, d.From.Add(-hours*time.Hour-time.Second)
		for range mostFires {
			if fire, _ = next(job, at); fire.IsZero() || !fire.Before(d.From) {
				break
			}
			last, at = fire, fire
		}
		if !last.IsZero() {
			return last, true
		}
	}
	return time.Time{}, false
}

// expected are the jobs that had to be done by the latest deadline of a rule and were not yet
// when they were looked at.
type expected struct {
	deadline Deadline
	from     map[int]int64 // job → epoch ms; those that are done are removed
}

// deadlines looks for jobs that are not done by the time that their rule gives them. Which
// jobs these are is read once for each deadline; afterwards only those that are not done.
func (e *Engine) deadlines(ctx context.Context, w *Work) error {
	if !reflect.DeepEqual(e.ruled, w.Rules) { // somebody changed them
		e.expected, e.ruled = nil, w.Rules
	}
	if err := e.expect(ctx, w); err != nil {
		return err
	}
	from := map[int]int64{}
	due := map[int]int64{}
	for _, x := range e.expected {
		for id, ms := range x.from {
			from[id], due[id] = ms, x.deadline.At.UnixMilli()
		}
	}
	open := map[int]bool{}
	for _, inc := range w.Open {
		if d := inc.Details(); inc.Kind() == model.WatchDeadline && d.FromMS > 0 { // until there is the success that it waits for
			from[inc.JobID], due[inc.JobID], open[inc.JobID] = d.FromMS, d.DueMS, true
		}
	}
	if len(from) == 0 {
		return nil
	}
	done, err := e.Store.SucceededFrom(ctx, from)
	if err != nil {
		return err
	}
	var ids []int
	for id := range from {
		if slices.Contains(done, id) {
			for _, x := range e.expected {
				delete(x.from, id)
			}
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	jobs, err := e.Store.JobsToWatch(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		job, there := jobs[id]
		if !there || !job.Active() {
			continue
		}
		begun := job.ScheduleType == model.ScheduleNone || job.LastMS > 0 // it has fired since somebody started it
		if !open[id] && (!begun || job.UpdateTime.UnixMilli() > due[id]) {
			continue
		}
		w.Conditions = append(w.Conditions, Condition{Subject: model.WatchedJob(model.WatchDeadline, id), JobID: id, GroupID: job.GroupID, SinceMS: due[id], Reason: model.AlarmNotDone,
			Detail: model.AlarmDetail{DueMS: due[id], FromMS: from[id]}})
	}
	return nil
}

// expect reads the jobs of the rules whose deadline has passed since it was looked last.
func (e *Engine) expect(ctx context.Context, w *Work) error {
	now := map[int]expected{}
	for _, r := range w.Rules {
		d, has := LastDeadline(r.AlarmSettings, w.Now, e.Zone)
		if r.Off || !has {
			continue
		}
		if old, there := e.expected[r.ID]; there && old.deadline.At.Equal(d.At) {
			now[r.ID] = old
			continue
		}
		jobs, err := e.Store.JobsOfRule(ctx, r)
		if err != nil {
			return err
		}
		x := expected{d, map[int]int64{}}
		for i := range jobs {
			if Rules(w.Rules).For(&jobs[i]).ID != r.ID {
				continue // a narrower rule holds
			}
			if from, due := ExpectedFrom(d, r.Scope, &jobs[i], e.next); due {
				x.from[jobs[i].ID] = from.UnixMilli()
			}
		}
		now[r.ID] = x
	}
	e.expected = now
	return nil
}

// next is Next, and a schedule that cannot be read where there is none.
func (e *Engine) next(job *model.Job, after time.Time) (time.Time, bool) {
	if e.Next == nil {
		return time.Time{}, false
	}
	return e.Next(job, after)
}
