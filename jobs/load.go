package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

const (
	loadMinutes = 25 * 60 // from a full hour on
	loadPeaks   = 10
	peakNames   = 4
	// loadBudget is how long fires are counted: a look ahead must not keep the planner
	// from its work on a small machine.
	loadBudget = time.Second
)

// Load is how many fires the schedules of started jobs give in the next 24 hours.
type Load struct {
	From    time.Time // a full hour, before now
	Minutes []float64 // fires in each minute; of fixed rates under a minute the mean
	Total   float64
	Jobs    int
	Left    int    // jobs that were not counted for want of time
	Peaks   []Peak // the fullest minutes, the fullest first
}

// Peak is one of the fullest minutes.
type Peak struct {
	At    time.Time
	Fires float64
	Jobs  []model.Job // the first of those that fire in it
	Of    int         // how many do
}

// Load counts the fires of the next 24 hours, of the jobs that the actor may see.
func (s *Service) Load(ctx context.Context, actor model.Actor) (Load, error) {
	from, now := s.Now().Truncate(time.Hour), s.Now()
	l := Load{From: from, Minutes: make([]float64, loadMinutes)}
	list, err := s.store.RunningSchedules(ctx, actor.GroupLimit())
	if err != nil {
		return l, err
	}
	counting, cancel := context.WithTimeout(ctx, loadBudget)
	defer cancel()
	end := now.Add(24 * time.Hour)
	for _, c := range list {
		l.Jobs += c.Jobs
		if c.Type == model.ScheduleFixRate {
			l.addFixed(c, now, end)
			continue
		}
		if counting.Err() != nil {
			l.Left += c.Jobs
			continue
		}
		sched, err := cron.Parse(c.Conf)
		if err != nil {
			continue // quarantined as soon as it is planned
		}
		for at := sched.Next(now); !at.IsZero() && at.Before(end); at = sched.Next(at) {
			l.Minutes[int(at.Sub(from)/time.Minute)] += float64(c.Jobs)
		}
	}
	for _, n := range l.Minutes {
		l.Total += n
	}
	return l, s.peaks(ctx, actor, &l, list)
}

// addFixed counts jobs of a fixed rate.
func (l *Load) addFixed(c model.ScheduleCount, now, end time.Time) {
	rate, err := cron.ParseFixedRate(c.Conf)
	if err != nil {
		return
	}
	next := time.UnixMilli(c.NextMS)
	every := rate.Next(next).Sub(next)
	if every <= 0 { // beyond the end of time
		return
	}
	if every < time.Minute {
		for i := int(now.Sub(l.From) / time.Minute); i < int(end.Sub(l.From)/time.Minute); i++ {
			l.Minutes[i] += float64(c.Jobs) * float64(time.Minute) / float64(every)
		}
		return
	}
	if next.Before(now) { // of a job that is late
		next = next.Add(now.Sub(next).Truncate(every) + every)
	}
	for next.Before(end) {
		l.Minutes[int(next.Sub(l.From)/time.Minute)] += float64(c.Jobs)
		next = next.Add(every)
	}
}

// peaks names the fullest minutes and what fires in them. Where all minutes are alike
// there is none.
func (s *Service) peaks(ctx context.Context, actor model.Actor, l *Load, list []model.ScheduleCount) error {
	mean := l.Total / float64(len(l.Minutes))
	order := make([]int, len(l.Minutes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Minutes[b], l.Minutes[a]) })
	for _, i := range order[:loadPeaks] {
		if l.Minutes[i] > mean*1.05 {
			l.Peaks = append(l.Peaks, Peak{At: l.From.Add(time.Duration(i) * time.Minute), Fires: l.Minutes[i]})
		}
	}
	confs := make([][]string, len(l.Peaks)) // what fires in each
	for _, c := range list {
		sched, err := cron.Parse(c.Conf)
		if c.Type == model.ScheduleFixRate || err != nil {
			continue
		}
		for i := range l.Peaks {
			p := &l.Peaks[i]
			if next := sched.Next(p.At.Add(-time.Second)); !next.IsZero() && next.Before(p.At.Add(time.Minute)) {
				if p.Of += c.Jobs; len(confs[i]) < peakNames {
					confs[i] = append(confs[i], c.Conf)
				}
			}
		}
	}
	for i := range l.Peaks {
		var err error
		if l.Peaks[i].Jobs, err = s.store.JobsOfSchedules(ctx, actor.GroupLimit(), confs[i], peakNames); err != nil {
			return err
		}
	}
	return nil
}
