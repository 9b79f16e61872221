package store_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestTwoWordsAboutOneFireAtOnce: two nodes store results of two attempts of the same
// fire at the same moment. It is counted once, and as it is.
func TestTwoWordsAboutOneFireAtOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		var first, second []int64
		for range 60 {
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.TriggerCode = model.PhaseAccepted, 200 })
			_, err := st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: 500, Reason: model.ReasonLost, AtMS: 5}}, t0,
				func(run model.Run, _ map[int]model.Job) []model.Run { return nil })
			require.NoError(t, err)
			again := storetest.Run(t, st, j, func(x *model.Run) {
				x.Phase, x.TriggerCode, x.FirstID, x.TriggerType = model.PhaseAccepted, 200, r.ID, model.TriggerRetry
			})
			// The retry is written after its first attempt was counted: as the scheduler does it,
			// both at once, the fire would be open.
			write(t, st, `UPDATE carillon_ledger SET fires = fires - 1 WHERE reason = ?`, model.ReasonLost)
			first, second = append(first, r.ID), append(second, again.ID)
		}
		var both sync.WaitGroup
		tell := func(ids []int64, code int) {
			both.Go(func() {
				for _, id := range ids {
					if _, err := st.StoreHandled(ctx, []model.Handled{{RunID: id, Code: code, AtMS: 9}}, t0, nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		tell(first, 200)
		tell(second, 500)
		both.Wait()
		l := account(t, st, t0)
		require.Equal(t, model.Ledger{Day: "2026-01-01", Expected: 60, Succeeded: 60}, l)
	})
}

// TestFiresOfAJobThatMoved: the number of an executor's report leads to the fires that the
// job had there; the list of runs of a job has them all.
func TestFiresOfAJobThatMoved(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		a, b := storetest.Group(t, st, "app-one", ""), storetest.Group(t, st, "app-two", "")
		j := storetest.Job(t, st, a.ID, nil)
		storetest.Run(t, st, j, nil)
		storetest.Run(t, st, j, nil)
		j.GroupID = b.ID
		storetest.Run(t, st, j, nil)
		for f, want := range map[*model.RunFilter]int{
			{Fires: true, JobID: j.ID, GroupID: a.ID}: 2, {Fires: true, JobID: j.ID, GroupID: b.ID}: 1,
			{Fires: true, JobID: j.ID}: 3, {JobID: j.ID, GroupID: b.ID}: 3,
		} {
			f.Limit = 10
			list, err := st.Runs(t.Context(), *f)
			require.NoError(t, err)
			require.Len(t, list, want, "%+v", f)
			n, err := st.CountRuns(t.Context(), *f, 10)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
	})
}
