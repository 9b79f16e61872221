package store_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

var suite storetest.Suite

func TestMain(m *testing.M) { os.Exit(suite.Run(m)) }

var t0 = time.Unix(1767225600, 0).UTC() // 2026-01-01 00:00:00

func TestJobs(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) {
			j.Name, j.Param, j.GlueType, j.GlueSource, j.ChildIDs = "夜间结算 100%", "a=1", model.GlueShell, "echo hi", "4,5"
		})
		require.Equal(t, "夜间结算 100%", j.Name)
		require.Equal(t, "echo hi", j.GlueSource)
		require.Equal(t, t0, j.AddTime)
		require.EqualValues(t, 1, j.Version)

		t.Run("a percent sign is an ordinary character", func(t *testing.T) {
			storetest.Job(t, st, g.ID, func(j *model.Job) { j.Name = "other" })
			list, total, err := st.Jobs(ctx, model.JobFilter{Text: "100%", Limit: 10})
			require.NoError(t, err)
			require.Equal(t, 1, total)
			require.Equal(t, j.ID, list[0].ID)
			require.Empty(t, list[0].GlueSource, "lists do not load sources")
			_, total, err = st.Jobs(ctx, model.JobFilter{Text: "_ther", Limit: 10})
			require.NoError(t, err)
			require.Zero(t, total)
		})
		t.Run("an empty permission list sees nothing", func(t *testing.T) {
			_, total, err := st.Jobs(ctx, model.JobFilter{Groups: []int{}, Limit: 10})
			require.NoError(t, err)
			require.Zero(t, total)
		})
		t.Run("an edit from an old version is a conflict and changes nothing", func(t *testing.T) {
			a, b := j, j
			a.Name, b.Name = "first", "second"
			require.NoError(t, st.UpdateJob(ctx, &a, false, false, t0))
			err := st.UpdateJob(ctx, &b, false, false, t0)
			require.Equal(t, model.CodeConflict, model.CodeOf(err))
			got, err := st.Job(ctx, j.ID)
			require.NoError(t, err)
			require.Equal(t, "first", got.Name)
		})
		t.Run("missing", func(t *testing.T) {
			_, err := st.Job(ctx, 99999)
			require.Equal(t, model.CodeNotFound, model.CodeOf(err))
			require.Equal(t, model.CodeNotFound, model.CodeOf(st.DeleteJob(ctx, 99999, t0)))
		})
	})
}

// switchJob starts or stops a job as it is now.
func switchJob(t *testing.T, st *store.Store, id int, status model.JobStatus, nextMS int64) {
	t.Helper()
	j, err := st.Job(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, st.SetJobStatus(t.Context(), id, j.Version, status, nextMS, t0))
}

// plannedRuns reads what owner has to ring up to t0.
func plannedRuns(t *testing.T, st *store.Store, owner string) []model.Run {
	t.Helper()
	ids, err := st.PlannedIDs(t.Context(), owner, 0, t0.UnixMilli(), 10, false)
	require.NoError(t, err)
	runs, err := st.RunsByID(t.Context(), ids)
	require.NoError(t, err)
	return runs
}

// plan writes one planned run for each due job, at its next fire.
func plan(owner string, next int64) func([]model.Job, map[int]model.Group) []model.JobPlan {
	return func(jobs []model.Job, _ map[int]model.Group) []model.JobPlan {
		var out []model.JobPlan
		for _, j := range jobs {
			out = append(out, model.JobPlan{JobID: j.ID, OldMS: j.NextMS, LastMS: j.NextMS, NextMS: next, Runs: []model.Run{{
				GroupID: j.GroupID, JobID: j.ID, Handler: j.Handler, TriggerTime: time.UnixMilli(j.NextMS), PlannedMS: j.NextMS,
				Phase: model.PhasePlanned, TriggerType: model.TriggerCron, Owner: owner, FireKey: "k" + time.UnixMilli(j.NextMS).String(),
			}}})
		}
		return out
	}
}

// TestSearchByNumber: a number finds the job of that number, a text that begins
// with one does not.
func TestSearchByNumber(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "")
		for range 3 {
			storetest.Job(t, st, g.ID, nil)
		}
		for text, want := range map[string]int{"2": 1, "#2": 1, "2nd": 0, "2 3": 0, "0": 0, "job": 3} {
			_, n, err := st.Jobs(t.Context(), model.JobFilter{Text: text, Limit: 10})
			require.NoError(t, err)
			require.Equal(t, want, n, text)
		}
	})
}

