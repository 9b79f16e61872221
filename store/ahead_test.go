package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// claimedAhead are three runs that the first incarnation of node n has claimed ahead of
// their instants, a second apart, the last of a job that is stopped.
func claimedAhead(t *testing.T, st *store.Store) []model.Run {
	t.Helper()
	ctx := t.Context()
	epoch, err := st.JoinNode(ctx, "n", "v", "", 4000)
	require.NoError(t, err)
	require.EqualValues(t, 1, epoch)
	g := storetest.Group(t, st, "app-one", "")
	on, off := running(t, st, storetest.Job(t, st, g.ID, nil), t0), storetest.Job(t, st, g.ID, nil)
	var runs []model.Run
	var claims []model.Claim
	for i, j := range []model.Job{on, on, off} {
		r := storetest.Run(t, st, j, func(r *model.Run) { r.PlannedMS += int64(i) * 1000 })
		runs = append(runs, r)
		claims = append(claims, model.Claim{RunID: r.ID, Address: "a", Ahead: true})
	}
	got, err := st.ClaimRuns(ctx, "n#1", claims, 1)
	require.NoError(t, err)
	require.Len(t, got, 3)
	return runs
}

func phases(t *testing.T, st *store.Store, runs []model.Run) []model.RunPhase {
	t.Helper()
	out := make([]model.RunPhase, len(runs))
	for i := range runs {
		r, err := st.Run(t.Context(), runs[i].ID)
		require.NoError(t, err)
		out[i] = r.Phase
	}
	return out
}

func idsOf(runs []model.Run) (ids []int64) {
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	return ids
}

// TestConfirmAhead: a run that is the node's own and wanted is confirmed, no other.
func TestConfirmAhead(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		runs := claimedAhead(t, st)
		got, err := st.ConfirmAhead(ctx, "n#1", runs[0].PlannedMS, idsOf(runs[:1]))
		require.NoError(t, err)
		require.Equal(t, idsOf(runs[:1]), got)
		got, err = st.ConfirmAhead(ctx, "n#1", runs[2].PlannedMS, append(idsOf(runs[1:]), 99999))
		require.NoError(t, err)
		require.Equal(t, idsOf(runs[1:2]), got, "the job of the last was stopped")
		got, err = st.ConfirmAhead(ctx, "m#1", runs[2].PlannedMS, idsOf(runs))
		require.NoError(t, err)
		require.Empty(t, got, "not its own")
		_, err = st.JoinNode(ctx, "n", "v", "", 4000)
		require.NoError(t, err)
		got, err = st.ConfirmAhead(ctx, "n#1", runs[2].PlannedMS, idsOf(runs))
		require.NoError(t, err)
		require.Empty(t, got, "the name has been taken over since")
	})
}

// TestWhatWasClaimedAheadAndNotRungIsPutBack when its node is gone, whatever its executor
// is busy with. What may have been rung is asked about.
func TestWhatWasClaimedAheadAndNotRungIsPutBack(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		runs := claimedAhead(t, st)
		_, err := st.ConfirmAhead(ctx, "n#1", runs[0].PlannedMS, idsOf(runs[:1]))
		require.NoError(t, err)
		n, err := st.PutBackAhead(ctx, []string{"n#1"}, 100)
		require.NoError(t, err)
		require.Zero(t, n, "the node lives")
		n, err = st.PutBackAhead(ctx, []string{"m#1"}, 100)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []model.RunPhase{model.PhaseSending, model.PhasePlanned, model.PhaseSending}, phases(t, st, runs))
		got, err := st.ConfirmAhead(ctx, "n#1", runs[1].PlannedMS, idsOf(runs[1:2]))
		require.NoError(t, err)
		require.Empty(t, got, "a node that was only paused does not ring it any more")
		planned, unknown, err := st.AdoptRuns(ctx, []string{"m#1"}, []string{"m#1"}, 100)
		require.NoError(t, err)
		require.Equal(t, [2]int{1, 2}, [2]int{planned, unknown})
	})
}

// TestAClaimAheadWhoseAnswerWasLost is made anew at the instant. A claim is not.
func TestAClaimAheadWhoseAnswerWasLost(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		runs := claimedAhead(t, st)
		claim := []model.Claim{{RunID: runs[0].ID, Address: "b"}}
		got, err := st.ClaimRuns(ctx, "m#1", claim, 5)
		require.NoError(t, err)
		require.Empty(t, got)
		got, err = st.ClaimRuns(ctx, "n#1", claim, 5)
		require.NoError(t, err)
		require.Equal(t, map[int64]bool{runs[0].ID: true}, got)
		r, err := st.Run(ctx, runs[0].ID)
		require.NoError(t, err)
		require.Equal(t, "b", r.Address)
		require.EqualValues(t, 5, r.SentMS)
		for _, ahead := range []bool{true, false} {
			got, err = st.ClaimRuns(ctx, "n#1", []model.Claim{{RunID: r.ID, Address: "c", Ahead: ahead}}, 6)
			require.NoError(t, err)
			require.Empty(t, got)
		}
	})
}
