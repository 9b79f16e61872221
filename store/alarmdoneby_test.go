package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestDoneBySix: who has no success of the day by six is told of once, and told when there is
// one; who has one, is off, fires another day or was started afterwards is not.
func TestDoneBySix(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{DoneBy: "06:00"})
		add := func(mail, cron string) model.Job {
			j := storetest.Job(t, st, g.ID, func(j *model.Job) {
				j.AlarmEmail, j.ScheduleType, j.ScheduleConf = mail, model.ScheduleCron, cron
				j.AddTime, j.UpdateTime = t0.Add(-48*time.Hour), t0.Add(-48*time.Hour)
			})
			write(t, st, `UPDATE xxl_job_info SET trigger_status = 1, trigger_last_time = ?, trigger_next_time = ? WHERE id = ?`, t0.UnixMilli(), t0.Add(time.Hour).UnixMilli(), j.ID)
			return j
		}
		late, evening := add("late@example.org", "0 0 2 * * ?"), add("evening@example.org", "0 0 22 * * ?")
		good, eveningGood := add("good@example.org", "0 0 2 * * ?"), add("evening-good@example.org", "0 0 22 * * ?")
		off, monday, fresh := add("off@example.org", "0 0 2 * * ?"), add("monday@example.org", "0 0 2 ? * MON"), add("fresh@example.org", "0 0 2 * * ?")
		switchJob(t, st, off.ID, model.JobStopped, 0)
		write(t, st, `UPDATE xxl_job_info SET trigger_last_time = 0 WHERE id = ?`, fresh.ID)
		storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail, j.ScheduleType = "demand@example.org", model.ScheduleNone })
		for _, x := range []struct {
			j    model.Job
			at   time.Duration
			code int
		}{{late, 2, 500}, {late, -22, 200}, {evening, -26, 200}, {evening, -2, 500}, {good, 2, 200}, {eveningGood, -2, 200}, {monday, -50, 500}} {
			at := t0.Add(x.at * time.Hour)
			r := storetest.Run(t, st, x.j, func(r *model.Run) { r.Phase, r.PlannedMS, r.TriggerTime = model.PhaseAccepted, at.UnixMilli(), at })
			_, err := st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: x.code, AtMS: at.Add(time.Minute).UnixMilli()}}, at, rule.Follower(at, "n#1"))
			require.NoError(t, err)
		}
		write(t, st, `DELETE FROM carillon_alarm_event`)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		o.desk.Next = func(j *model.Job, after time.Time) (time.Time, bool) {
			s, err := rule.ScheduleOf(*j)
			require.NoError(t, err)
			return s.Next(after), true
		}
		o.now = t0.Add(6*time.Hour - 25*time.Second)
		o.work()
		o.tick(20 * time.Second)
		require.Empty(t, box.got)
		o.tick(20 * time.Second)
		require.ElementsMatch(t, []string{"late@example.org", "evening@example.org"}, openedTo(box))
		o.tick(30 * time.Minute)
		require.Len(t, box.got, 2)
		list, err := st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		require.Equal(t, t0.Add(6*time.Hour).UnixMilli(), list[0].OpenedMS)
		require.Equal(t, model.AlarmDetail{DueMS: t0.Add(6 * time.Hour).UnixMilli(), FromMS: t0.UnixMilli()}, list[0].Details())

		r := storetest.Run(t, st, late, func(r *model.Run) {
			r.Phase, r.PlannedMS, r.TriggerTime = model.PhaseAccepted, o.now.UnixMilli(), o.now
		})
		result(t, st, r, 200, o.now.Add(time.Second))
		o.tick(20 * time.Second)
		require.Len(t, box.got, 3)
		require.Contains(t, box.got[2], "ended late@example.org")

		// Another node leads from here on: nothing is told twice, and those without success
		// are waited for over the next deadline, too.
		next := newOffice(t, st, box, "two#1")
		next.desk.Next, next.now = o.desk.Next, t0.Add(30*time.Hour+time.Minute)
		next.work()
		next.tick(time.Minute)
		seen := len(box.got)
		require.Contains(t, openedTo(box), "good@example.org", "none of this day")
		require.NotContains(t, openedTo(box), "demand@example.org")
		require.NotContains(t, openedTo(box), "fresh@example.org")
		r = storetest.Run(t, st, evening, func(r *model.Run) {
			r.Phase, r.PlannedMS, r.TriggerTime = model.PhaseAccepted, t0.Add(22*time.Hour).UnixMilli(), t0.Add(22*time.Hour)
		})
		result(t, st, r, 200, next.now)
		next.tick(20 * time.Second)
		require.Len(t, box.got, seen+1)
		require.Contains(t, box.got[seen], "ended evening@example.org")
	})
}

// openedTo lists who was told of a beginning.
func openedTo(box *letterbox) (out []string) {
	for _, line := range box.got {
		if words := strings.Fields(line); words[0] == model.StepOpened {
			out = append(out, words[1])
		}
	}
	return out
}

// TestDoneWithAllShards: a broadcast is done when each of its shards has succeeded, at whatever
// attempt.
func TestDoneWithAllShards(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/,http://10.0.0.2:9999/")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) { j.Route = model.RouteBroadcast })
		shard := func(key string, first int64) model.Run {
			return storetest.Run(t, st, j, func(r *model.Run) {
				r.Phase, r.PlannedMS, r.TriggerTime, r.ShardKey, r.FirstID = model.PhaseAccepted, t0.UnixMilli(), t0, key, first
			})
		}
		done := func() bool {
			ids, err := st.SucceededFrom(t.Context(), map[int]int64{j.ID: t0.UnixMilli()})
			require.NoError(t, err)
			return len(ids) > 0
		}
		one, two := shard("a", 0), shard("a", 0)
		result(t, st, one, 200, t0.Add(time.Second))
		require.False(t, done(), "the other goes on")
		result(t, st, two, 500, t0.Add(time.Second))
		require.False(t, done(), "the other has failed")
		again := shard("a", two.ID)
		require.False(t, done())
		later := shard("b", 0)
		shard("b", 0)
		result(t, st, later, 200, t0.Add(time.Minute))
		require.False(t, done(), "the shards of another fire do not help")
		result(t, st, again, 200, t0.Add(time.Minute))
		require.True(t, done(), "its retry has succeeded")
	})
}
