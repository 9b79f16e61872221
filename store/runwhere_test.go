package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestFiltersSayWhatRunsAre: the filters of the run list, which are SQL, and
// model.Run, which is Go, agree about rows of every shape: each phase with each pair of
// codes and each reason, also such as nobody should write, and rows of a Java admin.
func TestFiltersSayWhatRunsAre(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		reasons := []any{nil, "", "of_a_newer_center"}
		for _, r := range model.Reasons() {
			reasons = append(reasons, r.Code)
		}
		write(t, st, `CREATE TABLE shape (run_state INT NULL, trigger_code INT, handle_code INT)`)
		for _, phase := range []any{nil, 1, 2, 3, 4, 5, 6} {
			for _, trigger := range []int{0, 200, 500, 410} {
				for _, handle := range []int{0, 200, 500, 502, 407, 408, 13} {
					write(t, st, `INSERT INTO shape VALUES (?, ?, ?)`, phase, trigger, handle)
				}
			}
		}
		at := t0.Format(time.DateTime)
		for _, reason := range reasons {
			write(t, st, `INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code, alarm_status, run_state, run_reason)
				SELECT 1, 1, ?, trigger_code, handle_code, 0, run_state, ? FROM shape`, at, reason)
		}
		list := func(f model.RunFilter) map[int64]model.Run {
			out := map[int64]model.Run{}
			for f.Limit = 900; ; {
				rows, err := st.Runs(t.Context(), f)
				require.NoError(t, err)
				for _, r := range rows[:min(900, len(rows))] {
					out[r.ID] = r
				}
				if len(rows) <= 900 {
					return out
				}
				f.Before = rows[899].ID
			}
		}
		all := list(model.RunFilter{})
		require.Len(t, all, len(reasons)*7*4*7)
		same := func(f model.RunFilter, belongs func(*model.Run) bool) {
			t.Helper()
			got := list(f)
			for id, r := range all {
				_, is := got[id]
				require.Equal(t, belongs(&r), is, "%s %s: %s", f.Status, f.Reason, shape(&r))
			}
		}
		classes := map[model.RunStatus]model.Class{
			model.RunsSucceeded: model.ClassSucceeded, model.RunsFailed: model.ClassFailed, model.RunsOpen: model.ClassOpen, model.RunsMissed: model.ClassNotSent,
		}
		for status, class := range classes {
			same(model.RunFilter{Status: status}, func(r *model.Run) bool { return r.Class() == class })
			same(model.RunFilter{Status: status, Fires: true}, func(r *model.Run) bool { return r.Class() == class && r.Phase != model.PhaseForeign })
		}
		for _, info := range model.Reasons() {
			same(model.RunFilter{Reason: info.Code}, func(r *model.Run) bool { return r.Outcome() == info.Code })
		}
	})
}

func shape(r *model.Run) string {
	return fmt.Sprintf("run_state %d, trigger_code %d, handle_code %d, run_reason %q", r.Phase, r.TriggerCode, r.HandleCode, r.Reason)
}

// TestTheListOfFires shows one row for each fire: its first success, else its last
// attempt, on the day of the first one.
func TestTheListOfFires(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, nil)
		day := t0.AddDate(0, 0, 1)
		attempt := func(first int64, at time.Time, code int) model.Run {
			return storetest.Run(t, st, j, func(r *model.Run) {
				r.FirstID, r.TriggerTime, r.Phase, r.TriggerCode, r.HandleCode = first, at, model.PhaseFinished, 200, code
			})
		}
		late := attempt(0, day.Add(-time.Minute), 500)
		retry := attempt(late.ID, day.Add(time.Minute), 200)
		again := attempt(late.ID, day.Add(2*time.Minute), 200)
		failed := attempt(0, day.Add(time.Minute), 500)
		last := attempt(failed.ID, day.Add(time.Hour), 502)
		ids := func(f model.RunFilter) (out []int64) {
			f.Limit = 50
			list, err := st.Runs(t.Context(), f)
			require.NoError(t, err)
			for _, r := range list {
				out = append(out, r.ID)
			}
			return out
		}
		require.Equal(t, []int64{last.ID, failed.ID, again.ID, retry.ID, late.ID}, ids(model.RunFilter{}))
		require.Equal(t, []int64{last.ID, retry.ID}, ids(model.RunFilter{Fires: true}))
		require.Equal(t, []int64{retry.ID}, ids(model.RunFilter{Fires: true, To: day}))
		require.Equal(t, []int64{last.ID}, ids(model.RunFilter{Fires: true, From: day}))
		require.Equal(t, []int64{last.ID}, ids(model.RunFilter{Fires: true, From: day, To: day.AddDate(0, 0, 1), Reason: model.ReasonTimeout}))
		require.Empty(t, ids(model.RunFilter{Fires: true, Status: model.RunsFailed, Reason: model.ReasonError}))
		// Clocks of two nodes differ: a retry whose time is before that of its first attempt.
		early := attempt(0, day, 500)
		back := attempt(early.ID, day.Add(-time.Second), 200)
		require.Equal(t, []int64{last.ID, back.ID}, ids(model.RunFilter{Fires: true, From: day}))
	})
}
