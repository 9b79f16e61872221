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

// sent writes a run that an executor has.
func sent(t *testing.T, st *store.Store, j model.Job, at time.Time) model.Run {
	t.Helper()
	return storetest.Run(t, st, j, func(r *model.Run) {
		r.Phase, r.PlannedMS, r.SentMS, r.TriggerCode = model.PhaseAccepted, at.UnixMilli(), at.UnixMilli(), 200
	})
}

func result(t *testing.T, st *store.Store, r model.Run, code int, at time.Time) {
	t.Helper()
	_, err := st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: code, AtMS: at.UnixMilli()}}, at, rule.Follower(at, "n#1"))
	require.NoError(t, err)
}

// watchRule is the rule of everything for a test.
func watchRule(t *testing.T, st *store.Store, s model.AlarmSettings) {
	t.Helper()
	_, err := st.SaveAlarmRule(t.Context(), model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: s})
	require.NoError(t, err)
}

// tick lets a node look every ten seconds for so long.
func (o *office) tick(long time.Duration) {
	o.t.Helper()
	for end := o.now.Add(long); o.now.Before(end); {
		o.now = o.now.Add(10 * time.Second)
		o.work()
	}
}

// TestARunThatTakesTooLong is told while it goes on, and told to be over when it has ended,
// however it ended.
func TestARunThatTakesTooLong(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{OverrunMinutes: 10})
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		r := sent(t, st, j, t0)
		o.tick(10 * time.Minute)
		require.Empty(t, box.got)
		o.tick(20 * time.Second)
		require.Equal(t, []string{"opened a@example.org 1"}, box.got)
		list, err := st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, r.ID, list[0].LastRun)
		require.Equal(t, model.AlarmOverrun, list[0].Reason)
		require.Equal(t, model.AlarmDetail{SentMS: t0.UnixMilli(), LimitMS: 600_000}, list[0].Details())
		require.Equal(t, 0, status(t, st, r), "it has not ended")
		o.tick(time.Minute)
		require.Len(t, box.got, 1)

		// It fails: that is a trouble of its own, and the long run is over.
		result(t, st, r, 500, o.now)
		o.tick(20 * time.Second)
		require.Len(t, box.got, 3, "%v", box.got)
		list, err = st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, model.JobSubject(j.ID), list[0].Subject)
		// What is open beside it does not end it before it is well.
		next := sent(t, st, j, o.now)
		o.tick(11 * time.Minute)
		require.Len(t, box.got, 4, "%v", box.got)
		result(t, st, next, 200, o.now)
		o.tick(20 * time.Second)
		require.Len(t, box.got, 6, "%v", box.got)
		list, err = st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

// TestARunThatTakesLongerThanUsual is compared with the recent successes, when there are
// enough of them.
func TestARunThatTakesLongerThanUsual(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{OverrunTimes: 3})
		old := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "old@example.org" }), t0)
		young := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "young@example.org" }), t0)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		for n := range 5 {
			at := t0.Add(time.Duration(n-10) * time.Hour)
			result(t, st, sent(t, st, old, at), 200, at.Add(time.Duration(n+1)*time.Minute)) // five minutes at most
			if n > 0 {
				result(t, st, sent(t, st, young, at), 200, at.Add(time.Second))
			}
		}
		at := t0.Add(-2 * time.Hour)
		result(t, st, sent(t, st, old, at), 500, at.Add(time.Hour)) // says nothing
		r := sent(t, st, old, t0)
		sent(t, st, young, t0)
		o.tick(5 * time.Second)
		before := len(box.got)
		o.tick(14*time.Minute + 40*time.Second)
		require.Len(t, box.got, before)
		o.tick(20 * time.Second)
		require.Len(t, box.got, before+1, "%v", box.got)
		require.Contains(t, box.got[before], "opened old@example.org")
		result(t, st, r, 200, o.now)
		o.tick(20 * time.Second)
		require.Contains(t, box.got[len(box.got)-1], "ended old@example.org")
	})
}

// TestALongRunUnderNoRule: nothing is watched unless a rule says so, and a stopped rule ends
// nothing with a lie.
func TestALongRunUnderNoRule(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		sent(t, st, j, t0)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		o.tick(time.Minute)
		o.now = o.now.Add(100 * time.Hour)
		o.work()
		require.Empty(t, box.got)
		id, err := st.SaveAlarmRule(t.Context(), model.AlarmRule{Scope: model.ScopeJob, JobID: j.ID, AlarmSettings: model.AlarmSettings{OverrunMinutes: 5}})
		require.NoError(t, err)
		o.tick(20 * time.Second)
		require.Len(t, box.got, 1)
		require.NoError(t, st.DeleteAlarmRule(t.Context(), id))
		o.tick(20 * time.Second)
		require.Len(t, box.got, 1, "the run has not ended")
		list, err := st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}
