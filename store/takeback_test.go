package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestTakeBack: whatever is planned can be taken back, whoever owns it, and counts as
// such; what is being sent cannot.
func TestTakeBack(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount = 2 })
		for _, kind := range []model.TriggerType{model.TriggerManual, model.TriggerAPI, model.TriggerParent, model.TriggerCron, model.TriggerMisfire} {
			r := storetest.Run(t, st, j, func(r *model.Run) {
				r.TriggerType, r.Owner, r.FireKey = kind, "gone#1", string(kind)
				r.Note.Said = []model.Said{model.Say("waits_for_idle")}
			})
			waits, err := st.NoteWaiting(ctx, "gone#1", r.ID, r.Note)
			require.NoError(t, err)
			require.True(t, waits)
			require.NoError(t, st.TakeBack(ctx, r.ID, "olga", t0))
			waits, err = st.NoteWaiting(ctx, "gone#1", r.ID, r.Note)
			require.NoError(t, err)
			require.False(t, waits)
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, model.PhaseMissed, got.Phase)
			require.Equal(t, model.ReasonTakenBack, got.Outcome())
			require.Equal(t, []model.Said{model.Say(model.ReasonTakenBack, "Name", "olga")}, got.Note.Said, "not what it waited for")
			require.Contains(t, got.TriggerMsg, "olga")
			require.Equal(t, [3]int{model.CodeMissed, 0, 1}, [3]int{got.TriggerCode, got.HandleCode, got.AlarmStatus})
			require.Equal(t, t0.UnixMilli(), got.FinishedMS)
			claimed, err := st.ClaimRuns(ctx, "gone#1", []model.Claim{{RunID: r.ID, Address: "a"}}, 1)
			require.NoError(t, err)
			require.Empty(t, claimed, "nobody sends it any more")
			require.Equal(t, model.CodeConflict, model.CodeOf(st.TakeBack(ctx, r.ID, "olga", t0)), "once")
		}
		l := account(t, st, t0)
		require.Equal(t, [3]int64{5, 0, 5}, [3]int64{l.Expected, l.Open, l.NotSent})
		require.Equal(t, []model.Fires{{Day: "2026-01-01", Reason: model.ReasonTakenBack, Count: 5}}, l.Reasons)
		rep, err := st.Report(ctx, t0, t0)
		require.NoError(t, err)
		require.Equal(t, model.DayCount{Day: "2026-01-01", Missed: 5}, rep[0])

		// A retry: the fire ends with it, and there is no other.
		r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase = model.PhaseSending })
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: 500, AtMS: 5}}, t0, rule.Follower(t0, "n#1"))
		require.NoError(t, err)
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, model.TriggerRetry, list[0].TriggerType)
		require.NoError(t, st.TakeBack(ctx, list[0].ID, "olga", t0))
		l = account(t, st, t0)
		require.Equal(t, [3]int64{6, 0, 6}, [3]int64{l.Expected, l.Open, l.NotSent})

		// What is on its way stays.
		for _, phase := range []model.RunPhase{model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted, model.PhaseFinished} {
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase = phase })
			require.Equal(t, model.CodeConflict, model.CodeOf(st.TakeBack(ctx, r.ID, "olga", t0)))
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, phase, got.Phase)
		}
		require.Equal(t, model.CodeNotFound, model.CodeOf(st.TakeBack(ctx, 1<<40, "olga", t0)))
	})
}

// TestAStopLeavesRunsByHand: who asked for one gets it although the job is off; only
// taking it back ends it. Nobody is asked twice: a schedule that begins anew does not
// plan again what was taken back.
func TestAStopLeavesRunsByHand(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		require.NoError(t, st.SetJobStatus(ctx, j.ID, j.Version, model.JobRunning, t0.UnixMilli(), t0))
		hand := storetest.Run(t, st, j, nil)
		plan := func() {
			_, _, err := st.PlanDue(ctx, t0.UnixMilli()+1, 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
				return []model.JobPlan{eachSecond(due[0], 2)}
			})
			require.NoError(t, err)
		}
		plan()
		due, err := st.PlannedIDs(ctx, "n#1", t0.UnixMilli()+1, t0.UnixMilli()+60000, 10, false)
		require.NoError(t, err)
		require.Len(t, due, 1)
		require.NoError(t, st.TakeBack(ctx, due[0], "olga", t0))
		stop := func(status model.JobStatus, next int64) {
			now, err := st.Job(ctx, j.ID)
			require.NoError(t, err)
			require.NoError(t, st.SetJobStatus(ctx, j.ID, now.Version, status, next, t0))
		}
		stop(model.JobStopped, 0)
		got, err := st.Run(ctx, hand.ID)
		require.NoError(t, err)
		require.Equal(t, model.PhasePlanned, got.Phase)
		stop(model.JobRunning, t0.UnixMilli())
		plan()
		l := account(t, st, t0)
		require.Equal(t, []model.Fires{{Day: "2026-01-01", Reason: model.ReasonPaused, Count: 1}, {Day: "2026-01-01", Reason: model.ReasonTakenBack, Count: 1}}, l.Reasons)
		require.EqualValues(t, 2, l.Open, "the one by hand, and the one that was paused is planned anew")
		require.NoError(t, st.TakeBack(ctx, hand.ID, "olga", time.UnixMilli(t0.UnixMilli())))
	})
}
