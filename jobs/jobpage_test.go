package jobs_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// ended writes a run of the job with its outcome; 0 = it has none.
func (w *world) ended(t *testing.T, id, code int, change func(*model.Run)) model.Run {
	t.Helper()
	var reason, msg string
	r := storetest.Run(t, w.store, w.get(t, id), func(r *model.Run) {
		r.Phase, r.TriggerCode, r.TriggerType, r.TriggerTime = model.PhaseAccepted, model.CodeSuccess, model.TriggerCron, w.now
		if change != nil {
			change(r)
		}
		if code != 0 {
			reason, msg = r.Reason, r.HandleMsg
			r.Reason, r.HandleMsg = "", ""
		}
	})
	if code != 0 {
		storetest.End(t, w.store, r, code, reason, msg)
	}
	return r
}

func TestJobDetail(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, func(in *jobs.JobInput) { in.ScheduleConf = "CRON_TZ=Asia/Tokyo 0 0 8 * * ?" })
	d, err := w.JobDetail(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Empty(t, d.Fires, "a stopped job has no next fire")
	require.Zero(t, d.Streak.Fires)

	require.NoError(t, w.StartJob(t.Context(), admin(), id))
	d, err = w.JobDetail(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Len(t, d.Fires, 5)
	require.Equal(t, "2026-01-02T08:00:00+09:00", d.Fires[0].Format(time.RFC3339), "in the zone of the schedule")
	require.Equal(t, "Asia/Tokyo", d.FireZone)
	storetest.Run(t, w.store, w.get(t, id), func(r *model.Run) {
		r.TriggerType, r.PlannedMS = model.TriggerCron, w.now.Add(time.Second).UnixMilli()
	})
	d, err = w.JobDetail(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, w.now.Add(time.Second).UnixMilli(), d.Fires[0].UnixMilli(), "what is planned already comes first")
	require.Len(t, d.Fires, 5)
	require.Equal(t, 1, d.Waiting.Total)
	require.Zero(t, d.Waiting.Due)
	require.Equal(t, "http://10.0.0.1:9999/", d.Nodes[0].Address)
	require.True(t, d.Nodes[0].Beat.IsZero())
	require.NoError(t, w.Register(t.Context(), model.Registration{Group: "EXECUTOR", Key: w.group.AppName, Address: "http://10.0.0.1:9999/"}))
	d, err = w.JobDetail(t.Context(), admin(), id)
	require.NoError(t, err)
	require.True(t, d.Nodes[0].Alive)

	_, err = w.JobDetail(t.Context(), model.Actor{Name: "olga", Groups: []int{w.group.ID + 1}}, id)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err), "what one may not see does not exist")
	require.NoError(t, w.DeleteJob(t.Context(), admin(), id))
	_, err = w.JobDetail(t.Context(), admin(), id)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
}

func TestFailingSince(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	streak := func() model.Failures {
		d, err := w.JobDetail(t.Context(), admin(), id)
		require.NoError(t, err)
		return d.Streak
	}
	first := w.ended(t, id, 500, nil)
	require.Equal(t, first.PlannedMS+first.ID, streak().SinceMS)
	require.Equal(t, first.ID, streak().FirstRun)
	require.Zero(t, streak().LastSuccess.ID, "it never succeeded")
	ok := w.ended(t, id, 200, nil)
	require.False(t, new(streak()).Failing(), "the newest one succeeded")

	a := w.ended(t, id, 500, nil)
	w.ended(t, id, 500, func(r *model.Run) { r.FirstID = a.ID })
	w.ended(t, id, 500, func(r *model.Run) { r.Reason = model.ReasonKilled })
	w.ended(t, id, 0, func(r *model.Run) {
		r.Phase, r.TriggerCode, r.Reason = model.PhaseMissed, model.CodeMissed, model.ReasonPaused
	})
	s := streak()
	require.Equal(t, 1, s.Fires, "attempts of one fire, a kill and what was not sent on purpose are one failure")
	require.Equal(t, ok.ID, s.LastSuccess.ID)
	for range 120 {
		w.ended(t, id, 500, nil)
	}
	last := w.ended(t, id, 500, func(r *model.Run) { r.HandleMsg = "no listener" })
	w.ended(t, id, 0, func(r *model.Run) { r.Phase = model.PhaseAccepted })
	s = streak()
	require.Equal(t, 122, s.Fires, "also those before the hundred that are shown")
	require.Equal(t, a.ID, s.FirstRun)
	require.Equal(t, ok.ID, s.LastSuccess.ID)
	require.Equal(t, last.ID, s.Last.ID)
	w.ended(t, id, 200, nil)
	require.Equal(t, model.Failures{}, streak())
}

