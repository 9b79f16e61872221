package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// TestRobotsAtTheFullHour: messages to channels are spread over some seconds after a full and a
// half hour; mails are not, nor what comes at another time.
func TestRobotsAtTheFullHour(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		tell := func(subject string, at time.Time) {
			inc := &model.Incident{Subject: subject, Reason: model.AlarmNodeGone, Severity: model.SeverityCritical, OpenedMS: 1, LastMS: 1}
			to := []model.TellTarget{{Channel: model.ChannelMail, Name: "a@example.org"}}
			for n := range 10 {
				to = append(to, model.TellTarget{Channel: model.ChannelOther, Name: strconv.Itoa(n + 1)})
			}
			require.NoError(t, st.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{inc}, Told: []model.Telling{{Incident: inc, Step: model.StepOpened, Targets: to}}}, at))
		}
		for _, begin := range []time.Duration{0, 30 * time.Minute} {
			box.got = nil
			o.now = t0.Add(begin)
			tell("node:"+begin.String(), o.now)
			require.NoError(t, o.post.Pass(ctx, o.now))
			require.Len(t, box.got, 1, "the mail")
			most, last := 0, 1
			for o.now.Before(t0.Add(begin + 20*time.Second)) {
				o.now = o.now.Add(time.Second)
				require.NoError(t, o.post.Pass(ctx, o.now))
				if o.now.Before(t0.Add(begin + 3*time.Second)) {
					require.Len(t, box.got, 1)
				}
				most, last = max(most, len(box.got)-last), len(box.got)
			}
			require.Len(t, box.got, 11, "each once")
			require.Less(t, most, 6, "not all at once")
		}
		box.got = nil
		o.now = t0.Add(10*time.Minute + 30*time.Second)
		tell("node:z", o.now)
		require.NoError(t, o.post.Pass(ctx, o.now))
		require.Len(t, box.got, 11)
	})
}
