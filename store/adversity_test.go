package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	planning "github.com/carillon-scheduler/carillon/scheduler/plan"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// running switches a job on, with its next fire at the given instant.
func running(t *testing.T, st *store.Store, j model.Job, next time.Time) model.Job {
	t.Helper()
	write(t, st, `UPDATE xxl_job_info SET trigger_status = 1, trigger_next_time = ? WHERE id = ?`, next.UnixMilli(), j.ID)
	j.Status, j.NextMS = model.JobRunning, next.UnixMilli()
	return j
}

// TestALongOutageIsPlanned: hundreds of jobs that are silent at night and at weekends
// were off for a month. The walk through it happens inside a transaction whose session
// the server ends when it says nothing for four seconds.
func TestALongOutageIsPlanned(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		saturday := time.Date(2026, 1, 3, 15, 0, 0, 0, time.UTC)
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.ScheduleConf = "* * 8-17 ? * MON-WED" }), saturday.AddDate(0, 0, -30))
		for n := 1; n < 400; n *= 2 {
			write(t, st, `INSERT INTO xxl_job_info (job_group, job_desc, add_time, update_time, author, schedule_type, schedule_conf, misfire_strategy,
				executor_route_strategy, executor_handler, executor_param, executor_block_strategy, glue_type, glue_updatetime, trigger_status, trigger_next_time)
				SELECT job_group, job_desc, add_time, update_time, author, schedule_type, schedule_conf, misfire_strategy,
				executor_route_strategy, executor_handler, executor_param, executor_block_strategy, glue_type, glue_updatetime, trigger_status, trigger_next_time FROM xxl_job_info`)
		}
		healthy := running(t, st, storetest.Job(t, st, g.ID, nil), saturday)
		began := time.Now()
		p := &planning.Planner{
			Store: st, Cfg: config.Config{Location: time.UTC, Now: func() time.Time { return saturday.Add(time.Since(began)) }}.WithDefaults(),
			Owners: func() []string { return []string{"n#1"} }, Planned: func() {}, Noted: func(context.Context, time.Time) error { return nil },
		}
		require.NoError(t, p.Plan(t.Context(), saturday))
		left, err := st.LockedJobs(t.Context(), saturday.UnixMilli(), 1000, saturday)
		require.NoError(t, err)
		require.Empty(t, left, "still due")
		runs, err := st.Runs(t.Context(), model.RunFilter{JobID: healthy.ID, Limit: 10})
		require.NoError(t, err)
		require.NotEmpty(t, runs)
	})
}

// TestNodeNamesThatTheDatabaseCannotTellApart are one row there and two names in Go.
func TestNodeNamesThatTheDatabaseCannotTellApart(t *testing.T) {
	ctx, st := t.Context(), suite.Open(t, "mariadb", time.UTC)
	first, err := st.JoinNode(ctx, "Host1", "v", "", 4000)
	require.NoError(t, err)
	for _, other := range []string{"host1", "Hóst1", "Host1 "} {
		_, err = st.JoinNode(ctx, other, "v", "", 4000)
		require.Equal(t, model.CodeConflict, model.CodeOf(err), "%q beside a living node", other)
	}
	again, err := st.JoinNode(ctx, "Host1", "v", "", 4000)
	require.NoError(t, err)
	require.Greater(t, again, first, "a restart under the same name")
	require.NoError(t, st.LeaveNode(ctx, "Host1", again))
	later, err := st.JoinNode(ctx, "host1", "v", "", 4000)
	require.NoError(t, err)
	require.Greater(t, later, again, "the dead one is taken over")
	nodes, err := st.LiveNodes(ctx, 4000)
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	require.Equal(t, "host1", nodes[0].Name, "in the new spelling, or it would look like a second node")
}

