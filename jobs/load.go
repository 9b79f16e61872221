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
	loadMinutes = 25 * 60 // the hour that has begun, too
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

// Load counts the fires of the hour that has begun and of the 24 after it, of the jobs that the actor may see.
func (s *Service) Load(ctx context.Context, actor model.Actor) (Load, error) {
	from, now := s.Now().Truncate(time.Hour), s.Now()
	l := Load{From: from, Minutes: make([]float64, loadMinutes)}
	list, err := s.store.RunningSchedules(ctx, actor.GroupLimit())
	if err != nil {
		return l, err
	}
	l.Jobs = len(list)
	ctx, cancel := context.WithTimeout(ctx, loadBudget)
	defer cancel()
	// Jobs with one schedule are counted together.
	alike := map[string][]model.Job{}
	for _, j := range list {
		if j.ScheduleType == model.ScheduleFixRate {
			l.addFixed(&j, now)
			continue
		}
		alike[j.ScheduleConf] = append(alike[j.ScheduleConf], j)
	}
	for conf, of := range alike {
		if ctx.Err() != nil {
			l.Left += len(of)
			continue
		}
		sched, err := cron.Parse(conf)
		if err != nil {
			continue // quarantined as soon as it is planned
		}
		end := from.Add(loadMinutes * time.Minute)
		for at := sched.Next(now); !at.IsZero() && at.Before(end); at = sched.Next(at) {
			l.Minutes[int(at.Sub(from)/time.Minute)] += float64(len(of))
		}
	}
	for _, n := range l.Minutes {
		l.Total += n
	}
	l.peaks(list)
	return l, nil
}

// addFixed counts a job of a fixed rate.
func (l *Load) addFixed(j *model.Job, now time.Time) {
	rate, err := cron.ParseFixedRate(j.ScheduleConf)
	if err != nil {
		return
	}
	next := time.UnixMilli(j.NextMS)
	every := rate.Next(next).Sub(next)
	if every <= 0 { // beyond the end of time
		return
	}
	if every < time.Minute {
		for i := int(now.Sub(l.From) / time.Minute); i < len(l.Minutes); i++ {
			l.Minutes[i] += float64(time.Minute) / float64(every)
		}
		return
	}
	if next.Before(now) { // of a job that is late
		next = next.Add(now.Sub(next).Truncate(every) + every)
	}
	for i := int(next.Sub(l.From) / time.Minute); i < len(l.Minutes); i = int(next.Sub(l.From) / time.Minute) {
		l.Minutes[i]++
		next = next.Add(every)
	}
}

// peaks names the fullest minutes and what fires in them. Where all minutes are alike
// there is none.
func (l *Load) peaks(list []model.Job) {
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
	fires := map[string][]int{} // the peaks in which a schedule fires
	for _, j := range list {
		if j.ScheduleType == model.ScheduleFixRate {
			continue
		}
		in, there := fires[j.ScheduleConf]
		if !there {
			if sched, err := cron.Parse(j.ScheduleConf); err == nil {
				for i, p := range l.Peaks {
					if next := sched.Next(p.At.Add(-time.Second)); !next.IsZero() && next.Before(p.At.Add(time.Minute)) {
						in = append(in, i)
					}
				}
			}
			fires[j.ScheduleConf] = in
		}
		for _, i := range in {
			p := &l.Peaks[i]
			if p.Of++; len(p.Jobs) < peakNames {
				p.Jobs = append(p.Jobs, j)
			}
		}
	}
}
