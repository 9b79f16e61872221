package jobs_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestJobNamed: a field for one job takes its number, what was suggested, or a name that only
// one job has among those that somebody may see.
func TestJobNamed(t *testing.T) {
	w := newWorld(t)
	other := storetest.Group(t, w.store, "app-two", "")
	named := func(name string, group int) int {
		return storetest.Job(t, w.store, group, func(j *model.Job) { j.Name = name }).ID
	}
	one, foreign := named("Nightly load", w.group.ID), named("Settlement", other.ID)
	_, _ = named("Twice", w.group.ID), named("Twice", other.ID)
	named("Nightly load of the warehouse", w.group.ID)
	owner := model.Actor{UserID: 4, Name: "olga", Groups: []int{w.group.ID}}
	for _, c := range []struct {
		who  model.Actor
		text string
		want int
		code model.ErrorCode
	}{
		{admin(), "", 0, ""}, {admin(), " " + strconv.Itoa(one) + " ", one, ""}, {admin(), "#" + strconv.Itoa(one), one, ""}, {admin(), strconv.Itoa(one) + " · Nightly load", one, ""},
		{admin(), "Nightly load", one, ""}, {admin(), "Nightly", 0, model.CodeNotFound}, {admin(), "100%", 0, model.CodeNotFound},
		{admin(), "Twice", 0, model.CodeConflict}, {admin(), "Settlement", foreign, ""}, {owner, "Settlement", 0, model.CodeNotFound},
		{admin(), "99999999999999999999", 0, model.CodeNotFound}, {admin(), "-", 0, model.CodeNotFound},
	} {
		got, err := w.JobNamed(t.Context(), c.who, c.text)
		require.Equal(t, c.want, got, "%q", c.text)
		if c.code == "" {
			require.NoError(t, err, "%q", c.text)
		} else {
			require.Equal(t, c.code, model.CodeOf(err), "%q", c.text)
		}
	}
}
