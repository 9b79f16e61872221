package store_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// eachSecond is a plan with n fires of a job, from its next one on.
func eachSecond(j model.Job, n int64) model.JobPlan {
	p := model.JobPlan{JobID: j.ID, OldMS: j.NextMS, LastMS: j.NextMS + (n-1)*1000, NextMS: j.NextMS + 60000, Turns: int(n)}
	for i := range n {
		ms := j.NextMS + i*1000
		p.Runs = append(p.Runs, model.Run{
			GroupID: j.GroupID, JobID: j.ID, Phase: model.PhasePlanned, TriggerType: model.TriggerCron, Owner: "n#1", RetryLeft: j.RetryCount,
			PlannedMS: ms, TriggerTime: time.UnixMilli(ms), FireKey: fmt.Sprintf("%d:%d:0", j.ID, ms), Turn: i + 1,
		})
	}
	return p
}

// account adds the ledger of a day up.
func account(t *testing.T, st *store.Store, day time.Time) model.Ledger {
	t.Helper()
	lines, err := st.Ledger(t.Context(), day, day)
	require.NoError(t, err)
	return model.NewLedger(day.Format(time.DateOnly), lines)
}

// TestLedger follows fires through everything that can become of them: the
// account must be even at every step.
func TestLedger(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount = 1 })
		require.NoError(t, st.SetJobStatus(ctx, j.ID, j.Version, model.JobRunning, t0.UnixMilli(), t0))
		_, runs, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
			p := eachSecond(due[0], 6)
			// One row may stand for many fires that nobody could make.
			p.Runs = append(p.Runs, model.Run{
				GroupID: g.ID, JobID: j.ID, Phase: model.PhaseMissed, TriggerType: model.TriggerMisfire, TriggerCode: model.CodeMissed, Reason: model.ReasonCenterDown,
				PlannedMS: due[0].NextMS - 1000, TriggerTime: t0, FireKey: "old", MissedFires: 40,
			})
			return []model.JobPlan{p}
		})
		require.NoError(t, err)
		require.Equal(t, 7, runs)
		expect := func(succeeded, open, failed, notSent int64, reasons ...model.Fires) {
			t.Helper()
			for i := range reasons {
				reasons[i].Day = "2026-01-01"
			}
			require.Equal(t, model.Ledger{Day: "2026-01-01", Expected: succeeded + open + failed + notSent,
				Succeeded: succeeded, Open: open, Failed: failed, NotSent: notSent, Reasons: reasons}, account(t, st, t0))
		}
		expect(0, 6, 0, 40, model.Fires{Reason: model.ReasonCenterDown, Count: 40})

		ids, err := st.PlannedIDs(ctx, "n#1", 0, t0.UnixMilli()+60000, 100, false)
		require.NoError(t, err)
		require.Len(t, ids, 6)
		var claims []model.Claim
		for _, id := range ids[:4] {
			claims = append(claims, model.Claim{RunID: id, Address: "http://127.0.0.1:1/"})
		}
		_, err = st.ClaimRuns(ctx, "n#1", claims, 1)
		require.NoError(t, err)
		follow := rule.Follower(t0, "n#1")
		// One succeeds, one fails and is tried again: that is open until its last attempt.
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: ids[0], Code: 200, AtMS: 5}, {RunID: ids[1], Code: 500, AtMS: 5}}, t0, follow)
		require.NoError(t, err)
		expect(1, 5, 0, 40, model.Fires{Reason: model.ReasonCenterDown, Count: 40})
		// One is refused: not made yet, its retry may still do it. When that is refused too, the fire was missed.
		refuse := func(id int64) {
			require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{
				RunID: id, Phase: model.PhaseFinished, Code: 500, Reason: model.ReasonUnreached, AtMS: 6,
			}}, t0, follow))
		}
		refuse(ids[2])
		retries, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 50})
		require.NoError(t, err)
		for _, r := range retries {
			if r.TriggerType == model.TriggerRetry && r.FirstID == ids[2] {
				_, err = st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: r.ID, Address: "x"}}, 1)
				require.NoError(t, err)
				refuse(r.ID)
			}
		}
		// The job is stopped: what was planned and not sent is paused; one is on its way.
		now, err := st.Job(ctx, j.ID)
		require.NoError(t, err)
		require.NoError(t, st.SetJobStatus(ctx, j.ID, now.Version, model.JobStopped, 0, t0))
		expect(1, 1, 1, 43, model.Fires{Reason: model.ReasonCenterDown, Count: 40}, model.Fires{Reason: model.ReasonPaused, Count: 3},
			model.Fires{Reason: model.ReasonUnreached, Count: 1})
		// The one on its way is discarded by the executor.
		require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{
			RunID: ids[3], Phase: model.PhaseMissed, Code: model.CodeMissed, Reason: model.ReasonDiscarded, AtMS: 6,
		}}, t0, follow))
		expect(1, 0, 1, 44, model.Fires{Reason: model.ReasonCenterDown, Count: 40}, model.Fires{Reason: model.ReasonPaused, Count: 3},
			model.Fires{Reason: model.ReasonDiscarded, Count: 1}, model.Fires{Reason: model.ReasonUnreached, Count: 1})
	})
}

