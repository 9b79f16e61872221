package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// Timeline is who ran when, as a picture: a lane per job, executor or address.
type Timeline struct {
	Page
	Filter  TimelineFilter
	From    time.Time // in the zone of the center
	To      time.Time
	Lanes   []TimelineLane
	More    int // lanes that are left out
	Runs    int
	Cut     bool // the oldest runs of the period are missing
	Groups  []model.Group
	JobName string
}

// TimelineFilter is what the address of the timeline says.
type TimelineFilter struct {
	Span, By       string
	To             string // as datetime-local inputs give it, "" = now
	GroupID, JobID int
}

// TimelineLane is a job, an executor or an address.
type TimelineLane struct {
	Title, Sub   string
	GroupID      int
	JobID        int
	Tracks       int
	Runs, Failed int
	Bars         []TimelineBar
}

// TimelineBar is a run or several that follow each other closely.
type TimelineBar struct {
	From, To time.Time
	Track    int
	Class    model.Class
	Runs     int
	RunID    int64
}

// TimelineSpans are the periods on offer, the shortest first, with how long a column is.
var timelineSpans = []struct {
	name         string
	span, column time.Duration
}{{"1h", time.Hour, 10 * time.Minute}, {"6h", 6 * time.Hour, time.Hour}, {"24h", 24 * time.Hour, time.Hour}}

// TimelineSpan gives the length of a period and of its columns; of an unknown one those of a day.
func TimelineSpan(name string) (known string, span, column time.Duration) {
	for _, s := range timelineSpans {
		if s.name == name {
			return s.name, s.span, s.column
		}
	}
	s := timelineSpans[len(timelineSpans)-1]
	return s.name, s.span, s.column
}

// TimelineLanes are what lanes can be.
func TimelineLanes() []string { return []string{"job", "executor", "address"} }

func (v Timeline) url(change func(*TimelineFilter)) string {
	f := v.Filter
	change(&f)
	if f.Span == "24h" {
		f.Span = ""
	}
	if f.By == "job" {
		f.By = ""
	}
	return v.URL("/timeline", "span", f.Span, "by", f.By, "to", f.To, "zone", v.zoneFor(f.To), "executor", zeroEmpty(f.GroupID), "job", zeroEmpty(f.JobID))
}

func (v Timeline) byURL(by string) string { return v.url(func(f *TimelineFilter) { f.By = by }) }

func (v Timeline) spanURL(span string) string {
	return v.url(func(f *TimelineFilter) { f.Span = span })
}

func (v Timeline) withoutJobURL() string { return v.url(func(f *TimelineFilter) { f.JobID = 0 }) }

// stepURL is the period before or after.
func (v Timeline) stepURL(periods int) string {
	to := v.To.Add(time.Duration(periods) * v.To.Sub(v.From))
	return v.url(func(f *TimelineFilter) {
		if f.To = to.Format(localLayout); !to.Before(v.Now) {
			f.To = ""
		}
	})
}

// later reports whether there is anything after the period.
func (v Timeline) later() bool { return v.To.Before(v.Now) }

const localLayout = "2006-01-02T15:04"

func (v Timeline) period() string {
	if v.From.Format(time.DateOnly) == v.To.Add(-time.Second).Format(time.DateOnly) {
		return v.From.Format("2006-01-02 15:04") + " – " + timelineEnd(v.From, v.To)
	}
	return v.From.Format("2006-01-02 15:04") + " – " + v.To.Format("2006-01-02 15:04")
}

// timelineEnd is the clock at the end of a period within one day: midnight is 24:00 of it.
func timelineEnd(from, to time.Time) string {
	if to.Day() != from.Day() {
		return "24:00"
	}
	return to.Format("15:04")
}

// timelineColumn is a part of the scale; it leads to its enlargement.
type timelineColumn struct{ Label, URL, Title string }

func (v Timeline) columns() (out []timelineColumn) {
	_, _, column := TimelineSpan(v.Filter.Span)
	zoom := map[string]string{"24h": "1h", "6h": "1h"}[v.Filter.Span]
	for at := v.From; at.Before(v.To); at = at.Add(column) {
		c := timelineColumn{Label: at.Format("15:04")}
		if end := at.Add(column); zoom != "" {
			c.URL = v.url(func(f *TimelineFilter) {
				if f.Span, f.To = zoom, end.Format(localLayout); end.After(v.Now) {
					f.To = ""
				}
			})
			c.Title = v.T("timeline.zoom", "From", c.Label, "To", end.Format("15:04"))
		}
		out = append(out, c)
	}
	return out
}

func (v Timeline) columnClass() string { return "cols-" + strconv.Itoa(len(v.columns())) }

// Geometry of a lane in user units; the width is the period and is stretched.
const (
	laneWidth = 1000
	laneTrack = 10
	laneBar   = 8
	barLeast  = 1.5
)

func (v Timeline) x(t time.Time) float64 {
	return laneWidth * float64(t.Sub(v.From)) / float64(v.To.Sub(v.From))
}

func laneHeight(l TimelineLane) string { return itoa(max(1, l.Tracks)*laneTrack + 8) }

func (l TimelineLane) viewBox() string { return "0 0 " + itoa(laneWidth) + " " + laneHeight(l) }

