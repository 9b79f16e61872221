// Package settle finds out what became of runs after they were sent: those without a
// clear answer, and those whose executor has lost them.
package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
)

// settleAfter is how long a run without a clear answer is left alone: its
// callback may be on the way.
const settleAfter = 2 * time.Second

// sendingStale is when a claimed run that nobody is sending any more becomes unknown.
const sendingStale = 15 * time.Second

// Store is what settling needs from the database.
type Store interface {
	UnknownRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int, latest bool) ([]model.Run, error)
	SendingRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int) ([]model.Run, error)
	Replan(ctx context.Context, owner string, id int64, now time.Time) (bool, error)
	RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error
	CloseElsewhere(ctx context.Context, ids []int64, now time.Time) error
	AcceptedRuns(ctx context.Context, plannedBeforeMS, afterID int64, limit int) ([]model.Run, error)
	Registrations(ctx context.Context) ([]model.Registration, error)
}

// Settler finds out about runs whose sending had no clear answer. Unknown is
// not failed: the executor is asked, and a run is rung again only when the
// executor provably never had it.
type Settler struct {
	Store    Store
	Exec     call.Executor
	Cfg      config.Config
	Owner    func() string
	InFlight func(runID int64) bool
	Nudge    func()
	Unsent   func(ctx context.Context) error // puts back what was claimed and certainly not sent; may be nil
}

// ArrivalGrace is how long an executor may take to pick up what it was sent: only
// then "idle and no log" means that it never had the run.
const ArrivalGrace = 3 * time.Second

// seemsGone reports whether a run that its executor does not have was sent long
// enough ago. A run without a word about its sending was left by a node that is
// gone; of the others the call itself took its time.
func (s *Settler) seemsGone(r *model.Run, now time.Time) bool {
	grace := ArrivalGrace
	if r.TriggerMsg != "" {
		grace += s.Cfg.SendTimeout
	}
	return now.Sub(sentAt(r)) >= grace
}

// Settle looks at all open questions once.
func (s *Settler) Settle(ctx context.Context, now time.Time) error {
	var failed error
	if s.Unsent != nil {
		if err := s.Unsent(ctx); err != nil {
			failed = fmt.Errorf("claimed and not sent: %w", err)
		}
	}
	return errors.Join(failed, s.settleAll(ctx, now)) // one locked row stops nothing else
}