// TestResultsOfOtherRunsAreRefused: a database that lost its last commits gives ids again.
func TestResultsOfOtherRunsAreRefused(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		at := time.Unix(1767225600, 0).UnixMilli()
		for range 25 { // a client that always sends the trigger time back, as Java does
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.Address = model.PhaseSending, "http://java/" })
			_, err := st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: 200, AtMS: at, TriggerMS: at}}, t0, nil)
			require.NoError(t, err)
		}
		for name, tc := range map[string]struct {
			sent   bool
			h      model.Handled
			status model.HandledStatus
		}{
			"never sent":                              {false, model.Handled{TriggerMS: at}, model.HandledUnknown},
			"never sent, no time":                     {false, model.Handled{}, model.HandledUnknown},
			"ours":                                    {true, model.Handled{TriggerMS: at, Echo: true}, model.HandledStored},
			"of a later trigger, our SDK":             {true, model.Handled{TriggerMS: at + 8000, Echo: true}, model.HandledUnknown},
			"of an earlier trigger, Java":             {true, model.Handled{TriggerMS: at - 8000}, model.HandledUnknown},
			"with the time of its end, as Node sends": {true, model.Handled{TriggerMS: at + 8123}, model.HandledStored},
			"of a clock that is behind, in whole seconds, as an old pyxxl": {true, model.Handled{TriggerMS: at - 3000}, model.HandledStored},
			"of a clock that is behind, as pyxxl":                          {true, model.Handled{TriggerMS: at - 8123}, model.HandledStored},
			"without a time":                                               {true, model.Handled{}, model.HandledStored},
		} {
			r := storetest.Run(t, st, j, func(r *model.Run) {
				if tc.sent {
					r.Phase, r.Address = model.PhaseSending, "http://other/"
				}
				if strings.HasSuffix(name, "Java") {
					r.Address = "http://java/"
				}
			})
			tc.h.RunID, tc.h.Code, tc.h.AtMS = r.ID, 200, at
			got, err := st.StoreHandled(t.Context(), []model.Handled{tc.h}, t0, nil)
			require.NoError(t, err)
			require.Equal(t, tc.status, got[0], name)
			now, err := st.Run(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, tc.status == model.HandledStored, now.HandleCode == 200, name)
		}
		// One that seemed not to have arrived and was put back had been sent: its result counts.
		r := storetest.Run(t, st, j, nil)
		_, err := st.ClaimRuns(t.Context(), "n#1", []model.Claim{{RunID: r.ID, Address: "a"}}, at)
		require.NoError(t, err)
		require.NoError(t, st.RecordDispatches(t.Context(), "n#1", []model.Dispatch{{RunID: r.ID, Phase: model.PhaseUnknown, SentMS: at}}, t0, nil))
		back, err := st.Replan(t.Context(), "n#1", r.ID, t0)
		require.NoError(t, err)
		require.True(t, back)
		got, err := st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: 200, AtMS: at}}, t0, nil)
		require.NoError(t, err)
		require.Equal(t, model.HandledStored, got[0])
	})
}

// TestALockedJobStopsNoOther: a person, a script or another program holds one row.
func TestALockedJobStopsNoOther(t *testing.T) {
	ctx, st := t.Context(), suite.Open(t, "mariadb", time.UTC)
	g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
	var ids []int
	for range 5 {
		j := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		ids = append(ids, j.ID)
	}
	db, end, err := st.MigrationDB()
	require.NoError(t, err)
	defer func() { require.NoError(t, end()) }()
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(ctx, `SELECT id FROM xxl_job_info WHERE id = ? FOR UPDATE`, ids[2])
	require.NoError(t, err)
	began := time.Now()
	read, written, err := st.PlanDue(ctx, t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) (out []model.JobPlan) {
		for _, j := range due {
			out = append(out, eachSecond(j, 1))
		}
		return out
	})
	require.NoError(t, err)
	require.Equal(t, []int{4, 4}, []int{read, written})
	require.Less(t, time.Since(began), 2*time.Second, "nobody waits for the lock")
	locked, err := st.LockedJobs(ctx, t0.UnixMilli(), 10, t0)
	require.NoError(t, err)
	require.Equal(t, []int{ids[2]}, locked)
	require.NoError(t, tx.Rollback())
}

