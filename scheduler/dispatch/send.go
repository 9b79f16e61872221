package dispatch

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
)

// send claims and calls. It reports false when there is nothing to record. When
// nothing listens at the address nothing was sent, so another one is tried under
// the same claim.
func (d *Dispatcher) send(ctx context.Context, j *job) (out model.Dispatch, ok bool) {
	id := j.run.ID
	d.inFlight.Store(id, true)
	if _, waited := d.waiting.LoadAndDelete(id); waited {
		j.waited = true
	}
	for again := false; ; again = true {
		claimedAt := d.cfg.Now()
		claimed, err := []bool{true}, error(nil)
		switch ahead := !again && !j.claimedAt.IsZero(); {
		case ahead && claimedAt.Sub(j.claimedAt) <= d.claimLease()/2:
			claimedAt = j.claimedAt
		default: // one that waited for a place is claimed anew: others may have it
			claimed, err = d.claims.Do(ctx, model.Claim{RunID: id, Address: j.address, Again: again || ahead})
		}
		if errors.Is(err, model.ErrBadRow) {
			d.ring.forget(id)
			d.unwritable(ctx, j, err)
			return out, false
		}
		if err != nil {
			d.noteUnsent(j) // before it is forgotten: who claims it anew does so later
		}
		d.ring.forget(id)
		if err != nil {
			d.cfg.Logger.Error("cannot claim a run, it is read again or settled", "log_id", id, "job_id", j.run.JobID, "error", err)
			return out, false
		}
		if !claimed[0] {
			d.cfg.Logger.Info("run is no longer ours to send", "log_id", id, "job_id", j.run.JobID)
			return out, false
		}
		d.forgetUnsent(id) // it was claimed anew; before, the note may be all that is known of the first claim
		started := d.cfg.Now()
		if started.Sub(claimedAt) > d.claimLease() || d.node.SinceBeat(started) > d.cfg.NodeDeadAfter*3/4 {
			d.noteUnsent(j)
			d.cfg.Logger.Warn("claim too old, not sent; the run is put back", "log_id", id, "job_id", j.run.JobID)
			return out, false
		}
		sent := d.callOnce(ctx, j, started)
		if ctx.Err() != nil && sent.State != call.Accepted {
			return out, false // cut short by the stop: what came of it is settled later
		}
		if sent.Unreachable {
			again, wait := d.another(ctx, j)
			if again {
				continue
			}
			if wait && d.unclaim(ctx, j) {
				return out, false
			}
		}
		return d.outcome(ctx, j, sent, started), true
	}
}

// unwritable ends a run that the database does not let us claim.
func (d *Dispatcher) unwritable(ctx context.Context, j *job, err error) {
	d.cfg.Logger.Error("a run cannot be claimed as its row is refused, it is ended", "log_id", j.run.ID, "job_id", j.run.JobID, "address", j.address, "error", err)
	d.record(ctx, model.Dispatch{
		RunID: j.run.ID, Phase: model.PhaseFinished, Code: model.CodeFail, Reason: model.ReasonBadAddress, AtMS: d.cfg.Now().UnixMilli(),
		Note: model.Note{Said: []model.Said{model.Say(model.ReasonBadAddress, "App", j.group.AppName, "Addresses", strings.ToValidUTF8(j.address[:min(len(j.address), 100)], "?"))}},
	})
}

// unsentMax bounds what is remembered of claims whose outcome is not known.
const unsentMax = 20000

// noteUnsent remembers a run whose claim failed or came too late: it may be written
// down as claimed, and this node knows that it was not sent.
func (d *Dispatcher) noteUnsent(j *job) {
	defer d.Unsettled()
	d.unsentMu.Lock()
	defer d.unsentMu.Unlock()
	if len(d.unsent) < unsentMax {
		d.unsent[j.run.ID] = unsentRun{j.run.Address, d.cfg.Now().UnixMilli()}
	}
}

func (d *Dispatcher) forgetUnsent(id int64) {
	d.unsentMu.Lock()
	defer d.unsentMu.Unlock()
	delete(d.unsent, id)
}

// unsentRun is such a run: the addresses it was asked for, and when its claim had
// failed. Who claims it anew does so later and is not disturbed.
type unsentRun struct {
	address  string
	failedMS int64
}

// placeTime is how long one pass puts back.
const placeTime = 4 * time.Second

// lateCommit is how long after its answer was lost a commit may still be written.
const lateCommit = 4 * time.Second

// PutBackUnsent makes such runs planned again. What cannot be put back now, or not in
// a few seconds, is left for the next time.
func (d *Dispatcher) PutBackUnsent(ctx context.Context) error {
	d.unsentMu.Lock()
	list := d.unsent
	d.unsent = map[int64]unsentRun{}
	d.unsentMu.Unlock()
	var err error
	began := d.cfg.Now()
	for id, r := range list {
		if d.cfg.Now().Sub(began) > placeTime {
			break
		}
		back, e := d.store.Unclaim(ctx, d.node.Owner(), id, r.address, r.failedMS, d.cfg.Now())
		if e != nil {
			err = e
			continue
		}
		if !back && d.cfg.Now().UnixMilli()-r.failedMS < lateCommit.Milliseconds() {
			continue // the claim may still be written down
		}
		delete(list, id)
	}
	d.unsentMu.Lock()
	defer d.unsentMu.Unlock()
	for id, r := range list {
		if d.unsent[id].failedMS < r.failedMS {
			d.unsent[id] = r
		}
	}
	return err
}

