package scheduler

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/call"
)

// memory is a Store in memory for what must fail on command. What the SQL does
// is tested in package store.
type memory struct {
	mu     sync.Mutex
	runs   map[int64]*model.Run
	jobs   map[int]model.Job
	groups map[int]model.Group
	regs   []model.Registration
	broken atomic.Bool // everything fails
	taken  bool        // another process took the name
	miss   []int64
	left   atomic.Bool
	picks  []model.Pick
	told   []model.LastCall
}

func newMemory() *memory {
	return &memory{
		runs:   map[int64]*model.Run{},
		jobs:   map[int]model.Job{1: {ID: 1, GroupID: 1, Handler: "h", GlueType: model.GlueBean, Route: model.RouteFirst}},
		groups: map[int]model.Group{1: {ID: 1, AppName: "app", AddressList: "http://a/"}},
	}
}

func (m *memory) err() error {
	if m.broken.Load() {
		return errors.New("no database")
	}
	return nil
}

func (m *memory) put(r model.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[r.ID] = &r
}

func (m *memory) get(id int64) model.Run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.runs[id]
}

func (m *memory) EnsureLock(context.Context) error { return m.err() }

func (m *memory) PlanDue(context.Context, int64, int, time.Time, func([]model.Job, map[int]model.Group) []model.JobPlan) (int, int, error) {
	return 0, 0, m.err()
}
func (m *memory) LockedJobs(context.Context, int64, int, time.Time) ([]int, error) {
	return nil, m.err()
}
func (m *memory) LastPlanMS(context.Context) (int64, error)            { return 0, m.err() }
func (m *memory) NotePlan(context.Context, string, int64, int64) error { return m.err() }
func (m *memory) JoinNode(context.Context, string, string, string, int64) (int64, error) {
	return 1, m.err()
}
func (m *memory) Beat(context.Context, model.Node) (bool, error)                  { return !m.taken, m.err() }
func (m *memory) CountDue(context.Context, string, int64) (int, int64, error)     { return 0, 0, nil }
func (m *memory) LeaveNode(context.Context, string, int64) error                  { m.left.Store(true); return nil }
func (m *memory) LiveNodes(context.Context, int64) ([]model.Node, error)          { return nil, m.err() }
func (m *memory) Registrations(context.Context) ([]model.Registration, error)     { return m.regs, nil }
func (m *memory) HandOver(context.Context, string, []string) (int, error)         { return 0, nil }
func (m *memory) JobsOfNewRuns(context.Context, int64, int) ([]int, int64, error) { return nil, 0, nil }
func (m *memory) JobsOfOpenRuns(context.Context, int) ([]int, error)              { return nil, nil }
func (m *memory) JobsAfter(context.Context, int, int) ([]int, error)              { return nil, nil }
func (m *memory) CountJobStats(context.Context, []int, time.Time) error           { return nil }

func (m *memory) SweepRegistry(context.Context, time.Time, time.Time) (int, error) { return 0, nil }
func (m *memory) ForgetAddresses(context.Context, int64) error                     { return nil }
func (m *memory) NoteCalls(_ context.Context, list []model.LastCall) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, list...)
	return m.err()
}

func (m *memory) calls() []model.LastCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.told)
}

func (m *memory) DeleteAuditBefore(context.Context, time.Time, int) (int, error) { return 0, nil }
func (m *memory) RetentionState(context.Context) (model.RetentionState, error) {
	return model.RetentionState{}, m.err()
}
func (m *memory) NoteRetention(context.Context, model.RetentionState) error       { return m.err() }
func (m *memory) AddRemoved(context.Context, time.Time, model.RetentionDay) error { return m.err() }
func (m *memory) KeepOfJobs(context.Context) (map[int]model.Keep, error)          { return nil, m.err() }
func (m *memory) HeldRuns(context.Context) (map[int64]bool, error)                { return nil, m.err() }
func (m *memory) ForgetJobs(context.Context, time.Time) error                     { return m.err() }
func (m *memory) ForgetRetentionDays(context.Context, time.Time) error            { return m.err() }
func (m *memory) RetireRuns(context.Context, model.RunCursor, time.Time, model.Retention, map[int64]bool, time.Time, int) (model.Bite, error) {
	return model.Bite{End: true}, m.err()
}
func (m *memory) AddShards(context.Context, *model.Run, int, time.Time) (bool, error) {
	return true, m.err()
}