// TestALateWordOfAFormerOwnerIsNotHeard: the run was taken over and is planned
// anew; only that an executor has it counts whoever says so.
func TestALateWordOfAFormerOwnerIsNotHeard(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount = 1 })
		r := storetest.Run(t, st, j, func(r *model.Run) { r.Owner, r.RetryLeft = "n2#1", 1 })
		for _, phase := range []model.RunPhase{model.PhaseFinished, model.PhaseMissed, model.PhaseUnknown} {
			require.NoError(t, st.RecordDispatches(ctx, "n1#1", []model.Dispatch{{RunID: r.ID, Phase: phase, Code: 500, Reason: model.ReasonRefused, AtMS: 6}}, t0,
				rule.Follower(t0, "n1#1")))
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, model.PhasePlanned, got.Phase)
		}
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, 1, "no retry")
	})
}

// TestCountersCountWhatIsWritten: what follows twice is written and counted once,
// and so is what is planned twice.
func TestCountersCountWhatIsWritten(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		child := storetest.Job(t, st, g.ID, nil)
		parent := storetest.Job(t, st, g.ID, func(j *model.Job) { j.ChildIDs, j.RetryCount = strconv.Itoa(child.ID), 1 })
		r := storetest.Run(t, st, parent, func(r *model.Run) { r.Phase, r.RetryLeft, r.TriggerCode = model.PhaseAccepted, 1, 200 })
		done := func(id int64, code int, reason string) {
			_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: id, Address: "a"}}, 1) // what is planned is sent first
			require.NoError(t, err)
			_, err = st.StoreHandled(ctx, []model.Handled{{RunID: id, Code: code, Reason: reason, AtMS: 5}}, t0, rule.Follower(t0, "n#1"))
			require.NoError(t, err)
		}
		done(r.ID, 500, model.ReasonLost)
		list, err := st.Runs(ctx, model.RunFilter{JobID: parent.ID, Limit: 1})
		require.NoError(t, err)
		done(r.ID, 200, "")
		done(list[0].ID, 200, "")
		kids, err := st.Runs(ctx, model.RunFilter{JobID: child.ID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, kids, 1)
		done(kids[0].ID, 200, "")
		rep, err := st.Report(ctx, t0, t0)
		require.NoError(t, err)
		require.Equal(t, model.DayCount{Day: "2026-01-01", Succeeded: 3}, rep[0], "nothing runs any more")
		l := account(t, st, t0)
		require.EqualValues(t, 2, l.Expected, "the parent and its child; a retry is no fire of its own")
		require.EqualValues(t, 2, l.Succeeded)

		// Somebody turns the next fire back by hand.
		require.NoError(t, st.SetJobStatus(ctx, child.ID, child.Version, model.JobRunning, t0.UnixMilli(), t0))
		plan := func(n int64) {
			_, _, err := st.PlanDue(ctx, t0.UnixMilli()+1, 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
				return []model.JobPlan{eachSecond(due[0], n)}
			})
			require.NoError(t, err)
		}
		plan(2)
		write(t, st, `UPDATE xxl_job_info SET trigger_next_time = ? WHERE id = ?`, t0.UnixMilli(), child.ID)
		plan(3)
		l = account(t, st, t0)
		require.EqualValues(t, 5, l.Expected, "two and the third, not five")
		require.EqualValues(t, 3, l.Open)
	})
}