func TestPlanning(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		require.NoError(t, st.EnsureLock(ctx))
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		j := storetest.Job(t, st, g.ID, nil)
		switchJob(t, st, j.ID, model.JobRunning, t0.UnixMilli())

		jobs, runs, err := st.PlanDue(ctx, t0.UnixMilli()-1, 10, t0, plan("n#1", t0.UnixMilli()+1000))
		require.NoError(t, err)
		require.Zero(t, jobs+runs, "nothing is due yet")
		jobs, runs, err = st.PlanDue(ctx, t0.UnixMilli(), 10, t0, plan("n#1", t0.UnixMilli()+1000))
		require.NoError(t, err)
		require.Equal(t, 1, jobs)
		require.Equal(t, 1, runs)
		j, err = st.Job(ctx, j.ID)
		require.NoError(t, err)
		require.Equal(t, t0.UnixMilli()+1000, j.NextMS)
		require.Equal(t, t0.UnixMilli(), j.LastMS)

		mine := plannedRuns(t, st, "n#1")
		require.Len(t, mine, 1)
		require.Equal(t, t0, mine[0].TriggerTime.UTC())

		t.Run("a fire key is written once", func(t *testing.T) {
			switchJob(t, st, j.ID, model.JobRunning, t0.UnixMilli())
			// The status change cancelled the planned run and freed its key.
			_, _, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, plan("n#1", t0.UnixMilli()))
			require.NoError(t, err)
			_, _, err = st.PlanDue(ctx, t0.UnixMilli(), 10, t0, plan("n#1", t0.UnixMilli()+1000))
			require.NoError(t, err)
			mine := plannedRuns(t, st, "n#1")
			require.Len(t, mine, 1)
		})
		t.Run("stopping cancels what was planned, as a row with its reason", func(t *testing.T) {
			switchJob(t, st, j.ID, model.JobStopped, 0)
			mine := plannedRuns(t, st, "n#1")
			require.Empty(t, mine)
			all, err := st.Runs(ctx, model.RunFilter{Status: model.RunsMissed, Limit: 10})
			require.NoError(t, err)
			require.Len(t, all, 2)
			require.Equal(t, model.ReasonPaused, all[0].Reason)
			require.Equal(t, model.ResultMissed, all[0].Result())
		})
		t.Run("a quarantined job is stopped with its reason", func(t *testing.T) {
			switchJob(t, st, j.ID, model.JobRunning, t0.UnixMilli())
			_, _, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, func(jobs []model.Job, _ map[int]model.Group) []model.JobPlan {
				return []model.JobPlan{{JobID: jobs[0].ID, OldMS: jobs[0].NextMS, Condition: model.JobQuarantined, Reason: model.Say("broken_schedule", "Text", "bad cron")}}
			})
			require.NoError(t, err)
			j, err := st.Job(ctx, j.ID)
			require.NoError(t, err)
			require.Equal(t, model.JobStopped, j.Status)
			require.Equal(t, model.JobQuarantined, j.Condition)
			said, ok := model.DecodeSaid(j.ConditionReason)
			require.True(t, ok)
			require.Equal(t, model.Say("broken_schedule", "Text", "bad cron"), said)
		})
	})
}

func TestTwoPlannersTakeTurns(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		require.NoError(t, st.EnsureLock(ctx))
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		switchJob(t, st, j.ID, model.JobRunning, t0.UnixMilli())
		inside, leave := make(chan struct{}), make(chan struct{})
		first := make(chan error, 1)
		go func() {
			_, _, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, func(jobs []model.Job, g map[int]model.Group) []model.JobPlan {
				close(inside)
				<-leave
				return plan("n#1", t0.UnixMilli()+1000)(jobs, g)
			})
			first <- err
		}()
		<-inside
		if st.Engine() == "mysql" {
			_, _, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, plan("n#2", t0.UnixMilli()+1000))
			require.ErrorIs(t, err, model.ErrLocked, "no waiting for the lock")
		}
		close(leave)
		require.NoError(t, <-first)
		n, _, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, plan("n#2", t0.UnixMilli()+1000))
		require.NoError(t, err)
		require.Zero(t, n, "the first one had planned it")
	})
}

