package report_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// sent is a report that went out.
type sent struct {
	at    time.Time
	first string
}

// sendAll lets a report go out as often as it does between two instants, each time some
// seconds after it was due.
func sendAll(t *testing.T, m model.ReportMailSettings, center *time.Location, from, to time.Time) (out []sent) {
	t.Helper()
	st := &post{due: []model.ReportMail{{ID: 1, ReportMailSettings: m, NextMS: report.NextMail(m, from, center).UnixMilli()}}}
	p := &report.Postman{
		Store: st, Leads: func() bool { return true }, Zone: center, Posted: func() {},
		Trouble: func(context.Context, model.ReportMail, report.Period) (bool, error) { return false, nil },
	}
	for next := time.UnixMilli(st.due[0].NextMS); next.Before(to); next = time.UnixMilli(st.due[0].NextMS) {
		require.NoError(t, p.Pass(t.Context(), next.Add(9*time.Second)))
		require.Len(t, st.posted, len(out)+1)
		out = append(out, sent{next, st.posted[len(out)][:len(time.DateOnly)]})
		require.Greater(t, st.due[0].NextMS, next.UnixMilli())
	}
	return out
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

// TestReportsOfReadersFarAway: the reader's date says what a mail is about, and it waits
// for the center.
func TestReportsOfReadersFarAway(t *testing.T) {
	for _, tc := range []struct {
		name, center string
		m            model.ReportMailSettings
		from         string
		want         []string // when, in the reader's zone, and the first day of what
	}{
		{"a month, of a reader who is ahead", "UTC", model.ReportMailSettings{Kind: "month", At: "07:30", MonthDay: 1, Zone: "Asia/Shanghai"}, "2026-10-20", []string{"2026-11-01 08:01 2026-10-01", "2026-12-01 08:01 2026-11-01"}},
		{"a week, of a reader who is ahead", "UTC", model.ReportMailSettings{Kind: "week", At: "07:30", Weekday: 1, Zone: "Asia/Shanghai"}, "2026-11-12", []string{"2026-11-16 08:01 2026-11-09", "2026-11-23 08:01 2026-11-16"}},
		{"days, when the center's clock changes", "Europe/Berlin", model.ReportMailSettings{Kind: "day", At: "06:30", Zone: "Asia/Shanghai"}, "2026-03-28", []string{
			"2026-03-28 07:01 2026-03-27", "2026-03-29 07:01 2026-03-28", "2026-03-30 06:30 2026-03-29", "2026-03-31 06:30 2026-03-30",
		}},
		{"days, of a reader whose center is further", "Europe/Berlin", model.ReportMailSettings{Kind: "day", At: "20:00", Zone: "America/New_York"}, "2026-11-20", []string{"2026-11-20 20:00 2026-11-20", "2026-11-21 20:00 2026-11-21"}},
		{"days, of which the center's clock is further but for some weeks", "Europe/Berlin", model.ReportMailSettings{Kind: "day", At: "18:00", Zone: "America/New_York"}, "2026-03-07", []string{
			"2026-03-07 18:00 2026-03-07", "2026-03-08 19:01 2026-03-08", "2026-03-09 19:01 2026-03-09",
		}},
		{"a week on the reader's Sunday evening", "Asia/Shanghai", model.ReportMailSettings{Kind: "week", At: "20:00", Weekday: 7, Zone: "America/New_York"}, "2026-11-21", []string{"2026-11-22 20:00 2026-11-16"}},
		{"where nothing is far away", "UTC", model.ReportMailSettings{Kind: "day", At: "00:00"}, "2026-11-20", []string{"2026-11-21 00:00 2026-11-20"}},
	} {
		reader := zone(t, tc.m.Zone)
		tc.m.To = []string{"a@example.org"}
		from, err := time.ParseInLocation(time.DateOnly, tc.from, reader)
		require.NoError(t, err)
		got := sendAll(t, tc.m, zone(t, tc.center), from, from.AddDate(0, 0, 45))
		for i, want := range tc.want {
			require.Equal(t, want, got[i].at.In(reader).Format("2006-01-02 15:04 ")+got[i].first, tc.name)
		}
	}
}

// TestEachPeriodIsReportedOnce: wherever center and reader are and whatever their clocks do,
// each day, week and month is reported once, after it is over, and not later than it must.
func TestEachPeriodIsReportedOnce(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Pacific/Apia", "Asia/Kathmandu"}
	var all []model.ReportMailSettings
	for _, at := range []string{"00:00", "02:30", "06:30", "12:00", "18:00", "20:15", "23:59"} {
		all = append(all, model.ReportMailSettings{Kind: "day", At: at})
		for _, d := range []int{1, 7} {
			all = append(all, model.ReportMailSettings{Kind: "week", At: at, Weekday: d})
		}
		for _, d := range []int{1, 28} {
			all = append(all, model.ReportMailSettings{Kind: "month", At: at, MonthDay: d})
		}
	}
	from, to := time.Date(2025, 12, 20, 0, 0, 0, 0, time.UTC), time.Date(2027, 2, 10, 0, 0, 0, 0, time.UTC)
	for _, c := range zones {
		center := zone(t, c)
		for _, r := range zones {
			reader := zone(t, r)
			for _, m := range all {
				m.Zone, m.To = r, []string{"a@example.org"}
				got := sendAll(t, m, center, from, to)
				require.NotEmpty(t, got)
				for i, x := range got {
					about := report.NewPeriod(report.Kind(m.Kind), x.first, "", "", x.at.AddDate(0, 0, 1))
					_, end := report.DayBounds(about.Last, center)
					local := x.at.In(reader)
					require.False(t, x.at.Before(end), "%s %s %+v: %+v is not over", c, r, m, x)
					skipped := m.At == "02:30" && local.Minute() == 30 && (local.Hour() == 1 || local.Hour() == 3)
					require.True(t, local.Format("15:04") == m.At || x.at.Equal(end.Add(time.Minute)) || skipped, "%s %s %+v: %+v", c, r, m, x)
					if i > 0 {
						before := report.NewPeriod(report.Kind(m.Kind), got[i-1].first, "", "", x.at)
						require.Equal(t, before.Step(1).First.Format(time.DateOnly), x.first, "%s %s %+v: after %+v", c, r, m, got[i-1])
					}
				}
			}
		}
	}
}
