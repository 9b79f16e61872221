package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// RetentionPage is what administrators see of the retention.
type RetentionPage struct {
	State   model.RetentionState
	Default model.KeepDays // as the center was started
	Keep    model.Keep     // what counts
	Jobs    []KeepingJob   // jobs with days of their own, by name, at most mostKeeping
	Own     int            // how many of those there are
	Days    []model.RetentionDay
	Oldest  time.Time // trigger time of the oldest run, zero = there is none
}

// KeepingJob is a job with days of its own.
type KeepingJob struct {
	ID   int
	Name string
	model.Keep
}

const (
	mostKeeping   = 100
	retentionDays = 30 // shown
)

// keepDefault is what the center was started with.
func (s *Service) keepDefault() model.KeepDays { return model.KeepDaysOf(s.retentionDays) }

// keeping is for how long runs are kept by what counts now.
func (s *Service) keeping(st *model.RetentionState) model.Keep {
	return st.Own.Or(model.Keep{Succeeded: s.keepDefault(), Failed: s.keepDefault()})
}

// Keeping says for how long runs are kept that have no days of their own.
func (s *Service) Keeping(ctx context.Context) (model.Keep, error) {
	st, err := s.store.RetentionState(ctx)
	return s.keeping(&st), err
}

// Retention tells administrators for how long runs are kept, and what was removed.
func (s *Service) Retention(ctx context.Context, actor model.Actor) (RetentionPage, error) {
	p := RetentionPage{Default: s.keepDefault()}
	if !actor.Admin {
		return p, forbidden()
	}
	var err error
	if p.State, err = s.store.RetentionState(ctx); err != nil {
		return p, err
	}
	p.Keep = s.keeping(&p.State)
	if p.Days, err = s.store.RetentionDays(ctx, model.DayStart(s.Now(), 1-retentionDays)); err != nil {
		return p, err
	}
	if p.Oldest, err = s.store.OldestRun(ctx); err != nil {
		return p, err
	}
	own, err := s.store.KeepOfJobs(ctx)
	if err != nil {
		return p, err
	}
	var ids []int
	for id := range own {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	p.Own = len(ids)
	ids = ids[:min(len(ids), mostKeeping)]
	names, err := s.store.NamesOfJobs(ctx, ids)
	for _, id := range ids {
		p.Jobs = append(p.Jobs, KeepingJob{id, names[id], own[id]})
	}
	return p, err
}

// RetentionLoss is what shorter days would remove of the runs without days of their own.
type RetentionLoss struct {
	Keep  model.Keep
	Runs  int64     // about: attempts by the days of the report
	Until time.Time // the newest of them are older
}

// CountRetention says what other days would remove at once, beside what is old already.
// Runs is 0 when that is nothing.
func (s *Service) CountRetention(ctx context.Context, actor model.Actor, own model.Keep) (RetentionLoss, error) {
	var out RetentionLoss
	if !actor.Admin {
		return out, forbidden()
	}
	if err := checkKeep(own); err != nil {
		return out, err
	}
	st, err := s.store.RetentionState(ctx)
	if err != nil {
		return out, err
	}
	was := s.keeping(&st)
	st.Own = own
	out.Keep = s.keeping(&st)
	now := s.Now()
	oldest, err := s.store.OldestRun(ctx)
	if err != nil || oldest.IsZero() {
		return out, err
	}
	for _, c := range []model.Class{model.ClassSucceeded, model.ClassFailed} {
		to := out.Keep.Of(c).Cutoff(now)
		if !was.Of(c).Longer(out.Keep.Of(c)) || !oldest.Before(to) {
			continue
		}
		from := oldest
		if old := was.Of(c).Cutoff(now); old.After(from) {
			from = old
		}
		days, err := s.store.Report(ctx, from, to.Add(-time.Second))
		if err != nil {
			return out, err
		}
		for _, d := range days {
			if c == model.ClassSucceeded {
				out.Runs += int64(d.Succeeded)
			} else {
				out.Runs += int64(d.Failed) + int64(d.Missed)
			}
		}
		if out.Until.Before(to) {
			out.Until = to
		}
	}
	return out, nil
}

func checkKeep(k model.Keep) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	keepRange(bad, "keep_days", k.Succeeded)
	keepRange(bad, "keep_failed_days", k.Failed)
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// SaveRetention sets for how long runs are kept; what is left open is as the center was
// started. The next pass begins at once.
func (s *Service) SaveRetention(ctx context.Context, actor model.Actor, own model.Keep) error {
	what := thing{}
	if !actor.Admin {
		s.note(ctx, actor, "retention.edit", what, forbidden())
		return forbidden()
	}
	if err := checkKeep(own); err != nil {
		return err
	}
	st, err := s.store.RetentionState(ctx)
	if err != nil || st.Own == own {
		return err
	}
	if err := s.store.SaveKeep(ctx, own, actor.Name, s.Now()); err != nil {
		return err
	}
	var changes []model.Change
	for _, c := range []model.Change{
		{Field: "keep_days", Old: st.Own.Succeeded.String(), New: own.Succeeded.String()},
		{Field: "keep_failed_days", Old: st.Own.Failed.String(), New: own.Failed.String()},
	} {
		if c.Old != c.New {
			changes = append(changes, c)
		}
	}
	s.log.Info("the days of the retention were changed", "succeeded", own.Succeeded.String(), "failed", own.Failed.String(), "user", actor.Name)
	s.note(ctx, actor, "retention.edit", what, nil, changes...)
	return nil
}

// StartRetention asks for a pass at once. The node that removes runs begins it within
// some seconds; asking twice changes nothing.
func (s *Service) StartRetention(ctx context.Context, actor model.Actor) error {
	what := thing{}
	if !actor.Admin {
		s.note(ctx, actor, "retention.run", what, forbidden())
		return forbidden()
	}
	st, err := s.store.RetentionState(ctx)
	if err != nil || st.Working() || st.AskedMS > st.BeganMS {
		return err
	}
	err = s.store.AskRetention(ctx, actor.Name, s.Now())
	s.note(ctx, actor, "retention.run", what, err)
	return err
}

// RetentionOverdue says for how long no pass of the retention has come to its end, 0 = one
// has within two days: a fact for alarms.
func (s *Service) RetentionOverdue(ctx context.Context) (time.Duration, error) {
	st, err := s.store.RetentionState(ctx)
	return st.Overdue(s.Now()), err
}

// logDays remembers for a minute for how long logs are wanted: every executor asks with
// every beat.
type logDays struct {
	mu    sync.Mutex
	asked time.Time
	days  model.KeepDays
}

// LogDays says for how long runs of any job are kept at most, and with them their logs.
func (s *Service) LogDays(ctx context.Context) (model.KeepDays, error) {
	l, now := &s.logDays, s.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := now.Sub(l.asked); l.days != model.KeepDefault && age >= 0 && age < time.Minute {
		return l.days, nil
	}
	keep, err := s.Keeping(ctx)
	if err != nil {
		return 0, err
	}
	own, err := s.store.KeepOfJobs(ctx)
	if err != nil {
		return 0, err
	}
	all := model.Retention{Keep: keep, Jobs: own}
	l.asked, l.days = now, all.Longest()
	return l.days, nil
}
