package jobs_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// world is the use cases on a real database, with a clock and executors that
// obey the test.
type world struct {
	*jobs.Service
	store *store.Store
	now   time.Time
	group model.Group
	out   *outside
}

// outside is the scheduler and the executors.
type outside struct {
	chunk  model.LogChunk
	silent error
	killed []int
	ended  []model.Handled
	nudged int
}

func (w *outside) Owner() string { return "n#1" }
func (w *outside) Nudge()        { w.nudged++ }
func (w *outside) Complete(_ context.Context, l []model.Handled) ([]model.HandledStatus, error) {
	w.ended = append(w.ended, l...)
	return nil, nil
}
func (w *outside) ReadLog(context.Context, string, int64, time.Time, int) (model.LogChunk, error) {
	return w.chunk, w.silent
}
func (w *outside) Ping(_ context.Context, address string) (model.LastCall, *model.Report) {
	return model.LastCall{Address: address}, nil
}

func (w *outside) Kill(_ context.Context, _ string, id int) error {
	w.killed = append(w.killed, id)
	return w.silent
}

func admin() model.Actor { return model.Actor{Name: "root", Admin: true} }

func newWorld(t *testing.T) *world {
	w := &world{now: time.Date(2026, 1, 1, 12, 0, 0, 500e6, time.UTC), out: &outside{}}
	w.store = storetest.OpenURL(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), time.UTC)
	w.Service = jobs.New(jobs.Options{
		Store: w.store, Ringer: w.out, Executors: w.out, Now: func() time.Time { return w.now }, Location: time.UTC, RetentionDays: 30,
	})
	w.group = storetest.Group(t, w.store, "app-one", "http://10.0.0.1:9999/")
	return w
}

func (w *world) input() jobs.JobInput {
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleConf, in.Handler = w.group.ID, "job", "ops", "0 0 0 * * ?", "h"
	return in
}

func (w *world) add(t *testing.T, change func(*jobs.JobInput)) int {
	in := w.input()
	if change != nil {
		change(&in)
	}
	id, err := w.AddJob(t.Context(), admin(), in)
	require.NoError(t, err)
	return id
}

// edit saves as somebody who has just opened the form.
func (w *world) edit(t *testing.T, a model.Actor, id int, in jobs.JobInput) error {
	in.Version = w.get(t, id).Version
	return w.UpdateJob(t.Context(), a, id, in)
}

func (w *world) get(t *testing.T, id int) model.Job {
	j, err := w.Job(t.Context(), admin(), id)
	require.NoError(t, err)
	return j
}

func TestStartAndStop(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, func(in *jobs.JobInput) { in.ScheduleConf = "* * * * * ?" })
	require.Equal(t, model.JobStopped, w.get(t, id).Status, "a new job is stopped")
	require.NoError(t, w.StartJob(t.Context(), admin(), id))
	require.Equal(t, w.now.Truncate(time.Second).Add(3*time.Second).UnixMilli(), w.get(t, id).NextMS, "the planner has time to write the first fire down")
	require.NoError(t, w.StopJob(t.Context(), admin(), id))
	require.NoError(t, w.StopJob(t.Context(), admin(), id), "twice is no error")
	require.Zero(t, w.get(t, id).NextMS)
	none := w.add(t, func(in *jobs.JobInput) { in.ScheduleType = model.ScheduleNone })
	require.ErrorContains(t, w.StartJob(t.Context(), admin(), none), "error.schedule_none")
	past := w.add(t, func(in *jobs.JobInput) { in.ScheduleConf = "0 0 0 2 1 ? 2026" })
	w.now = w.now.AddDate(1, 0, 0)
	require.ErrorContains(t, w.StartJob(t.Context(), admin(), past), "error.never_fires")
}

