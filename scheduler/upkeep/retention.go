package upkeep

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
)

// RetentionStore is what removing needs from the database.
type RetentionStore interface {
	RetentionState(ctx context.Context) (model.RetentionState, error)
	NoteRetention(ctx context.Context, s model.RetentionState) error
	AddRemoved(ctx context.Context, now time.Time, d model.RetentionDay) error
	KeepOfJobs(ctx context.Context) (map[int]model.Keep, error)
	HeldRuns(ctx context.Context) (map[int64]bool, error)
	RetireRuns(ctx context.Context, after model.RunCursor, before time.Time, p model.Retention, held map[int64]bool, now time.Time, most int) (model.Bite, error)
	DeleteAuditBefore(ctx context.Context, cutoff time.Time, limit int) (int, error)
	RemoveIncidents(ctx context.Context, cutoff time.Time, limit int) (int, error)
	ForgetJobs(ctx context.Context, before time.Time) error
	ForgetAddresses(ctx context.Context, beforeMS int64) error
	ForgetRetentionDays(ctx context.Context, before time.Time) error
}

const (
	// RetentionTick is how often the leader looks whether something is to be removed.
	RetentionTick = 10 * time.Second
	// sliceTime is how long it removes before it writes down how far it is.
	sliceTime = 8 * time.Second
	// biteTime is what one bite should take; its size follows.
	biteTime = 15 * time.Millisecond
	// restFor is for how many times as long as a bite took the database rests, restLate for
	// a pass that has taken longer than tooLong: else it would never end.
	restFor, restLate = 2, 1
	tooLong           = 12 * time.Hour
	// leastRest is the pause after the shortest bite, busyRest that of a node that has to catch up.
	leastRest = 20 * time.Millisecond
	busyRest  = time.Second
	// Schedules fire on whole seconds. Bites begin between these two of each second.
	quietUntil = 300 * time.Millisecond
	quietFrom  = 900 * time.Millisecond

	leastBite, firstBite = 20, 100

	// fullSweep is after how long all runs are looked at again, not only those that have
	// come of age: some were held when their day came.
	fullSweep = 7 * 24 * time.Hour
	// overlap is how far a sweep begins before where the last one ended.
	overlap = 24 * time.Hour
	// daysKept is for how long it is known what was removed.
	daysKept = 400
)

// Retention removes what is old, in small bites and slices of a few seconds. One node does
// it; what it knows of its pass is lost with it, and the next one begins anew.
type Retention struct {
	Store RetentionStore
	Cfg   config.Config
	Leads func() bool
	Busy  func() bool // more is due than this node can send

	pass  *pass
	size  int // of the next bite
	swept swept

	mu    sync.Mutex
	stats RetentionStats
}

// RetentionStats is what this node removed since its start.
type RetentionStats struct {
	Succeeded, Failed, Missed int64 // runs
	Incidents, AuditLines     int64
	Busy                      time.Duration // that bites took
	Passes                    int64
	Finished                  time.Time // zero = this node has finished none
	Behind                    time.Duration
}

// pass is one way through all that is old.
type pass struct {
	state  model.RetentionState
	p      model.Retention
	held   map[int64]bool
	spans  []span
	at     model.RunCursor
	step   int // the span, then what comes behind the runs
	now    time.Time
	full   bool
	busy   time.Duration
	cutoff time.Time // of audit and incidents; zero = they stay
}

// span is a period of trigger times in which runs have come of age.
type span struct{ from, to time.Time }

// swept is what the last pass that ended has been through.
type swept struct {
	p     model.Retention
	ended time.Time // as of which day
	full  time.Time // when all runs were looked at
}

// Tick removes for some seconds when something is to be removed.
func (r *Retention) Tick(ctx context.Context, now time.Time) error {
	if !r.Leads() {
		r.pass = nil
		return nil
	}
	st, err := r.Store.RetentionState(ctx)
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	if !st.Due(now) {
		r.pass = nil
		return nil
	}
	if r.pass == nil || max(st.AskedMS, st.ChangedMS) > r.pass.state.BeganMS {
		if err := r.begin(ctx, st, now); err != nil {
			return fmt.Errorf("retention: %w", err)
		}
	}
	day := model.RetentionDay{}
	done, err := r.slice(ctx, r.pass, &day)
	return r.note(ctx, done, day, err)
}

