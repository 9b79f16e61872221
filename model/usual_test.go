package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func fires(good, bad int64) *model.Counter {
	c := model.NewCounter(model.UnitDay, "", 0, 0)
	c.Expected, c.Succeeded, c.Failed = good+bad, good, bad
	if bad > 0 {
		c.Lines[model.ReasonError] = bad
	}
	return c
}

// TestWhatIsUsual: medians of the days, and what is further from them than three times the
// median deviation, by three runs at least.
func TestWhatIsUsual(t *testing.T) {
	for name, x := range map[string]struct {
		days   [4]int64 // failed, of 100
		failed int64
		median int64
		odd    bool
	}{
		"as always":                             {[4]int64{0, 0, 0, 0}, 0, 0, false},
		"two more":                              {[4]int64{0, 0, 0, 0}, 2, 0, false},
		"three more":                            {[4]int64{0, 0, 0, 0}, 3, 0, true},
		"one bad day long ago changes nothing":  {[4]int64{0, 40, 0, 0}, 3, 0, true},
		"it comes and goes":                     {[4]int64{2, 8, 4, 6}, 11, 5, false}, // 5 ± 6
		"it comes and goes, and now it is more": {[4]int64{2, 8, 4, 6}, 12, 5, true},
		"better than ever":                      {[4]int64{20, 20, 21, 20}, 0, 20, true},
		"half a run is rounded":                 {[4]int64{0, 0, 1, 1}, 1, 1, false},
	} {
		var days []*model.Counter
		for _, bad := range x.days {
			days = append(days, fires(100-bad, bad))
		}
		now := fires(100-x.failed, x.failed)
		u, typical := model.UsualOf(days, true)
		require.Equal(t, x.median, typical.Failed, name)
		require.Equal(t, x.odd, u.Odd(u.Failed, x.failed), name)
		require.Equal(t, x.odd, u.OddRate(now), name)
		u.Over = false
		require.False(t, u.Odd(u.Failed, x.failed) || u.OddRate(now), "%s: the day is not over", name)
	}
}

// TestWhatIsNewHasNoComparison: days without fires are no days, and of the rest there must be three.
func TestWhatIsNewHasNoComparison(t *testing.T) {
	u, typical := model.UsualOf([]*model.Counter{fires(10, 0), fires(0, 0), fires(10, 5)}, true)
	require.Equal(t, 2, u.Days)
	require.False(t, u.Known())
	require.False(t, u.Odd(u.Failed, 100))
	require.True(t, typical.Zero())
	u, typical = model.UsualOf([]*model.Counter{fires(10, 0), fires(0, 0), fires(10, 5), fires(10, 5)}, true)
	require.True(t, u.Known())
	require.Equal(t, int64(5), typical.Failed)
	require.Equal(t, int64(5), typical.Lines[model.ReasonError])
	require.False(t, (*model.Usual)(nil).Known())
}
