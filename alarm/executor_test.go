package alarm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
)

// away is a desk on which the executor 3 with two jobs is told to be away.
func away(t *testing.T) *desk {
	d := newDesk(t, job(1, 3, "a@example.org"), job(2, 3, "a@example.org"))
	require.Empty(t, d.pass(failed(1, 11, model.ReasonUnreached), failed(2, 12, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:3 a@example.org 2"}, d.after(alarm.GroupWait).pass())
	return d
}

func (d *desk) find(subject string) *model.Incident {
	for i := range d.open {
		if d.open[i].Subject == subject {
			return &d.open[i]
		}
	}
	return nil
}

// TestASuccessElsewhere says nothing about the executor that a job had.
func TestASuccessElsewhere(t *testing.T) {
	d := away(t)
	d.jobs[1] = job(1, 4, "a@example.org")
	require.Empty(t, d.after(time.Minute).pass(good(1)))
	require.NotNil(t, d.find("executor:3"))
	require.Nil(t, d.find("job:1"))
	require.Equal(t, []string{"ended executor:3 a@example.org 1"}, d.after(time.Minute).pass(good(2)))
	require.Empty(t, d.open)
}

// TestALateSuccessElsewhere: the run was sent before its job was moved to the executor that is
// away.
func TestALateSuccessElsewhere(t *testing.T) {
	d := away(t)
	late := good(1)
	late.RunID, late.GroupID = 9, 4
	require.Empty(t, d.after(time.Minute).pass(late))
	require.NotNil(t, d.find("executor:3"))
	require.NotNil(t, d.find("job:1"))
	here := good(1)
	here.RunID, here.GroupID = 40, 3
	require.Equal(t, []string{"ended executor:3 a@example.org 2"}, d.after(time.Minute).pass(here))
	require.Empty(t, d.open)
}

// TestALateJobIsMoved: it does not belong to those that are late together on the executor that
// it had.
func TestALateJobIsMoved(t *testing.T) {
	d := newDesk(t, job(1, 3, ""), job(2, 3, ""), job(3, 3, ""))
	d.rules = alarm.Rules{{ID: 1, Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{LateMinutes: 5, Mails: []string{"ops@example.org"}}}}
	late := func(ids ...int) (out []alarm.Condition) {
		for _, id := range ids {
			out = append(out, alarm.Condition{Subject: model.WatchedJob(model.WatchLate, id), JobID: id, GroupID: d.jobs[id].GroupID, Reason: model.AlarmLate, Detail: model.AlarmDetail{LimitMS: 300_000}})
		}
		return out
	}
	require.Equal(t, []string{"opened lates:3/1 ops@example.org"}, d.watch(late(1, 2, 3)))
	d.jobs[1] = job(1, 4, "")
	require.Equal(t, []string{"opened late:1 ops@example.org"}, d.after(time.Minute).watch(late(1, 2, 3)), "it waits at another one now")
	require.Zero(t, d.find("late:1").ParentID)
	require.Equal(t, 4, d.find("late:1").GroupID)
	for _, id := range []int{2, 3} {
		require.Equal(t, d.find("lates:3/1").ID, d.find(model.WatchedJob(model.WatchLate, id)).ParentID)
	}
	require.Equal(t, []string{"ended lates:3/1 ops@example.org"}, d.after(time.Minute).watch(late(1)))
}

// TestTheClockIsSetBack: what waits to be told, reminders and escalations come as if it had
// not been.
func TestTheClockIsSetBack(t *testing.T) {
	d := newDesk(t, job(1, 3, "a@example.org"))
	d.rules = alarm.Rules{{ID: 1, Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{RemindMinutes: 10, EscalateMinutes: 30, EscalateTo: []string{"boss@example.org"}}}}
	require.Empty(t, d.pass(failed(1, 11, model.ReasonUnreached)))
	d.now = d.now.Add(-24 * time.Hour)
	require.Empty(t, d.pass(), "others of the executor may follow")
	require.Equal(t, []string{"opened job:1 a@example.org"}, d.after(alarm.GroupWait).pass())
	d.now = d.now.Add(-24 * time.Hour)
	require.Empty(t, d.pass())
	require.Equal(t, []string{"reminder job:1 a@example.org"}, d.after(10*time.Minute).pass())
	require.Equal(t, []string{"reminder job:1 a@example.org"}, d.after(10*time.Minute).pass())
	require.Equal(t, []string{"escalated job:1 boss@example.org"}, d.after(10*time.Minute).pass())
}

// TestNobodyKnowsThatItIsWell: the jobs that failed were moved, stopped or deleted.
func TestNobodyKnowsThatItIsWell(t *testing.T) {
	for name, part := range map[string]func(d *desk, id int){
		"moved": func(d *desk, id int) { d.jobs[id] = job(id, 4, "a@example.org") },
		"stopped": func(d *desk, id int) {
			j := d.jobs[id]
			j.Status = model.JobStopped
			d.jobs[id] = j
			d.ended = append(d.ended, id)
		},
		"deleted": func(d *desk, id int) {
			delete(d.jobs, id)
			d.ended = append(d.ended, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := away(t)
			d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}}}
			d.addressed = []int{3} // as before: it does not answer there
			part(d, 1)
			require.Empty(t, d.after(time.Minute).pass())
			require.NotNil(t, d.find("executor:3"), "of the other it is still known")
			part(d, 2)
			require.Empty(t, d.after(time.Minute).pass())
			require.Empty(t, d.open)
		})
	}
	t.Run("without an address", func(t *testing.T) {
		d := newDesk(t)
		d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}}}
		require.Len(t, d.watch([]alarm.Condition{{Subject: "executor:3", GroupID: 3, Reason: model.ReasonNoAddress}}), 1)
		require.Empty(t, d.after(time.Minute).pass(), "its jobs were stopped")
		require.Empty(t, d.open)
	})
}

