package alarm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
)

// TestLastDeadline: the day of the rule's zone, on days of 23, 24 and 25 hours, at times that
// the clock skips or shows twice, and in zones whose days begin at one o'clock.
func TestLastDeadline(t *testing.T) {
	for name, x := range map[string]struct {
		zone, by string
		days     []int
		now      string
		at, from string // UTC; "" = none
	}{
		"passed today":              {"Asia/Shanghai", "06:00", nil, "2026-11-20T01:00:00Z", "2026-11-19T22:00:00Z", "2026-11-19T16:00:00Z"},
		"at that moment":            {"Asia/Shanghai", "06:00", nil, "2026-11-19T22:00:00Z", "2026-11-19T22:00:00Z", "2026-11-19T16:00:00Z"},
		"a second before":           {"Asia/Shanghai", "06:00", nil, "2026-11-19T21:59:59Z", "2026-11-18T22:00:00Z", "2026-11-18T16:00:00Z"},
		"midnight":                  {"Asia/Shanghai", "00:00", nil, "2026-11-20T01:00:00Z", "2026-11-19T16:00:00Z", "2026-11-19T16:00:00Z"},
		"Friday, on Sunday":         {"UTC", "06:00", []int{1, 2, 3, 4, 5}, "2026-11-22T10:00:00Z", "2026-11-20T06:00:00Z", "2026-11-20T00:00:00Z"},
		"once a week, before it":    {"UTC", "06:00", []int{0}, "2026-11-22T05:00:00Z", "2026-11-15T06:00:00Z", "2026-11-15T00:00:00Z"},
		"the zone's day":            {"America/New_York", "23:30", []int{4}, "2026-11-20T05:00:00Z", "2026-11-20T04:30:00Z", "2026-11-19T05:00:00Z"},
		"23 hours":                  {"Europe/Berlin", "06:00", nil, "2026-03-29T05:00:00Z", "2026-03-29T04:00:00Z", "2026-03-28T23:00:00Z"},
		"25 hours":                  {"Europe/Berlin", "06:00", nil, "2026-10-25T06:00:00Z", "2026-10-25T05:00:00Z", "2026-10-24T22:00:00Z"},
		"skipped by the clock":      {"Europe/Berlin", "02:30", nil, "2026-03-29T08:00:00Z", "2026-03-29T01:00:00Z", "2026-03-28T23:00:00Z"},
		"shown twice":               {"Europe/Berlin", "02:30", nil, "2026-10-25T08:00:00Z", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z"},
		"between the two":           {"Europe/Berlin", "02:30", nil, "2026-10-25T01:00:00Z", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z"},
		"the day begins at one":     {"Africa/Cairo", "00:30", nil, "2026-04-24T08:00:00Z", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z"},
		"a day that was left out":   {"Pacific/Apia", "06:00", []int{5}, "2011-12-31T02:00:00Z", "2011-12-23T16:00:00Z", "2011-12-23T10:00:00Z"},
		"a half hour of difference": {"Australia/Lord_Howe", "02:15", nil, "2026-10-04T03:00:00Z", "2026-10-03T15:30:00Z", "2026-10-03T13:30:00Z"},
		"none":                      {"UTC", "", nil, "2026-11-20T01:00:00Z", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, x.now)
			require.NoError(t, err)
			d, has := alarm.LastDeadline(model.AlarmSettings{DoneBy: x.by, DoneDays: x.days, Zone: x.zone}, now, time.UTC)
			require.Equal(t, x.at != "", has)
			if has {
				require.Equal(t, x.at, d.At.UTC().Format(time.RFC3339))
				require.Equal(t, x.from, d.From.UTC().Format(time.RFC3339))
			}
		})
	}
}

// TestLastDeadlineOfEachMinute: over a year of minutes in zones with changes of the clock, the
// deadline is never ahead, never goes back, and there is one for each day.
func TestLastDeadlineOfEachMinute(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/Sao_Paulo", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Shanghai"} {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for _, by := range []string{"00:00", "02:30", "23:59"} {
			var last time.Time
			days := 0
			for now := time.Date(2026, 1, 2, 0, 0, 0, 0, loc); now.Year() == 2026; now = now.Add(61 * time.Minute) {
				d, has := alarm.LastDeadline(model.AlarmSettings{DoneBy: by}, now, loc)
				require.True(t, has)
				require.False(t, d.At.After(now))
				require.False(t, d.From.After(d.At))
				require.False(t, d.At.Before(last), "%s %s %s", zone, by, now)
				if !d.At.Equal(last) {
					days++
				}
				last = d.At
			}
			require.InDelta(t, 364, days, 1, "%s %s", zone, by)
		}
	}
}

// TestExpectedFrom: which success counts.
func TestExpectedFrom(t *testing.T) {
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	d := alarm.Deadline{At: day.Add(6 * time.Hour), From: day}
	every := func(first time.Time, step time.Duration) func(*model.Job, time.Time) (time.Time, bool) {
		return func(_ *model.Job, after time.Time) (time.Time, bool) {
			at := first
			for !at.After(after) {
				at = at.Add(step)
			}
			return at, true
		}
	}
	cron := &model.Job{ScheduleType: model.ScheduleCron}
	demand := &model.Job{ScheduleType: model.ScheduleNone}
	never := func(*model.Job, time.Time) (time.Time, bool) { return time.Time{}, true }
	broken := func(*model.Job, time.Time) (time.Time, bool) { return time.Time{}, false }
	for name, x := range map[string]struct {
		scope string
		job   *model.Job
		next  func(*model.Job, time.Time) (time.Time, bool)
		from  time.Time // zero = nothing is due
	}{
		"at two":                  {model.ScopeDefault, cron, every(day.Add(-22*time.Hour), 24*time.Hour), day},
		"at midnight":             {model.ScopeDefault, cron, every(day.Add(-24*time.Hour), 24*time.Hour), day},
		"the evening before":      {model.ScopeDefault, cron, every(day.Add(-26*time.Hour), 24*time.Hour), day.Add(-2 * time.Hour)},
		"at the deadline":         {model.ScopeDefault, cron, every(day.Add(-18*time.Hour), 240*time.Hour), day.Add(-18 * time.Hour)},
		"once a week, not today":  {model.ScopeDefault, cron, every(day.Add(-60*time.Hour), 7*24*time.Hour), time.Time{}},
		"no further fire":         {model.ScopeDefault, cron, never, time.Time{}},
		"nobody can read it":      {model.ScopeDefault, cron, broken, day},
		"on demand":               {model.ScopeDefault, demand, broken, time.Time{}},
		"on demand, of a group":   {model.ScopeExecutor, demand, broken, time.Time{}},
		"on demand, named":        {model.ScopeJob, demand, broken, day},
		"on demand, by tag":       {model.ScopeTag, demand, broken, day},
		"every second of the day": {model.ScopeDefault, cron, every(day.Add(-48*time.Hour), time.Second), day},
	} {
		t.Run(name, func(t *testing.T) {
			from, due := alarm.ExpectedFrom(d, x.scope, x.job, x.next)
			require.Equal(t, !x.from.IsZero(), due)
			if due {
				require.Equal(t, x.from, from)
			}
		})
	}
}
