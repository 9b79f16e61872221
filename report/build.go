package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Store is what reports are read from.
type Store interface {
	Counters(ctx context.Context, spans []model.Span, f model.CounterFilter) ([]*model.Counter, error)
	CounterTotal(ctx context.Context, spans []model.Span, f model.CounterFilter) (*model.Counter, error)
	CountersByUnit(ctx context.Context, span model.Span, f model.CounterFilter) ([]*model.Counter, error)
	CountersByJob(ctx context.Context, spans []model.Span, f model.CounterFilter) ([]*model.Counter, error)
	CountState(ctx context.Context) (model.CountState, error)
	NeverRun(ctx context.Context, f model.CounterFilter, limit int) ([]int, error)
	IncidentFigures(ctx context.Context, from, to time.Time, f model.CounterFilter) (model.IncidentFigures, error)
}

// List is an order in which a report names jobs.
type List string

// Lists of jobs.
const (
	Failing List = "failing" // most fires that failed or were not sent
	Slow    List = "slow"    // the longest on average
	Slower  List = "slower"  // than in the period before
	Noisy   List = "noisy"   // the most attempts and fires that failed
	Never   List = "never"   // switched on, and never had a fire
	Busy    List = "busy"    // the most fires
)

// Lists lists them.
func Lists() []List { return []List{Failing, Slow, Slower, Noisy, Never, Busy} }

// ListLength is how many jobs a page names at once.
const ListLength = 10

// sparkDays is how many days the small picture beside a job has.
const sparkDays = 30

// Ask is what a report is to be about.
type Ask struct {
	Period Period
	Filter model.CounterFilter
	List   List
	// Length is how many jobs are named, 0 = ListLength.
	Length int
	// Today is the day on which the report is made: pictures end with it.
	Today time.Time
}

// Report is how the runs of a period went.
type Report struct {
	Ask
	Before    Period
	Now, Then *model.Counter // of the period and of what it is compared with
	// Usual is what a day is compared with; of other periods it is nil. Then has its medians.
	Usual     *model.Usual
	TrendUnit model.Unit
	Trend     []*model.Counter // one for each unit
	Heat      model.Hours
	HeatFirst time.Time
	HeatLast  time.Time
	Jobs      []Line // of the chosen list
	JobsOf    int    // how many the whole list has
	Ran       int    // jobs that had fires in the period
	Quiet     int    // of those all fires succeeded
	Incidents model.IncidentFigures
	State     model.CountState
}

// Line is a job in a report.
type Line struct {
	JobID     int
	GroupID   int
	Now, Then *model.Counter   // Then is empty when the job had no fires
	Usual     *model.Usual     // of a day
	Days      []*model.Counter // the last 30 of the period
}

// Build makes a report.
func Build(ctx context.Context, st Store, a Ask, zone *time.Location) (*Report, error) {
	if !slices.Contains(Lists(), a.List) {
		a.List = Failing
	}
	r := &Report{Ask: a, Before: a.Period.Before()}
	var err error
	if r.Now, err = st.CounterTotal(ctx, a.Period.Spans(), a.Filter); err != nil {
		return nil, err
	}
	if a.Period.Kind == Day {
		list, err := usualDays(ctx, st, a)
		if err != nil {
			return nil, err
		}
		r.Usual, r.Then = model.UsualOf(list, r.Over())
	} else if r.Then, err = before(ctx, st, r.Before.Spans(), a); err != nil {
		return nil, err
	}
	unit, first, last := a.Period.Trend()
	if today := unit.Start(a.Today); last.After(today) {
		last = today
	}
	r.TrendUnit = unit
	span := model.Span{Unit: unit, First: first.Format(time.DateOnly), Last: last.Format(time.DateOnly)}
	if r.Trend, err = st.CountersByUnit(ctx, span, a.Filter); err != nil {
		return nil, err
	}
	r.Trend = fill(r.Trend, unit, first, last)
	r.HeatFirst, r.HeatLast = a.Period.Heat()
	heat := r.Now
	if !r.HeatFirst.Equal(a.Period.First) || !r.HeatLast.Equal(a.Period.Last) {
		if heat, err = st.CounterTotal(ctx, model.Spans(r.HeatFirst, r.HeatLast), a.Filter); err != nil {
			return nil, err
		}
	}
	r.Heat = heat.Hours
	if err := r.jobs(ctx, st); err != nil {
		return nil, err
	}
	from := model.DayStart(time.Date(a.Period.First.Year(), a.Period.First.Month(), a.Period.First.Day(), 12, 0, 0, 0, zone), 0)
	to := model.DayStart(time.Date(a.Period.Last.Year(), a.Period.Last.Month(), a.Period.Last.Day(), 12, 0, 0, 0, zone), 1)
	if r.Incidents, err = st.IncidentFigures(ctx, from, to, a.Filter); err != nil {
		return nil, err
	}
	r.State, err = st.CountState(ctx)
	return r, err
}

