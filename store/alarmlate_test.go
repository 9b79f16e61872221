package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAFireThatIsNotSent is told of when it waits for too long, and when nobody has planned it;
// over when it is sent.
func TestAFireThatIsNotSent(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{LateMinutes: 5})
		waits := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "waits@example.org" }), t0.Add(100*time.Hour))
		forgotten := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "forgotten@example.org" }), t0)
		later := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "later@example.org" }), t0.Add(100*time.Hour))
		off := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "off@example.org" }), t0)
		switchJob(t, st, off.ID, model.JobStopped, 0)
		r := storetest.Run(t, st, waits, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, t0.UnixMilli() })
		storetest.Run(t, st, later, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, t0.Add(50*time.Hour).UnixMilli() })
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		o.tick(5 * time.Minute)
		require.Empty(t, box.got)
		o.tick(10 * time.Second)
		require.ElementsMatch(t, []string{"waits@example.org", "forgotten@example.org"}, openedTo(box))
		list, err := st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		for _, i := range list {
			require.Equal(t, t0.UnixMilli(), i.OpenedMS)
			require.Equal(t, model.AlarmLate, i.Reason)
			require.Equal(t, i.JobID == waits.ID, i.LastRun == r.ID)
		}
		write(t, st, `UPDATE xxl_job_log SET run_state = 4, sent_time = ? WHERE id = ?`, o.now.UnixMilli(), r.ID)
		o.tick(10 * time.Second)
		require.Len(t, box.got, 3)
		require.Contains(t, box.got[2], "ended waits@example.org")
		write(t, st, `UPDATE xxl_job_info SET trigger_next_time = ? WHERE id = ?`, t0.Add(100*time.Hour).UnixMilli(), forgotten.ID)
		o.tick(10 * time.Second)
		require.Len(t, box.got, 4)
		list, err = st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

// TestAJobThatCannotBePlanned is told of, and told to be planned again when somebody has mended
// and started it; not when it was only stopped.
func TestAJobThatCannotBePlanned(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		for n, mended := range []bool{true, false} {
			box.got = nil
			mail := []string{"mended@example.org", "stopped@example.org"}[n]
			j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = mail }), t0.Add(100*time.Hour))
			o.tick(20 * time.Second)
			require.Empty(t, box.got)
			write(t, st, `UPDATE xxl_job_info SET trigger_status = 0, trigger_next_time = 0, carillon_condition = ? WHERE id = ?`, model.JobQuarantined, j.ID)
			o.tick(20 * time.Second)
			require.Equal(t, []string{mail}, openedTo(box))
			if mended {
				switchJob(t, st, j.ID, model.JobRunning, t0.Add(100*time.Hour).UnixMilli())
			} else {
				switchJob(t, st, j.ID, model.JobStopped, 0)
			}
			o.tick(20 * time.Second)
			require.Len(t, box.got, map[bool]int{true: 2, false: 1}[mended])
			list, err := st.OpenIncidents(t.Context(), 10)
			require.NoError(t, err)
			require.Empty(t, list)
		}
	})
}