func (m *memory) JobsByID(context.Context, []int) (map[int]model.Job, error) { return m.jobs, m.err() }
func (m *memory) Definitions(context.Context, []int) (map[int]*model.Definition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[int]*model.Definition{}
	for id, j := range m.jobs {
		out[id] = &model.Definition{
			ID: j.ID, GroupID: j.GroupID, Route: j.Route, Handler: j.Handler, Param: j.Param, Block: j.Block, TimeoutSec: j.TimeoutSec,
			GlueType: j.GlueType, GlueSource: j.GlueSource, GlueUpdateTime: j.GlueUpdateTime,
		}
	}
	return out, m.err()
}
func (m *memory) AddPicks(_ context.Context, picks, _ []model.Pick) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.picks = append(m.picks, picks...)
	return m.err()
}
func (m *memory) Picks(context.Context, []int) ([]model.Pick, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.picks, m.err()
}
func (m *memory) NoteWaiting(_ context.Context, _ string, id int64, note model.Note) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[id].Phase != model.PhasePlanned {
		return false, m.err()
	}
	m.runs[id].Note = note
	return true, m.err()
}
func (m *memory) GroupsByID(context.Context, []int) (map[int]model.Group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.groups), m.err()
}

func (m *memory) inPhase(p model.RunPhase) (out []model.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.Phase == p {
			out = append(out, *r)
		}
	}
	return out
}

func (m *memory) PlannedIDs(_ context.Context, _ string, afterMS, untilMS int64, limit int, latest bool) (ids []int64, err error) {
	list := m.inPhase(model.PhasePlanned)
	slices.SortFunc(list, func(a, b model.Run) int {
		if latest {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.PlannedMS, b.PlannedMS), cmp.Compare(a.ID, b.ID))
	})
	for _, r := range list {
		if len(ids) >= limit {
			break
		}
		if r.PlannedMS > afterMS && r.PlannedMS <= untilMS {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}
func (m *memory) CloseElsewhere(_ context.Context, ids []int64, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		m.runs[id].Phase = model.PhaseFinished
	}
	return m.err()
}
func (m *memory) RunsByID(_ context.Context, ids []int64) (out []model.Run, err error) {
	for _, id := range ids {
		out = append(out, m.get(id))
	}
	return out, nil
}
func (m *memory) UnknownRuns(_ context.Context, _ string, before int64, _ int, _ bool) ([]model.Run, error) {
	return slices.DeleteFunc(m.inPhase(model.PhaseUnknown), func(r model.Run) bool { return r.SentMS >= before }), nil
}
func (m *memory) SendingRuns(_ context.Context, _ string, before int64, _ int) ([]model.Run, error) {
	return slices.DeleteFunc(m.inPhase(model.PhaseSending), func(r model.Run) bool { return cmp.Or(r.SentMS, r.PlannedMS) >= before }), nil
}
func (m *memory) AcceptedRuns(context.Context, int64, int64, int) ([]model.Run, error) {
	return m.inPhase(model.PhaseAccepted), nil
}
func (m *memory) OrphanedRuns(context.Context, []string, int64, int) ([]model.Run, error) {
	return nil, m.err()
}
func (m *memory) AdoptRuns(context.Context, []string, []string, int) (int, int, error) {
	return 0, 0, m.err()
}