// TestACommitWhoseAnswerIsLost: whoever asked for the run gets its id, not the advice to
// try again.
func TestACommitWhoseAnswerIsLost(t *testing.T) {
	w, address := through(t, suite.URL(t, "mariadb"))
	st := storetest.OpenURL(t, address, time.UTC)
	j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
	commit := []byte("COMMIT")
	w.cutAfter.Store(&commit)
	run := model.Run{GroupID: j.GroupID, JobID: j.ID, TriggerTime: t0, PlannedMS: t0.UnixMilli(), Phase: model.PhasePlanned, TriggerType: model.TriggerAPI, Owner: "n#1", FireKey: "m:one"}
	id, err := st.InsertRun(t.Context(), &run, t0)
	require.NoError(t, err)
	require.Nil(t, w.cutAfter.Load(), "the line was cut")
	list, err := st.Runs(t.Context(), model.RunFilter{JobID: j.ID, Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, list[0].ID, id)
}

// TestConnectionsThatDieInSilence: a firewall has lost its state. The node beats on a
// new connection before it counts as dead, and the others are dropped.
func TestConnectionsThatDieInSilence(t *testing.T) {
	w, address := through(t, suite.URL(t, "mariadb"))
	st := storetest.OpenURL(t, address, time.UTC)
	epoch, err := st.JoinNode(t.Context(), "n", "v", "", 4000)
	require.NoError(t, err)
	w.mute()
	began := time.Now()
	ok, err := st.Beat(t.Context(), model.Node{Name: "n", Epoch: epoch})
	require.NoError(t, err)
	require.True(t, ok)
	require.Less(t, time.Since(began), model.NodeDeadAfter, "else the others take its runs over")
	began = time.Now()
	_, err = st.LastPlanMS(t.Context())
	require.NoError(t, err)
	require.Less(t, time.Since(began), time.Second, "the dead connections are gone")
}

// TestAServerThatBecameReadOnly is left: after a failover the name leads to another one.
func TestAServerThatBecameReadOnly(t *testing.T) {
	raw := suite.URL(t, "mariadb")
	st := storetest.OpenURL(t, raw, time.UTC)
	write(t, st, `CREATE USER 'plain'@'%' IDENTIFIED BY 'x'`)
	u, err := url.Parse(raw)
	require.NoError(t, err)
	write(t, st, `GRANT ALL ON `+strings.TrimPrefix(u.Path, "/")+`.* TO 'plain'@'%'`)
	u.User = url.UserPassword("plain", "x")
	w, address := through(t, u.String())
	plain, err := store.Open(t.Context(), store.Options{URL: address, Location: time.UTC})
	require.NoError(t, err)
	defer func() { require.NoError(t, plain.Close()) }()
	require.NoError(t, plain.EnsureLock(t.Context()))
	write(t, st, `SET GLOBAL read_only = 1`)
	defer write(t, st, `SET GLOBAL read_only = 0`)
	before := w.dials.Load()
	require.Error(t, plain.EnsureLock(t.Context()))
	require.Greater(t, w.dials.Load(), before, "it looked for another server")
}

// TestRunIDsAtTheirEnd: the words of the engines mislead.
func TestRunIDsAtTheirEnd(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		j := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		storetest.Run(t, st, j, nil)
		write(t, st, `UPDATE xxl_job_log SET id = 9223372036854775806`)
		if st.Engine() == "sqlite" {
			write(t, st, `UPDATE sqlite_sequence SET seq = 9223372036854775806 WHERE name = 'xxl_job_log'`)
		} else {
			write(t, st, `ALTER TABLE xxl_job_log AUTO_INCREMENT = 9223372036854775807`)
		}
		_, _, err := st.PlanDue(t.Context(), t0.UnixMilli(), 10, t0, func(due []model.Job, _ map[int]model.Group) []model.JobPlan {
			return []model.JobPlan{eachSecond(due[0], 4)}
		})
		require.ErrorContains(t, err, "end of their range")
	})
}

