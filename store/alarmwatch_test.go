package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAnExecutorWithoutAnAddress is told after a minute to whom the default rule names, and
// told to be well when it has one, not when its jobs are stopped.
func TestAnExecutorWithoutAnAddress(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		g.AddressType, g.AddressList = model.AddressAuto, ""
		require.NoError(t, st.UpdateGroup(ctx, &g, t0))
		_, err := st.SaveAlarmRule(ctx, model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}})
		require.NoError(t, err)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		tick := func(long time.Duration) {
			for end := o.now.Add(long); o.now.Before(end); o.now = o.now.Add(10 * time.Second) {
				o.work()
			}
		}
		tick(3 * time.Minute)
		require.Empty(t, box.got, "nobody needs it")
		j := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		tick(50 * time.Second)
		require.Empty(t, box.got)
		tick(time.Minute)
		require.Len(t, box.got, 1)
		require.Contains(t, box.got[0], "opened ops@example.org")
		switchJob(t, st, j.ID, model.JobStopped, 0)
		tick(time.Minute)
		require.Len(t, box.got, 1, "it has none all the same")
		list, err := st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		require.Empty(t, list)
		switchJob(t, st, j.ID, model.JobRunning, t0.UnixMilli())
		tick(2 * time.Minute)
		require.Len(t, box.got, 2)
		require.Contains(t, box.got[1], "opened ops@example.org")
		write(t, st, `UPDATE xxl_job_group SET address_list = 'http://10.0.0.1:9999/' WHERE id = ?`, g.ID)
		tick(20 * time.Second)
		require.Len(t, box.got, 3)
		require.Contains(t, box.got[2], "ended ops@example.org")
	})
}
