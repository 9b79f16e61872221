package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestAJobIsFailing from its first fire that failed, all attempts of it, to the next
// that succeeds. What was killed or not sent says nothing.
func TestAJobIsFailing(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.RetryCount = 1 }), t0)
		instant := int64(0)
		fire := func(retries int) model.Run {
			instant += 1000
			return storetest.Run(t, st, j, func(r *model.Run) {
				r.PlannedMS += instant - 60_000
				r.Phase, r.RetryLeft = model.PhaseAccepted, retries
			})
		}
		end := func(r model.Run, code int, reason string) {
			t.Helper()
			_, err := st.StoreHandled(ctx, []model.Handled{{RunID: r.ID, Code: code, Reason: reason, AtMS: r.PlannedMS + 5}}, t0, rule.Follower(t0, "n#1"))
			require.NoError(t, err)
		}
		since := func() int64 {
			t.Helper()
			all, err := st.Streaks(ctx, []int{j.ID, 99})
			require.NoError(t, err)
			list, err := st.FailingJobs(ctx, nil, 10)
			require.NoError(t, err)
			require.Len(t, list, len(all))
			counts, err := st.CountJobs(ctx, model.JobFilter{})
			require.NoError(t, err)
			require.Equal(t, len(all), counts.Failing)
			_, n, err := st.Jobs(ctx, model.JobFilter{Failing: true, Limit: 5})
			require.NoError(t, err)
			require.Equal(t, len(all), n)
			return all[j.ID].SinceMS
		}
		end(fire(0), 200, "")
		require.Zero(t, since())
		end(fire(0), 500, model.ReasonKilled)
		require.Zero(t, since())
		tried := fire(1)
		end(tried, 500, "")
		require.Zero(t, since(), "it is tried again")
		list, err := st.Runs(ctx, model.RunFilter{JobID: j.ID, Status: model.RunsOpen, Limit: 1})
		require.NoError(t, err)
		_, err = st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: list[0].ID, Address: "a"}}, 1)
		require.NoError(t, err)
		end(list[0], 500, "")
		require.Equal(t, list[0].PlannedMS+5, since(), "its last attempt")
		lost := fire(0)
		end(lost, 500, model.ReasonLost)
		require.Equal(t, min(list[0].PlannedMS, lost.PlannedMS)+5, since(), "since the first")
		of, err := st.Streaks(ctx, []int{j.ID})
		require.NoError(t, err)
		of[99] = model.Streak{}
		n, err := st.CountFailures(ctx, of, 100)
		require.NoError(t, err)
		require.Equal(t, map[int]int{j.ID: 2, 99: 0}, n)

		last := fire(0)
		end(last, 500, "")
		end(lost, 200, "") // the truth about an older one
		require.NotZero(t, since(), "a later one has failed")
		end(fire(0), 200, "")
		require.Zero(t, since())
		end(fire(0), 500, "")
		require.NotZero(t, since())
		lost = fire(0)
		end(lost, 500, model.ReasonLost)
		end(lost, 200, "")
		require.Zero(t, since(), "the newest of all has succeeded after all")

		end(fire(0), 500, "")
		now, err := st.Job(ctx, j.ID)
		require.NoError(t, err)
		require.NoError(t, st.SetJobStatus(ctx, j.ID, now.Version, model.JobStopped, 0, t0))
		list2, err := st.FailingJobs(ctx, nil, 10)
		require.NoError(t, err)
		require.Empty(t, list2, "somebody has stopped it")
		require.NoError(t, st.DeleteJob(ctx, j.ID, t0))
		all, err := st.Streaks(ctx, []int{j.ID})
		require.NoError(t, err)
		require.Empty(t, all)
	})
}
