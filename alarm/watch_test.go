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
