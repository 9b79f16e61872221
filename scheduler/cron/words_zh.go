package cron

import (
	"fmt"
	"strings"
)

var (
	simplified  = chinese(strings.NewReplacer())
	traditional = chinese(strings.NewReplacer(
		"从", "從", "执", "執", "钟", "鐘", "时", "時", "点", "點", "后", "後", "个", "個", "仅", "僅", "周", "週", "数", "數",
	))
)

// chinese returns the vocabulary in the characters that script makes of the
// simplified ones.
func chinese(script *strings.Replacer) words {
	r := script.Replace
	each := func(text string) []string { return strings.Fields(r(text)) }
	return words{
		never: r("从不执行"), everyDay: "每天",
		everySecond: "每秒", everySeconds: "每 %d 秒",
		everyMinute: r("每分钟"), everyMinutes: r("每 %d 分钟"),
		everyHour: r("每小时"), everyHours: r("每 %d 小时"), atMinute: "%s第 %d 分",
		at: "%s %s", atFirst: "%s",
		secondsEach: r("每分钟第 %s 秒"), secondsSome: "第 %s 秒",
		minutesEach: r("每小时第 %s 分"), minutesSome: "第 %s 分",
		hours:      r("%s 点"),
		dayOfMonth: "每月 %s 日", daysOfMonth: "每月 %s 日",
		everyWeekday: "每%s", lastWeekday: r("每月最后一个%s"), nthWeekday: r("每月第%s个%s"), dayRange: "至",
		onlyIn: r("仅 %s"), monthList: "%s 月",
		year: "%s 年", yearFrom: "%d 年起", yearFromEvery: "%d 年起每 %d 年", yearRangeEvery: "%d–%d 年每 %d 年",
		comma: "、", clauseComma: "，", numberComma: "、", and: "和",
		dayNames:   each("- 周日 周一 周二 周三 周四 周五 周六"),
		dayShort:   each("- 周日 周一 周二 周三 周四 周五 周六"),
		nth:        strings.Fields("- 一 二 三 四 五"),
		monthNames: strings.Fields("- 1 2 3 4 5 6 7 8 9 10 11 12"),
		month:      func(m int) string { return fmt.Sprintf("%d 月", m) },
		fullDate: func(year int, month string, day int) string {
			return fmt.Sprintf("%d 年 %s %d 日", year, month, day)
		},
		yearDate: func(month string, day int) string { return fmt.Sprintf("每年 %s %d 日", month, day) },
		last: func(n int) string {
			if n == 0 {
				return r("每月最后一天")
			}
			// The last day itself is the first from the end.
			return fmt.Sprintf(r("每月倒数第 %d 天"), n+1)
		},
		nearest: func(d int) string { return fmt.Sprintf("每月最接近 %d 日的工作日", d) },
		lastNearest: func(n int) string {
			if n == 0 {
				return r("每月最后一个工作日")
			}
			return fmt.Sprintf(r("每月最接近倒数第 %d 天的工作日"), n+1)
		},
	}
}