func TestRelativesAndTheEndOfAJob(t *testing.T) {
	w := newWorld(t)
	foreign := storetest.Group(t, w.store, "app-two", "http://10.0.0.2:9999/")
	olga := model.Actor{Name: "olga", Groups: []int{w.group.ID}}
	child := w.add(t, func(in *jobs.JobInput) { in.Name = "child" })
	hidden := w.add(t, func(in *jobs.JobInput) { in.GroupID = foreign.ID })
	id := w.add(t, func(in *jobs.JobInput) { in.ChildIDs = strconv.Itoa(child) + "," + strconv.Itoa(hidden) })
	parent := w.add(t, func(in *jobs.JobInput) { in.ChildIDs = strconv.Itoa(id) })
	w.add(t, func(in *jobs.JobInput) { in.GroupID, in.ChildIDs = foreign.ID, strconv.Itoa(id) })

	rel, err := w.JobRelatives(t.Context(), olga, w.get(t, id))
	require.NoError(t, err)
	require.Len(t, rel.Parents, 1, "the other one belongs to an executor that she may not see")
	require.Equal(t, parent, rel.Parents[0].ID)
	require.Equal(t, "child", rel.Children[0].Name)
	require.Equal(t, model.Job{ID: hidden}, rel.Children[1], "of what she may not see only what her own job says")
	rel, err = w.JobRelatives(t.Context(), admin(), w.get(t, id))
	require.NoError(t, err)
	require.Len(t, rel.Parents, 2)

	w.ended(t, id, 200, nil)
	storetest.Run(t, w.store, w.get(t, id), nil)
	e, err := w.JobEnd(t.Context(), olga, id)
	require.NoError(t, err)
	require.Equal(t, 2, e.Runs)
	require.Equal(t, 1, e.Planned)
	require.False(t, e.RunsMore)
	require.Equal(t, "2026-02-01", e.RunsUntil.Format(time.DateOnly), "the runs of today are kept for 30 days")
	require.Len(t, e.Parents, 1)
	require.NoError(t, w.DeleteJob(t.Context(), olga, id))
	p, err := w.ListRuns(t.Context(), olga, model.RunFilter{JobID: id})
	require.NoError(t, err)
	require.Equal(t, "job", p.Rows[0].JobName, "runs keep the name of a deleted job")
	require.True(t, p.Rows[0].JobGone)
	run, err := w.Run(t.Context(), olga, p.Rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, "job", run.Run.JobName)
	require.Nil(t, run.Job)
	_, err = w.JobEnd(t.Context(), model.Actor{Name: "chen"}, parent)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
}

func TestRunChoices(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	for _, param := range []string{"a", "b", "b", "c", "d", "a", "e", "f"} {
		_, err := w.RunNow(t.Context(), admin(), id, jobs.RunInput{Param: &param})
		require.NoError(t, err)
	}
	w.ended(t, id, 200, func(r *model.Run) { r.Param = "by the clock" })
	c, err := w.RunChoices(t.Context(), admin(), id)
	require.NoError(t, err)
	var params []string
	for _, p := range c.Params {
		params = append(params, p.Param)
	}
	require.Equal(t, []string{"f", "e", "a", "d", "c"}, params)
	require.Len(t, c.Nodes, 1)
	_, err = w.RunChoices(t.Context(), model.Actor{Name: "chen"}, id)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
}

func TestJobNote(t *testing.T) {
	w := newWorld(t)
	id := w.add(t, nil)
	n, err := w.JobNote(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Empty(t, n.Text)
	require.NoError(t, w.SetJobNote(t.Context(), admin(), id, " Call Mei.\r\n\r\n* look 看 \n", n.Seen))
	require.Equal(t, model.CodeConflict, model.CodeOf(w.SetJobNote(t.Context(), admin(), id, "other", n.Seen)), "somebody else saved meanwhile")
	n, err = w.JobNote(t.Context(), admin(), id)
	require.NoError(t, err)
	require.Equal(t, "Call Mei.\n\n* look 看", n.Text)
	for _, bad := range []string{strings.Repeat("x", 20_001), "a\xff", "a\x00"} {
		require.Equal(t, model.CodeInvalid, model.CodeOf(w.SetJobNote(t.Context(), admin(), id, bad, n.Seen)))
	}
	before := w.get(t, id).Version
	require.NoError(t, w.SetJobNote(t.Context(), admin(), id, "", n.Seen))
	require.Equal(t, before, w.get(t, id).Version, "who edits the job is not disturbed")
	chen := model.Actor{Name: "chen"}
	_, err = w.JobNote(t.Context(), chen, id)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
	require.Equal(t, model.CodeNotFound, model.CodeOf(w.SetJobNote(t.Context(), chen, id, "x", n.Seen)))
}