func TestDispatch(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount = 1 })
		a, b := storetest.Run(t, st, j, nil), storetest.Run(t, st, j, nil)
		foreign := storetest.Run(t, st, j, func(r *model.Run) { r.Owner = "other#1" })

		got, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: a.ID, Address: "http://a/"}, {RunID: foreign.ID, Address: "http://b/"}}, 1000)
		require.NoError(t, err)
		require.Equal(t, map[int64]bool{a.ID: true}, got, "only the owner claims")
		got, err = st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: a.ID, Address: "http://a/"}}, 1001)
		require.NoError(t, err)
		require.Empty(t, got, "a run is claimed once")

		t.Run("accepted", func(t *testing.T) {
			require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: a.ID, Phase: model.PhaseAccepted, Code: 200, AtMS: 1010}}, t0, nil))
			r, err := st.Run(ctx, a.ID)
			require.NoError(t, err)
			require.Equal(t, model.ResultRunning, r.Result())
			require.EqualValues(t, 1010, r.AcceptedMS)
			require.Equal(t, r.PlannedMS, r.SentMS, "claimed ahead of its instant, called at it")
			require.Equal(t, "http://a/", r.Address)
		})
		t.Run("refused asks what follows, in the same transaction", func(t *testing.T) {
			_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: b.ID, Address: "http://a/"}}, 1000)
			require.NoError(t, err)
			asked := 0
			follow := func(r model.Run, jobs map[int]model.Job) []model.Run {
				asked++
				require.Equal(t, b.ID, r.ID)
				require.Equal(t, 1, jobs[j.ID].RetryCount)
				x := r
				x.ID, x.FireKey, x.Phase, x.TriggerCode, x.Address = 0, "r:b", model.PhasePlanned, 0, ""
				return []model.Run{x}
			}
			d := []model.Dispatch{{RunID: b.ID, Phase: model.PhaseFinished, Code: 500, Note: model.Note{Said: []model.Said{model.Say("refused", "Text", "no")}}, Reason: model.ReasonRefused, AtMS: 1010}}
			require.NoError(t, st.RecordDispatches(ctx, "n#1", d, t0, follow))
			require.NoError(t, st.RecordDispatches(ctx, "n#1", d, t0, follow), "a repeat is harmless")
			require.Equal(t, 1, asked)
			r, err := st.Run(ctx, b.ID)
			require.NoError(t, err)
			require.Equal(t, model.ResultFailed, r.Result())
			planned := plannedRuns(t, st, "n#1")
			require.Len(t, planned, 1)
		})
	})
}

func TestHandled(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		sent := func(r *model.Run) { r.Phase = model.PhaseSending }
		store1 := func(t *testing.T, h model.Handled, follow model.Follow) model.HandledStatus {
			t.Helper()
			got, err := st.StoreHandled(ctx, []model.Handled{h}, t0, follow)
			require.NoError(t, err)
			return got[0]
		}
		t.Run("the first result wins and what follows is written once", func(t *testing.T) {
			parent := storetest.Job(t, st, g.ID, func(x *model.Job) { x.ChildIDs = strconv.Itoa(j.ID) })
			r := storetest.Run(t, st, parent, sent)
			n := 0
			follow := func(model.Run, map[int]model.Job) []model.Run { n++; return nil }
			require.Equal(t, model.HandledStored, store1(t, model.Handled{RunID: r.ID, Code: 200, Msg: "done", AtMS: 5}, follow))
			require.Equal(t, model.HandledRepeat, store1(t, model.Handled{RunID: r.ID, Code: 500, Msg: "again", AtMS: 6}, follow))
			require.Equal(t, 1, n)
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, 200, got.HandleCode)
			require.Equal(t, "done", got.HandleMsg)
		})
		t.Run("a callback faster than the answer to /run keeps its result", func(t *testing.T) {
			r := storetest.Run(t, st, j, sent)
			store1(t, model.Handled{RunID: r.ID, Code: 200, AtMS: 5}, nil)
			require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: r.ID, Phase: model.PhaseAccepted, Code: 200, AtMS: 20}}, t0, nil))
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, model.ResultSucceeded, got.Result())
			require.Equal(t, model.PhaseFinished, got.Phase)
			require.EqualValues(t, 5, got.AcceptedMS, "not after its end")
		})
		t.Run("a late truth corrects the center's guess", func(t *testing.T) {
			r := storetest.Run(t, st, j, sent)
			store1(t, model.Handled{RunID: r.ID, Code: 500, Reason: model.ReasonLost, AtMS: 5, Said: []model.Said{model.Say("lost_idle", "Address", "http://a/")}}, nil)
			require.Equal(t, model.HandledCorrected, store1(t, model.Handled{RunID: r.ID, Code: 200, Msg: "it was fine", AtMS: 9}, nil))
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, model.ResultSucceeded, got.Result())
			require.Equal(t, "it was fine", got.HandleMsg, "verbatim")
			require.Equal(t, "late_truth", got.Note.Said[1].Code)
			require.False(t, got.Note.Own, "the words are the executor's again")
		})
		t.Run("so it does for one that nobody had answered for", func(t *testing.T) {
			r := storetest.Run(t, st, j, sent)
			lost := model.Note{Said: []model.Said{model.Say("lost_gone", "Address", "http://a/", "Text", "refused")}}
			require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{
				RunID: r.ID, Phase: model.PhaseFinished, Code: 500, Reason: model.ReasonLost, Note: lost, AtMS: 6,
			}}, t0, nil))
			store1(t, model.Handled{RunID: r.ID, Code: 200, Said: []model.Said{model.Say("sdk_done")}, AtMS: 9}, nil)
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Equal(t, model.ResultSucceeded, got.Result())
			var codes []string
			for _, s := range got.Note.Said {
				codes = append(codes, s.Code)
			}
			require.Equal(t, []string{"lost_gone", "late_truth", "sdk_done"}, codes)
			require.True(t, got.Note.Own)
		})
		t.Run("unknown run", func(t *testing.T) {
			require.Equal(t, model.HandledUnknown, store1(t, model.Handled{RunID: 1 << 40, Code: 200}, nil))
		})
		t.Run("a text longer than its column is cut, in whole characters", func(t *testing.T) {
			r := storetest.Run(t, st, j, sent)
			long := ""
			for range 30000 {
				long += "长"
			}
			store1(t, model.Handled{RunID: r.ID, Code: 500, Msg: long, AtMS: 5}, nil)
			got, err := st.Run(ctx, r.ID)
			require.NoError(t, err)
			require.Less(t, len(got.HandleMsg), 65536)
			require.True(t, len(got.HandleMsg) > 40000)
		})
		t.Run("the daily report follows", func(t *testing.T) {
			rep, err := st.Report(ctx, t0, t0)
			require.NoError(t, err)
			require.Len(t, rep, 1)
			require.Equal(t, model.DayCount{Day: "2026-01-01", Running: 0, Succeeded: 4, Failed: 1}, rep[0])
		})
	})
}

