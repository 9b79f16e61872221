package store_test

import (
	"strings"
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
		elsewhere := storetest.Group(t, st, "app-two", "http://10.0.0.2:9999/")
		write(t, st, `UPDATE xxl_job_info SET job_group = ? WHERE id = ?`, elsewhere.ID, forgotten.ID)
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

// TestJobsThatAreLateTogether: jobs of one executor are one trouble, however many they are and
// whenever they become late. Who is told of a job hears of its own ones only, once, and of the end.
func TestJobsThatAreLateTogether(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		one, two := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/"), storetest.Group(t, st, "app-two", "http://10.0.0.2:9999/")
		_, err := st.SaveAlarmRule(ctx, model.AlarmRule{Name: "r", Scope: model.ScopeTag, Tag: "nightly", AlarmSettings: model.AlarmSettings{LateMinutes: 5, RemindMinutes: 60, Mails: []string{"night@example.org"}}})
		require.NoError(t, err)
		_, err = st.SaveAlarmRule(ctx, model.AlarmRule{Name: "r", Scope: model.ScopeExecutor, GroupID: one.ID, AlarmSettings: model.AlarmSettings{Off: true}})
		require.NoError(t, err)
		add := func(g model.Group, mail, tags string, due time.Time) (model.Job, model.Run) {
			j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail, j.Tags = mail+"@example.org", tags }), t0.Add(100*time.Hour))
			return j, storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhasePlanned, due.UnixMilli() })
		}
		sent := func(r model.Run, at time.Time) {
			write(t, st, `UPDATE xxl_job_log SET run_state = 4, sent_time = ? WHERE id = ?`, at.UnixMilli(), r.ID)
		}
		firstJob, first := add(one, "first", "nightly", t0)
		_, second := add(one, "second", "nightly", t0.Add(time.Minute))
		_, third := add(one, "third", "nightly", t0.Add(time.Minute))
		_, fourth := add(one, "fourth", "nightly", t0.Add(2*time.Minute))
		_, other := add(two, "other", "nightly", t0)
		add(one, "off", "", t0)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		told := func() []string {
			out := []string{}
			for _, line := range box.got {
				words := strings.Fields(line)
				out = append(out, words[0]+" "+strings.TrimSuffix(words[1], "@example.org"))
			}
			box.got = nil
			return out
		}
		o.tick(5*time.Minute + 10*time.Second)
		require.ElementsMatch(t, []string{"opened first", "opened night", "opened other", "opened night"}, told(), "each is the first of its executor")
		o.tick(time.Minute)
		require.ElementsMatch(t, []string{"opened first", "opened second", "opened third", "opened night"}, told(), "now they are many: one message for each address")
		o.tick(time.Minute)
		require.Equal(t, []string{"opened fourth"}, told(), "the others know")
		list, err := st.OpenIncidents(ctx, 100)
		require.NoError(t, err)
		var top model.Incident
		members := 0
		for _, i := range list {
			if i.Kind() == model.WatchLates {
				require.Zero(t, top.ID, "there is one")
				top = i
			}
			if i.ParentID != 0 {
				members++
			}
		}
		require.Equal(t, one.ID, top.GroupID)
		require.Equal(t, t0.UnixMilli(), top.OpenedMS)
		require.Equal(t, 4, members)
		messages, err := st.MessagesOf(ctx, top.ID, 100)
		require.NoError(t, err)
		for _, m := range messages {
			if m.Target == "first@example.org" {
				require.Equal(t, []int{firstJob.ID}, m.JobIDs)
			}
			require.Equal(t, m.Target == "night@example.org", m.JobIDs == nil)
		}
		o.tick(time.Hour)
		require.ElementsMatch(t, []string{"reminder first", "reminder second", "reminder third", "reminder fourth", "reminder night", "reminder other", "reminder night"}, told())
		sent(other, o.now)
		for _, r := range []model.Run{first, second, third} {
			sent(r, o.now)
		}
		o.tick(20 * time.Second)
		require.ElementsMatch(t, []string{"ended first", "ended night", "ended other", "ended night"}, told(), "of what was told by itself")
		sent(fourth, o.now)
		o.tick(20 * time.Second)
		require.ElementsMatch(t, []string{"ended first", "ended second", "ended third", "ended fourth", "ended night"}, told())
		list, err = st.OpenIncidents(ctx, 100)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}
