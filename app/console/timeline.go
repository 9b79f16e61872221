package console

import (
	"net/http"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/views"
)

// timeline shows who ran when in an hour, six hours or a day.
func (c *Console) timeline(r *request) error {
	f := views.TimelineFilter{By: r.QueryParam("by"), GroupID: r.queryInt("executor"), JobID: r.queryInt("job")}
	name, span, column := views.TimelineSpan(r.QueryParam("span"))
	if f.Span = name; !slices.Contains(views.TimelineLanes(), f.By) {
		f.By = views.TimelineLanes()[0]
	}
	to := localTime(r.QueryParam("to"), r.zoneOf(r.QueryParams())).In(r.now.Location())
	if y := to.Year(); to.IsZero() || y < 1970 || y > 9000 { // beyond what a database has
		to = r.now
	} else {
		f.To = to.Format("2006-01-02T15:04")
	}
	to = ceil(to, column)
	tl, err := c.svc.Timeline(r.Request().Context(), r.actor(), jobs.TimelineInput{
		From: to.Add(-span), To: to, By: jobs.TimelineBy(f.By), GroupID: f.GroupID, JobID: f.JobID,
	})
	if err != nil {
		return err
	}
	v := views.Timeline{
		Page: r.page("runs", r.loc.T("timeline.title")), Filter: f, From: tl.From, To: tl.To, More: tl.More, Runs: tl.Runs, Cut: tl.Cut,
		Groups: tl.Groups, JobName: tl.JobName,
	}
	local := func(ms int64) time.Time { return time.UnixMilli(ms).In(r.now.Location()) }
	for _, l := range tl.Lanes {
		lane := views.TimelineLane{Title: l.Title, GroupID: l.GroupID, JobID: l.JobID, Tracks: l.Tracks, Runs: l.Runs, Failed: l.Failed}
		if f.By == string(jobs.ByAddress) {
			lane.Title, lane.Sub = l.Address, l.Title
		}
		for _, b := range l.Bars {
			lane.Bars = append(lane.Bars, views.TimelineBar{
				From: local(b.FromMS), To: local(b.ToMS), Track: b.Track, Class: b.Class, Runs: b.Runs, RunID: b.RunID,
			})
		}
		v.Lanes = append(v.Lanes, lane)
	}
	return r.render(http.StatusOK, views.TimelinePage(v))
}

// ceil gives the next full column of the wall clock, or t when it is one.
func ceil(t time.Time, column time.Duration) time.Time {
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	if over := since % column; over > 0 {
		return t.Add(column - over)
	}
	return t
}

// load shows the fires of the next 24 hours.
func (c *Console) load(r *request) error {
	l, err := c.svc.Load(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v := views.Load{Page: r.page("runs", r.loc.T("load.title")), From: l.From.In(r.now.Location()), Minutes: l.Minutes, Total: l.Total, Jobs: l.Jobs, Left: l.Left}
	for _, p := range l.Peaks {
		p.At = p.At.In(r.now.Location())
		v.Peaks = append(v.Peaks, views.LoadPeak(p))
	}
	return r.render(http.StatusOK, views.LoadPage(v))
}
