package jobs_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestSearchFindsWhatOneMaySee: a job by its number first, a run by its number, executors
// and users for administrators.
func TestSearchFindsWhatOneMaySee(t *testing.T) {
	w := newWorld(t)
	first := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name = "Invoices" })
	later := storetest.Job(t, w.store, w.group.ID, func(j *model.Job) { j.Name = "Report " + strconv.Itoa(first.ID) })
	r := storetest.Run(t, w.store, first, nil)
	f, err := w.Search(t.Context(), admin(), strconv.Itoa(first.ID))
	require.NoError(t, err)
	require.Len(t, f.Jobs, 2)
	require.Equal(t, []int{first.ID, later.ID}, []int{f.Jobs[0].ID, f.Jobs[1].ID})
	f, err = w.Search(t.Context(), admin(), " #"+strconv.FormatInt(r.ID, 10))
	require.NoError(t, err)
	require.Equal(t, "Invoices", f.Run.JobName)
	f, err = w.Search(t.Context(), admin(), "APP-ONE")
	require.NoError(t, err)
	require.Len(t, f.Executors, 1)

	stranger := model.Actor{UserID: 4, Name: "olga", Groups: []int{storetest.Group(t, w.store, "app-two", "").ID}}
	for _, text := range []string{"Invoices", "#" + strconv.FormatInt(r.ID, 10), "app", "admin"} {
		f, err = w.Search(t.Context(), stranger, text)
		require.NoError(t, err)
		require.Zero(t, f, text)
	}
	f, err = w.Search(t.Context(), admin(), "  ")
	require.NoError(t, err)
	require.Zero(t, f)
}