// TestALateTruthOfAnEarlierAttempt: attempt and retry both seemed to have reached
// nobody, then the first one reports. The fire was made.
func TestALateTruthOfAnEarlierAttempt(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount, j.RetryDelaySec = 1, 3600 })
		r := storetest.Run(t, st, j, func(r *model.Run) {
			r.Phase, r.RetryLeft, r.TriggerType = model.PhaseSending, 1, model.TriggerCron
			r.TriggerTime = t0.Add(23*time.Hour + 30*time.Minute)
		})
		lose := func(id int64) {
			require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: id, Phase: model.PhaseFinished, Code: 500, Reason: model.ReasonLost, AtMS: 6}},
				r.TriggerTime, rule.Follower(r.TriggerTime, "n#1")))
		}
		expect := func(succeeded, open, failed int64) {
			t.Helper()
			for day, want := range map[time.Time][4]int64{t0: {1, succeeded, open, failed}, t0.AddDate(0, 0, 1): {}} {
				l := account(t, st, day)
				require.Equal(t, want, [4]int64{l.Expected, l.Succeeded, l.Open, l.Failed}, day)
			}
		}
		lose(r.ID)
		expect(0, 1, 0) // the retry waits until after midnight
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 1})
		require.NoError(t, err)
		_, err = st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: list[0].ID, Address: "a"}}, 1)
		require.NoError(t, err)
		lose(list[0].ID)
		expect(0, 0, 1)
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: 200, AtMS: 9}}, t0, nil)
		require.NoError(t, err)
		expect(1, 0, 0)
	})
}

// TestAStopEndsRetriesThatWait, too: their job is off.
func TestAStopEndsRetriesThatWait(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount, j.RetryDelaySec = 1, 3600 })
		r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.RetryLeft, r.TriggerType = model.PhaseSending, 1, model.TriggerCron })
		require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: r.ID, Phase: model.PhaseFinished, Code: 500, Reason: model.ReasonUnreached, AtMS: 6}},
			t0, rule.Follower(t0, "n#1")))
		l := account(t, st, t0)
		require.Equal(t, [3]int64{1, 1, 0}, [3]int64{l.Expected, l.Open, l.Succeeded}, "its retry may still make it")
		require.NoError(t, st.SetJobStatus(ctx, j.ID, j.Version, model.JobStopped, 0, t0))
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, model.PhaseMissed, list[0].Phase)
		require.Equal(t, model.ReasonPaused, list[0].Reason)
		l = account(t, st, t0)
		require.Equal(t, [3]int64{1, 0, 1}, [3]int64{l.Expected, l.Open, l.NotSent})
	})
}

