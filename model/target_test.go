package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTargetResult(t *testing.T) {
	for _, tc := range []struct {
		rated, good    int64
		goal           int
		left           int64
		reached        int
		missed, usedUp bool
		burn           float64
	}{
		{0, 0, 99_500, 0, -1, false, false, 0},
		{1000, 1000, 99_500, 5, 100_000, false, false, 0},
		{1000, 998, 99_500, 3, 99_800, false, false, 0.4},
		{1000, 995, 99_500, 0, 99_500, false, true, 1},
		{1000, 994, 99_500, -1, 99_400, true, true, 1.2},
		{30, 29, 99_500, -1, 96_666, true, true, 1 / 0.15},
		{30, 30, 99_500, 0, 100_000, false, false, 0}, // nothing was lost, and nothing may be
		{1_000_000, 999_999, 99_999, 9, 99_999, false, false, 0.1},
		{1_000_000, 999_999, GoalWhole, -1, 99_999, true, true, math.Inf(1)},
		{1_000_000, 1_000_000, GoalWhole, 0, 100_000, false, false, 0},
	} {
		r := TargetResult{TargetSum: TargetSum{tc.rated, tc.good}}
		r.Goal = tc.goal
		require.Equal(t, tc.left, r.Left(), tc)
		require.Equal(t, tc.reached, r.Reached(), tc)
		require.Equal(t, tc.missed, r.Missed(), tc)
		require.Equal(t, tc.usedUp, r.UsedUp(), tc)
		if math.IsInf(tc.burn, 1) {
			require.True(t, math.IsInf(r.Burn(), 1))
		} else {
			require.InDelta(t, tc.burn, r.Burn(), 1e-9, tc)
		}
	}
}

func TestParseGoal(t *testing.T) {
	for text, want := range map[string]int{
		"99.5": 99_500, " 99.95 ": 99_950, "100": GoalWhole, "100.000": GoalWhole, "0.001": 1, "99": 99_000, "099.5": 99_500,
		"0": -1, "0.000": -1, "100.001": -1, "99.9999": -1, "99,5": -1, "-1": -1, "": -1, ".5": -1, "5.": -1, "1e2": -1, "NaN": -1, "9999": -1, "٩٩": -1,
	} {
		goal, ok := ParseGoal(text)
		require.Equal(t, want > 0, ok, text)
		if ok {
			require.Equal(t, want, goal, text)
		}
	}
	require.Equal(t, "99.5 99 100 0.001", GoalText(99_500)+" "+GoalText(99_000)+" "+GoalText(GoalWhole)+" "+GoalText(1))
}