// TestTimesAreAsMeasured, however many rows share a statement, and in their order.
func TestTimesAreAsMeasured(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
		var claims []model.Claim
		var sent []model.Dispatch
		var done []model.Handled
		for i := range int64(700) {
			r := storetest.Run(t, st, j, nil)
			claims = append(claims, model.Claim{RunID: r.ID, Address: "a"})
			note := model.Note{Route: []model.Attempt{{Address: "a", Asked: model.AskedRun, Code: 200, MS: i}}}
			d := model.Dispatch{RunID: r.ID, Phase: model.PhaseAccepted, Code: 200, SentMS: 10_000 + 3*i, AtMS: 10_001 + 3*i, Note: note}
			h := model.Handled{RunID: r.ID, Code: 200, Msg: fmt.Sprint("done ", i), AtMS: 20_000 + 7*i}
			switch i % 3 {
			case 0: // the answer to the call is written with the result
				h.Call = &d
			case 1: // the result overtakes the answer
				h.AtMS = d.SentMS
				h.Call = &d
			default:
				sent = append(sent, d)
			}
			done = append(done, h)
		}
		_, err := st.ClaimRuns(ctx, "n#1", claims, 9_999)
		require.NoError(t, err)
		require.NoError(t, st.RecordDispatches(ctx, "n#1", sent, t0, nil))
		_, err = st.StoreHandled(ctx, done, t0, nil)
		require.NoError(t, err)
		for i, h := range done {
			r, err := st.Run(ctx, h.RunID)
			require.NoError(t, err)
			require.EqualValues(t, 10_000+3*i, r.SentMS)
			require.Equal(t, fmt.Sprint("done ", i), r.HandleMsg)
			require.EqualValues(t, i, r.Note.Route[0].MS)
			if i%3 == 1 {
				require.Equal(t, [2]int64{r.SentMS, r.SentMS}, [2]int64{r.AcceptedMS, r.FinishedMS}, "not after its end")
			} else {
				require.Equal(t, [2]int64{int64(10_001 + 3*i), h.AtMS}, [2]int64{r.AcceptedMS, r.FinishedMS})
			}
		}
	})
}

// TestARetriedRunWakesNobody: beside a Java admin, or after going back to one, a failed
// run whose retry is written down must not be tried or told again.
func TestARetriedRunWakesNobody(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, func(j *model.Job) { j.RetryCount = 1 })
		failed := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.RetryLeft = model.PhaseAccepted, 1 })
		refused := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.RetryLeft = model.PhaseSending, 1 })
		_, err := st.StoreHandled(ctx, []model.Handled{{RunID: failed.ID, Code: 500, AtMS: 5}}, t0, rule.Follower(t0, "n#1"))
		require.NoError(t, err)
		require.NoError(t, st.RecordDispatches(ctx, "n#1", []model.Dispatch{{RunID: refused.ID, Phase: model.PhaseFinished, Code: 500, Reason: model.ReasonRefused, AtMS: 5}},
			t0, rule.Follower(t0, "n#1")))
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, 4)
		for _, r := range list {
			want := 0 // the last attempt may wake somebody, once alarms are switched on
			if r.FirstID == 0 {
				want = 1
			}
			require.Equal(t, want, r.AlarmStatus, "run %d", r.ID)
		}
	})
}

// TestWhatAnotherCenterClosed: a Java admin took the result and wrote nothing of ours.
func TestWhatAnotherCenterClosed(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
		var ids []int64
		for _, phase := range []model.RunPhase{model.PhaseSending, model.PhaseUnknown, model.PhaseAccepted} {
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase = phase })
			ids = append(ids, r.ID)
		}
		require.EqualValues(t, 3, account(t, st, t0).Open)
		write(t, st, `UPDATE xxl_job_log SET handle_code = CASE WHEN id = ? THEN 500 ELSE 200 END, handle_time = ?, handle_msg = 'by Java'`, ids[0], t0.Format(time.DateTime))
		require.NoError(t, st.CloseElsewhere(ctx, ids, t0))
		require.NoError(t, st.CloseElsewhere(ctx, ids, t0), "once is enough")
		l := account(t, st, t0)
		require.Equal(t, [4]int64{3, 2, 1, 0}, [4]int64{l.Expected, l.Succeeded, l.Failed, l.Open})
		rep, err := st.Report(ctx, t0, t0)
		require.NoError(t, err)
		require.Equal(t, model.DayCount{Day: "2026-01-01", Succeeded: 2, Failed: 1}, rep[0])
		for _, id := range ids {
			r, err := st.Run(ctx, id)
			require.NoError(t, err)
			require.Equal(t, model.PhaseFinished, r.Phase)
			require.Equal(t, "by Java", r.HandleMsg)
		}
	})
}

// TestOneRowThatTheDatabaseRefuses is named, so that others in its batch can go on.
func TestOneRowThatTheDatabaseRefuses(t *testing.T) {
	st := suite.Open(t, "mariadb", time.UTC)
	j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
	r := storetest.Run(t, st, j, nil)
	_, err := st.ClaimRuns(t.Context(), "n#1", []model.Claim{{RunID: r.ID, Address: "http://a/" + strings.Repeat("x", 300)}}, 1)
	require.ErrorIs(t, err, model.ErrBadRow)
	_, err = st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: 200, Msg: "\xff", AtMS: 1, Call: &model.Dispatch{}}}, t0, nil)
	require.ErrorIs(t, err, model.ErrBadRow)
	require.NotErrorIs(t, sql.ErrNoRows, model.ErrBadRow)
}

