package alarm_test

import (
	"context"
	"slices"
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

// TestWhatNodesSay: an incident for each disk and node, one for the database whoever notices
// it; nobody is told that a disk is well whose node is gone.
func TestWhatNodesSay(t *testing.T) {
	e := &watched{nodes: []model.Node{
		{Name: "a", Troubles: []model.NodeTrouble{{Reason: model.AlarmDiskFull, N: 93, What: "/data"}, {Reason: model.AlarmDatabaseSlow, N: 400}, {Reason: "of tomorrow"}}},
		{Name: "b", Troubles: []model.NodeTrouble{{Reason: model.AlarmDatabaseSlow, N: 500}, {Reason: model.AlarmOverCapacity, N: 12}}},
	}, rules: []model.AlarmRule{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}}}}
	e.now = t0
	require.ElementsMatch(t, []string{"opened disk:a /data", "opened slowdb", "opened capacity:b"}, e.pass(t))
	require.Empty(t, e.pass(t))
	e.nodes[0].SilentMS = 60_000 // gone
	require.ElementsMatch(t, []string{"opened node:a"}, e.pass(t), "its disk is not known to be well; b still says that the database is slow")
	e.nodes[0].SilentMS, e.nodes[0].Troubles, e.nodes[1].Troubles = 0, nil, nil
	require.ElementsMatch(t, []string{"ended node:a", "ended slowdb", "ended capacity:b"}, e.pass(t))
	require.Empty(t, e.open)
}

// watched is a database that knows nodes and rules only.
type watched struct {
	alarm.Store
	alarm.Engine
	now   time.Time
	nodes []model.Node
	rules []model.AlarmRule
	open  []model.Incident
	told  []string

	retention model.RetentionState
}

// TestOldRunsThatStay: told when no pass over them came to its end for two days, but not while
// the first pass after a time without any center may go on.
func TestOldRunsThatStay(t *testing.T) {
	w := &watched{rules: []model.AlarmRule{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}}}, now: t0}
	require.Empty(t, w.pass(t), "none yet")
	w.retention.FinishedMS = t0.Add(-72 * time.Hour).UnixMilli()
	require.Empty(t, w.pass(t), "the center was away")
	w.now = w.now.Add(time.Hour)
	require.Equal(t, []string{"opened retention"}, w.pass(t))
	require.Empty(t, w.pass(t))
	w.Engine = alarm.Engine{} // another node looks
	require.Empty(t, w.pass(t))
	require.Len(t, w.open, 1)
	w.retention.FinishedMS = w.now.UnixMilli()
	require.Equal(t, []string{"ended retention"}, w.pass(t))
}

func (w *watched) JobsToWatch(context.Context, []int) (map[int]model.Job, error)   { return nil, nil }
func (w *watched) AlarmsDue(context.Context, int64) (bool, error)                  { return false, nil }
func (w *watched) AlarmEvents(context.Context, int) ([]model.AlarmEvent, error)    { return nil, nil }
func (w *watched) OpenIncidents(context.Context, int) ([]model.Incident, error)    { return w.open, nil }
func (w *watched) AlarmRules(context.Context) ([]model.AlarmRule, error)           { return w.rules, nil }
func (w *watched) Nodes(context.Context) ([]model.Node, error)                     { return w.nodes, nil }
func (w *watched) SilentGroups(context.Context) ([]int, error)                     { return nil, nil }
func (w *watched) AddressedGroups(context.Context, []int) ([]int, error)           { return nil, nil }
func (w *watched) SucceededSince(context.Context, []model.Incident) ([]int, error) { return nil, nil }
func (w *watched) Streaks(context.Context, []int) (map[int]model.Streak, error)    { return nil, nil }
func (w *watched) RetentionState(context.Context) (model.RetentionState, error) {
	return w.retention, nil
}

func (w *watched) BrokenJobs(context.Context) (map[int]int, error) { return nil, nil }
func (w *watched) SaveAlarms(_ context.Context, d *model.AlarmDecision, _ time.Time) error {
	for _, x := range d.Told {
		w.told = append(w.told, x.Step+" "+x.Incident.Subject)
	}
	for _, inc := range d.Changed {
		w.open = slices.DeleteFunc(w.open, func(o model.Incident) bool { return o.Subject == inc.Subject })
		if inc.Open() {
			inc.ID = int64(len(w.open) + 1)
			w.open = append(w.open, *inc)
		}
	}
	return nil
}

func (w *watched) pass(t *testing.T) []string {
	t.Helper()
	w.told = nil
	w.now = w.now.Add(10 * time.Second)
	w.Engine.Store, w.Leads = w, func() bool { return true }
	require.NoError(t, w.Pass(t.Context(), w.now))
	return w.told
}

// TestNobodyKnowsThatNoneWaits: the rule of jobs that are late together was deleted, or it does not
// look for them any more, while their runs still wait.
func TestNobodyKnowsThatNoneWaits(t *testing.T) {
	rule := model.AlarmRule{ID: 7, Scope: model.ScopeExecutor, GroupID: 3, AlarmSettings: model.AlarmSettings{LateMinutes: 5, Mails: []string{"ops@example.org"}}}
	all := model.AlarmRule{ID: 1, Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{LateMinutes: 5, Mails: []string{"ops@example.org"}}}
	changed := func(change func(*model.AlarmRule)) alarm.Rules {
		r := rule
		change(&r)
		return alarm.Rules{all, r}
	}
	for name, x := range map[string]struct {
		after alarm.Rules
		told  int
	}{
		"as it was":     {alarm.Rules{all, rule}, 1},
		"deleted":       {alarm.Rules{all}, 0},
		"switched off":  {changed(func(r *model.AlarmRule) { r.Off = true }), 0},
		"does not look": {changed(func(r *model.AlarmRule) { r.LateMinutes = 0 }), 0},
		"allows more":   {changed(func(r *model.AlarmRule) { r.LateMinutes = 60 }), 0},
		"allows less":   {changed(func(r *model.AlarmRule) { r.LateMinutes = 1 }), 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, job(1, 3, ""), job(2, 3, ""))
			d.rules = alarm.Rules{all, rule}
			var late []alarm.Condition
			for id := range 2 {
				late = append(late, alarm.Condition{Subject: model.WatchedJob(model.WatchLate, id+1), JobID: id + 1, GroupID: 3, Reason: model.AlarmLate, Detail: model.AlarmDetail{LimitMS: 300_000}})
			}
			require.Equal(t, []string{"opened lates:3/7 ops@example.org"}, d.watch(late))
			d.rules = x.after
			require.Len(t, d.after(time.Minute).pass(), x.told)
			require.Empty(t, d.open)
		})
	}
}