type laneRect struct{ X, Y, W, Class, Title, URL string }

func (v Timeline) rects(l TimelineLane) []laneRect {
	out := make([]laneRect, 0, len(l.Bars))
	for _, b := range l.Bars {
		x := v.x(b.From)
		r := laneRect{
			X: decimal(x), W: decimal(max(barLeast, v.x(b.To)-x)), Y: itoa(4 + b.Track*laneTrack + (laneTrack-laneBar)/2),
			Class: classMark(b.Class), Title: v.barTitle(b), URL: v.URL("/runs/" + id64(b.RunID)),
		}
		if b.Runs > 1 {
			r.URL = v.runsURL(l, b.From, b.To.Add(time.Second))
		}
		out = append(out, r)
	}
	return out
}

func (v Timeline) runsURL(l TimelineLane, from, to time.Time) string {
	const local = "2006-01-02T15:04:05"
	return v.URL("/runs", "executor", zeroEmpty(l.GroupID), "job", zeroEmpty(l.JobID), "preset", "custom", "from", from.Format(local), "to", to.Format(local), "zone", v.clockZone())
}

func classMark(c model.Class) string {
	switch c {
	case model.ClassSucceeded:
		return "b-ok"
	case model.ClassFailed:
		return "b-bad"
	case model.ClassNotSent:
		return "b-missed"
	}
	return "b-open"
}

func (v Timeline) barTitle(b TimelineBar) string {
	parts := []string{b.From.Format(time.TimeOnly) + " – " + b.To.Format(time.TimeOnly), statusLabel(v.Page, model.RunStatus(b.Class))}
	if b.Runs > 1 {
		return strings.Join(append([]string{v.L.N("timeline.n_runs", b.Runs)}, parts...), " · ")
	}
	return strings.Join(append(parts, v.L.Millis(b.To.Sub(b.From).Milliseconds())), " · ")
}

// laneURL is the page of a job, or the runs of a lane.
func (v Timeline) laneURL(l TimelineLane) string {
	if l.JobID > 0 {
		return v.URL("/jobs/" + itoa(l.JobID))
	}
	return v.runsURL(l, v.From, v.To)
}

func (v Timeline) laneTitle(l TimelineLane) string {
	if l.Title == "" && l.JobID > 0 {
		return v.T("runs.job_gone", "ID", l.JobID)
	}
	return dash(l.Title)
}

func (v Timeline) laneSub(l TimelineLane) string {
	text := v.L.N("timeline.n_runs", l.Runs)
	if l.Failed > 0 {
		text += " · " + v.T("jobpage.n_failed", "Number", v.L.Number(int64(l.Failed)))
	}
	return text
}

// nowX is where the present is on the picture, "" = outside.
func (v Timeline) nowX() string {
	if v.Now.Before(v.From) || v.Now.After(v.To) {
		return ""
	}
	return decimal(v.x(v.Now))
}

// Load is how many fires the next 24 hours have.
type Load struct {
	Page
	From    time.Time // in the zone of the center
	Minutes []float64
	Total   float64
	Jobs    int
	Left    int // jobs that were not counted
	Peaks   []LoadPeak
}

// LoadPeak is one of the fullest minutes.
type LoadPeak struct {
	At    time.Time
	Fires float64
	Jobs  []model.Job
	Of    int // how many jobs fire in it
}

const loadHeight = 160

func (v Load) top() int {
	most := 1.0
	for _, n := range v.Minutes {
		most = max(most, n)
	}
	return niceTop(int(most + 0.999))
}

// area is the outline of the fires per minute.
func (v Load) area() string {
	var b strings.Builder
	top := float64(v.top())
	b.WriteString("M0 " + itoa(loadHeight))
	last := -1.0
	for i, n := range v.Minutes {
		y := loadHeight * (1 - n/top)
		if n > 0 {
			y = min(y, loadHeight-1) // what exists is visible
		}
		if y != last {
			b.WriteString("H" + itoa(i) + "V" + decimal(y))
			last = y
		}
	}
	b.WriteString("H" + itoa(len(v.Minutes)) + "V" + itoa(loadHeight) + "Z")
	return b.String()
}

type loadHour struct{ X, Label, Title string }

func (v Load) hours() (out []loadHour) {
	for h := 0; h*60 < len(v.Minutes); h++ {
		at := v.From.Add(time.Duration(h) * time.Hour)
		var sum, most float64
		for _, n := range v.Minutes[h*60 : min(len(v.Minutes), (h+1)*60)] {
			sum, most = sum+n, max(most, n)
		}
		out = append(out, loadHour{X: itoa(h * 60), Label: at.Format("15:04"), Title: v.T("load.hour",
			"From", at.Format("15:04"), "To", at.Add(time.Hour).Format("15:04"), "Number", v.fires(sum), "Most", v.fires(most))})
	}
	return out
}

func (v Load) viewBox() string { return "0 0 " + itoa(len(v.Minutes)) + " " + itoa(loadHeight) }

func (v Load) fires(n float64) string { return v.L.Number(int64(n + 0.5)) }

func (v Load) at(t time.Time) string {
	if t.Format(time.DateOnly) == v.Now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return i18n.DateTime(t)[:len("2006-01-02 15:04")]
}
