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

// TestTwoOfFour: told when two of the last four fires failed, however many succeeded between
// them, and over when fewer did.
func TestTwoOfFour(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{InARow: 2, OutOf: 4})
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		fire := func(code int, reason string) {
			end(t, st, j, code, reason, o.now)
			o.tick(20 * time.Second)
		}
		fire(500, "")
		for range 3 {
			fire(200, "")
		}
		fire(500, model.ReasonKilled) // a person wanted so
		fire(500, "")
		require.Empty(t, box.got, "one of the last four")
		fire(200, "")
		fire(500, "")
		require.Len(t, box.got, 1)
		require.Contains(t, box.got[0], "opened")
		list, err := st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, model.AlarmDetail{Recent: 2, OutOf: 4}, list[0].Details())
		fire(200, "")
		require.Len(t, box.got, 1, "still two of four: 0 1 0 1")
		fire(200, "")
		require.Len(t, box.got, 2)
		require.Contains(t, box.got[1], "ended")
	})
}

// TestEachAttempt: a failed attempt is told of where the rule says so, again when the last one
// has failed as well, and over when one succeeds.
func TestEachAttempt(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		watchRule(t, st, model.AlarmSettings{EachAttempt: true})
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		add := func(mail string) (model.Job, model.Run) {
			j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail, j.RetryCount = mail, 1 }), t0)
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS, r.RetryLeft = model.PhaseAccepted, o.now.UnixMilli(), 1 })
			return j, r
		}
		finish := func(r model.Run, code int) (next model.Run) {
			_, err := st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: code, AtMS: o.now.UnixMilli()}}, o.now, rule.Follower(o.now, "n#1"))
			require.NoError(t, err)
			list, err := st.LatestRuns(ctx, r.JobID, 10)
			require.NoError(t, err)
			write(t, st, `UPDATE xxl_job_log SET run_state = 4 WHERE run_state = 1`)
			ids, err := st.JobsOfOpenRuns(ctx, 10)
			require.NoError(t, err)
			if len(ids) > 0 {
				next.ID, next.JobID = list[len(list)-1].ID+1, r.JobID
			}
			o.tick(20 * time.Second)
			return next
		}
		_, r := add("good@example.org")
		retry := finish(r, 500)
		require.Len(t, box.got, 1)
		require.Contains(t, box.got[0], "opened good@example.org")
		o.tick(time.Minute)
		require.Len(t, box.got, 1, "it is not over before an attempt succeeded")
		finish(retry, 200)
		require.Len(t, box.got, 2)
		require.Contains(t, box.got[1], "ended good@example.org")

		_, r = add("bad@example.org")
		retry = finish(r, 500)
		require.Len(t, box.got, 3)
		finish(retry, 500)
		require.Len(t, box.got, 4, "%v", box.got)
		require.True(t, strings.HasPrefix(box.got[3], "reminder bad@example.org"))
		list, err := st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		require.Equal(t, model.ReasonError, list[0].Reason)
		require.Equal(t, 1, list[0].Failed)

		// Nobody asks for it: nothing is written.
		rules, err := st.AlarmRules(ctx)
		require.NoError(t, err)
		require.NoError(t, st.DeleteAlarmRule(ctx, rules[0].ID))
		_, r = add("calm@example.org")
		_, err = st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: 500, AtMS: o.now.UnixMilli()}}, o.now, rule.Follower(o.now, "n#1"))
		require.NoError(t, err)
		events, err := st.AlarmEvents(ctx, 10)
		require.NoError(t, err)
		require.Empty(t, events)
	})
}
