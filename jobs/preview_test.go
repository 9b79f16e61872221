package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// TestForecast: what helps to write a schedule. The clock of the tests stands at New
// Year 2026, a Thursday.
func TestForecast(t *testing.T) {
	w := newWorld(t)
	f, err := w.Forecast(model.ScheduleCron, "0 0/20 9-10 ? * 2-6", "en")
	require.NoError(t, err)
	require.Len(t, f.Next, 5)
	require.Equal(t, []int{2, 6}, f.Weekdays)
	require.Equal(t, time.Thursday, f.Week.First.Weekday())
	for day, fires := range f.Week.Fires {
		want := uint8(3)
		if wd := f.Week.First.AddDate(0, 0, day).Weekday(); wd == time.Saturday || wd == time.Sunday {
			want = 0
		}
		require.Equal(t, want, fires[9], day)
		require.Equal(t, want, fires[10], day)
		require.Zero(t, fires[8]+fires[11], day)
	}
	f, err = w.Forecast(model.ScheduleCron, "* * * * * ?", "en")
	require.NoError(t, err)
	for _, fires := range f.Week.Fires {
		for _, n := range fires {
			require.EqualValues(t, jobs.ManyFires, n)
		}
	}
	f, err = w.Forecast(model.ScheduleCron, "0 0 9 1 1 ? 2027", "en")
	require.NoError(t, err)
	require.Equal(t, jobs.Week{First: f.Week.First}, *f.Week)

	f, err = w.Forecast(model.ScheduleCron, "*/5 * * * *", "en")
	require.Error(t, err)
	require.Equal(t, "0 */5 * * * ?", f.Instead)
	f, err = w.Forecast(model.ScheduleFixRate, "60", "en")
	require.NoError(t, err)
	require.Nil(t, f.Week)
}

// TestForecastSeesTheClockJump: docs/cron.md has these cases of Berlin in 2026.
func TestForecastSeesTheClockJump(t *testing.T) {
	w := newWorld(t)
	jumps := func(conf string) []jobs.ClockJump {
		f, err := w.Forecast(model.ScheduleCron, conf, "en")
		require.NoError(t, err, conf)
		return f.Jumps
	}
	both := jumps("CRON_TZ=Europe/Berlin 0 30 2 * * ?")
	require.Len(t, both, 2)
	require.False(t, both[0].Back())
	require.Equal(t, "03-29 02:00 03:00 02:30", both[0].From.Format("01-02 15:04 ")+both[0].To.Format("15:04 ")+both[0].Fire.Format("15:04"))
	require.True(t, both[1].Back())
	require.Equal(t, "10-25 03:00 02:00 02:30", both[1].From.Format("01-02 15:04 ")+both[1].To.Format("15:04 ")+both[1].Fire.Format("15:04"))
	require.Empty(t, jumps("CRON_TZ=Europe/Berlin 0 0 9 * * ?"))
	require.Empty(t, jumps("CRON_TZ=Europe/Berlin 0 30 2 ? * MON-FRI"), "clocks change on Sundays")
	require.Empty(t, jumps("CRON_TZ=Asia/Shanghai 0 30 2 * * ?"))
	// The hour that does not exist is no hour of the week.
	f, err := w.Forecast(model.ScheduleCron, "CRON_TZ=Europe/Berlin 0 0 * * * ?", "en")
	require.NoError(t, err)
	require.Len(t, f.Jumps, 2)
}