func TestEditOfARunningJob(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	require.NoError(t, w.StartJob(t.Context(), admin(), id))
	next := w.get(t, id).NextMS
	in := w.input()
	in.Name = "renamed"
	require.NoError(t, w.edit(t, admin(), id, in))
	require.Equal(t, next, w.get(t, id).NextMS, "the same schedule goes on")
	in.ScheduleConf = "0 30 12 * * ?"
	require.NoError(t, w.edit(t, admin(), id, in))
	require.Equal(t, w.now.Truncate(time.Hour).Add(30*time.Minute).UnixMilli(), w.get(t, id).NextMS, "the new schedule begins at once")
	require.Equal(t, model.JobRunning, w.get(t, id).Status)
	in.ScheduleType = model.ScheduleNone
	require.Error(t, w.edit(t, admin(), id, in), "a running job needs a schedule")
	require.Equal(t, "0 30 12 * * ?", w.get(t, id).ScheduleConf)

	in.ScheduleType, in.Version = model.ScheduleCron, w.get(t, id).Version-1
	require.Equal(t, model.CodeConflict, model.CodeOf(w.UpdateJob(t.Context(), admin(), id, in)), "somebody else saved meanwhile")
	db, end, err := w.store.MigrationDB()
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `UPDATE xxl_job_info SET carillon_version = NULL WHERE id = ?`, id)
	require.NoError(t, err)
	require.NoError(t, end())
	one := w.input()
	one.Version = 0 // both opened a job that another program had made
	require.NoError(t, w.UpdateJob(t.Context(), admin(), id, one))
	require.Equal(t, model.CodeConflict, model.CodeOf(w.UpdateJob(t.Context(), admin(), id, one)))
}

func TestScriptVersionsGrow(t *testing.T) {
	w := newWorld(t)
	script := func(in *jobs.JobInput) {
		in.GlueType, in.Handler, in.GlueSource = model.GlueShell, "ignored", "echo 1\r\n"
	}
	id := w.add(t, script)
	j := w.get(t, id)
	require.Equal(t, "echo 1\n", j.GlueSource)
	require.Empty(t, j.Handler)
	in := w.input()
	script(&in)
	in.GlueSource = "echo 2\n"
	for i := 1; i <= 3; i++ { // within the same second
		in.GlueSource += "# edit\n"
		require.NoError(t, w.edit(t, admin(), id, in))
		require.Equal(t, j.GlueUpdateTime.Add(time.Duration(i)*time.Second), w.get(t, id).GlueUpdateTime, "executors keep a script by this time")
	}
	require.NoError(t, w.edit(t, admin(), id, in))
	require.Equal(t, j.GlueUpdateTime.Add(3*time.Second), w.get(t, id).GlueUpdateTime, "the same source keeps its version")
}

func TestASloppyStoredCronStaysEditable(t *testing.T) {
	w := newWorld(t)
	j := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.ScheduleConf = "0 0 12 ? * MON-FRI/2" })
	in := w.input()
	in.ScheduleConf = j.ScheduleConf
	require.NoError(t, w.edit(t, admin(), j.ID, in))
	in.ScheduleConf = "0 0 13 ? * MON-FRI/2"
	require.Error(t, w.edit(t, admin(), j.ID, in), "what is new must be strict")
}

func TestChildrenMayNotLeadBack(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.add(t, nil), w.add(t, nil), w.add(t, nil)
	child := func(id int, of string) error {
		in := w.input()
		in.ChildIDs = of
		return w.edit(t, admin(), id, in)
	}
	require.NoError(t, child(a, " 2 , 3 ,"))
	require.Equal(t, "2,3", w.get(t, a).ChildIDs, "blanks are no reason to refuse")
	require.NoError(t, child(b, "3"))
	err := child(c, "1")
	e, ok := errors.AsType[*model.Error](err)
	require.True(t, ok)
	require.Equal(t, "error.child_cycle", e.Fields["child_ids"].Key)
	require.Empty(t, w.get(t, c).ChildIDs)
}

