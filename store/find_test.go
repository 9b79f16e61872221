package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestFinding: what programs ask for that page by number, and what files look up.
func TestFinding(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g, other := storetest.Group(t, st, "app-find", "http://h:1/"), storetest.Group(t, st, "app-other", "http://h:2/")
		var jobs []model.Job
		for i := range 5 {
			jobs = append(jobs, storetest.Job(t, st, g.ID, func(j *model.Job) {
				j.Name, j.Handler, j.Author = fmt.Sprintf("100%% no %d", i), fmt.Sprintf("h_%d", i%2), fmt.Sprintf("a%d", i)
			}))
		}
		storetest.Job(t, st, other.ID, func(j *model.Job) { j.Name = jobs[0].Name })
		for _, tc := range []struct {
			f    model.JobFilter
			want int
		}{
			{model.JobFilter{Name: "100% no"}, 6}, {model.JobFilter{Name: "1%no"}, 0}, {model.JobFilter{Handler: "h_1"}, 2}, {model.JobFilter{Handler: "h%1"}, 0},
			{model.JobFilter{Author: "a3", Handler: "h_1"}, 1}, {model.JobFilter{Author: "a3", Handler: "h_0"}, 0},
		} {
			tc.f.Limit = 10
			list, total, err := st.Jobs(t.Context(), tc.f)
			require.NoError(t, err)
			require.Len(t, list, tc.want, "%+v", tc.f)
			require.Equal(t, tc.want, total)
		}
		named, err := st.JobsByName(t.Context(), g.ID, []string{jobs[0].Name, jobs[4].Name, "nobody"})
		require.NoError(t, err)
		require.Len(t, named, 2)
		require.Equal(t, jobs[0].ID, named[0].ID)
		named, err = st.JobsByName(t.Context(), g.ID, nil)
		require.NoError(t, err)
		require.Empty(t, named)

		var ids []int64
		for i := range 7 {
			r := storetest.Run(t, st, jobs[0], func(r *model.Run) {
				r.Phase, r.PlannedMS = model.PhasePlanned, t0.UnixMilli()+int64(i)*1000
				if i < 3 {
					r.Phase, r.TriggerCode = model.PhaseAccepted, 200
				}
			})
			ids = append(ids, r.ID)
		}
		count := func(f model.RunFilter, most int) int {
			n, err := st.CountRuns(t.Context(), f, most)
			require.NoError(t, err)
			return n
		}
		mine := model.RunFilter{JobID: jobs[0].ID, Limit: 2}
		require.Equal(t, 7, count(mine, 100))
		require.Equal(t, 4, count(mine, 4), "no more than asked for")
		mine.Offset = 3
		list, err := st.Runs(t.Context(), mine)
		require.NoError(t, err)
		require.Equal(t, []int64{ids[3], ids[2], ids[1]}, []int64{list[0].ID, list[1].ID, list[2].ID}, "and one more")
		require.Equal(t, 3, count(model.RunFilter{JobID: jobs[0].ID, Taken: true}, 100))
		require.Equal(t, 5, count(model.RunFilter{JobID: jobs[0].ID, DueByMS: t0.UnixMilli() + 4000}, 100))
	})
}
