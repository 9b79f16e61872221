package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestRetention: what counts, what shorter days would cost, and that only administrators
// set them, with a line of the audit.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	j := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Keep.Failed = 90 })
	for d := range 60 {
		for _, code := range []int{200, 200, 500} {
			at := w.now.AddDate(0, 0, -d)
			r := storetest.Run(t, w.store, j, func(r *model.Run) {
				r.TriggerTime, r.PlannedMS, r.Phase, r.TriggerCode = at, at.UnixMilli(), model.PhaseAccepted, 200
			})
			storetest.End(t, w.store, r, code, "", "")
		}
	}
	p, err := w.Retention(ctx, admin())
	require.NoError(t, err)
	require.Equal(t, model.Keep{Succeeded: 30, Failed: 30}, p.Keep)
	require.EqualValues(t, 30, p.Default)
	require.Equal(t, 1, p.Own)
	require.Equal(t, "job", p.Jobs[0].Name)
	require.Equal(t, model.DayStart(w.now, -59), model.DayStart(p.Oldest, 0))

	loss, err := w.CountRetention(ctx, admin(), model.Keep{Succeeded: 10})
	require.NoError(t, err)
	require.EqualValues(t, 2*20, loss.Runs, "20 days more, of those that succeeded")
	require.Equal(t, model.DayStart(w.now, -10), loss.Until)
	loss, err = w.CountRetention(ctx, admin(), model.Keep{Succeeded: 60, Failed: model.KeepForever})
	require.NoError(t, err)
	require.Zero(t, loss.Runs, "longer takes nothing")

	olga := model.Actor{UserID: 4, Name: "olga", Groups: []int{w.group.ID}}
	for _, call := range []func() error{
		func() error { _, err := w.Retention(ctx, olga); return err },
		func() error { _, err := w.CountRetention(ctx, olga, model.Keep{}); return err },
		func() error { return w.SaveRetention(ctx, olga, model.Keep{Succeeded: 1}) },
		func() error { return w.StartRetention(ctx, olga) },
	} {
		require.Equal(t, model.CodeForbidden, model.CodeOf(call()))
	}
	require.Equal(t, model.CodeInvalid, model.CodeOf(w.SaveRetention(ctx, admin(), model.Keep{Failed: model.MaxKeepDays + 1})))
	require.NoError(t, w.SaveRetention(ctx, admin(), model.Keep{Succeeded: 10, Failed: model.KeepForever}))
	require.NoError(t, w.SaveRetention(ctx, admin(), model.Keep{Succeeded: 10, Failed: model.KeepForever}))
	require.NoError(t, w.StartRetention(ctx, admin()))
	require.NoError(t, w.StartRetention(ctx, admin()))
	lines, err := w.store.Audit(ctx, model.AuditFilter{Limit: 9})
	require.NoError(t, err)
	var acts []string
	for _, l := range lines {
		acts = append(acts, l.Action+" "+string(l.Outcome))
	}
	require.Equal(t, []string{"retention.run done", "retention.edit done", "retention.run refused", "retention.edit refused"}, acts, "what changes nothing is not noted")
	require.Equal(t, []model.Change{{Field: "keep_days", New: "10"}, {Field: "keep_failed_days", New: "0"}}, lines[1].Changes)

	keep, err := w.Keeping(ctx)
	require.NoError(t, err)
	require.Equal(t, model.Keep{Succeeded: 10, Failed: model.KeepForever}, keep)
	end, err := w.JobEnd(ctx, admin(), j.ID)
	require.NoError(t, err)
	require.True(t, end.RunsUntil.IsZero(), "its failed runs stay for ever")

	days, err := w.LogDays(ctx)
	require.NoError(t, err)
	require.Equal(t, model.KeepForever, days)
	require.NoError(t, w.SaveRetention(ctx, admin(), model.Keep{Succeeded: 10, Failed: 20}))
	days, err = w.LogDays(ctx)
	require.NoError(t, err)
	require.Equal(t, model.KeepForever, days, "remembered for a minute")
	w.now = w.now.Add(time.Minute)
	days, err = w.LogDays(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 90, days, "a job keeps longer than all")

	late, err := w.RetentionOverdue(ctx)
	require.NoError(t, err)
	require.Zero(t, late, "it has not begun")
	require.NoError(t, w.store.NoteRetention(ctx, model.RetentionState{BeganMS: w.now.Add(-time.Hour).UnixMilli(), FinishedMS: w.now.Add(-49 * time.Hour).UnixMilli()}))
	late, err = w.RetentionOverdue(ctx)
	require.NoError(t, err)
	require.Equal(t, 49*time.Hour, late)
}
