package jobs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAJobThatWentElsewhere: who sees the executor where it was keeps what it did there, and
// learns nothing of what it is called and does now.
func TestAJobThatWentElsewhere(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	const secret = "Takeover of Initech"
	j := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name = "plain" })
	sent := func(r *model.Run) { r.Phase, r.SentMS = model.PhaseAccepted, r.PlannedMS }
	old := storetest.Run(t, w.store, j, sent)
	storetest.End(t, w.store, old, 500, "", "broken")
	top := &model.Incident{Subject: "executor:1", GroupID: w.group.ID, Severity: model.SeverityCritical, Reason: model.ReasonUnreached, Failed: 1, OpenedMS: 1, LastMS: 1}
	inc := &model.Incident{Subject: model.JobSubject(j.ID), JobID: j.ID, GroupID: w.group.ID, Severity: model.SeverityCritical, Reason: model.ReasonError, Failed: 1, FirstRun: old.ID, OpenedMS: 1, LastMS: 1}
	alone := &model.Incident{Subject: model.WatchedJob(model.WatchLate, j.ID), JobID: j.ID, GroupID: w.group.ID, Severity: model.SeverityCritical, Reason: model.AlarmLate, OpenedMS: 1, LastMS: 1}
	there := storetest.Group(t, w.store, "elsewhere", "http://10.0.0.9:9999/")
	j.Name, j.GroupID = secret, there.ID
	require.NoError(t, w.store.UpdateJob(ctx, &j, false, false, w.now))
	require.NoError(t, w.store.SetJobNote(ctx, j.ID, "", secret))
	later := storetest.Run(t, w.store, j, func(r *model.Run) { r.GroupID = there.ID; sent(r) })
	storetest.End(t, w.store, later, 500, "", secret)
	inc.LastRun = later.ID
	require.NoError(t, w.store.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{top, inc, alone}, Parents: map[*model.Incident]*model.Incident{inc: top}}, w.now))

	everything := func(a model.Actor) string {
		var all []any
		add := func(x any, err error) {
			require.NoError(t, err)
			all = append(all, x)
		}
		list, err := w.ListRuns(ctx, a, model.RunFilter{JobID: j.ID})
		require.NotEmpty(t, list.Rows)
		add(list, err)
		run, err := w.Run(ctx, a, old.ID)
		add(run, err)
		page, err := w.ListIncidents(ctx, a, 0)
		require.Len(t, page.Open, 2)
		add(page, err)
		for _, id := range []int64{top.ID, inc.ID, alone.ID} {
			d, err := w.Incident(ctx, a, id)
			add(d, err)
		}
		open, err := w.OpenIncidents(ctx, a, model.CounterFilter{GroupID: w.group.ID})
		add(open, err)
		lanes, err := w.Timeline(ctx, a, jobs.TimelineInput{From: old.TriggerTime.Add(-time.Hour), To: old.TriggerTime.Add(time.Hour), By: jobs.ByJob, JobID: j.ID})
		require.NotEmpty(t, lanes.Lanes)
		add(lanes, err)
		found, err := w.Search(ctx, a, "#"+itoa(int(old.ID)))
		add(found, err)
		text, err := json.Marshal(all)
		require.NoError(t, err)
		return string(text)
	}
	viewer := model.User{ID: 7, Name: "viewer", Rights: itoa(w.group.ID) + "=view"}
	require.NotContains(t, everything(viewer.Actor()), secret)
	require.Contains(t, everything(admin()), secret)
	both := model.User{ID: 8, Name: "both", Rights: itoa(w.group.ID) + "=view " + itoa(there.ID) + "=view"}
	require.Contains(t, everything(both.Actor()), secret)
}
