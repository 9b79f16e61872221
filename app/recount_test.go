package app_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestRecount: counters that are gone come back from the runs, beside runs that are removed.
func TestRecount(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	st := storetest.OpenURL(t, url, time.UTC)
	g := storetest.Group(t, st, "app-one", "http://127.0.0.1:1/")
	j := storetest.Job(t, st, g.ID, nil)
	for d := range 3 {
		at := time.Now().UTC().AddDate(0, 0, -d).Truncate(time.Second)
		for range 5 {
			storetest.Run(t, st, j, func(r *model.Run) {
				r.Phase, r.TriggerTime, r.PlannedMS, r.SentMS, r.FinishedMS, r.TriggerCode, r.Reason = model.PhaseFinished, at, at.UnixMilli(), at.UnixMilli(), at.UnixMilli()+900, 500, model.ReasonRefused
			})
		}
	}
	count := func() (n int64) {
		for more := true; more; {
			var err error
			more, err = st.FoldCounts(t.Context(), time.Now())
			require.NoError(t, err)
		}
		today := model.Date(time.Now().UTC())
		list, err := st.Counters(context.Background(), []model.Span{{Unit: model.UnitDay, First: today.AddDate(0, 0, -9).Format(time.DateOnly), Last: today.Format(time.DateOnly)}}, model.CounterFilter{})
		require.NoError(t, err)
		for _, c := range list {
			n += c.Failed
		}
		return n
	}
	require.EqualValues(t, 15, count())
	db, done, err := st.MigrationDB()
	require.NoError(t, err)
	_, err = db.Exec(`DELETE FROM carillon_count`)
	require.NoError(t, err)
	require.NoError(t, done())
	require.Zero(t, count())
	code, out, errOut := run(t, t.Context(), "recount", "--database="+url, "--timezone=UTC", "--from="+time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	require.Zero(t, code, errOut)
	require.Contains(t, out, "5 fires, set right")
	require.EqualValues(t, 10, count())
	code, out, _ = run(t, t.Context(), "recount", "--database="+url, "--timezone=UTC")
	require.Zero(t, code)
	require.Contains(t, out, "5 fires, right")
	require.EqualValues(t, 15, count())
}
