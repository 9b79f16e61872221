package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func TestOneShardIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	broadcast := w.add(t, func(in *jobs.JobInput) { in.Route = model.RouteBroadcast })
	for text, want := range map[string]string{"": "", "1/1": "0/1", "2/5": "1/5", " 5 / 5 ": "4/5"} {
		id, err := w.RunNow(t.Context(), admin(), broadcast, jobs.RunInput{Shard: text})
		require.NoError(t, err, text)
		d, err := w.Run(t.Context(), admin(), id)
		require.NoError(t, err)
		require.Equal(t, want, d.Run.Sharding, text)
	}
	for _, bad := range []string{"0/5", "6/5", "x", "1/", "/5", "-1/5", "1/5/9", "1/10001", "99999999999999999999/1"} {
		_, err := w.RunNow(t.Context(), admin(), broadcast, jobs.RunInput{Shard: bad})
		require.Equal(t, model.CodeInvalid, model.CodeOf(err), bad)
	}
	_, err := w.RunNow(t.Context(), admin(), w.add(t, nil), jobs.RunInput{Shard: "1/2"})
	require.Equal(t, model.CodeInvalid, model.CodeOf(err), "no broadcast")
}
