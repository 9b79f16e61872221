package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// refuser takes no message, and notes who was tried.
type refuser struct {
	after time.Duration // it asks for so much patience
	tried map[string]int
}

func (r *refuser) Send(_ context.Context, m model.Message) (int, string, error) {
	r.tried[strings.TrimSuffix(m.Target, "@example.org")]++
	return 0, "", &alarm.Refused{Text: "later", After: r.after}
}

// TestTheOutboxWhenTheClockIsSetBack: what waits is tried as soon as it would have been, by the
// clock that holds now; what the other side asked for is kept. A process that starts does not
// know how far the clock was set back, and waits 20 minutes at most.
func TestTheOutboxWhenTheClockIsSetBack(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		no := &refuser{tried: map[string]int{}}
		o := newOffice(t, st, nil, "one#1")
		o.post.Sender = no
		post := func(o *office, later time.Duration) {
			o.now = o.now.Add(later)
			require.NoError(t, o.post.Pass(t.Context(), o.now))
		}
		fail := func(name string) {
			j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = name + "@example.org" }), o.now)
			end(t, st, j, 500, "", o.now)
			require.NoError(t, o.desk.Pass(t.Context(), o.now))
		}
		fail("tried")
		post(o, 0)
		fail("fresh")
		require.Equal(t, map[string]int{"tried": 1}, no.tried)

		post(o, -time.Hour)
		require.Equal(t, map[string]int{"tried": 1, "fresh": 1}, no.tried, "nobody had tried it")
		no.after = 2 * time.Hour
		post(o, 14*time.Second)
		require.Equal(t, 1, no.tried["tried"])
		post(o, 2*time.Second)
		require.Equal(t, map[string]int{"tried": 2, "fresh": 2}, no.tried, "15 s after the first try")

		post(o, 2*time.Minute)
		post(o, -30*time.Minute)
		for range 117 {
			post(o, time.Minute)
		}
		require.Equal(t, map[string]int{"tried": 2, "fresh": 2}, no.tried, "two hours are not over")
		post(o, 2*time.Minute)
		require.Equal(t, map[string]int{"tried": 3, "fresh": 3}, no.tried)

		again := newOffice(t, st, nil, "two#1")
		again.post.Sender, again.now = no, o.now.Add(-5*time.Hour)
		post(again, 0)
		post(again, 19*time.Minute)
		require.Equal(t, 3, no.tried["tried"])
		post(again, 2*time.Minute)
		require.Equal(t, 4, no.tried["tried"])
	})
}