// TestGiveBack: what was claimed ahead is planned again when its node stops, unless its
// job does not want it any more.
func TestGiveBack(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		on := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		off := storetest.Job(t, st, g.ID, nil)
		a, b := storetest.Run(t, st, on, nil), storetest.Run(t, st, off, nil)
		_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: a.ID, Address: "a", Ahead: true}, {RunID: b.ID, Address: "a", Ahead: true}}, 1)
		require.NoError(t, err)
		require.NoError(t, st.GiveBack(ctx, "n#2", []int64{a.ID, b.ID}), "not its own")
		require.NoError(t, st.GiveBack(ctx, "n#1", []int64{a.ID, b.ID}))
		for id, phase := range map[int64]model.RunPhase{a.ID: model.PhasePlanned, b.ID: model.PhaseSending} {
			r, err := st.Run(ctx, id)
			require.NoError(t, err)
			require.Equal(t, phase, r.Phase)
		}
	})
}

// TestTwoWordsAboutOneRunAtOnce: that it is lost and its result share a batch. It counts once.
func TestTwoWordsAboutOneRunAtOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
		r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase = model.PhaseAccepted })
		got, err := st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: 500, Reason: model.ReasonLost, AtMS: 5}, {RunID: r.ID, Code: 200, AtMS: 5}}, t0, nil)
		require.NoError(t, err)
		require.Equal(t, []model.HandledStatus{model.HandledRepeat, model.HandledStored}, got)
		l := account(t, st, t0)
		require.Equal(t, [3]int64{1, 1, 0}, [3]int64{l.Expected, l.Succeeded, l.Failed})
	})
}

// TestARunThatIsNotSentYetCoversNobody: it is claimed ahead of its instant.
func TestARunThatIsNotSentYetCoversNobody(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, func(j *model.Job) { j.Block, j.RetryCount = model.BlockCover, 1 })
		first := storetest.Run(t, st, j, func(r *model.Run) { r.RetryLeft = 1 })
		next := storetest.Run(t, st, j, func(r *model.Run) { r.PlannedMS += 1000 })
		_, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: first.ID, Address: "a"}, {RunID: next.ID, Address: "a"}}, first.PlannedMS+900)
		require.NoError(t, err)
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: first.ID, Code: 500, AtMS: first.PlannedMS + 950}}, t0, rule.Follower(t0, "n#1"))
		require.NoError(t, err)
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, 3, "it is tried again")
	})
}

// TestALockedRunHoldsUpNoOther: neither claims nor results.
func TestALockedRunHoldsUpNoOther(t *testing.T) {
	ctx, st := t.Context(), suite.Open(t, "mariadb", time.UTC)
	j := storetest.Job(t, st, storetest.Group(t, st, "app-one", "").ID, nil)
	held, free := storetest.Run(t, st, j, nil), storetest.Run(t, st, j, nil)
	db, end, err := st.MigrationDB()
	require.NoError(t, err)
	defer func() { require.NoError(t, end()) }()
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(ctx, `SELECT id FROM xxl_job_log WHERE id = ? FOR UPDATE`, held.ID)
	require.NoError(t, err)
	began := time.Now()
	got, err := st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: held.ID, Address: "a"}, {RunID: free.ID, Address: "a"}}, 1)
	require.NoError(t, err)
	require.Equal(t, map[int64]bool{free.ID: true}, got)
	require.Less(t, time.Since(began), 2*time.Second)
	statuses, err := st.StoreHandled(ctx, []model.Handled{{RunID: held.ID, Code: 200, AtMS: 5}, {RunID: free.ID, Code: 200, AtMS: 5}}, t0, nil)
	require.NoError(t, err)
	require.Equal(t, []model.HandledStatus{model.HandledLocked, model.HandledStored}, statuses)
	require.Less(t, time.Since(began), 8*time.Second, "one wait, not six")
	require.NoError(t, tx.Rollback())
}
