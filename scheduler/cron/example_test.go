package cron_test

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

func ExampleParse() {
	s, err := cron.Parse("0 30 9 ? * MON-FRI")
	if err != nil {
		panic(err)
	}
	friday := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	fmt.Println(s.Next(friday).Format("Mon 2006-01-02 15:04"))
	// Output: Mon 2026-01-05 09:30
}

func ExampleParse_zone() {
	s, err := cron.Parse("CRON_TZ=Asia/Shanghai 0 0 6 L * ?")
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Next(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)))
	// Output: 2026-02-28 06:00:00 +0800 CST
}

func ExampleParse_error() {
	_, err := cron.Parse("0 0 12 * * *")
	fmt.Println(err)
	// Output: cron "0 0 12 * * *": one of day and weekday must be ?
}

func ExampleDescribe() {
	s, err := cron.Parse("0 */5 9-17 ? * MON-FRI")
	if err != nil {
		panic(err)
	}
	fmt.Println(cron.Describe(s, "en"))
	fmt.Println(cron.Describe(s, "zh-Hans"))
	// Output:
	// every 5 min, 9–17 h, Mon–Fri
	// 每 5 分钟，9–17 点，周一至周五
}
