package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// reportDays is how many days the dashboard shows.
const reportDays = 7

// mostDays is how many days the dashboard shows at most.
const mostDays = 366

// goneShown is how long a node that is gone stays in sight.
const goneShown = time.Hour

// Dashboard gathers the landing page. Numbers of runs come from the ledger; it counts
// the whole center, so only who sees all runs gets them.
func (s *Service) Dashboard(ctx context.Context, actor model.Actor, days model.DayRange) (Dashboard, error) {
	var d Dashboard
	var err error
	if d.Jobs, err = s.store.CountJobs(ctx, model.JobFilter{Groups: actor.GroupLimit()}); err != nil {
		return d, err
	}
	if d.Incidents, err = s.store.CountIncidents(ctx, actor.GroupLimit()); err != nil {
		return d, err
	}
	all := actor.GroupLimit() == nil
	if all {
		if d.RunsTotal, err = s.store.RunsTotal(ctx); err != nil {
			return d, err
		}
		if d.Days, err = s.days(ctx, s.dayRange(days)); err != nil {
			return d, err
		}
		today := model.Day(s.Now(), 0)
		if i := slices.IndexFunc(d.Days, func(l model.Ledger) bool { return l.Day == today }); i >= 0 {
			d.Today = d.Days[i]
		} else if only, err := s.days(ctx, model.DayRange{First: today, Last: today}); err != nil {
			return d, err
		} else {
			d.Today = only[0]
		}
	}
	if err := s.troubles(ctx, actor, &d); err != nil {
		return d, err
	}
	if d.Next, err = s.store.NextJobs(ctx, actor.GroupLimit(), 8); err != nil {
		return d, err
	}
	ids := make([]int, len(d.Next))
	for i := range d.Next {
		ids[i] = d.Next[i].ID
	}
	recent, err := s.store.RecentRuns(ctx, ids, recentPerJob)
	if err != nil {
		return d, err
	}
	now := s.now().UnixMilli()
	for i := range d.Next {
		d.Next[i].NextMS = nextFire(&d.Next[i], recent[d.Next[i].ID], now)
	}
	slices.SortStableFunc(d.Next, func(a, b model.Job) int { return cmp.Compare(a.NextMS, b.NextMS) })
	if all {
		if d.Centers, err = s.store.Nodes(ctx); err != nil {
			return d, err
		}
	}
	d.Centers = slices.DeleteFunc(d.Centers, func(n model.Node) bool {
		return n.State() == model.NodeStopped || n.SilentMS > goneShown.Milliseconds()
	})
	page, err := s.Executors(ctx, actor)
	seen := map[string]bool{}
	for _, row := range page.Rows {
		for _, n := range row.Nodes {
			if seen[n.Address] {
				continue
			}
			seen[n.Address] = true
			d.NodesKnown++
			if n.Alive {
				d.NodesAlive++
			}
		}
	}
	return d, err
}

// DayCounts gives the runs per day from the one of from to that of to, only days that had
// some. They are of the whole center, so only who sees all runs gets them.
func (s *Service) DayCounts(ctx context.Context, actor model.Actor, from, to time.Time) ([]model.DayCount, error) {
	if actor.GroupLimit() != nil {
		return nil, forbidden()
	}
	return s.store.Report(ctx, from, to)
}

const (
	// mostTroubles is how many failing jobs the dashboard names.
	mostTroubles = 8
	// MostFailures is how far failures of a job are counted.
	MostFailures = 1000
)

// troubles gathers the jobs that are failing: one line per job, however often it fails.
func (s *Service) troubles(ctx context.Context, actor model.Actor, d *Dashboard) error {
	list, err := s.store.FailingJobs(ctx, actor.GroupLimit(), mostTroubles)
	if err != nil || len(list) == 0 {
		return err
	}
	of := map[int]model.Streak{}
	for _, j := range list {
		of[j.ID] = j.Streak
	}
	counts, err := s.store.CountFailures(ctx, of, MostFailures)
	if err != nil {
		return err
	}
	last, err := s.store.LastFailures(ctx, of)
	if err != nil {
		return err
	}
	for _, j := range list {
		t := Trouble{FailingJob: j, Count: counts[j.ID], More: counts[j.ID] >= MostFailures}
		t.Last = last[j.ID]
		d.Troubles = append(d.Troubles, t)
	}
	return nil
}

// dayRange is a range that can be shown: the last days when it is none, at most mostDays,
// and nothing that is still to come.
func (s *Service) dayRange(r model.DayRange) model.DayRange {
	today := model.Day(s.Now(), 0)
	first, err := time.Parse(time.DateOnly, r.First)
	last, err2 := time.Parse(time.DateOnly, r.Last)
	if err != nil || err2 != nil || last.Before(first) || r.First > today || first.Year() < 1970 {
		return model.DayRange{First: model.Day(s.Now(), 1-reportDays), Last: today}
	}
	if r.Last > today {
		r.Last = today
		last, _ = time.Parse(time.DateOnly, today)
	}
	if last.Sub(first) >= mostDays*24*time.Hour {
		r.First = last.AddDate(0, 0, 1-mostDays).Format(time.DateOnly)
	}
	return r
}

// startOf is the begin of a day of the center that is known to be one.
func (s *Service) startOf(day string) time.Time {
	d, _ := time.Parse(time.DateOnly, day)
	return model.DayStart(time.Date(d.Year(), d.Month(), d.Day(), 12, 0, 0, 0, s.loc), 0)
}

// days adds the accounts of some days up; a day without one is zero and not
// missing. Days from before there was a ledger, or of a Java admin alone, are shown by
// the daily report.
func (s *Service) days(ctx context.Context, of model.DayRange) (out []model.Ledger, err error) {
	first, last := s.startOf(of.First), s.startOf(of.Last)
	lines, err := s.store.Ledger(ctx, first, last)
	if err != nil {
		return nil, err
	}
	reports, err := s.store.Report(ctx, first, last)
	if err != nil {
		return nil, err
	}
	byDay := map[string][]model.Fires{}
	for _, l := range lines {
		byDay[l.Day] = append(byDay[l.Day], l)
	}
	reported := map[string]model.Ledger{}
	for _, r := range reports {
		l := model.Ledger{Day: r.Day, Succeeded: int64(r.Succeeded), Failed: int64(r.Failed), Open: int64(r.Running), NotSent: int64(r.Missed), Attempts: true}
		l.Expected = l.Succeeded + l.Failed + l.Open + l.NotSent
		reported[r.Day] = l
	}
	day, _ := time.Parse(time.DateOnly, of.First) // was read above
	for key := of.First; key <= of.Last; key = day.Format(time.DateOnly) {
		l := model.NewLedger(key, byDay[key])
		if other, known := reported[key]; known && len(byDay[key]) == 0 {
			l = other
		}
		out = append(out, l)
		day = day.AddDate(0, 0, 1)
	}
	return out, nil
}
