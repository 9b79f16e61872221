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

// TestScriptVersions: each save is one version with its author, the text before the first
// one is kept, the newest 30 stay, and who saves over another's work is told.
func TestScriptVersions(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "")
		j := storetest.Job(t, st, g.ID, func(j *model.Job) {
			j.GlueType, j.GlueSource, j.GlueRemark, j.Handler = model.GlueShell, "echo 一\n", "first", ""
			j.GlueAuthor = "mei"
		})
		list, err := st.ScriptVersions(ctx, j.ID)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, "mei", list[0].Author)
		require.EqualValues(t, len("echo 一\n"), list[0].Bytes)

		save := func(j model.Job, n int) error {
			j.GlueSource, j.GlueRemark, j.GlueAuthor = fmt.Sprintf("echo %d\n", n), fmt.Sprintf("change %d", n), "olga"
			j.GlueUpdateTime = t0.Add(time.Duration(n) * time.Second)
			return st.SaveScript(ctx, &j, t0.Add(time.Duration(n)*time.Second))
		}
		for n := range 40 {
			fresh, err := st.Job(ctx, j.ID)
			require.NoError(t, err)
			require.NoError(t, save(fresh, n))
			require.Equal(t, model.CodeConflict, model.CodeOf(save(fresh, n)), "saved meanwhile")
		}
		now, err := st.Job(ctx, j.ID)
		require.NoError(t, err)
		require.Equal(t, "echo 39\n", now.GlueSource)
		require.Equal(t, "change 39", now.GlueRemark)
		require.True(t, now.GlueUpdateTime.Equal(t0.Add(39*time.Second)))
		list, err = st.ScriptVersions(ctx, j.ID)
		require.NoError(t, err)
		require.Len(t, list, 30)
		require.Equal(t, "change 39", list[0].Remark)
		require.Equal(t, "olga", list[0].Author)
		v, err := st.ScriptVersion(ctx, j.ID, list[29].ID)
		require.NoError(t, err)
		require.Equal(t, "echo 10\n", v.Source)
		_, err = st.ScriptVersion(ctx, j.ID+1, v.ID)
		require.Equal(t, model.CodeNotFound, model.CodeOf(err), "of another job")

		gone := now
		gone.ID = 4711
		require.Equal(t, model.CodeNotFound, model.CodeOf(save(gone, 1)))
	})
}

// TestHandlers lists those of one executor, the most used first, without scripts.
func TestHandlers(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		one, two := storetest.Group(t, st, "app-one", ""), storetest.Group(t, st, "app-two", "")
		for _, h := range []string{"rare", "often", "often", ""} {
			storetest.Job(t, st, one.ID, func(j *model.Job) { j.Handler = h })
		}
		storetest.Job(t, st, one.ID, func(j *model.Job) { j.Handler, j.GlueType = "script", model.GlueShell })
		storetest.Job(t, st, two.ID, func(j *model.Job) { j.Handler = "other" })
		list, err := st.Handlers(t.Context(), one.ID, 10)
		require.NoError(t, err)
		require.Equal(t, []string{"often", "rare"}, list)
		list, err = st.Handlers(t.Context(), one.ID, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"often"}, list)
	})
}