// TestChildrenStartOnce: after the last shard of a broadcast, after a success of
// any attempt, and never twice.
func TestChildrenStartOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		child := storetest.Job(t, st, g.ID, nil)
		parent := storetest.Job(t, st, g.ID, func(j *model.Job) { j.ChildIDs, j.RetryCount = strconv.Itoa(child.ID), 1 })
		children := func() (out []model.Run) {
			list, err := st.Runs(ctx, model.RunFilter{JobID: child.ID, Limit: 50})
			require.NoError(t, err)
			return list
		}
		done := func(id int64, code int, reason string) {
			t.Helper()
			_, err := st.StoreHandled(ctx, []model.Handled{{RunID: id, Code: code, Reason: reason, AtMS: 5}}, t0, rule.Follower(t0, "n#1"))
			require.NoError(t, err)
		}
		t.Run("of a broadcast", func(t *testing.T) {
			var shards []model.Run
			for i := range 3 {
				shards = append(shards, storetest.Run(t, st, parent, func(r *model.Run) {
					r.Phase, r.ShardKey, r.Sharding, r.RetryLeft = model.PhaseAccepted, "1:77", fmt.Sprintf("%d/3", i), 0
				}))
			}
			done(shards[0].ID, 200, "")
			done(shards[2].ID, 200, "")
			require.Empty(t, children(), "one shard still runs")
			done(shards[1].ID, 200, "")
			done(shards[1].ID, 200, "")
			require.Len(t, children(), 1)
			require.Equal(t, model.TriggerParent, children()[0].TriggerType)
			require.Equal(t, shards[1].ID, children()[0].ParentID)
		})
		t.Run("of a broadcast whose shards end in one batch", func(t *testing.T) {
			before := len(children())
			var batch []model.Handled
			for i := range 3 {
				r := storetest.Run(t, st, parent, func(r *model.Run) {
					r.Phase, r.ShardKey, r.Sharding, r.RetryLeft = model.PhaseAccepted, "1:78", fmt.Sprintf("%d/3", i), 0
				})
				batch = append(batch, model.Handled{RunID: r.ID, Code: 200, AtMS: 5})
			}
			_, err := st.StoreHandled(ctx, batch, t0, rule.Follower(t0, "n#1"))
			require.NoError(t, err)
			require.Len(t, children(), before+1)
		})
		t.Run("of a run that was thought lost and was not", func(t *testing.T) {
			before := len(children())
			r := storetest.Run(t, st, parent, func(r *model.Run) { r.Phase, r.RetryLeft = model.PhaseAccepted, 1 })
			done(r.ID, 500, model.ReasonLost)
			list, err := st.Runs(ctx, model.RunFilter{JobID: parent.ID, Limit: 1})
			require.NoError(t, err)
			retry := list[0]
			require.Equal(t, model.TriggerRetry, retry.TriggerType)
			require.Equal(t, r.ID, retry.FirstID)
			done(r.ID, 200, "") // the truth comes late
			require.Len(t, children(), before+1)
			done(retry.ID, 200, "")
			require.Len(t, children(), before+1, "its retry starts no second one")
		})
	})
}

// TestCoveredIsNotFailed: a run that a later one of its job ended says so.
func TestCoveredIsNotFailed(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Block, j.RetryCount = model.BlockCover, 2 })
		running := func(r *model.Run) { r.RetryLeft = 2 }
		first, second := storetest.Run(t, st, j, running), storetest.Run(t, st, j, running)
		_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: first.ID, Address: "a"}, {RunID: second.ID, Address: "a"}}, first.PlannedMS+7)
		require.NoError(t, err)
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: first.ID, Code: 500, Msg: "block strategy effect", AtMS: first.PlannedMS + 9}}, t0, rule.Follower(t0, "n#1"))
		require.NoError(t, err)
		got, err := st.Run(ctx, first.ID)
		require.NoError(t, err)
		require.Equal(t, model.ResultCovered, got.Result())
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, 2, "not tried again: it would end the later one in turn")
	})
}

