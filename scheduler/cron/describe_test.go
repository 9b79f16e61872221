package cron

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	tests := []struct{ expr, en, zh string }{
		{"0 0 0 * * ? *", "every day at 00:00", "每天 00:00"},
		{"0 0 0 * * ?", "every day at 00:00", "每天 00:00"},
		{"* * * * * ?", "every second", "每秒"},
		{"*/5 * * * * ?", "every 5 s", "每 5 秒"},
		{"3/20 * * * * ?", "at second 3,23,43 of each minute", "每分钟第 3、23、43 秒"},
		{"50-10/5 30 4 * * ?", "every day at 04:30:00, 04:30:05, 04:30:10, 04:30:50, 04:30:55", "每天 04:30:00、04:30:05、04:30:10、04:30:50、04:30:55"},
		{"0 0/15 * * * ?", "every 15 min", "每 15 分钟"},
		{"0 7/10 * * * ?", "at minute 7,17,27,…,57 of each hour", "每小时第 7、17、27、…、57 分"},
		{"0 /20 * * * ?", "every 20 min", "每 20 分钟"},
		{"0 0 9-17/2 * * ?", "every day at 09:00, 11:00, 13:00, 15:00, 17:00", "每天 09:00、11:00、13:00、15:00、17:00"},
		{"0 0 22-2 * * ?", "every day at 00:00, 01:00, 02:00, 22:00, 23:00", "每天 00:00、01:00、02:00、22:00、23:00"},
		{"0 0 22-2/2 * * ?", "every day at 00:00, 02:00, 22:00", "每天 00:00、02:00、22:00"},
		{"0 30 23-1 ? * MON-FRI", "Mon–Fri at 00:30, 01:30, 23:30", "周一至周五 00:30、01:30、23:30"},
		{"0 15 10 ? * *", "every day at 10:15", "每天 10:15"},
		{"0 15 10 ? * 2-6", "Mon–Fri at 10:15", "周一至周五 10:15"},
		{"0 15 10 L * ?", "last day of the month at 10:15", "每月最后一天 10:15"},
		{"0 15 10 L-2 * ?", "2 days before the last day of the month at 10:15", "每月倒数第 3 天 10:15"},
		{"0 15 10 L-30 * ?", "30 days before the last day of the month at 10:15", "每月倒数第 31 天 10:15"},
		{"0 15 10 LW * ?", "last weekday of the month at 10:15", "每月最后一个工作日 10:15"},
		{"0 15 10 L-3W * ?", "weekday nearest to 3 days before the last day of the month at 10:15", "每月最接近倒数第 4 天的工作日 10:15"},
		{"0 15 10 15W * ?", "weekday nearest to the 15th at 10:15", "每月最接近 15 日的工作日 10:15"},
		{"0 15 10 1W * ?", "weekday nearest to the 1st at 10:15", "每月最接近 1 日的工作日 10:15"},
		{"0 15 10 31W * ?", "weekday nearest to the 31st at 10:15", "每月最接近 31 日的工作日 10:15"},
		{"0 15 10 ? * 6L", "last Friday at 10:15", "每月最后一个周五 10:15"},
		{"0 15 10 ? * FRIL", "last Friday at 10:15", "每月最后一个周五 10:15"},
		{"0 15 10 ? * L", "every Saturday at 10:15", "每周六 10:15"},
		{"0 15 10 ? * 6#3", "third Friday at 10:15", "每月第三个周五 10:15"},
		{"0 15 10 ? * SUN#5", "fifth Sunday at 10:15", "每月第五个周日 10:15"},
		{"0 0 8 ? * 1,7", "Sun, Sat at 08:00", "周日、周六 08:00"},
		{"0 0 8 ? * 6-2", "Fri–Mon at 08:00", "周五至周一 08:00"},
		{"0 0 8 ? * FRI-MON", "Fri–Mon at 08:00", "周五至周一 08:00"},
		{"0 0 8 ? * 2-6/2", "Mon, Wed, Fri at 08:00", "周一、周三、周五 08:00"},
		{"0 0 8 ? * MON-FRI/2", "Mon–Fri at 08:00", "周一至周五 08:00"},
		{"0 0 8 ? * 3/2", "Tue, Thu, Sat at 08:00", "周二、周四、周六 08:00"},
		{"0 0 8 ? * */2", "Sun, Tue, Thu, Sat at 08:00", "周日、周二、周四、周六 08:00"},
		{"0 0 0 1 */3 ?", "day 1 of the month at 00:00, in Jan, Apr, Jul, Oct", "每月 1 日 00:00，仅 1、4、7、10 月"},
		{"0 0 0 1 2/3 ?", "day 1 of the month at 00:00, in Feb, May, Aug, Nov", "每月 1 日 00:00，仅 2、5、8、11 月"},
		{"0 0 0 1 NOV-FEB ?", "day 1 of the month at 00:00, in Nov–Feb", "每月 1 日 00:00，仅 11–2 月"},
		{"0 0 0 1 11-2/2 ?", "day 1 of the month at 00:00, in Jan, Nov", "每月 1 日 00:00，仅 1、11 月"},
		{"0 0 0 29 2 ?", "every year on 29 Feb at 00:00", "每年 2 月 29 日 00:00"},
		{"0 0 0 30 2 ?", "never", "从不执行"},
		{"0 0 0 31 * ?", "day 31 of the month at 00:00", "每月 31 日 00:00"},
		{"0 0 0 25-5 * ?", "days 25–5 of the month at 00:00", "每月 25–5 日 00:00"},
		{"0 0 0 28-3/2 * ?", "days 1,3,28,30 of the month at 00:00", "每月 1、3、28、30 日 00:00"},
		{"0 0 0 */10 * ?", "days 1,11,21,31 of the month at 00:00", "每月 1、11、21、31 日 00:00"},
		{"0 0 0 5/10 * ?", "days 5,15,25 of the month at 00:00", "每月 5、15、25 日 00:00"},
		{"0 0 0 1,10-12,20/5 * ?", "days 1,10–12,20,25,30 of the month at 00:00", "每月 1、10–12、20、25、30 日 00:00"},
		{"0 0 0 L,15 * ?", "day 15 of the month and last day of the month at 00:00", "每月 15 日和每月最后一天 00:00"},
		{"0 0 9 1W,15W * ?", "weekday nearest to the 1st and weekday nearest to the 15th at 09:00", "每月最接近 1 日的工作日和每月最接近 15 日的工作日 09:00"},
		{"0 0 0 ? 2 2#5", "fifth Monday at 00:00, in Feb", "每月第五个周一 00:00，仅 2 月"},
		{"0 0 0 1 1 ? 2027-2030", "every year on 1 Jan at 00:00, in 2027–2030", "每年 1 月 1 日 00:00，仅 2027–2030 年"},
		{"0 0 0 1 1 ? 2026/2", "every year on 1 Jan at 00:00, in 2026 and every 2 years after", "每年 1 月 1 日 00:00，仅 2026 年起每 2 年"},
		{"0 0 12 1 1 ? 2020", "on 1 Jan 2020 at 12:00", "2020 年 1 月 1 日 12:00"},
		{"0 0 0 l * ?", "last day of the month at 00:00", "每月最后一天 00:00"},
		{"0 */0 * * * ?", "every minute", "每分钟"},
		{"0 30 2 * * ?", "every day at 02:30", "每天 02:30"},
		{"0 0/30 * * * ?", "every 30 min", "每 30 分钟"},
		{"0 30 1 * * ?", "every day at 01:30", "每天 01:30"},
		{"0 30 1 ? 10 1L", "last Sunday at 01:30, in Oct", "每月最后一个周日 01:30，仅 10 月"},
		{"0 15 2 * * ?", "every day at 02:15", "每天 02:15"},
		{"0 45 1 * * ?", "every day at 01:45", "每天 01:45"},
		{"0 0/15 1-2 * * ?", "every 15 min, 1,2 h", "每 15 分钟，1、2 点"},
		{"0 0 0 1 * ?", "day 1 of the month at 00:00", "每月 1 日 00:00"},
		{"0 */5 9-17 ? * MON-FRI", "every 5 min, 9–17 h, Mon–Fri", "每 5 分钟，9–17 点，周一至周五"},
		{"0 0 6 L * ?", "last day of the month at 06:00", "每月最后一天 06:00"},
		{"0 0 8 ? * 2#1", "first Monday at 08:00", "每月第一个周一 08:00"},
		{"CRON_TZ=Europe/London 0 0 8 ? * 2", "every Monday at 08:00 (Europe/London)", "每周一 08:00 (Europe/London)"},
		{"*/7 * * * * ?", "at second 0,7,14,…,56 of each minute", "每分钟第 0、7、14、…、56 秒"},
		{"0 */7 * * * ?", "at minute 0,7,14,…,56 of each hour", "每小时第 0、7、14、…、56 分"},
		{"*/10 0-9 9,12 ? * 2-6", "every 10 s, minute 0–9, 9,12 h, Mon–Fri", "每 10 秒，第 0–9 分，9、12 点，周一至周五"},
		{"30 * * * * ?", "at second 30 of each minute", "每分钟第 30 秒"},
		{"15 30 * * * ?", "at second 15, minute 30 of each hour", "第 15 秒，每小时第 30 分"},
		{"0 30 */2 * * ?", "every 2 h at minute 30", "每 2 小时第 30 分"},
		{"0 0/30 8-20 1,15,L-2 1,4,7 ? 2026/2", "every 30 min, 8–20 h, days 1,15 of the month and 2 days before the last day of the month, in Jan, Apr, Jul, in 2026 and every 2 years after", "每 30 分钟，8–20 点，每月 1、15 日和每月倒数第 3 天，仅 1、4、7 月，仅 2026 年起每 2 年"},
		{"0 0 * * * ?", "every hour", "每小时"},
		{"0 45 9-17 * * ?", "every hour at minute 45, 9–17 h", "每小时第 45 分，9–17 点"},
		{"0 0 8,9,10,12,14,16,18,20 * * ?", "every hour, 8–10,12,14,16,18,20 h", "每小时，8–10、12、14、16、18、20 点"},
		{"0 0 0 1 1 ? 2026-2036/5", "every year on 1 Jan at 00:00, in 2026–2036 every 5 years", "每年 1 月 1 日 00:00，仅 2026–2036 年每 5 年"},
		{"0 0 0 1W,22W,3W * ?", "weekday nearest to the 1st and weekday nearest to the 3rd and weekday nearest to the 22nd at 00:00", "每月最接近 1 日的工作日和每月最接近 3 日的工作日和每月最接近 22 日的工作日 00:00"},
		{"1-3 1 * * * ?", "at second 1–3, minute 1 of each hour", "第 1–3 秒，每小时第 1 分"},
		{"0 0 0 L-1 2 ? 2027", "1 day before the last day of the month at 00:00, in Feb, in 2027", "每月倒数第 2 天 00:00，仅 2 月，仅 2027 年"},
		{"*/5 * 3 1 1 ? 2026", "every 5 s, 3 h, on 1 Jan 2026", "每 5 秒，3 点，2026 年 1 月 1 日"},
		{"0 0 12 29 2 ?", "every year on 29 Feb at 12:00", "每年 2 月 29 日 12:00"},
		{"0 0 0 1,2,3,30,31 * ?", "days 30–3 of the month at 00:00", "每月 30–3 日 00:00"},
		{"0 0 0 ? * 2-6/2 2027/1", "Mon, Wed, Fri at 00:00, in 2027 and later", "周一、周三、周五 00:00，仅 2027 年起"},
		{"0 0 0 1 * ? 2026,2028-2030", "day 1 of the month at 00:00, in 2026, 2028–2030", "每月 1 日 00:00，仅 2026 年、2028–2030 年"},
		{"0 0 */4 * * ?", "every 4 h", "每 4 小时"},
		{"0 0 */12 * * ?", "every day at 00:00, 12:00", "每天 00:00、12:00"},
		{"0 0 0 ? * 8#2", "never", "从不执行"},
	}
	for _, tt := range tests {
		s, err := ParseLenient(tt.expr)
		require.NoError(t, err, tt.expr)
		require.Equal(t, tt.en, Describe(s, "en"), tt.expr)
		require.Equal(t, tt.zh, Describe(s, "zh-Hans"), tt.expr)
	}
}