func (s *Settler) settleAll(ctx context.Context, now time.Time) error {
	owner := s.Owner()
	stale, err := s.Store.SendingRuns(ctx, owner, now.Add(-sendingStale).UnixMilli(), 500)
	if err != nil {
		return fmt.Errorf("claimed runs: %w", err)
	}
	if stale, err = openOnly(ctx, s.Store, stale, now); err != nil {
		return err
	}
	var lost []model.Dispatch
	for _, r := range stale {
		if !s.InFlight(r.ID) {
			lost = append(lost, model.Dispatch{RunID: r.ID, Phase: model.PhaseUnknown, AtMS: now.UnixMilli(), Note: withRing(r)})
		}
	}
	if len(lost) > 0 {
		if err := s.Store.RecordDispatches(ctx, owner, lost, now, nil); err != nil {
			return err
		}
	}
	runs, err := s.Store.UnknownRuns(ctx, owner, now.Add(-settleAfter).UnixMilli(), maxUnknown, false)
	if err != nil {
		return fmt.Errorf("unknown runs: %w", err)
	}
	if len(runs) >= maxUnknown { // the newest, too: the oldest may all be at one executor
		newest, err := s.Store.UnknownRuns(ctx, owner, now.Add(-settleAfter).UnixMilli(), maxUnknown, true)
		if err != nil {
			return fmt.Errorf("unknown runs: %w", err)
		}
		seen := make(map[int64]bool, len(runs))
		for i := range runs {
			seen[runs[i].ID] = true
		}
		runs = append(runs, slices.DeleteFunc(newest, func(r model.Run) bool { return seen[r.ID] })...)
	}
	if runs, err = openOnly(ctx, s.Store, runs, now); err != nil {
		return err
	}
	// One executor after the other and each for itself: one that hangs costs one
	// question, not one for each of its runs.
	places := map[string][]model.Run{}
	for _, r := range runs {
		places[r.Address] = append(places[r.Address], r)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Cfg.ProbeParallel)
	for _, list := range places {
		g.Go(func() error {
			silent := false
			began := s.Cfg.Now()
			// In no order: when the time is over, others have their turn in the next pass.
			rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, r := range list {
				if s.Cfg.Now().Sub(began) > placeTime {
					return nil
				}
				if err := s.settleOne(gctx, now, owner, r, &silent); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// openOnly ends the runs among the given ones whose result another center on this
// database took, and leaves the others.
func openOnly(ctx context.Context, st Store, runs []model.Run, now time.Time) ([]model.Run, error) {
	var closed []int64
	open := runs[:0]
	for _, r := range runs {
		if r.HandleCode != 0 {
			closed = append(closed, r.ID)
		} else {
			open = append(open, r)
		}
	}
	if len(closed) == 0 {
		return open, nil
	}
	if err := st.CloseElsewhere(ctx, closed, now); err != nil {
		return nil, fmt.Errorf("runs that another center closed: %w", err)
	}
	return open, nil
}

// placeTime is how long one pass asks one executor: a slow one must not hold up
// what is known of others.
const placeTime = 4 * time.Second

// maxUnknown is how many unknown runs one pass looks at.
const maxUnknown = 5000

// settleOne asks about one run. silent is set when the executor does not answer:
// it is not asked again in this pass.
func (s *Settler) settleOne(ctx context.Context, now time.Time, owner string, r model.Run, silent *bool) error {
	verdict, msg := cannotTell, silentThere
	if !*silent {
		verdict, msg = s.ask(ctx, r)
		*silent = verdict == noAnswer
	}
	if verdict == noAnswer {
		verdict = cannotTell
	}
	if verdict == nobodyThere {
		// A process that ends has lost the run; one that starts anew may still have its log.
		if verdict = cannotTell; now.Sub(sentAt(&r)) > goneAfter {
			verdict = goneForGood
		}
	}
	d := model.Dispatch{RunID: r.ID, AtMS: now.UnixMilli()}
	ended := func(reason, code string, kv ...any) {
		d.Phase, d.Code, d.Reason = model.PhaseFinished, model.CodeFail, reason
		d.Note = model.Note{Route: r.Note.Route, Said: []model.Said{model.Say(code, append([]any{"Address", r.Address, "Text", msg}, kv...)...)}}
	}
	if rings := r.Note.Rings(); verdict == neverHadIt && (rings >= maxRings || rings > 0 && now.Sub(firstRing(&r)) > s.Cfg.LostAfter) {
		verdict = inVain
	}
	switch verdict {
	case hasIt:
		d.Phase, d.Code = model.PhaseAccepted, model.CodeSuccess
		d.Note = model.Note{Route: r.Note.Route, Said: []model.Said{model.Say("settled")}}
	case neverHadIt:
		if !s.seemsGone(&r, now) {
			return nil // it may be on its way into the executor's queue
		}
		back, err := s.Store.Replan(ctx, owner, r.ID, now)
		if err != nil && ctx.Err() == nil {
			s.Cfg.Logger.Error("cannot put a run back, it is asked about again", "log_id", r.ID, "job_id", r.JobID, "error", err)
			return nil
		}
		if back {
			s.Cfg.Logger.Info("run never reached its executor, it is rung again", "log_id", r.ID, "job_id", r.JobID, "address", r.Address)
			s.Nudge()
		}
		return err
	case goneForGood:
		ended(model.ReasonLost, "lost_gone")
	case inVain:
		if !s.seemsGone(&r, now) {
			return nil
		}
		ended(model.ReasonLost, "lost_in_vain", "Count", r.Note.Rings())
		s.Cfg.Logger.Warn("run is given up: its executor answers no call and shows no trace of it", "log_id", r.ID, "job_id", r.JobID,
			"address", r.Address, "rings", r.Note.Rings())
	default:
		if now.Sub(sentAt(&r)) < s.Cfg.LostAfter {
			return nil // asked again at the next tick
		}
		switch msg {
		case silentThere:
			ended(model.ReasonLost, "lost_unasked")
		case busyThere:
			ended(model.ReasonLost, "lost_busy")
		default:
			ended(model.ReasonLost, "lost_unknown")
		}
	}
	s.Cfg.Logger.Info("run settled", "log_id", r.ID, "job_id", r.JobID, "phase", int(d.Phase), "why", model.PlainWords(d.Note.Said...))
	return s.Store.RecordDispatches(ctx, owner, []model.Dispatch{d}, now, rule.Follower(now, owner))
}

// sentAt is when the run was claimed for sending, or its instant when that is not known.
func sentAt(r *model.Run) time.Time { return time.UnixMilli(cmp.Or(r.SentMS, r.PlannedMS)) }

// What asking said, beside the texts of errors.
const (
	silentThere = "the executor does not answer"
	busyThere   = "the executor is busy with this job, maybe with an earlier run"
)

type verdict int

const (
	cannotTell verdict = iota
	hasIt
	neverHadIt
	nobodyThere
	goneForGood
	noAnswer
	inVain
)

// maxRings is how often a run is rung whose executor neither answers the call nor shows
// a trace of the run: each time it may have been made.
const maxRings = 3

// firstRing is when the run was sent for the first time.
func firstRing(r *model.Run) time.Time {
	for _, a := range r.Note.Route {
		if a.Asked == model.AskedRun && a.At > 0 {
			return time.UnixMilli(a.At)
		}
	}
	return sentAt(r)
}

// withRing is the note of a claimed run whose call left no word.
func withRing(r model.Run) model.Note {
	return model.Note{
		Said:  []model.Said{model.Say("not_recorded")},
		Route: append(slices.Clone(r.Note.Route), model.Attempt{Address: r.Address, Asked: model.AskedRun, At: r.SentMS}),
	}
}

// goneAfter is how long an executor may be away before its runs are given up.
const goneAfter = time.Minute

// ask finds out whether the executor has the run: the Go SDK says so, of others the log
// does. Idle without a log of this run means that it never arrived; busy without one
// means wait, for it may be queued there.
func (s *Settler) ask(ctx context.Context, r model.Run) (verdict, string) {
	if r.Address == "" {
		return neverHadIt, "no address was chosen"
	}
	ctx, cancel := context.WithTimeout(ctx, s.Cfg.SendTimeout)
	defer cancel()
	// Idle is asked first: a run that ends in between leaves its log.
	idle, err := s.Exec.IdleBeat(ctx, r.Address, int64(r.JobID))
	if errors.Is(err, call.ErrGone) {
		return nobodyThere, err.Error()
	}
	if err != nil {
		return noAnswer, err.Error()
	}
	at := r.TriggerTime.UnixMilli()
	res, err := s.Exec.Log(ctx, r.Address, protocol.LogRequest{LogID: r.ID, LogDateTim: at, LogDateTime: at, FromLineNum: 1})
	switch {
	case err != nil:
		return noAnswer, err.Error()
	case res.ToLineNum > 0, res.Known != nil && *res.Known:
		return hasIt, ""
	case res.Known != nil:
		return neverHadIt, ""
	case !idle:
		return cannotTell, busyThere
	}
	return neverHadIt, ""
}
