package report_test

import (
	"bytes"
	"context"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	require.NoError(t, err)
	return d
}

func TestPeriods(t *testing.T) {
	today := day(t, "2026-11-22") // a Sunday
	for _, tc := range []struct{ kind, day, from, to, want, before string }{
		{"", "", "", "", "2026-11-21 2026-11-21", "2026-11-14 2026-11-14"},
		{"day", "nonsense", "", "", "2026-11-21 2026-11-21", "2026-11-14 2026-11-14"},
		{"day", "2027-01-01", "", "", "2026-11-22 2026-11-22", "2026-11-15 2026-11-15"},
		{"week", "", "", "", "2026-11-16 2026-11-22", "2026-11-09 2026-11-15"},
		{"month", "2026-03-31", "", "", "2026-03-01 2026-03-31", "2026-02-01 2026-02-28"},
		{"range", "", "2026-11-10", "2026-11-12", "2026-11-10 2026-11-12", "2026-11-07 2026-11-09"},
		{"range", "", "2026-11-12", "2026-11-10", "2026-10-12 2026-11-10", "2026-09-12 2026-10-11"},
		{"range", "", "1971-01-01", "9999-01-01", "2024-11-22 2026-11-22", "2022-11-22 2024-11-21"},
	} {
		p := report.NewPeriod(report.Kind(tc.kind), tc.day, tc.from, tc.to, today)
		name := func(p report.Period) string {
			return p.First.Format(time.DateOnly) + " " + p.Last.Format(time.DateOnly)
		}
		require.Equal(t, tc.want, name(p), tc)
		require.Equal(t, tc.before, name(p.Before()), tc)
		require.Equal(t, name(p), name(p.Step(3).Step(-3)), tc)
	}
}

func TestNextMail(t *testing.T) {
	at := func(s string) time.Time {
		d, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		return d
	}
	for _, tc := range []struct {
		name        string
		m           model.ReportMailSettings
		after, want string
	}{
		{"later today", model.ReportMailSettings{Kind: "day", At: "08:00", Zone: "Asia/Shanghai"}, "2026-11-20T23:00:00Z", "2026-11-21T08:00:00+08:00"},
		{"tomorrow, as it is this very instant", model.ReportMailSettings{Kind: "day", At: "08:00", Zone: "Asia/Shanghai"}, "2026-11-21T00:00:00Z", "2026-11-22T08:00:00+08:00"},
		{"a Monday", model.ReportMailSettings{Kind: "week", At: "07:30", Weekday: 1, Zone: "UTC"}, "2026-11-16T07:30:00Z", "2026-11-23T07:30:00Z"},
		{"a Sunday", model.ReportMailSettings{Kind: "week", At: "07:30", Weekday: 7, Zone: "UTC"}, "2026-11-16T07:30:00Z", "2026-11-22T07:30:00Z"},
		{"the first of a month", model.ReportMailSettings{Kind: "month", At: "07:30", MonthDay: 1, Zone: "UTC"}, "2026-11-16T07:30:00Z", "2026-12-01T07:30:00Z"},
		{"an hour that the clock skips", model.ReportMailSettings{Kind: "day", At: "02:30", Zone: "Europe/Berlin"}, "2026-03-29T00:00:00Z", "2026-03-29T03:30:00+02:00"},
		{"an hour that comes twice", model.ReportMailSettings{Kind: "day", At: "02:30", Zone: "Europe/Berlin"}, "2026-10-24T22:00:00Z", "2026-10-25T02:30:00+01:00"},
		{"and not a second time", model.ReportMailSettings{Kind: "day", At: "02:30", Zone: "Europe/Berlin"}, "2026-10-25T01:30:00Z", "2026-10-26T02:30:00+01:00"},
		{"no zone: that of the center", model.ReportMailSettings{Kind: "day", At: "08:00"}, "2026-11-21T00:00:00Z", "2026-11-21T08:00:00Z"},
	} {
		got := report.NextMail(tc.m, at(tc.after), time.UTC)
		require.True(t, at(tc.want).Equal(got), "%s: %s", tc.name, got)
	}
}

// post is a table of reports, as the store keeps it.
type post struct {
	due    []model.ReportMail
	posted []string
}

func (p *post) DueReportMails(context.Context, int64) ([]model.ReportMail, error) { return p.due, nil }

func (p *post) PostReport(_ context.Context, m model.ReportMail, first string, to []string, next, _ int64) error {
	for _, a := range to {
		p.posted = append(p.posted, first+" "+a)
	}
	p.due[0].NextMS = next
	return nil
}

func TestPostman(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	st := &post{due: []model.ReportMail{{ID: 1, ReportMailSettings: model.ReportMailSettings{Kind: "day", At: "08:00", To: []string{"a@example.org", "b@example.org"}}}}}
	woken, trouble := 0, false
	p := &report.Postman{
		Store: st, Leads: func() bool { return true }, Zone: berlin, Posted: func() { woken++ },
		Trouble: func(context.Context, model.ReportMail, report.Period) (bool, error) { return trouble, nil },
	}
	now := time.Date(2026, 11, 21, 8, 0, 1, 0, berlin)
	require.NoError(t, p.Pass(t.Context(), now))
	require.Equal(t, []string{"2026-11-20 a@example.org", "2026-11-20 b@example.org"}, st.posted)
	require.Equal(t, time.Date(2026, 11, 22, 8, 0, 0, 0, berlin).UnixMilli(), st.due[0].NextMS)
	require.Equal(t, 1, woken)
	st.due[0].OnlyTrouble = true
	require.NoError(t, p.Pass(t.Context(), now))
	require.Len(t, st.posted, 2, "nothing was wrong")
	trouble = true
	require.NoError(t, p.Pass(t.Context(), now))
	require.Len(t, st.posted, 4)
	st.due[0].Off = true
	require.NoError(t, p.Pass(t.Context(), now))
	require.Len(t, st.posted, 4)
}

func TestPicture(t *testing.T) {
	var list []*model.Counter
	for i := range 30 {
		c := model.NewCounter(model.UnitDay, day(t, "2026-10-01").AddDate(0, 0, i).Format(time.DateOnly), 0, 1)
		c.Expected, c.Succeeded, c.Failed, c.Missed = 1000, 990-int64(i), int64(i), 5
		list = append(list, c)
	}
	raw, err := report.Picture(list)
	require.NoError(t, err)
	require.Less(t, len(raw), 20_000, "small enough for a mail")
	img, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	r, g, b, _ := img.At(1080, 180).RGBA()
	require.Equal(t, []uint32{0x2f, 0x9e, 0x44}, []uint32{r >> 8, g >> 8, b >> 8}, "the last day succeeded")
	_, err = report.Picture(nil)
	require.NoError(t, err)
}