func TestDescribeTraditional(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"0 */5 9-17 ? * MON-FRI", "每 5 分鐘，9–17 點，週一至週五"},
		{"0 0 8 ? * 2#1", "每月第一個週一 08:00"},
		{"0 0 6 L-2 * ?", "每月倒數第 3 天 06:00"},
		{"0 0 6 L 2 ?", "每月最後一天 06:00，僅 2 月"},
		{"0 0 * * * ?", "每小時"},
		{"0 0 0 30 2 ?", "從不執行"},
	}
	for _, tt := range tests {
		s, err := Parse(tt.expr)
		require.NoError(t, err, tt.expr)
		require.Equal(t, tt.want, Describe(s, "zh-Hant"), tt.expr)
	}
}

func TestDescribeLanguages(t *testing.T) {
	s, err := Parse("0 0 * * * ?")
	require.NoError(t, err)
	require.Equal(t, "每小时", Describe(s, "zh-CN"))
	require.Equal(t, "every hour", Describe(s, "fr"))
}

func TestDescribeFixedRate(t *testing.T) {
	tests := []struct {
		seconds int
		en, zh  string
	}{
		{1, "every 1 s", "每 1 秒"},
		{90, "every 90 s", "每 90 秒"},
		{120, "every 2 min", "每 2 分钟"},
		{3600, "every 1 h", "每 1 小时"},
		{86400, "every 24 h", "每 24 小时"},
	}
	for _, tt := range tests {
		s, err := FixedRate(tt.seconds)
		require.NoError(t, err)
		require.Equal(t, tt.en, Describe(s, "en"))
		require.Equal(t, tt.zh, Describe(s, "zh-Hans"))
	}
}

type foreign struct{}

func (foreign) Next(t time.Time) time.Time { return t }

func TestDescribeForeignSchedule(t *testing.T) {
	require.Empty(t, Describe(foreign{}, "en"))
	require.Empty(t, Describe(nil, "en"))
}

// Two schedules with the same words must be the same schedule, or one of the
// descriptions is wrong.
func TestDescribeTellsSchedulesApart(t *testing.T) {
	for _, lang := range []string{"en", "zh-Hans", "zh-Hant"} {
		r := newRandom(7)
		seen := map[string]*expression{}
		for range 3000 {
			e, err := parse(r.expression().text)
			require.NoError(t, err)
			words := Describe(e, lang)
			if words == wordsFor(lang).never {
				continue
			}
			other, ok := seen[words]
			if !ok {
				seen[words] = e
				continue
			}
			require.Equal(t, normalized(other), normalized(e), "%q and %q are both %q", other.text, e.text, words)
		}
	}
}

// normalized takes away what does not matter to when a schedule fires.
func normalized(e *expression) expression {
	c := *e
	c.text = ""
	if wordsFor("en").days(&c.days) == "" {
		c.days = days{}
	}
	return c
}
