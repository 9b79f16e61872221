package scheduler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/scheduler/settle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func small() Config {
	return Config{NodeName: "n", FastWorkers: 4, SlowWorkers: 2, Location: time.UTC}
}

func planned(id int64) model.Run {
	return model.Run{ID: id, JobID: 1, GroupID: 1, Phase: model.PhasePlanned, PlannedMS: time.Now().UnixMilli(), TriggerType: model.TriggerCron, TriggerTime: time.Now()}
}

func TestStartAndStopInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newMemory(), &fakeExec{}, small())
		s.Close(t.Context()) // before the start
		require.Error(t, s.Ready())
		for range 20 {
			require.NoError(t, s.Start(t.Context()))
			require.Error(t, s.Start(t.Context()), "twice")
			s.StopScheduling(t.Context())
			s.StopScheduling(t.Context())
			s.Close(t.Context())
			s.Close(t.Context())
			s = New(newMemory(), &fakeExec{}, small())
		}
		m := newMemory()
		m.broken.Store(true)
		require.Error(t, New(m, &fakeExec{}, small()).Start(t.Context()))
	})
}

func TestReadyFollowsTheLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := New(m, &fakeExec{}, small())
		require.NoError(t, s.Start(t.Context()))
		time.Sleep(2 * time.Second)
		require.NoError(t, s.Ready())
		m.broken.Store(true)
		time.Sleep(15 * time.Second)
		require.ErrorContains(t, s.Ready(), "plan")
		m.broken.Store(false)
		time.Sleep(3 * time.Second)
		require.NoError(t, s.Ready(), "the loops go on by themselves")
		s.Close(t.Context())
		require.True(t, m.left.Load())
	})
}

func TestTakenNameIsFatal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.taken = true
		s := New(m, &fakeExec{}, small())
		require.NoError(t, s.Start(t.Context()))
		require.ErrorContains(t, <-s.Fatal(), "--node-name")
		s.Close(t.Context())
	})
}

func TestThreeOutcomesOfRinging(t *testing.T) {
	for name, tc := range map[string]struct {
		exec   *fakeExec
		phase  model.RunPhase
		code   int
		reason string
	}{
		"accepted":    {&fakeExec{sent: call.Sent{State: call.Accepted}}, model.PhaseAccepted, 200, ""},
		"refused":     {&fakeExec{sent: call.Sent{State: call.Refused, Code: 401, Msg: "no"}}, model.PhaseFinished, 401, model.ReasonRefused},
		"unreachable": {&fakeExec{sent: call.Sent{State: call.Refused, Unreachable: true}}, model.PhaseFinished, 500, model.ReasonUnreached},
		// busy afterwards: it may have it, so it is neither failed nor rung again
		"time-out": {&fakeExec{hang: true}, model.PhaseUnknown, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.put(planned(1))
				s := New(m, tc.exec, small())
				require.NoError(t, s.Start(t.Context()))
				time.Sleep(20 * time.Second)
				s.Close(t.Context())
				r := m.get(1)
				require.Equal(t, tc.phase, r.Phase)
				require.Equal(t, tc.code, r.TriggerCode)
				require.Equal(t, tc.reason, r.Reason)
				require.Equal(t, []int64{1}, tc.exec.rings, "rung once")
			})
		})
	}
}

func TestUnknownIsSettledByAsking(t *testing.T) {
	for name, tc := range map[string]struct {
		exec  *fakeExec
		age   time.Duration
		phase model.RunPhase
		rings int
	}{
		"the log shows it":         {&fakeExec{idle: true, lines: 3}, 0, model.PhaseAccepted, 0},
		"idle without a log":       {&fakeExec{idle: true, sent: call.Sent{State: call.Accepted}}, 0, model.PhaseAccepted, 1},
		"busy without a log: wait": {&fakeExec{}, 0, model.PhaseUnknown, 0},
		"busy, and never had it":   {&fakeExec{known: new(false), sent: call.Sent{State: call.Accepted}}, 0, model.PhaseAccepted, 1},
		"it waits there, no log":   {&fakeExec{known: new(true)}, 0, model.PhaseAccepted, 0},
		"no log to be had: wait":   {&fakeExec{idle: true, logErr: errors.New("no")}, 0, model.PhaseUnknown, 0},
		"silent: wait":             {&fakeExec{idleErr: errors.New("gone")}, 0, model.PhaseUnknown, 0},
		"silent for ten minutes":   {&fakeExec{idleErr: errors.New("gone")}, 11 * time.Minute, model.PhaseFinished, 0},
		"found out after ten min":  {&fakeExec{idle: true, lines: 1}, 11 * time.Minute, model.PhaseAccepted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				r := planned(1)
				r.Phase, r.Address, r.PlannedMS = model.PhaseUnknown, "http://a/", time.Now().Add(-tc.age).UnixMilli()
				m.put(r)
				s := New(m, tc.exec, small())
				require.NoError(t, s.Start(t.Context()))
				time.Sleep(20 * time.Second)
				s.Close(t.Context())
				require.Equal(t, tc.phase, m.get(1).Phase)
				require.Len(t, tc.exec.rings, tc.rings)
			})
		})
	}
}

