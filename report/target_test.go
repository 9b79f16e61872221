package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

func TestDue(t *testing.T) {
	for _, tc := range []struct{ name, zone, day, by, want string }{
		{"a common day", "Asia/Shanghai", "2026-11-20", "06:00", "2026-11-20T06:00:00+08:00"},
		{"after 23 hours of a day began", "Europe/Berlin", "2026-03-29", "06:00", "2026-03-29T06:00:00+02:00"},
		{"after 25", "Europe/Berlin", "2026-10-25", "06:00", "2026-10-25T06:00:00+01:00"},
		{"skipped", "Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T03:00:00+02:00"},
		{"skipped in the west", "America/New_York", "2026-03-08", "02:30", "2026-03-08T03:00:00-04:00"},
		{"twice: the second", "Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T02:30:00+01:00"},
		{"twice in the west", "America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30:00-05:00"},
		{"just before it comes twice", "Europe/Berlin", "2026-10-25", "01:59", "2026-10-25T01:59:00+02:00"},
		{"just after", "Europe/Berlin", "2026-10-25", "03:00", "2026-10-25T03:00:00+01:00"},
		{"a midnight that is skipped", "America/Santiago", "2026-09-06", "00:30", "2026-09-06T01:00:00-03:00"},
		{"half an hour", "Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-05T01:45:00+10:30"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			zone, err := time.LoadLocation(tc.zone)
			require.NoError(t, err)
			require.Equal(t, tc.want, report.Due(day(t, tc.day), tc.by, zone).Format(time.RFC3339))
		})
	}
}

func TestDayBounds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for d, hours := range map[string]float64{"2026-03-29": 23, "2026-10-25": 25, "2026-11-20": 24} {
		from, to := report.DayBounds(day(t, d), berlin)
		require.InDelta(t, hours, to.Sub(from).Hours(), 0, d)
		require.Equal(t, d+" 00:00", from.Format("2006-01-02 15:04"))
	}
}

func TestJudge(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	// at names a moment of the autumn day with 25 hours by its UTC time.
	at := func(s string) int64 {
		v, err := time.Parse("2006-01-02 15:04", "2026-10-"+s)
		require.NoError(t, err)
		return v.UnixMilli()
	}
	run := func(id, first int64, planned, finished string, change func(*model.Run)) model.Run {
		r := model.Run{ID: id, FirstID: first, JobID: 7, PlannedMS: at(planned), Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 200}
		if finished == "" {
			r.Phase, r.HandleCode = model.PhaseAccepted, 0
		} else {
			r.FinishedMS = at(finished)
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	failed := func(r *model.Run) { r.HandleCode = 500 }
	killed := func(r *model.Run) { r.HandleCode, r.Reason = 500, model.ReasonKilled }
	missed := func(r *model.Run) {
		r.Phase, r.TriggerCode, r.HandleCode, r.Reason = model.PhaseMissed, model.CodeMissed, 0, model.ReasonMisfire
	}
	shard := func(r *model.Run) { r.ShardKey = "b1" }
	// 2026-10-25 in Berlin is from the 24th 22:00 to the 25th 23:00 UTC; 06:00 is 05:00 UTC.
	for _, tc := range []struct {
		name        string
		runs        []model.Run
		counts, met bool
		done        string
	}{
		{"nothing", nil, false, false, ""},
		{"in time", []model.Run{run(1, 0, "25 00:00", "25 04:00", nil)}, true, true, "25 04:00"},
		{"at the very time, in the hour more that this day has", []model.Run{run(1, 0, "24 22:00", "25 05:00", nil)}, true, true, "25 05:00"},
		{"a minute late", []model.Run{run(1, 0, "25 00:00", "25 05:01", nil)}, true, false, "25 05:01"},
		{"still open", []model.Run{run(1, 0, "25 00:00", "", nil)}, true, false, ""},
		{"failed", []model.Run{run(1, 0, "25 00:00", "25 01:00", failed)}, true, false, ""},
		{"rescued in time by a retry", []model.Run{run(1, 0, "25 00:00", "25 01:00", failed), run(2, 1, "25 01:00", "25 02:00", nil)}, true, true, "25 02:00"},
		{"rescued too late", []model.Run{run(1, 0, "25 00:00", "25 01:00", failed), run(2, 1, "25 05:30", "25 06:00", nil)}, true, false, "25 06:00"},
		{"rescued by hand", []model.Run{run(1, 0, "25 00:00", "25 01:00", failed), run(2, 0, "25 03:00", "25 04:30", nil)}, true, true, "25 04:30"},
		{"by hand after the time is another matter", []model.Run{run(1, 0, "25 00:00", "25 01:00", failed), run(2, 0, "25 05:00", "25 05:00", nil)}, true, false, ""},
		{"not sent", []model.Run{run(1, 0, "25 00:00", "", missed)}, true, false, ""},
		{"stopped by a person", []model.Run{run(1, 0, "25 00:00", "25 01:00", killed)}, false, false, ""},
		{"stopped, and one that failed", []model.Run{run(1, 0, "25 00:00", "25 01:00", killed), run(2, 0, "25 01:00", "25 02:00", failed)}, true, false, ""},
		{"the day before", []model.Run{run(1, 0, "24 21:59", "25 01:00", nil)}, false, false, ""},
		{"after the time", []model.Run{run(1, 0, "25 05:00", "25 05:00", nil)}, false, false, ""},
		{"a retry of the day before", []model.Run{run(2, 1, "25 00:00", "25 01:00", nil)}, false, false, ""},
		{"the first of two that is done", []model.Run{run(1, 0, "25 00:00", "25 06:00", nil), run(2, 0, "25 01:00", "25 02:00", nil)}, true, true, "25 02:00"},
		{"all shards", []model.Run{run(1, 0, "25 00:00", "25 01:00", shard), run(2, 0, "25 00:00", "25 03:00", shard)}, true, true, "25 03:00"},
		{"one shard too late", []model.Run{run(1, 0, "25 00:00", "25 01:00", shard), run(2, 0, "25 00:00", "25 06:00", shard)}, true, false, "25 06:00"},
		{"one shard failed", []model.Run{run(1, 0, "25 00:00", "25 01:00", shard), run(2, 0, "25 00:00", "25 02:00", func(r *model.Run) { shard(r); failed(r) })}, true, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from, _ := report.DayBounds(day(t, "2026-10-25"), berlin)
			want := model.TargetDay{JobID: 7, Counts: tc.counts, Met: tc.met}
			if tc.done != "" {
				want.DoneMS = at(tc.done)
			}
			require.Equal(t, want, report.Judge(7, tc.runs, from, report.Due(from, "06:00", berlin)))
		})
	}
}
