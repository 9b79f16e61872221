package alarm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
)

// TestALongRunIsATroubleOfItsOwn: it neither ends nor opens the incident of the job's outcomes,
// follows the rule of the job, and ends with what is seen.
func TestALongRunIsATroubleOfItsOwn(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"), job(2, 1, "b@example.org"))
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{OverrunMinutes: 5}}, {Scope: model.ScopeJob, JobID: 2, AlarmSettings: model.AlarmSettings{Off: true}}}
	long := alarm.Condition{Subject: "overrun:1", JobID: 1, GroupID: 1, RunID: 7, Reason: model.AlarmOverrun}
	other := alarm.Condition{Subject: "overrun:2", JobID: 2, GroupID: 1, RunID: 8, Reason: model.AlarmOverrun}
	require.Equal(t, []string{"opened overrun:1 a@example.org"}, d.watch([]alarm.Condition{long, other}))
	require.Equal(t, []string{"opened job:1 a@example.org"}, d.after(time.Second).watch([]alarm.Condition{long}, failed(1, 7, model.ReasonError)))
	require.Equal(t, []string{"ended job:1 a@example.org"}, d.after(time.Second).watch([]alarm.Condition{long}, good(1)))
	require.Len(t, d.open, 1)
	require.Equal(t, []string{"ended overrun:1 a@example.org"}, d.after(time.Minute).pass())
	require.Equal(t, []string{"opened overrun:1 a@example.org"}, d.watch([]alarm.Condition{long}))
	d.rules[0].OverrunMinutes = 0
	require.Empty(t, d.pass(), "nobody looks any more: it may go on")
	require.Empty(t, d.open)
}

// TestDiscardedWhereTheRuleSaysSo: the block strategy asks for it, so it raises nothing by itself.
func TestDiscardedWhereTheRuleSaysSo(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"))
	require.Empty(t, d.pass(failed(1, 10, model.ReasonDiscarded)))
	require.Empty(t, d.open)
	require.Equal(t, 1, d.runs[10])
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Discarded: true}}}
	require.Equal(t, []string{"opened job:1 a@example.org"}, d.pass(failed(1, 11, model.ReasonDiscarded)))
	require.Equal(t, 1, d.open[0].Missed)
}

// TestEveryReasonCanBeLeftOut: each that raises something, by the rule of the job or, of the
// center's own, by the default rule.
func TestEveryReasonCanBeLeftOut(t *testing.T) {
	left := 0
	for _, r := range model.Reasons() {
		if !model.Choosable(r.Code) {
			continue
		}
		left++
		d := newDesk(t, job(1, 1, "a@example.org"))
		d.rules = alarm.Rules{{Scope: model.ScopeJob, JobID: 1, AlarmSettings: model.AlarmSettings{Without: []string{r.Code}}}}
		require.Empty(t, d.after(time.Hour).pass(failed(1, 10, r.Code)), r.Code)
		require.Empty(t, d.open)
	}
	require.Greater(t, left, 15)
	for _, r := range model.CenterReasons() {
		require.True(t, model.Choosable(r))
		d := newDesk(t)
		d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}, Without: []string{r}}}}
		require.Empty(t, d.watch([]alarm.Condition{{Subject: "x:1", Reason: r}}))
	}
}