// Over reports whether the period has no further fires.
func (r *Report) Over() bool { return r.Period.Last.Before(model.Date(r.Today)) }

// before is what a period is compared with. A page and a mail show its numbers; a workbook shows
// its reasons and durations, too, which are far more to read.
func before(ctx context.Context, st Store, spans []model.Span, a Ask) (*model.Counter, error) {
	if a.Length > ListLength {
		return st.CounterTotal(ctx, spans, a.Filter)
	}
	sum := model.NewCounter(0, "", 0, 0)
	for _, span := range spans {
		list, err := st.CountersByUnit(ctx, span, a.Filter)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			sum.Add(c)
		}
	}
	return sum, nil
}

// usualDays are the days that a day is compared with, each added up.
func usualDays(ctx context.Context, st Store, a Ask) (out []*model.Counter, err error) {
	for _, span := range a.Period.UsualDays() {
		c, err := st.CounterTotal(ctx, []model.Span{span}, a.Filter)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// byDay adds up the counters of each day.
func byDay(list []*model.Counter) []*model.Counter {
	at := map[string]*model.Counter{}
	var out []*model.Counter
	for _, c := range list {
		if at[c.Start] == nil {
			at[c.Start] = model.NewCounter(c.Unit, c.Start, 0, 0)
			out = append(out, at[c.Start])
		}
		at[c.Start].Add(c)
	}
	return out
}

// fill puts empty counters where nothing was counted.
func fill(list []*model.Counter, u model.Unit, first, last time.Time) []*model.Counter {
	at := make(map[string]*model.Counter, len(list))
	for _, c := range list {
		at[c.Start] = c
	}
	var out []*model.Counter
	for day := first; !day.After(last); day = u.Next(day, 1) {
		name := day.Format(time.DateOnly)
		if at[name] == nil {
			at[name] = model.NewCounter(u, name, 0, 0)
		}
		out = append(out, at[name])
	}
	return out
}

// Lost is how many fires of a counter failed or were not sent, and not because somebody
// wanted so.
func Lost(c *model.Counter) int64 { return c.Failed + c.Missed - c.Excused }

// mean is how long good runs took on average, ms; 0 = none is known.
func mean(c *model.Counter) int64 {
	if c.TookRuns <= 0 {
		return 0
	}
	return c.TookMS / c.TookRuns
}

const (
	// slowerBy is from when on a job is slower than before: half as long again, and by a
	// second at least, on both sides of which there are some runs.
	slowerRuns = 3
	slowerMS   = 1000
)

func slower(now, then *model.Counter) bool {
	return now.TookRuns >= slowerRuns && then.TookRuns >= slowerRuns && 2*mean(now) > 3*mean(then) && mean(now)-mean(then) >= slowerMS
}

// jobs makes the chosen list.
func (r *Report) jobs(ctx context.Context, st Store) error {
	now, err := st.CountersByJob(ctx, r.Period.Spans(), r.Filter)
	if err != nil {
		return err
	}
	var list []Line
	then := map[int]*model.Counter{}
	if r.List == Slower {
		if then, err = r.thenByJob(ctx, st); err != nil {
			return err
		}
	}
	for _, c := range now {
		if c.Expected > 0 {
			r.Ran++
			if Lost(c) == 0 {
				r.Quiet++
			}
		}
		old := then[c.JobID]
		if old == nil {
			old = &model.Counter{}
		}
		if rank(r.List, c, old) > 0 {
			list = append(list, Line{JobID: c.JobID, GroupID: c.GroupID, Now: c, Then: old})
		}
	}
	if r.List == Never {
		ids, err := st.NeverRun(ctx, r.Filter, 1000)
		if err != nil {
			return err
		}
		for _, id := range ids {
			list = append(list, Line{JobID: id, Now: &model.Counter{JobID: id}, Then: &model.Counter{}})
		}
	} else {
		slices.SortFunc(list, func(a, b Line) int {
			return cmp.Or(cmp.Compare(rank(r.List, b.Now, b.Then), rank(r.List, a.Now, a.Then)), cmp.Compare(b.Now.Expected, a.Now.Expected), cmp.Compare(a.JobID, b.JobID))
		})
	}
	r.JobsOf = len(list)
	r.Jobs = list[:min(len(list), cmp.Or(r.Length, ListLength))]
	return r.details(ctx, st)
}

// thenByJob gives the counters with which those of the jobs are compared. Of a day these are
// some days; jobs that are too new for that are left out.
func (r *Report) thenByJob(ctx context.Context, st Store) (map[int]*model.Counter, error) {
	out, days := map[int]*model.Counter{}, map[int]int{}
	parts, least := [][]model.Span{r.Before.Spans()}, 1
	if r.Period.Kind == Day {
		parts, least = nil, model.UsualLeast
		for _, span := range r.Period.UsualDays() {
			parts = append(parts, []model.Span{span})
		}
	}
	for _, spans := range parts {
		list, err := st.CountersByJob(ctx, spans, r.Filter)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if days[c.JobID]++; out[c.JobID] == nil {
				out[c.JobID] = c
			} else {
				out[c.JobID].Add(c)
			}
		}
	}
	maps.DeleteFunc(out, func(id int, _ *model.Counter) bool { return days[id] < least })
	return out, nil
}

// rank is how far up in a list a job stands; 0 = not at all.
func rank(l List, now, then *model.Counter) float64 {
	switch l {
	case Slow:
		return float64(mean(now))
	case Slower:
		if !slower(now, then) {
			return 0
		}
		return float64(mean(now)) / float64(max(1, mean(then)))
	case Noisy:
		return float64(now.Rescued + Lost(now))
	case Busy:
		return float64(now.Expected)
	case Never:
		return 0
	}
	return float64(Lost(now))
}

// details gives the jobs that are named what only they need: durations, the period
// before and their last days.
func (r *Report) details(ctx context.Context, st Store) error {
	if len(r.Jobs) == 0 {
		return nil
	}
	f := r.Filter
	f.JobIDs = make([]int, len(r.Jobs))
	at := make(map[int]*Line, len(r.Jobs))
	for i := range r.Jobs {
		l := &r.Jobs[i]
		f.JobIDs[i], at[l.JobID] = l.JobID, l
	}
	for _, l := range at {
		l.Now, l.Then = model.NewCounter(0, "", l.JobID, l.GroupID), model.NewCounter(0, "", l.JobID, l.GroupID)
	}
	if err := each(ctx, st, r.Period, f, func(c *model.Counter) { at[c.JobID].Now.Add(c) }); err != nil {
		return err
	}
	if r.Period.Kind == Day {
		list, err := st.Counters(ctx, r.Period.UsualDays(), f)
		if err != nil {
			return err
		}
		of := map[int][]*model.Counter{}
		for _, c := range list {
			of[c.JobID] = append(of[c.JobID], c)
		}
		for id, l := range at {
			l.Usual, l.Then = model.UsualOf(byDay(of[id]), r.Over())
		}
	} else if err := each(ctx, st, r.Before, f, func(c *model.Counter) { at[c.JobID].Then.Add(c) }); err != nil {
		return err
	}
	if r.Length > ListLength { // a table has no small pictures
		return nil
	}
	last := r.Period.Until(r.Today).Last
	first := last.AddDate(0, 0, 1-sparkDays)
	days, err := st.Counters(ctx, []model.Span{{Unit: model.UnitDay, First: first.Format(time.DateOnly), Last: last.Format(time.DateOnly)}}, f)
	if err != nil {
		return err
	}
	of := map[int]map[string]*model.Counter{}
	for _, c := range days {
		if of[c.JobID] == nil {
			of[c.JobID] = map[string]*model.Counter{}
		}
		if sum := of[c.JobID][c.Start]; sum != nil { // the job changed its executor that day
			sum.Add(c)
		} else {
			of[c.JobID][c.Start] = c
		}
	}
	for i := range r.Jobs {
		var list []*model.Counter
		for _, c := range of[r.Jobs[i].JobID] {
			list = append(list, c)
		}
		r.Jobs[i].Days = fill(list, model.UnitDay, first, last)
	}
	return nil
}

// each calls fn with the counters of a period.
func each(ctx context.Context, st Store, p Period, f model.CounterFilter, fn func(*model.Counter)) error {
	list, err := st.Counters(ctx, p.Spans(), f)
	for _, c := range list {
		fn(c)
	}
	return err
}