func (m *memory) PutBackAhead(context.Context, []string, int) (int, error) { return 0, m.err() }
func (m *memory) ConfirmAhead(_ context.Context, owner string, _ int64, ids []int64) (out []int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if r := m.runs[id]; r.Phase == model.PhaseSending && r.Owner == owner && r.SentMS == 0 {
			out = append(out, id)
		}
	}
	return out, m.err()
}
func (m *memory) GiveBack(_ context.Context, _ string, ids []int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		m.runs[id].Phase = model.PhasePlanned
	}
	return m.err()
}

func (m *memory) Unclaim(_ context.Context, _ string, id int64, _ string, before int64, _ time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[id].Phase != model.PhaseSending || m.runs[id].SentMS >= before {
		return false, nil
	}
	m.runs[id].Phase, m.runs[id].Address = model.PhasePlanned, ""
	return true, nil
}

func (m *memory) Replan(_ context.Context, _ string, id int64, _ time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[id].Phase, m.runs[id].TriggerMsg = model.PhasePlanned, ""
	return true, nil
}

func (m *memory) ClaimRuns(_ context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	got := map[int64]bool{}
	for _, c := range claims {
		if r := m.runs[c.RunID]; r.Phase == model.PhasePlanned || r.Phase == model.PhaseSending && (c.Again || r.SentMS == 0) {
			r.Phase, r.Address, r.Owner = model.PhaseSending, c.Address, owner
			if !c.Ahead {
				r.SentMS = nowMS
			}
			got[c.RunID] = true
		}
	}
	return got, m.err()
}

func (m *memory) RecordDispatches(_ context.Context, _ string, list []model.Dispatch, _ time.Time, _ model.Follow) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.err(); err != nil {
		return err
	}
	for _, d := range list {
		r := m.runs[d.RunID]
		if d.Phase == model.PhaseMissed {
			m.miss = append(m.miss, d.RunID)
		}
		r.Phase, r.TriggerCode, r.Note, r.Reason = d.Phase, d.Code, d.Note, d.Reason
		r.TriggerMsg = model.PlainWords(d.Note.Said...)
		r.SentMS = cmp.Or(d.SentMS, r.SentMS)
	}
	return nil
}

func (m *memory) StoreHandled(_ context.Context, list []model.Handled, _ time.Time, _ model.Follow) ([]model.HandledStatus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]model.HandledStatus, len(list))
	for i, h := range list {
		if r := m.runs[h.RunID]; r != nil {
			r.Phase, r.HandleCode, r.HandleMsg, r.Reason = model.PhaseFinished, h.Code, h.Msg, h.Reason
			out[i] = model.HandledStored
		}
	}
	return out, m.err()
}

// fakeExec is an executor that behaves as told.
type fakeExec struct {
	mu      sync.Mutex
	sent    call.Sent
	hang    bool // until the context ends
	idle    bool
	idleErr error
	lines   int
	known   *bool
	logErr  error
	rings   []int64
}

func (f *fakeExec) Run(ctx context.Context, _ string, t protocol.Trigger) call.Sent {
	f.mu.Lock()
	f.rings = append(f.rings, t.LogID)
	sent, hang := f.sent, f.hang
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return call.Sent{State: call.Unknown, Msg: ctx.Err().Error()}
	}
	return sent
}

func (f *fakeExec) Beat(context.Context, string) error { return errors.New("no beat") }

func (f *fakeExec) GlobalIdleBeat(context.Context, string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.idle, f.idleErr
}

func (f *fakeExec) IdleBeat(ctx context.Context, addr string, _ int64) (bool, error) {
	return f.GlobalIdleBeat(ctx, addr)
}

func (f *fakeExec) Log(context.Context, string, protocol.LogRequest) (protocol.LogResult, error) {
	return protocol.LogResult{FromLineNum: 1, ToLineNum: f.lines, Known: f.known}, f.logErr
}

func (m *memory) RemoveIncidents(context.Context, time.Time, int) (int, error) { return 0, nil }