// TestWhatALostNodeLeftIsDealtOutEvenly, and so is what a stopping one hands over.
func TestWhatALostNodeLeftIsDealtOutEvenly(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		for range 10 {
			storetest.Run(t, st, j, func(r *model.Run) { r.Owner = "dead#1" })
		}
		owned := func(owner string) int {
			ids, err := st.PlannedIDs(ctx, owner, 0, t0.UnixMilli(), 100, false)
			require.NoError(t, err)
			return len(ids)
		}
		_, _, err := st.AdoptRuns(ctx, []string{"a#1", "b#1"}, []string{"a#1", "b#1"}, 100)
		require.NoError(t, err)
		require.Equal(t, 5, owned("a#1"))
		require.Equal(t, 5, owned("b#1"))
		n, err := st.HandOver(ctx, "a#1", []string{"b#1", "c#1"})
		require.NoError(t, err)
		require.Equal(t, 5, n)
		require.Zero(t, owned("a#1"))
		require.Equal(t, 10, owned("b#1")+owned("c#1"))
		require.Contains(t, []int{2, 3}, owned("c#1"))
	})
}

func TestPicks(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		picks := func() map[string]int64 {
			list, err := st.Picks(ctx, []int{1})
			require.NoError(t, err)
			out := map[string]int64{}
			for _, p := range list {
				out[p.Address] = p.Picks
			}
			return out
		}
		require.NoError(t, st.AddPicks(ctx, []model.Pick{
			{JobID: 1, Address: "a", Picks: 10, Base: 2, UsedMS: 5}, {JobID: 1, Address: "b", Picks: 9, Base: 1, UsedMS: 6},
		}, nil))
		require.Equal(t, map[string]int64{"a": 12, "b": 10}, picks())
		// Another node that knows nothing tells of the same ones and of a new one.
		require.NoError(t, st.AddPicks(ctx, []model.Pick{
			{JobID: 1, Address: "a", Picks: 1, UsedMS: 4}, {JobID: 1, Address: "c", Picks: 1, UsedMS: 7},
		}, nil))
		require.Equal(t, map[string]int64{"a": 13, "b": 10, "c": 11}, picks(), "c joins with the smallest count")
		list, err := st.Picks(ctx, []int{1})
		require.NoError(t, err)
		for _, p := range list {
			if p.Address == "a" {
				require.EqualValues(t, 5, p.UsedMS, "the later use stays")
			}
		}
		require.NoError(t, st.AddPicks(ctx, nil, []model.Pick{{JobID: 1, Address: "b"}}))
		require.NotContains(t, picks(), "b")
	})
}

// TestSavesNeverUndoEachOther: two people, and a save during a scan.
func TestSavesNeverUndoEachOther(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		j := storetest.Job(t, st, g.ID, nil)
		require.NoError(t, st.SetJobStatus(ctx, j.ID, j.Version, model.JobRunning, t0.UnixMilli(), t0))
		seen, err := st.Job(ctx, j.ID)
		require.NoError(t, err)
		// The planner moves the job on while a person has the form open.
		_, _, err = st.PlanDue(ctx, t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
			return []model.JobPlan{{JobID: j.ID, OldMS: due[0].NextMS, LastMS: due[0].NextMS, NextMS: due[0].NextMS + 5000, Turns: 1}}
		})
		require.NoError(t, err)
		seen.Name = "renamed"
		require.NoError(t, st.UpdateJob(ctx, &seen, false, false, t0))
		got, err := st.Job(ctx, j.ID)
		require.NoError(t, err)
		require.Equal(t, "renamed", got.Name)
		require.Equal(t, t0.UnixMilli()+5000, got.NextMS, "the save did not turn the schedule back")
		require.EqualValues(t, 1, got.Turn)
		// A switch that was decided on an old version is a conflict.
		err = st.SetJobStatus(ctx, j.ID, seen.Version, model.JobStopped, 0, t0)
		require.Equal(t, model.CodeConflict, model.CodeOf(err))
	})
}