func TestTakeover(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		dead := storetest.Run(t, st, j, func(r *model.Run) { r.Owner = "dead#1" })
		sent := storetest.Run(t, st, j, func(r *model.Run) { r.Owner, r.Phase = "dead#1", model.PhaseSending })
		storetest.Run(t, st, j, func(r *model.Run) { r.Owner = "alive#1" })
		planned, unknown, err := st.AdoptRuns(ctx, []string{"n#2", "alive#1"}, []string{"n#2", "alive#1"}, 100)
		require.NoError(t, err)
		require.Equal(t, 1, planned)
		require.Equal(t, 1, unknown)
		// Both living nodes may get it; here the first share is that of n#2.
		ids, err := st.PlannedIDs(ctx, "n#2", 0, 1<<60, 10, false)
		require.NoError(t, err)
		require.Equal(t, []int64{dead.ID}, ids)
		got, err := st.ClaimRuns(ctx, "dead#1", []model.Claim{{RunID: dead.ID}}, 1)
		require.NoError(t, err)
		require.Empty(t, got, "the dead one wakes up and may not send")
		list, err := st.UnknownRuns(ctx, "n#2", 1<<60, 10, false)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, sent.ID, list[0].ID)
		back, err := st.Replan(ctx, "n#2", sent.ID, t0)
		require.NoError(t, err)
		require.True(t, back)
	})
}

func TestNodes(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		e1, err := st.JoinNode(ctx, "a", "v1", "http://a/", 4000)
		require.NoError(t, err)
		e2, err := st.JoinNode(ctx, "a", "v1", "http://a/", 4000)
		require.NoError(t, err)
		require.Greater(t, e2, e1)
		ok, err := st.Beat(ctx, model.Node{Name: "a", Epoch: e1})
		require.NoError(t, err)
		require.False(t, ok, "the earlier process is fenced")
		ok, err = st.Beat(ctx, model.Node{Name: "a", Epoch: e2, Backlog: 3, LateMS: 12, Leaving: true})
		require.NoError(t, err)
		require.True(t, ok)
		nodes, err := st.LiveNodes(ctx, 10000)
		require.NoError(t, err)
		require.Len(t, nodes, 1)
		require.NoError(t, st.LeaveNode(ctx, "a", e2))
		nodes, err = st.LiveNodes(ctx, 10000)
		require.NoError(t, err)
		require.Empty(t, nodes)
	})
}

