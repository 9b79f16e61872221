package views

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
)

// Preview says in words what a schedule does and when it fires next.
type Preview struct {
	Page
	Empty bool
	Words string
	Next  []time.Time
	Zone  string
	Error string
	// Instead is what a refused expression was most likely meant to be, "" = no idea.
	Instead  string
	Week     *Week // nil when there is none to draw
	Jumps    []ClockJump
	Weekdays []int // numbers that stand for weekdays in the expression, 1 = Sunday
}

// Week is how often a schedule fires in each hour of seven days.
type Week struct {
	First time.Time // midnight of the first day
	Fires [7][24]uint8
	Many  uint8 // counted no further than this
}

// ClockJump is a change of the clock that touches a schedule.
type ClockJump struct {
	Back     bool
	From, To time.Time // the instant, as the clock shows it before and after
	Fire     time.Time // the wall time of the first fire in it
}

// text says what becomes of the fires.
func (v Preview) jump(j ClockJump) string {
	key, from, to := "form.jump_ahead", j.From, j.To
	if j.Back {
		key, from, to = "form.jump_back", j.To, j.From
	}
	const clock = "15:04"
	return v.T(key, "Day", j.To.Format(time.DateOnly), "From", from.Format(clock), "To", to.Format(clock), "Fire", j.Fire.Format(clock))
}

// weekdays names the numbers that people of other crons read as another day.
func (v Preview) weekdays() string {
	names := make([]string, len(v.Weekdays))
	for i, d := range v.Weekdays {
		names[i] = itoa(d) + " = " + v.T("weekday."+itoa(d))
	}
	return v.T("form.weekday_numbers", "Names", strings.Join(names, v.T("list.comma")))
}

// offset gives the distance to UTC of a fire that another one before it has not, "" for
// the rest: between the two the clock changes.
func (v Preview) offset(i int) string {
	if i == 0 {
		return ""
	}
	_, before := v.Next[i-1].Zone()
	if _, now := v.Next[i].Zone(); now == before {
		return ""
	}
	return v.Next[i].Format("UTC-07:00")
}

// foreign reports whether the schedule has another clock than the center.
func (v Preview) foreign() bool {
	for _, t := range v.Next {
		if i18n.DateTime(t) != i18n.DateTime(t.In(v.Now.Location())) {
			return true
		}
	}
	return false
}

// Measures of the picture of a week.
const (
	weekLeft  = 34
	weekTop   = 14
	weekHour  = 12
	weekDay   = 13
	weekWidth = weekLeft + 24*weekHour
)

// weekMark is a stretch of hours of one day with as many fires each.
type weekMark struct{ x, y, w, class, title string }

func (v Preview) weekMarks() []weekMark {
	var out []weekMark
	for day, fires := range v.Week.Fires {
		for hour := 0; hour < 24; {
			n, from := fires[hour], hour
			for hour < 24 && fires[hour] == n {
				hour++
			}
			if n == 0 {
				continue
			}
			class, count := "some", itoa(int(n))
			if n >= v.Week.Many {
				class, count = "many", v.T("form.week_many")
			}
			title := v.T("form.week_mark", "Day", v.weekday(day), "From", itoa(from), "To", itoa(hour), "Count", count)
			out = append(out, weekMark{itoa(weekLeft + from*weekHour), itoa(weekTop + day*weekDay), itoa((hour-from)*weekHour - 1), class, title})
		}
	}
	return out
}

// weekday names a day of the picture.
func (v Preview) weekday(day int) string {
	return v.T("weekday." + itoa(int(v.Week.First.AddDate(0, 0, day).Weekday())+1))
}

// weekText is what the picture says, for who does not see it.
func (v Preview) weekText() string {
	hours := 0
	for _, fires := range v.Week.Fires {
		for _, n := range fires {
			if n > 0 {
				hours++
			}
		}
	}
	return v.T("form.week_text", "Hours", itoa(hours))
}