// begin prepares a pass.
func (r *Retention) begin(ctx context.Context, st model.RetentionState, now time.Time) error {
	all := model.KeepDaysOf(r.Cfg.RetentionDays)
	x := &pass{now: now.In(r.Cfg.Location), p: model.Retention{Keep: st.Own.Or(model.Keep{Succeeded: all, Failed: all})}}
	var err error
	if x.p.Jobs, err = r.Store.KeepOfJobs(ctx); err != nil {
		return err
	}
	if x.held, err = r.Store.HeldRuns(ctx); err != nil {
		return err
	}
	asked := max(st.AskedMS, st.ChangedMS) > st.BeganMS
	x.full = asked || r.swept.full.IsZero() || now.Sub(r.swept.full) >= fullSweep || now.Before(r.swept.ended) || !reflect.DeepEqual(r.swept.p, x.p)
	x.spans = spansOf(x.p, x.now, r.swept.ended.In(r.Cfg.Location), x.full)
	x.cutoff = x.p.Keep.Longest().Cutoff(x.now)
	x.state = model.RetentionState{BeganMS: max(now.UnixMilli(), st.AskedMS, st.ChangedMS), FinishedMS: min(st.FinishedMS, now.UnixMilli()-1), SeenMS: now.UnixMilli()}
	r.pass = x
	return r.Store.NoteRetention(ctx, x.state)
}

