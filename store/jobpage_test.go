package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// ended writes a run that has its outcome.
func ended(t *testing.T, st *store.Store, j model.Job, code int, change func(*model.Run)) model.Run {
	t.Helper()
	return storetest.Run(t, st, j, func(r *model.Run) {
		r.Phase, r.TriggerCode, r.HandleCode, r.TriggerType = model.PhaseFinished, model.CodeSuccess, code, model.TriggerCron
		if change != nil {
			change(r)
		}
	})
}

func TestWhatTheJobPageReads(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
		other := storetest.Group(t, st, "app-two", "http://127.0.0.1:2/")
		j := storetest.Job(t, st, g.ID, nil)
		beside := storetest.Job(t, st, g.ID, nil)

		ok := ended(t, st, j, 200, nil)
		first := ended(t, st, j, 500, nil)
		ended(t, st, j, 500, func(r *model.Run) { r.FirstID = first.ID })
		ended(t, st, j, 500, func(r *model.Run) { r.Reason = model.ReasonKilled })
		last := ended(t, st, j, 500, func(r *model.Run) { r.Param, r.TriggerType = "by=hand", model.TriggerManual })
		ended(t, st, beside, 200, nil)
		late := storetest.Run(t, st, j, func(r *model.Run) { r.PlannedMS, r.TriggerType = t0.UnixMilli(), model.TriggerCron })
		soon := storetest.Run(t, st, j, func(r *model.Run) { r.PlannedMS, r.TriggerType = t0.Add(time.Minute).UnixMilli(), model.TriggerCron })
		storetest.Run(t, st, beside, nil)

		t.Run("the newest runs that are not planned", func(t *testing.T) {
			list, err := st.LatestRuns(ctx, j.ID, 4)
			require.NoError(t, err)
			require.Len(t, list, 4)
			require.Equal(t, first.ID, list[0].ID)
			require.Equal(t, last.ID, list[3].ID)
		})
		t.Run("the last success", func(t *testing.T) {
			r, err := st.SuccessBefore(ctx, j.ID, last.ID)
			require.NoError(t, err)
			require.Equal(t, ok.ID, r.ID)
			r, err = st.SuccessBefore(ctx, j.ID, ok.ID)
			require.NoError(t, err)
			require.Zero(t, r.ID, "nothing is older")
		})
		t.Run("waiting", func(t *testing.T) {
			w, err := st.WaitingRuns(ctx, j.ID, t0.UnixMilli(), 1)
			require.NoError(t, err)
			require.Equal(t, 2, w.Total)
			require.Equal(t, 1, w.Due)
			require.Len(t, w.Runs, 1)
			require.Equal(t, late.ID, w.Runs[0].ID)
			for r, want := range map[int64][2]int{late.ID: {1, 1}, soon.ID: {}, last.ID: {}} {
				run, err := st.Run(ctx, r)
				require.NoError(t, err)
				place, of, err := st.QueuePlace(ctx, &run, t0.UnixMilli())
				require.NoError(t, err)
				require.Equal(t, want, [2]int{place, of})
			}
			place, of, err := st.QueuePlace(ctx, &soon, t0.Add(time.Hour).UnixMilli())
			require.NoError(t, err)
			require.Equal(t, [2]int{2, 2}, [2]int{place, of}, "an hour later it waits, too")
			w, err = st.WaitingRuns(ctx, j.ID, t0.UnixMilli(), 9)
			require.NoError(t, err)
			require.Equal(t, soon.ID, w.Runs[1].ID)
		})
		t.Run("runs by hand, and how many there are", func(t *testing.T) {
			list, err := st.HandRuns(ctx, j.ID, 9)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, "by=hand", list[0].Param)
			n, err := st.CountRunsOf(ctx, j.ID, 100)
			require.NoError(t, err)
			require.Equal(t, 7, n)
			n, err = st.CountRunsOf(ctx, j.ID, 3)
			require.NoError(t, err)
			require.Equal(t, 3, n)
		})
		t.Run("parents are those that name the job, not those that name a longer number", func(t *testing.T) {
			child := strconv.Itoa(j.ID)
			parent := storetest.Job(t, st, g.ID, func(p *model.Job) { p.ChildIDs = "99, " + child })
			storetest.Job(t, st, g.ID, func(p *model.Job) { p.ChildIDs = child + "7,9" + child })
			foreign := storetest.Job(t, st, other.ID, func(p *model.Job) { p.ChildIDs = child })
			list, err := st.ParentJobs(ctx, j.ID, []int{g.ID}, 9)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, parent.ID, list[0].ID)
			list, err = st.ParentJobs(ctx, j.ID, nil, 9)
			require.NoError(t, err)
			require.Len(t, list, 2)
			require.Equal(t, foreign.ID, list[1].ID)
			brief, err := st.JobsBrief(ctx, []int{parent.ID, 12345})
			require.NoError(t, err)
			require.Len(t, brief, 1)
		})
		t.Run("the name of a deleted job stays as long as its runs may", func(t *testing.T) {
			old := storetest.Job(t, st, g.ID, func(p *model.Job) { p.Name = "夜间结算" })
			at := t0.Add(time.Hour)
			require.NoError(t, st.DeleteJob(ctx, old.ID, at))
			names, err := st.GoneJobs(ctx, []int{old.ID, j.ID})
			require.NoError(t, err)
			require.Equal(t, map[int]string{old.ID: "夜间结算"}, names)
			require.NoError(t, st.ForgetJobs(ctx, at))
			names, err = st.GoneJobs(ctx, []int{old.ID})
			require.NoError(t, err)
			require.Len(t, names, 1)
			require.NoError(t, st.ForgetJobs(ctx, at.Add(time.Second)))
			names, err = st.GoneJobs(ctx, []int{old.ID})
			require.NoError(t, err)
			require.Empty(t, names)
			require.Equal(t, model.CodeNotFound, model.CodeOf(st.DeleteJob(ctx, 99999, t0)))
		})
		t.Run("a note is replaced only when it is the one that was read", func(t *testing.T) {
			require.NoError(t, st.SetJobNote(ctx, j.ID, "", "Call 梅 🔔"))
			require.Equal(t, model.CodeConflict, model.CodeOf(st.SetJobNote(ctx, j.ID, "", "other")))
			require.Equal(t, model.CodeConflict, model.CodeOf(st.SetJobNote(ctx, j.ID, "call 梅 🔔", "other")), "letter by letter")
			note, err := st.JobNote(ctx, j.ID)
			require.NoError(t, err)
			require.Equal(t, "Call 梅 🔔", note)
			require.NoError(t, st.SetJobNote(ctx, j.ID, note, ""))
			_, err = st.JobNote(ctx, 99999)
			require.Equal(t, model.CodeNotFound, model.CodeOf(err))
			require.Equal(t, model.CodeNotFound, model.CodeOf(st.SetJobNote(ctx, 99999, "", "x")))
		})
		t.Run("registrations of one executor", func(t *testing.T) {
			for _, app := range []string{"app-one", "app-two"} {
				require.NoError(t, st.Register(ctx, model.Registration{Group: "EXECUTOR", Key: app, Address: "http://" + app + ":1/", Beat: t0}, t0.Add(-time.Minute)))
			}
			regs, err := st.AppRegistrations(ctx, "app-one")
			require.NoError(t, err)
			require.Len(t, regs, 1)
			require.Equal(t, "http://app-one:1/", regs[0].Address)
		})
	})
}