func TestRegistry(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := model.Group{AppName: "auto-app", Title: "auto", UpdateTime: t0}
		id, err := st.InsertGroup(ctx, &g, t0)
		require.NoError(t, err)
		reg := func(addr string, at time.Time) model.Registration {
			return model.Registration{Group: "EXECUTOR", Key: "auto-app", Address: addr, Beat: at}
		}
		list := func() string {
			g, err := st.Group(ctx, id)
			require.NoError(t, err)
			return g.AddressList
		}
		require.NoError(t, st.Register(ctx, reg("http://b:1/", t0), t0.Add(-90*time.Second)))
		require.NoError(t, st.Register(ctx, reg("http://a:1/", t0), t0.Add(-90*time.Second)))
		require.NoError(t, st.Register(ctx, reg("http://a:1/", t0.Add(30*time.Second)), t0.Add(-60*time.Second)))
		require.Equal(t, "http://a:1/,http://b:1/", list(), "usable at once, sorted")
		require.NoError(t, st.Deregister(ctx, reg("http://b:1/", t0), t0.Add(-90*time.Second)))
		require.Equal(t, "http://a:1/", list(), "gone at once")
		n, err := st.SweepRegistry(ctx, t0.Add(30*time.Second), t0.Add(2*time.Minute))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Empty(t, list())
	})
}

func TestRunPages(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		var ids []int64
		for range 7 {
			ids = append(ids, storetest.Run(t, st, j, nil).ID)
		}
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 3})
		require.NoError(t, err)
		require.Len(t, list, 4, "one more than asked says that there are older ones")
		require.Equal(t, ids[6], list[0].ID)
		list, err = st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 3, Before: ids[4]})
		require.NoError(t, err)
		require.Equal(t, ids[3], list[0].ID)
		list, err = st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 3, After: ids[1]})
		require.NoError(t, err)
		require.Equal(t, []int64{ids[5], ids[4], ids[3], ids[2]}, []int64{list[0].ID, list[1].ID, list[2].ID, list[3].ID})
		other := storetest.Job(t, st, g.ID, nil)
		last := storetest.Run(t, st, other, nil)
		recent, err := st.RecentRuns(ctx, []int{j.ID, other.ID, 4711}, 3)
		require.NoError(t, err)
		require.Len(t, recent, 2)
		require.Equal(t, []int64{ids[4], ids[5], ids[6]}, []int64{recent[j.ID][0].ID, recent[j.ID][1].ID, recent[j.ID][2].ID})
		require.Equal(t, last.ID, recent[other.ID][0].ID)
	})
}

func TestUsersAndSessions(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		id, err := st.InsertUser(ctx, &model.User{Name: "admin", Role: model.RoleAdmin, PasswordHash: "x"})
		require.NoError(t, err)
		_, err = st.InsertUser(ctx, &model.User{Name: "ADMIN"})
		require.Equal(t, model.CodeConflict, model.CodeOf(err), "names differ in more than case")
		require.NoError(t, st.SetPreferences(ctx, id, "en", "dark"))
		generation, err := st.SetPasswordHash(ctx, id, "y", true)
		require.NoError(t, err)
		require.EqualValues(t, 1, generation)
		u, err := st.UserByName(ctx, "admin")
		require.NoError(t, err)
		require.Equal(t, "en", u.Language)
		require.Equal(t, "y", u.PasswordHash)
		require.True(t, u.MustChange, "somebody else chose it")
		_, err = st.SetPasswordHash(ctx, id, "z", false)
		require.NoError(t, err)
		u, err = st.User(ctx, id)
		require.NoError(t, err)
		require.False(t, u.MustChange)
		given, err := st.InsertUser(ctx, &model.User{Name: "given", PasswordHash: "x", MustChange: true})
		require.NoError(t, err)
		require.NoError(t, st.UpdateUser(ctx, &model.User{ID: given, Language: "en"}))
		u, err = st.User(ctx, given)
		require.NoError(t, err)
		require.True(t, u.MustChange, "an edit of the account changes nothing about it")

		s := st.Sessions()
		require.NoError(t, s.CommitCtx(ctx, "tok", []byte("data"), time.Now().Add(time.Hour)))
		require.NoError(t, s.CommitCtx(ctx, "old", []byte("data"), time.Now().Add(-time.Hour)))
		b, found, err := s.FindCtx(ctx, "tok")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, "data", string(b))
		_, found, err = s.FindCtx(ctx, "old")
		require.NoError(t, err)
		require.False(t, found)
		require.NoError(t, s.DeleteExpired(ctx))
		require.NoError(t, s.DeleteCtx(ctx, "tok"))
		_, found, err = s.FindCtx(ctx, "tok")
		require.NoError(t, err)
		require.False(t, found)
	})
}
