package store_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// TestALinkIsUsedOnce, however many press at the same moment; the secret of the links is one,
// however many nodes ask for it first.
func TestALinkIsUsedOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		inc := &model.Incident{Subject: "job:1", JobID: 1, Reason: "error", Severity: "critical", OpenedMS: 1, LastMS: 1}
		require.NoError(t, st.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{inc}}, t0))
		var wg sync.WaitGroup
		var mu sync.Mutex
		secrets, done := map[string]bool{}, 0
		for n := range 8 {
			wg.Go(func() {
				secret, err := st.Secret(ctx, "alarm_links", string(rune('a'+n)))
				if err != nil {
					t.Error(err)
				}
				err = st.TouchIncidentByLink(ctx, "ack.1.1.x", inc.ID, model.IncidentNote{AtMS: t0.UnixMilli(), Kind: "acked", User: "a@example.org"}, func(i *model.Incident) { i.AckedBy = "a@example.org" })
				mu.Lock()
				defer mu.Unlock()
				if secrets[secret] = true; err == nil {
					done++
				} else if model.CodeOf(err) != model.CodeConflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Len(t, secrets, 1)
		require.Equal(t, 1, done)
		notes, err := st.IncidentNotes(ctx, inc.ID, 10)
		require.NoError(t, err)
		require.Len(t, notes, 1)
		used, err := st.LinkUsed(ctx, "ack.1.1.x")
		require.NoError(t, err)
		require.True(t, used)
		// What is refused is not used: the incident does not exist.
		require.Error(t, st.TouchIncidentByLink(ctx, "ack.2.1.x", 77, model.IncidentNote{AtMS: t0.UnixMilli(), Kind: "acked"}, func(*model.Incident) {}))
		used, err = st.LinkUsed(ctx, "ack.2.1.x")
		require.NoError(t, err)
		require.False(t, used)
		// Forgotten after a month.
		require.NoError(t, st.TouchIncidentByLink(ctx, "mute1h.1.1.x", inc.ID, model.IncidentNote{AtMS: t0.AddDate(0, 0, 31).UnixMilli(), Kind: "muted"}, func(*model.Incident) {}))
		used, err = st.LinkUsed(ctx, "ack.1.1.x")
		require.NoError(t, err)
		require.False(t, used)
	})
}