// TestAMovedJobFailsAgain: where it is now, and with the fires of there.
func TestAMovedJobFailsAgain(t *testing.T) {
	d := away(t)
	d.jobs[1], d.jobs[5] = job(1, 4, "a@example.org"), job(5, 4, "a@example.org")
	require.Empty(t, d.after(time.Minute).pass(failed(1, 21, model.ReasonUnreached), failed(5, 22, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:4 a@example.org 2"}, d.after(alarm.GroupWait).pass())
	require.Equal(t, 2, d.find("executor:4").Failed)
	require.Equal(t, 2, d.find("executor:3").Failed)
}

// TestItGoesAwayAgain: another trouble, which counts its own fires.
func TestItGoesAwayAgain(t *testing.T) {
	d := away(t)
	require.Equal(t, []string{"ended executor:3 a@example.org 2"}, d.after(time.Minute).pass(good(1)))
	require.Empty(t, d.open)
	again := d.after(time.Hour).now.UnixMilli()
	require.Empty(t, d.pass(failed(1, 31, model.ReasonUnreached), failed(2, 32, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:3 a@example.org 2"}, d.after(alarm.GroupWait).pass())
	require.Equal(t, 2, d.find("executor:3").Failed)
	require.Equal(t, again, d.find("executor:3").OpenedMS)
}

// TestOneAlarmOfItsOwnGoesOn: people were told of the job itself before its executor was away.
func TestOneAlarmOfItsOwnGoesOn(t *testing.T) {
	d := newDesk(t, job(1, 3, "a@example.org"), job(2, 3, "a@example.org"), job(3, 3, "a@example.org"))
	require.Len(t, d.pass(failed(1, 10, model.ReasonError)), 1)
	require.Empty(t, d.pass(failed(2, 11, model.ReasonUnreached), failed(3, 12, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:3 a@example.org 2"}, d.after(alarm.GroupWait).pass())
	require.Empty(t, d.pass(failed(1, 13, model.ReasonUnreached)))
	require.Equal(t, []string{"ended executor:3 a@example.org 2"}, d.after(time.Minute).pass(good(2)))
	require.NotNil(t, d.find("job:1"))
	require.Equal(t, []string{"ended job:1 a@example.org"}, d.after(time.Minute).pass(good(1)))
}
