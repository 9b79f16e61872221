package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// TestLinksOfMails: each does what it says, once, for three days, while the trouble lasts;
// nobody can make one, or another of one.
func TestLinksOfMails(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	open := func(subject string) (*model.Incident, model.Message) {
		inc := &model.Incident{Subject: subject, Reason: model.AlarmNodeGone, Severity: model.SeverityCritical, OpenedMS: 1, LastMS: 1}
		to := []model.TellTarget{{Channel: model.ChannelMail, Name: "oncall@example.org"}}
		require.NoError(t, w.store.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{inc}, Told: []model.Telling{{Incident: inc, Step: model.StepOpened, Targets: to}}}, w.now))
		told, err := w.store.MessagesOf(ctx, inc.ID, 1)
		require.NoError(t, err)
		return inc, told[0]
	}
	_, err := w.AlarmLink(ctx, "ack.1.1.zzzzzzzz.AAAA")
	require.Equal(t, model.CodeNotFound, model.CodeOf(err), "there is no key yet")
	inc, m := open("node:a")
	links, err := w.AlarmLinks(ctx, m)
	require.NoError(t, err)
	require.Len(t, links, len(jobs.LinkActions()))
	again, err := w.AlarmLinks(ctx, m)
	require.NoError(t, err)
	require.Equal(t, links, again, "a message that is sent again is the same")
	is := func() model.Incident {
		i, err := w.store.Incident(ctx, inc.ID)
		require.NoError(t, err)
		return i
	}
	refused := func(text, key string) {
		t.Helper()
		for _, call := range []func() (jobs.AlarmLink, error){
			func() (jobs.AlarmLink, error) { return w.AlarmLink(ctx, text) }, func() (jobs.AlarmLink, error) { return w.FollowAlarmLink(ctx, text) },
		} {
			_, err := call()
			var e *model.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, key, e.Key)
		}
	}

	l, err := w.AlarmLink(ctx, links["ack"])
	require.NoError(t, err)
	require.Equal(t, "oncall@example.org", l.Who)
	require.Equal(t, "ack", l.Action)
	require.Zero(t, is().AckedMS, "looking does nothing")
	_, err = w.FollowAlarmLink(ctx, links["ack"])
	require.NoError(t, err)
	require.Equal(t, "oncall@example.org", is().AckedBy)
	refused(links["ack"], "error.link_used")
	for action, until := range map[string]int64{"mute1h": w.now.Add(time.Hour).UnixMilli(), "mute8h": w.now.Add(8 * time.Hour).UnixMilli(), "mutegood": model.MutedForGood} {
		_, err = w.FollowAlarmLink(ctx, links[action])
		require.NoError(t, err)
		require.Equal(t, until, is().MutedMS)
	}

	_, other := open("node:b")
	links, err = w.AlarmLinks(ctx, other)
	require.NoError(t, err)
	good := links["mute1h"]
	for _, text := range []string{
		"", ".", "x", strings.Repeat("a.", 150), strings.Replace(good, "mute1h", "mutegood", 1), strings.Replace(good, "mute1h.2", "mute1h.1", 1), good + "A", good[:len(good)-1],
		good[:strings.LastIndexByte(good, '.')+1], good[:strings.LastIndexByte(good, '.')],
	} {
		refused(text, "error.link_invalid")
	}
	w.now = w.now.Add(3*24*time.Hour + time.Hour)
	refused(good, "error.link_expired")
	w.now = w.now.Add(-2 * time.Hour)
	i, err := w.store.Incident(ctx, other.IncidentID)
	require.NoError(t, err)
	i.EndedMS = w.now.UnixMilli()
	require.NoError(t, w.store.SaveAlarms(ctx, &model.AlarmDecision{Changed: []*model.Incident{&i}}, w.now))
	refused(good, "error.incident_over")
}

// TestWhatARuleMaySay: each field has its bounds, and what is wrong is told at it.
func TestWhatARuleMaySay(t *testing.T) {
	w := newWorld(t)
	for field, s := range map[string]model.AlarmSettings{
		"":              {InARow: 3, OutOf: 10, OverrunMinutes: 60, OverrunTimes: 3, LateMinutes: 5, DoneBy: "06:00", DoneDays: []int{0, 6}, EachAttempt: true, Discarded: true, Without: []string{model.AlarmDiskFull, model.ReasonMisfire}},
		"overrun":       {OverrunMinutes: -1},
		"overrun_times": {OverrunTimes: 1},
		"late":          {LateMinutes: 10_000_000},
		"done_by":       {DoneBy: "6 o'clock"},
		"done_day":      {DoneBy: "06:00", DoneDays: []int{7}},
		"out_of":        {InARow: 3, OutOf: 2},
		"in_a_row":      {InARow: 101},
		"without":       {Without: []string{model.ReasonDiscarded}},
	} {
		s.Severity = model.SeverityCritical
		err := w.SaveAlarmRule(t.Context(), admin(), model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: s})
		if field == "" {
			require.NoError(t, err)
			rules, err := w.store.AlarmRules(t.Context())
			require.NoError(t, err)
			require.Equal(t, s, rules[0].AlarmSettings)
			continue
		}
		var e *model.Error
		require.ErrorAs(t, err, &e, field)
		require.Len(t, e.Fields, 1, field)
		require.Contains(t, e.Fields, field)
	}
}