func TestPermissions(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	run, err := w.RunNow(t.Context(), admin(), id, jobs.RunInput{})
	require.NoError(t, err)
	other := model.Actor{UserID: 2, Name: "other", Groups: []int{w.group.ID + 1}}
	nobody := model.Actor{UserID: 3}
	for _, a := range []model.Actor{other, nobody} {
		// What is of others is answered as what does not exist: ids tell nothing.
		missing := func(err, really error) {
			t.Helper()
			require.Equal(t, model.CodeNotFound, model.CodeOf(err))
			require.Equal(t, really.(*model.Error).Key, err.(*model.Error).Key)
		}
		forbidden := func(err error) {
			t.Helper()
			require.Equal(t, model.CodeForbidden, model.CodeOf(err))
		}
		_, noJob := w.Job(t.Context(), a, 4711)
		_, noRun := w.Run(t.Context(), a, 4711)
		_, noExecutor := w.Executor(t.Context(), a, 4711)
		_, err := w.Job(t.Context(), a, id)
		missing(err, noJob)
		_, err = w.AddJob(t.Context(), a, w.input())
		require.ErrorContains(t, err, "group: field.not_found")
		missing(w.edit(t, a, id, w.input()), noJob)
		missing(w.DeleteJob(t.Context(), a, id), noJob)
		missing(w.StartJob(t.Context(), a, id), noJob)
		missing(w.StopJob(t.Context(), a, id), noJob)
		_, err = w.RunNow(t.Context(), a, id, jobs.RunInput{})
		missing(err, noJob)
		_, err = w.Run(t.Context(), a, run)
		missing(err, noRun)
		_, err = w.ReadLog(t.Context(), a, run, 1)
		missing(err, noRun)
		missing(w.KillRun(t.Context(), a, run), noRun)
		missing(w.TakeBackRun(t.Context(), a, run), noRun)
		_, err = w.Executor(t.Context(), a, w.group.ID)
		missing(err, noExecutor)
		_, err = w.Users(t.Context(), a)
		forbidden(err)
		_, err = w.AddExecutor(t.Context(), a, jobs.ExecutorInput{AppName: "other-app", Title: "x"})
		forbidden(err)
		page, err := w.ListJobs(t.Context(), a, model.JobFilter{})
		require.NoError(t, err)
		require.Zero(t, page.Total+page.Counts.All+len(page.Groups))
		runs, err := w.ListRuns(t.Context(), a, model.RunFilter{})
		require.NoError(t, err)
		require.Empty(t, runs.Rows)
	}
	t.Run("moving a job needs both executors", func(t *testing.T) {
		second := storetest.Group(t, w.store, "app-two", "")
		in := w.input()
		in.GroupID = second.ID
		mine := model.Actor{UserID: 4, Groups: []int{w.group.ID}}
		require.ErrorContains(t, w.edit(t, mine, id, in), "group: field.not_found")
	})
	t.Run("only administrators send the token to an address that the executor does not have", func(t *testing.T) {
		mine := model.Actor{UserID: 4, Groups: []int{w.group.ID}}
		_, err := w.RunNow(t.Context(), mine, id, jobs.RunInput{Addresses: "http://evil:1/"})
		require.ErrorContains(t, err, "field.foreign_address")
		_, err = w.RunNow(t.Context(), mine, id, jobs.RunInput{Addresses: "http://10.0.0.1:9999/"})
		require.NoError(t, err)
	})
}

func TestReadLog(t *testing.T) {
	w := newWorld(t)
	j := w.get(t, w.add(t, nil))
	open := storetest.Run(t, w.store, j, func(r *model.Run) { r.Phase, r.TriggerCode, r.Address = model.PhaseAccepted, 200, "http://a/" })
	read := func(id int64, from int) model.LogChunk {
		c, err := w.ReadLog(t.Context(), admin(), id, from)
		require.NoError(t, err)
		return c
	}
	w.out.chunk = model.LogChunk{From: 1, To: 2, Content: "a\nb\n"}
	require.Equal(t, model.LogChunk{From: 1, To: 2, Content: "a\nb\n"}, read(open.ID, 1))
	w.out.chunk = model.LogChunk{From: 1, To: 0, Content: "no such file", End: true}
	require.Equal(t, model.LogChunk{From: 1, To: 0}, read(open.ID, 1), "a run that waits for its turn has no log yet")
	_, err := w.store.StoreHandled(t.Context(), []model.Handled{{RunID: open.ID, Code: 200}}, w.now, nil)
	require.NoError(t, err)
	w.out.chunk = model.LogChunk{From: 3, To: 2}
	require.True(t, read(open.ID, 3).End, "ended, and nothing new")
	t.Run("a client that returns the whole log each time", func(t *testing.T) {
		w.out.chunk = model.LogChunk{From: 1, To: 1, Content: "a\nb\nc\n", End: true}
		require.Equal(t, model.LogChunk{From: 1, To: 3, Content: "a\nb\nc\n", End: true}, read(open.ID, 1))
		w.out.chunk.From, w.out.chunk.To = 3, 3
		require.Equal(t, model.LogChunk{From: 3, To: 3, Content: "c\n", End: true}, read(open.ID, 3))
		w.out.chunk.From, w.out.chunk.To = 4, 4
		require.Equal(t, model.LogChunk{From: 4, To: 3, End: true}, read(open.ID, 4))
	})
	w.out.silent = errors.New("connection refused")
	_, err = w.ReadLog(t.Context(), admin(), open.ID, 3)
	require.Equal(t, model.CodeUnavailable, model.CodeOf(err))
	planned := storetest.Run(t, w.store, j, nil)
	require.False(t, read(planned.ID, 1).End, "nothing was sent, nobody is asked")
}