// spansOf lists the periods in which runs may have come of age since a pass of another day.
// Within them every run is judged by all that counts for it.
func spansOf(p model.Retention, now, last time.Time, full bool) []span {
	days := p.Days()
	if len(days) == 0 {
		return nil
	}
	if full {
		return []span{{to: days[0].Cutoff(now)}}
	}
	var out []span
	for i := len(days) - 1; i >= 0; i-- { // the oldest first
		s := span{days[i].Cutoff(last), days[i].Cutoff(now)}
		if !s.from.Before(s.to) {
			continue
		}
		s.from = s.from.Add(-overlap)
		if n := len(out); n > 0 && !s.from.After(out[n-1].to) {
			out[n-1].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// slice goes on with a pass until its time is up and reports whether it came to the end.
func (r *Retention) slice(ctx context.Context, x *pass, day *model.RetentionDay) (done bool, err error) {
	until := r.Cfg.Now().Add(sliceTime)
	for r.Leads() {
		if err := r.wait(ctx); err != nil {
			return false, err
		}
		began := r.Cfg.Now()
		end, err := r.bite(ctx, x, day)
		took := r.Cfg.Now().Sub(began)
		x.busy += took
		day.BusyMS = x.busy.Milliseconds() - x.state.BusyMS
		r.sized(took)
		if err != nil || end {
			return end, err
		}
		rest := max(leastRest, restFor*took)
		if began.Sub(x.now) > tooLong {
			rest = max(leastRest, restLate*took)
		}
		if r.Busy != nil && r.Busy() {
			rest = max(rest, busyRest)
		}
		if r.Cfg.Now().Add(rest).After(until) {
			return false, nil
		}
		if err := pause(ctx, rest); err != nil {
			return false, err
		}
	}
	return false, nil
}

// wait keeps bites away from whole seconds: schedules fire then.
func (r *Retention) wait(ctx context.Context) error {
	now := r.Cfg.Now()
	into := now.Sub(now.Truncate(time.Second))
	switch {
	case into < quietUntil:
		return pause(ctx, quietUntil-into)
	case into > quietFrom:
		return pause(ctx, time.Second-into+quietUntil)
	}
	return ctx.Err()
}

// sized makes the next bite as large as its time allows.
func (r *Retention) sized(took time.Duration) {
	switch {
	case took > 2*biteTime:
		r.size /= 2
	case took > biteTime:
		r.size = r.size * 3 / 4
	case took < biteTime/2:
		r.size += r.size / 4
	}
	r.size = min(max(r.size, leastBite), r.Cfg.RetentionBatch)
}

// bite does one step of a pass.
func (r *Retention) bite(ctx context.Context, x *pass, day *model.RetentionDay) (end bool, err error) {
	if r.size == 0 {
		r.size = min(firstBite, r.Cfg.RetentionBatch)
	}
	if x.step < len(x.spans) {
		s := x.spans[x.step]
		if x.at.At.Before(s.from) {
			x.at = model.RunCursor{At: s.from.Add(-time.Second)}
		}
		x.state.TargetMS = s.to.UnixMilli()
		b, err := r.Store.RetireRuns(ctx, x.at, s.to, x.p, x.held, x.now, r.size)
		if err != nil {
			return false, err
		}
		x.state.Removed += int64(b.Removed())
		if x.at = b.Next; b.Looked > 0 {
			x.state.ReachedMS = x.at.At.UnixMilli()
			if x.state.OriginMS == 0 {
				x.state.OriginMS = x.state.ReachedMS
			}
		}
		day.Succeeded, day.Failed, day.Missed = day.Succeeded+int64(b.Succeeded), day.Failed+int64(b.Failed), day.Missed+int64(b.Missed)
		if b.End {
			x.step++
		}
		return false, nil
	}
	switch x.step - len(x.spans) {
	case 0:
		n := r.size
		if !x.cutoff.IsZero() {
			if n, err = r.Store.RemoveIncidents(ctx, x.cutoff, r.size); err != nil {
				return false, err
			}
			day.Incidents += int64(n)
		}
		return false, x.next(n < r.size || x.cutoff.IsZero())
	case 1:
		n := r.size
		if !x.cutoff.IsZero() {
			if n, err = r.Store.DeleteAuditBefore(ctx, x.cutoff, r.size); err != nil {
				return false, err
			}
			day.AuditLines += int64(n)
		}
		return false, x.next(n < r.size || x.cutoff.IsZero())
	}
	if err := r.Store.ForgetAddresses(ctx, x.now.Add(-addressesKept).UnixMilli()); err != nil {
		return false, err
	}
	if !x.cutoff.IsZero() { // the days of a job went with the job
		if err := r.Store.ForgetJobs(ctx, x.cutoff); err != nil {
			return false, err
		}
	}
	return true, r.Store.ForgetRetentionDays(ctx, x.now.AddDate(0, 0, -daysKept))
}

// next goes on to the next step when this one has come to its end.
func (x *pass) next(end bool) error {
	if end {
		x.step++
	}
	return nil
}

// note writes down what a slice did, also when it ended with an error.
func (r *Retention) note(ctx context.Context, done bool, day model.RetentionDay, failed error) error {
	x, now := r.pass, r.Cfg.Now()
	x.state.SeenMS, x.state.Failed = now.UnixMilli(), ""
	x.state.BusyMS += day.BusyMS
	r.count(day, x, done, now)
	if failed != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.state.Failed = failed.Error()
	}
	if done {
		day.Passes = 1
		x.state.FinishedMS, x.state.OriginMS, x.state.ReachedMS, x.state.TargetMS = max(now.UnixMilli(), x.state.BeganMS), 0, 0, 0
	}
	// The runs of the slice were counted with each bite.
	day.Succeeded, day.Failed, day.Missed = 0, 0, 0
	err := r.Store.AddRemoved(ctx, now, day)
	if err == nil {
		err = r.Store.NoteRetention(ctx, x.state)
	}
	if failed != nil {
		return fmt.Errorf("retention: %w", failed)
	}
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	if done {
		if x.state.Removed > 0 {
			r.Cfg.Logger.Info("old runs removed", "count", x.state.Removed, "busy", time.Duration(x.state.BusyMS)*time.Millisecond)
		}
		r.swept.p, r.swept.ended = x.p, x.now
		if x.full {
			r.swept.full = x.now
		}
		r.pass = nil
	}
	return nil
}

func (r *Retention) count(day model.RetentionDay, x *pass, done bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.stats
	s.Succeeded, s.Failed, s.Missed = s.Succeeded+day.Succeeded, s.Failed+day.Failed, s.Missed+day.Missed
	s.Incidents, s.AuditLines = s.Incidents+day.Incidents, s.AuditLines+day.AuditLines
	s.Busy += time.Duration(day.BusyMS) * time.Millisecond
	s.Behind = 0
	if done {
		s.Passes++
		s.Finished = now
	} else if x.state.ReachedMS > 0 {
		s.Behind = time.Duration(max(0, x.state.TargetMS-x.state.ReachedMS)) * time.Millisecond
	}
}

// Stats tells what this node removed.
func (r *Retention) Stats() RetentionStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
