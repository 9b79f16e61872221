package jobs

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// Preview is what a schedule would do.
type Preview struct {
	InWords string
	Next    []time.Time // in the zone of the schedule; empty = never fires
	Zone    string
}

// Forecast is a Preview for whoever is writing a schedule.
type Forecast struct {
	Preview
	// Instead is what a refused expression was most likely meant to be, "" = no idea.
	Instead string
	Week    *Week // nil for fixed rates: their phase begins with the start of the job
	Jumps   []ClockJump
	// Weekdays are the numbers 1 to 7 that stand for weekdays in the expression.
	Weekdays []int
}

// ManyFires is the count from which on an hour of the Week is not counted further.
const ManyFires = 6

// Week says how often a schedule fires in each hour of seven days.
type Week struct {
	First time.Time    // midnight of the first day, in the zone of the schedule
	Fires [7][24]uint8 // at most ManyFires
}

// ClockJump is a change of the clock that leaves fires of a schedule out or, when the
// clock goes back, shows their times twice.
type ClockJump struct {
	From, To time.Time // the instant of the change, as both clocks show it
	Fire     time.Time // the wall time of the first fire in it; its zone says nothing
}

// Back reports whether the clock goes back, so that an hour comes twice.
func (c ClockJump) Back() bool {
	_, from := c.From.Zone()
	_, to := c.To.Zone()
	return to < from
}

// Preview says in words what a schedule means and when it fires next.
func (s *Service) Preview(t model.ScheduleType, conf, lang string, n int) (Preview, error) {
	if t == model.ScheduleNone {
		return Preview{}, nil
	}
	sched, err := parse(t, conf)
	if err != nil {
		key, args := cronKey(err)
		return Preview{}, &model.Error{Code: model.CodeInvalid, Key: key, Args: args, Cause: err}
	}
	p := Preview{InWords: cron.Describe(sched, lang), Zone: s.loc.String()}
	at := s.Now()
	for range n {
		if at = sched.Next(at); at.IsZero() {
			break
		}
		p.Next = append(p.Next, at)
		p.Zone = at.Location().String()
	}
	return p, nil
}

// Forecast is Preview with the next week, changes of the clock, and an offer for what
// is refused: it comes with the error.
func (s *Service) Forecast(t model.ScheduleType, conf, lang string) (Forecast, error) {
	p, err := s.Preview(t, conf, lang, 5)
	f := Forecast{Preview: p}
	if t != model.ScheduleCron {
		return f, err
	}
	if err != nil {
		f.Instead, _ = cron.Suggest(conf)
		return f, err
	}
	sched, err := parse(t, conf)
	if err != nil || len(p.Next) == 0 {
		return f, err
	}
	zone := p.Next[0].Location()
	f.Week = week(sched, s.Now().In(zone))
	f.Jumps = jumps(conf, s.Now().In(zone))
	f.Weekdays = numericWeekdays(conf)
	return f, nil
}

// week counts the fires of seven days from today on. A schedule that fires each second
// costs ManyFires steps an hour.
func week(sched cron.Schedule, now time.Time) *Week {
	y, m, d := now.Date()
	w := &Week{First: time.Date(y, m, d, 0, 0, 0, 0, now.Location())}
	next := sched.Next(w.First.Add(-time.Nanosecond))
	for day := range w.Fires {
		for hour := range w.Fires[day] {
			from := time.Date(y, m, d+day, hour, 0, 0, 0, now.Location())
			until := time.Date(y, m, d+day, hour+1, 0, 0, 0, now.Location())
			if !from.Before(until) || from.Hour() != hour { // the clock jumps over it
				continue
			}
			if next.Before(from) {
				next = sched.Next(from.Add(-time.Nanosecond))
			}
			for !next.IsZero() && next.Before(until) && w.Fires[day][hour] < ManyFires {
				w.Fires[day][hour]++
				next = sched.Next(next)
			}
			if next.IsZero() {
				return w
			}
		}
	}
	return w
}

// clockAhead is how far ahead changes of the clock are looked for.
const clockAhead = 366 * 24 * time.Hour

// jumps finds the changes of the clock within a year that touch the schedule. Read
// without its zone the expression says which wall times it wants.
func jumps(conf string, now time.Time) []ClockJump {
	if first, rest, ok := strings.Cut(strings.TrimSpace(conf), " "); ok && strings.HasPrefix(first, "CRON_TZ=") {
		conf = rest
	}
	wall, err := cron.Parse(conf)
	if err != nil {
		return nil
	}
	var out []ClockJump
	_, end := now.ZoneBounds()
	for !end.IsZero() && end.Before(now.Add(clockAhead)) {
		_, before := end.Add(-time.Second).Zone()
		_, after := end.Zone()
		from, until := end.Unix()+int64(min(before, after)), end.Unix()+int64(max(before, after))
		fire := wall.Next(time.Unix(from, 0).UTC().Add(-time.Second))
		if !fire.IsZero() && fire.Unix() < until {
			old := time.FixedZone("", before)
			out = append(out, ClockJump{From: end.In(old), To: end, Fire: fire})
		}
		_, end = end.ZoneBounds()
	}
	return out
}

// numericWeekdays gives the digits of the weekday field that mean weekdays.
func numericWeekdays(conf string) []int {
	texts := strings.Fields(conf)
	if len(texts) > 0 && strings.HasPrefix(texts[0], "CRON_TZ=") {
		texts = texts[1:]
	}
	if len(texts) < 6 {
		return nil
	}
	var out []int
	for item := range strings.SplitSeq(texts[5], ",") {
		item, _, _ = strings.Cut(item, "/") // how many, not which
		item, _, _ = strings.Cut(item, "#")
		for part := range strings.SplitSeq(strings.TrimRight(item, "lL"), "-") {
			if len(part) == 1 && part[0] >= '1' && part[0] <= '7' {
				out = append(out, int(part[0]-'0'))
			}
		}
	}
	return out
}
