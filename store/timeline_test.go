package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

func TestRunsDuringAPeriod(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "")
		j := running(t, st, storetest.Job(t, st, g.ID, nil), t0)
		stopped := storetest.Job(t, st, g.ID, nil)
		run := func(began, ended time.Duration) int64 {
			return storetest.Run(t, st, j, func(r *model.Run) {
				r.TriggerTime = t0.Add(began)
				r.Phase, r.TriggerCode = model.PhaseAccepted, model.CodeSuccess
				if ended != 0 {
					r.Phase, r.HandleCode, r.FinishedMS = model.PhaseFinished, model.CodeSuccess, t0.Add(ended).UnixMilli()
				}
			}).ID
		}
		run(-3*time.Hour, -2*time.Hour)
		run(-26*time.Hour, time.Minute) // too long ago to be looked for
		into := run(-3*time.Hour, 10*time.Minute)
		open := run(-2*time.Hour, 0)
		in := run(time.Minute, 2*time.Minute)
		last := run(59*time.Minute, 61*time.Minute)
		run(time.Hour, 61*time.Minute)

		f := model.RunFilter{From: t0, To: t0.Add(time.Hour), Limit: 10}
		ids := func(f model.RunFilter) (out []int64, more bool) {
			list, more, err := st.RunsDuring(t.Context(), f, 24*time.Hour)
			require.NoError(t, err)
			for _, r := range list {
				out = append(out, r.ID)
			}
			return out, more
		}
		got, more := ids(f)
		require.Equal(t, []int64{last, in, open, into}, got)
		require.False(t, more)
		for limit, want := range map[int][]int64{1: {last}, 2: {last, in}, 3: {last, in, open}} {
			f.Limit = limit
			got, more = ids(f)
			require.Equal(t, want, got)
			require.True(t, more, "%d of four", limit)
		}
		f.Limit, f.Groups = 10, []int{g.ID + 1}
		got, _ = ids(f)
		require.Empty(t, got)

		list, err := st.RunningSchedules(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list, 1, "not %d, which is stopped", stopped.ID)
		require.Equal(t, model.ScheduleCount{Type: j.ScheduleType, Conf: j.ScheduleConf, Jobs: 1}, list[0])
		named, err := st.JobsOfSchedules(t.Context(), nil, []string{j.ScheduleConf, "x"}, 5)
		require.NoError(t, err)
		require.Len(t, named, 1)
		require.Equal(t, []any{j.ID, j.GroupID, j.Name}, []any{named[0].ID, named[0].GroupID, named[0].Name})
		fixed := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.ScheduleType, j.ScheduleConf = model.ScheduleFixRate, "90" }), t0.Add(61*time.Second))
		list, err = st.RunningSchedules(t.Context(), []int{g.ID})
		require.NoError(t, err)
		require.Contains(t, list, model.ScheduleCount{Type: model.ScheduleFixRate, Conf: "90", Jobs: 1, NextMS: fixed.NextMS / 60_000 * 60_000})
		list, err = st.RunningSchedules(t.Context(), []int{g.ID + 1})
		require.NoError(t, err)
		require.Empty(t, list)
	})
}