// unclaim puts a claimed run back that was certainly not sent, now or soon. It
// reports false when the run is not ours any more or not to be made.
func (d *Dispatcher) unclaim(ctx context.Context, j *job) bool {
	back, err := d.store.Unclaim(ctx, d.node.Owner(), j.run.ID, j.run.Address, math.MaxInt64, d.cfg.Now())
	if err != nil {
		d.noteUnsent(j)
		d.cfg.Logger.Error("cannot put a run back, will be tried again", "log_id", j.run.ID, "job_id", j.run.JobID, "error", err)
		return true
	}
	return back
}

func (d *Dispatcher) callOnce(ctx context.Context, j *job, started time.Time) call.Sent {
	call, cancel := context.WithTimeout(ctx, d.cfg.SendTimeout)
	defer cancel()
	sent := d.exec.Run(call, j.address, triggerOf(j))
	now := d.cfg.Now()
	d.slowness.note(now, j.run.JobID, now.Sub(started))
	d.counts.sent(j.run, sent, started, now, j.waited)
	j.note.Route = append(j.note.Route, model.Attempt{
		Address: j.address, Asked: model.AskedRun, Code: sent.Code, Text: sent.Msg, At: started.UnixMilli(), MS: now.Sub(started).Milliseconds(),
	})
	d.calls.note(model.LastCall{
		Address: j.address, AtMS: started.UnixMilli(), Asked: model.AskedRun, Reason: callReason(sent), Code: sent.Code, Text: sent.Msg, TookMS: now.Sub(started).Milliseconds(),
	})
	if sent.Gone {
		d.Gone(j.address, now)
	}
	d.noteHealth(j.address, sent, now)
	return sent
}

// outcome says what is recorded about a call that began at the given moment.
func (d *Dispatcher) outcome(ctx context.Context, j *job, sent call.Sent, started time.Time) model.Dispatch {
	out := model.Dispatch{RunID: j.run.ID, AtMS: d.cfg.Now().UnixMilli(), SentMS: started.UnixMilli()}
	switch sent.State {
	case call.Accepted:
		out.Phase, out.Code, out.Note = model.PhaseAccepted, model.CodeSuccess, j.noted()
	case call.Refused:
		out.Phase, out.Code = model.PhaseFinished, sent.Code
		if out.Code == 0 || out.Code == model.CodeSuccess || out.Code == model.CodeMissed {
			out.Code = model.CodeFail
		}
		switch {
		case sent.Unreachable:
			out.Reason, out.SentMS = model.ReasonUnreached, 0
			out.Note = j.noted(model.Say(model.ReasonUnreached, "Address", j.address, "Text", sent.Msg))
		case sent.WrongToken:
			out.Reason = model.ReasonWrongToken
			out.Note = j.noted(model.Say(model.ReasonWrongToken, "App", j.group.AppName, "Addresses", j.address))
		case d.discarded(ctx, j):
			out.Phase, out.Code, out.Reason = model.PhaseMissed, model.CodeMissed, model.ReasonDiscarded
			out.Note = j.noted(model.Say(model.ReasonDiscarded, "Address", j.address, "Text", sent.Msg))
		default:
			out.Reason = model.ReasonRefused
			out.Note = j.noted(model.Say(model.ReasonRefused, "Address", j.address, "Text", sent.Msg))
			if s := sent.Said; s != nil { // our SDK: in the reader's language
				out.Note = j.noted(model.Say("refused_sdk", "Address", j.address), model.Said{Code: s.Code, Args: s.Args})
			}
		}
	default: // that it was sent must be seen later
		out.Phase, out.Note = model.PhaseUnknown, j.noted(model.Say("unknown", "Address", j.address, "Text", cmp.Or(sent.Msg, "no answer")))
	}
	return out
}

// discarded finds out whether a refusal means that the job is busy there and
// discards later runs. The wire has no code of its own for it, so the executor is
// asked whether it is busy with the job.
func (d *Dispatcher) discarded(ctx context.Context, j *job) bool {
	if j.def.Block != model.BlockDiscard {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.SendTimeout)
	defer cancel()
	idle, err := d.exec.IdleBeat(ctx, j.address, int64(j.run.JobID))
	return err == nil && !idle
}

// record stores an outcome. That an executor took the run may wait a little for
// the result. The rest is written now; while the database is away it is tried
// again, and if the process ends before, the row is "sending" and gets settled.
func (d *Dispatcher) record(ctx context.Context, out model.Dispatch) {
	if out.Phase == model.PhaseAccepted {
		d.accepts.add(out)
		return
	}
	pause := 50 * time.Millisecond
	for {
		_, err := d.records.Do(ctx, out)
		if err == nil || ctx.Err() != nil || errors.Is(err, loop.ErrStopped) {
			return
		}
		if errors.Is(err, model.ErrBadRow) && !out.Note.IsZero() {
			out.Note = model.Note{} // what was said is refused: the outcome counts
			continue
		}
		d.cfg.Logger.Error("cannot record a dispatch, will be tried again", "log_id", out.RunID, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		}
	}
}

func (d *Dispatcher) writeClaims(ctx context.Context, claims []model.Claim) ([]bool, error) {
	got, err := d.store.ClaimRuns(ctx, d.node.Owner(), claims, d.cfg.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(claims))
	for i, c := range claims {
		out[i] = got[c.RunID]
	}
	return out, nil
}

func (d *Dispatcher) writeRecords(ctx context.Context, list []model.Dispatch) ([]struct{}, error) {
	now, owner := d.cfg.Now(), d.node.Owner()
	return make([]struct{}, len(list)), d.store.RecordDispatches(ctx, owner, list, now, rule.Follower(now, owner))
}