func TestLostMonitorAsksFirst(t *testing.T) {
	gone := fmt.Errorf("%w: connection refused", call.ErrGone)
	for name, tc := range map[string]struct {
		exec   func(f *fakeExec, age time.Duration)
		beats  bool
		after  time.Duration // looked at
		lost   bool
		before time.Duration // when it is lost, not earlier than this
	}{
		"busy: a long healthy run": {func(*fakeExec, time.Duration) {}, false, 24 * time.Hour, false, 0},
		"its executor started anew: idle after it was busy": {func(f *fakeExec, age time.Duration) { f.idle = age > 10*time.Second },
			true, 70 * time.Second, true, 50 * time.Second},
		"its executor started anew: away for a moment": {func(f *fakeExec, age time.Duration) {
			f.idle, f.idleErr = true, nil
			if age < 6*time.Second {
				f.idleErr = gone
			}
		}, true, time.Minute, true, 45 * time.Second},
		"idle, but never seen busy: maybe it always says so": {func(f *fakeExec, _ time.Duration) { f.idle = true }, true, 9 * time.Minute, false, 0},
		"idle for long":                 {func(f *fakeExec, _ time.Duration) { f.idle = true }, true, 11 * time.Minute, true, 10 * time.Minute},
		"silent but beating":            {func(f *fakeExec, _ time.Duration) { f.idleErr = errors.New("time-out") }, true, time.Hour, false, 0},
		"silent and not beating":        {func(f *fakeExec, _ time.Duration) { f.idleErr = errors.New("time-out") }, false, 11 * time.Minute, true, 10 * time.Minute},
		"gone but beating until lately": {func(f *fakeExec, _ time.Duration) { f.idleErr = gone }, true, time.Hour, false, 0},
		"gone for good":                 {func(f *fakeExec, _ time.Duration) { f.idleErr = gone }, false, time.Minute, true, 40 * time.Second},
		"away and back with the run": {func(f *fakeExec, age time.Duration) {
			f.idleErr = nil
			if age < 30*time.Second {
				f.idleErr = gone
			}
		}, false, time.Hour, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, exec, began := newMemory(), &fakeExec{}, time.Now()
				lost := settle.NewLostMonitor(m, exec, small().WithDefaults())
				lost.Leads = func() bool { return true }
				var when time.Duration
				lost.Complete = func(_ context.Context, list []model.Handled) ([]model.HandledStatus, error) {
					require.Equal(t, model.ReasonLost, list[0].Reason)
					if when == 0 {
						when = time.Since(began)
					}
					return nil, nil
				}
				r := planned(1)
				r.Phase, r.Address, r.TriggerCode, r.SentMS = model.PhaseAccepted, "http://a/", 200, began.UnixMilli()
				m.put(r)
				for time.Since(began) < tc.after {
					time.Sleep(2 * time.Second)
					tc.exec(exec, time.Since(began))
					m.regs = nil
					if tc.beats {
						m.regs = []model.Registration{{Address: "http://a/", Beat: time.Now()}}
					}
					require.NoError(t, lost.Check(t.Context(), time.Now()))
				}
				require.Equal(t, tc.lost, when > 0, "lost after %s", when)
				require.GreaterOrEqual(t, when, tc.before)
			})
		})
	}
}

func TestCompleteAnswersAfterItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		r := planned(1)
		r.Phase = model.PhaseAccepted
		m.put(r)
		s := New(m, &fakeExec{}, small())
		require.NoError(t, s.Start(t.Context()))
		got, err := s.Complete(t.Context(), []model.Handled{{RunID: 1, Code: 200}, {RunID: 2, Code: 200}})
		require.NoError(t, err)
		require.Equal(t, []model.HandledStatus{model.HandledStored, model.HandledUnknown}, got)
		m.broken.Store(true)
		_, err = s.Complete(t.Context(), []model.Handled{{RunID: 1, Code: 200}})
		require.Error(t, err, "not stored, so not acknowledged")
		s.Close(t.Context())
		_, err = s.Complete(t.Context(), []model.Handled{{RunID: 1, Code: 200}})
		require.ErrorIs(t, err, loop.ErrStopped)
	})
}
