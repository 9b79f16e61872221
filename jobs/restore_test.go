package jobs_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func TestOldValuesAreRestored(t *testing.T) {
	w := newWorld(t)
	child := w.add(t, nil)
	id := w.add(t, func(in *jobs.JobInput) {
		in.Name, in.TimeoutSec, in.Tags, in.Param = "before", 5, "nightly", strings.Repeat("p", 3000)
		in.KeepDays, in.KeepFailedDays = model.KeepForever, 9
	})
	before := w.get(t, id)
	was := jobs.InputOf(&before)
	in := was
	in.Name, in.Author, in.ScheduleType, in.ScheduleConf, in.Route, in.Block, in.Misfire = "after", "else", model.ScheduleFixRate, "60", model.RouteRound, model.BlockDiscard, model.MisfireFireOnce
	in.TimeoutSec, in.RetryCount, in.RetryGrowing, in.Tags, in.Param, in.ChildIDs = 9, 3, false, "", "short", strconv.Itoa(child)
	in.KeepDays, in.KeepFailedDays = 3, model.KeepDefault
	require.NoError(t, w.UpdateJob(t.Context(), admin(), id, in))
	rows, err := w.AuditOf(t.Context(), admin(), model.AuditJob, int64(id))
	require.NoError(t, err)
	line := rows[0].ID

	old, err := w.RestoreJob(t.Context(), admin(), id, line)
	require.NoError(t, err)
	require.Equal(t, []string{"param"}, old.Left, "so much text is not kept")
	require.Len(t, old.Back, len(rows[0].Changes)-1)
	now := w.get(t, id)
	require.Equal(t, "after", now.Name, "nothing is stored")
	got := old.Input
	require.Equal(t, now.Version, got.Version)
	require.Equal(t, "short", got.Param, "as it is now")
	got.Version, got.Param = was.Version, was.Param
	require.Equal(t, was, got)
	require.NoError(t, w.UpdateJob(t.Context(), admin(), id, old.Input))

	_, err = w.RestoreJob(t.Context(), admin(), child, line)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err), "a line of another job")
	_, err = w.RestoreJob(t.Context(), model.Actor{Name: "chen"}, id, line)
	require.Equal(t, model.CodeNotFound, model.CodeOf(err))
}
