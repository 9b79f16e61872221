package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAnAddressOrNoJobs: an executor without an address is told to be well when it has one, and not when its jobs were
// stopped meanwhile.
func TestAnAddressOrNoJobs(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		watchRule(t, st, model.AlarmSettings{Mails: []string{"ops@example.org"}})
		g := storetest.Group(t, st, "app-one", "")
		j := running(t, st, storetest.Job(t, st, g.ID, nil), t0.Add(100*time.Hour))
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		for _, stopped := range []bool{true, false} {
			box.got = nil
			o.tick(90 * time.Second)
			require.Equal(t, []string{"ops@example.org"}, openedTo(box))
			if stopped {
				switchJob(t, st, j.ID, model.JobStopped, 0)
			} else {
				write(t, st, `UPDATE xxl_job_group SET address_list = 'http://10.0.0.1:9999/' WHERE id = ?`, g.ID)
			}
			o.tick(20 * time.Second)
			require.Len(t, box.got, map[bool]int{true: 1, false: 2}[stopped])
			list, err := st.OpenIncidents(t.Context(), 10)
			require.NoError(t, err)
			require.Empty(t, list)
			switchJob(t, st, j.ID, model.JobRunning, t0.Add(100*time.Hour).UnixMilli())
		}
	})
}