func TestKillOnlyWhatRuns(t *testing.T) {
	w := newWorld(t)
	j := w.get(t, w.add(t, nil))
	planned := storetest.Run(t, w.store, j, nil)
	require.ErrorContains(t, w.KillRun(t.Context(), admin(), planned.ID), "error.not_running")
	require.Empty(t, w.out.killed)
	running := storetest.Run(t, w.store, j, func(r *model.Run) { r.Phase, r.TriggerCode, r.Address = model.PhaseAccepted, 200, "http://a/" })
	require.ErrorContains(t, w.TakeBackRun(t.Context(), admin(), running.ID), "error.not_planned")
	require.NoError(t, w.TakeBackRun(t.Context(), admin(), planned.ID))
	got, err := w.Run(t.Context(), admin(), planned.ID)
	require.NoError(t, err)
	require.Equal(t, model.ReasonTakenBack, got.Run.Outcome())
	require.NoError(t, w.KillRun(t.Context(), admin(), running.ID))
	require.Equal(t, []int{j.ID}, w.out.killed)
	require.Equal(t, model.ReasonKilled, w.out.ended[0].Reason)
	w.out.silent = errors.New("connection refused")
	running = storetest.Run(t, w.store, j, func(r *model.Run) { r.Phase, r.TriggerCode, r.Address = model.PhaseAccepted, 200, "http://a/" })
	require.ErrorContains(t, w.KillRun(t.Context(), admin(), running.ID), "error.executor_silent")
	require.Equal(t, model.Handled{RunID: running.ID, Reason: model.ReasonKillUntaken}, w.out.ended[1], "the note is taken back")
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	p, err := w.Preview(model.ScheduleCron, "CRON_TZ=Asia/Shanghai 0 30 1 * * ?", "en", 2)
	require.NoError(t, err)
	require.Equal(t, "Asia/Shanghai", p.Zone)
	require.Equal(t, "2026-01-02 01:30:00 +0800 CST", p.Next[0].String())
	_, err = w.Preview(model.ScheduleCron, "0 61 * * * ?", "en", 2)
	e, ok := errors.AsType[*model.Error](err)
	require.True(t, ok)
	require.Equal(t, "minute", e.Args["Field"])
}

func TestDashboardFillsTheDays(t *testing.T) {
	w := newWorld(t)
	_, err := w.RunNow(t.Context(), admin(), w.add(t, nil), jobs.RunInput{})
	require.NoError(t, err)
	d, err := w.Dashboard(t.Context(), admin(), model.DayRange{})
	require.NoError(t, err)
	require.Len(t, d.Days, 7)
	require.Equal(t, "2025-12-26", d.Days[0].Day)
	require.EqualValues(t, 1, d.Today.Open)
	require.EqualValues(t, 1, d.Today.Expected)
	require.EqualValues(t, 1, d.RunsTotal)
}

// TestDashboardShowsNodesThatAreGone for an hour, and none that said goodbye.
func TestDashboardShowsNodesThatAreGone(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		_, err := w.store.JoinNode(t.Context(), name, "v1", "http://"+name+"/", 4000)
		require.NoError(t, err)
	}
	require.NoError(t, w.store.LeaveNode(t.Context(), "d", 1))
	db, end, err := w.store.MigrationDB()
	require.NoError(t, err)
	for name, silent := range map[string]time.Duration{"b": time.Minute, "c": 2 * time.Hour} {
		_, err = db.ExecContext(t.Context(), `UPDATE carillon_node SET beat_at = beat_at - ? WHERE name = ?`, silent.Milliseconds(), name)
		require.NoError(t, err)
	}
	require.NoError(t, end())
	d, err := w.Dashboard(t.Context(), admin(), model.DayRange{})
	require.NoError(t, err)
	require.Len(t, d.Centers, 2)
	require.Equal(t, model.NodeAlive, d.Centers[0].State())
	require.Equal(t, "b", d.Centers[1].Name)
	require.Equal(t, model.NodeGone, d.Centers[1].State())
}

// TestStartingARunningJobChangesNothing: anew it would lose its phase, and the fire
// that is next.
func TestStartingARunningJobChangesNothing(t *testing.T) {
	for _, kind := range []model.ScheduleType{model.ScheduleFixRate, model.ScheduleCron} {
		w := newWorld(t)
		id := w.add(t, func(in *jobs.JobInput) {
			if in.ScheduleType = kind; kind == model.ScheduleFixRate {
				in.ScheduleConf = "86400"
			}
		})
		require.NoError(t, w.StartJob(t.Context(), admin(), id))
		first, err := w.store.Job(t.Context(), id)
		require.NoError(t, err)
		w.now = time.UnixMilli(first.NextMS).Add(-time.Second)
		require.NoError(t, w.StartJob(t.Context(), admin(), id))
		again, err := w.store.Job(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}