// TestUnclaim: what was claimed and not sent is planned again; a later claim of the
// same node stays.
func TestUnclaim(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		r := storetest.Run(t, st, j, nil)
		claim := func(ms int64) {
			got, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: r.ID, Address: "http://a/"}}, ms)
			require.NoError(t, err)
			require.True(t, got[r.ID])
		}
		claim(100)
		for _, owner := range []string{"n#2", "n#1"} {
			back, err := st.Unclaim(ctx, owner, r.ID, "http://asked/", 105, t0)
			require.NoError(t, err)
			require.Equal(t, owner == "n#1", back)
		}
		got, err := st.Run(ctx, r.ID)
		require.NoError(t, err)
		require.Equal(t, model.PhasePlanned, got.Phase)
		require.Equal(t, "http://asked/", got.Address)
		claim(110)
		back, err := st.Unclaim(ctx, "n#1", r.ID, "", 105, t0)
		require.NoError(t, err)
		require.False(t, back, "it was claimed anew and is on its way")
		require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: r.ID, Phase: model.PhaseUnknown, Note: model.Note{Said: []model.Said{model.Say("unknown")}}, SentMS: 50}}, t0, nil))
		got, err = st.Run(ctx, r.ID)
		require.NoError(t, err)
		require.EqualValues(t, 110, got.SentMS, "the time of the later call counts")
	})
}

// TestWhatIsPutBackObeysAStop: the stop could not reach the run while it was being
// sent. Runs by hand and those of an ended job are made.
func TestWhatIsPutBackObeysAStop(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://a/")
		for name, tc := range map[string]struct {
			change func(*model.Run)
			job    string
			want   string
		}{
			"schedule, stopped": {func(r *model.Run) { r.TriggerType = model.TriggerCron }, `UPDATE xxl_job_info SET trigger_status = 0 WHERE id = ?`, model.ReasonPaused},
			"schedule, deleted": {func(r *model.Run) { r.TriggerType = model.TriggerMisfire }, `DELETE FROM xxl_job_info WHERE id = ?`, model.ReasonCancelled},
			"schedule, running": {func(r *model.Run) { r.TriggerType = model.TriggerCron }, `UPDATE xxl_job_info SET trigger_status = 1 WHERE id = ?`, ""},
			"schedule, ended":   {func(r *model.Run) { r.TriggerType = model.TriggerCron }, `UPDATE xxl_job_info SET trigger_status = 0, carillon_condition = 'ended' WHERE id = ?`, ""},
			"by hand, stopped":  {func(r *model.Run) { r.TriggerType = model.TriggerManual }, `UPDATE xxl_job_info SET trigger_status = 0 WHERE id = ?`, ""},
		} {
			for _, phase := range []model.RunPhase{model.PhaseSending, model.PhaseUnknown} {
				j := storetest.Job(t, st, g.ID, nil)
				r := storetest.Run(t, st, j, tc.change)
				_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: r.ID, Address: "http://a/"}}, 100)
				require.NoError(t, err)
				write(t, st, tc.job, j.ID)
				var back bool
				if phase == model.PhaseSending {
					back, err = st.Unclaim(ctx, "n#1", r.ID, "", 105, t0)
				} else {
					require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: r.ID, Phase: phase, Note: model.Note{Said: []model.Said{model.Say("unknown")}}, SentMS: 200}}, t0, nil))
					back, err = st.Replan(ctx, "n#1", r.ID, t0)
				}
				require.NoError(t, err, name)
				require.Equal(t, tc.want == "", back, name)
				got, err := st.Run(ctx, r.ID)
				require.NoError(t, err)
				require.Equal(t, tc.want, got.Reason, name)
				if back {
					require.Equal(t, model.PhasePlanned, got.Phase, name)
				} else {
					require.Equal(t, model.PhaseMissed, got.Phase, name)
					require.Equal(t, model.CodeMissed, got.TriggerCode, name)
				}
			}
		}
		l := account(t, st, t0)
		require.EqualValues(t, 10, l.Expected)
		require.EqualValues(t, 6, l.Open)
		require.Equal(t, []model.Fires{{Day: l.Day, Reason: model.ReasonCancelled, Count: 2}, {Day: l.Day, Reason: model.ReasonPaused, Count: 2}}, l.Reasons)
	})
}
