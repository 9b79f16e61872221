package views

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Dashboard is the landing page.
type Dashboard struct {
	Page
	Jobs       model.JobCounts
	Incidents  int // that last
	RunsTotal  int64
	Today      model.Ledger
	Days       []model.Ledger // empty for people who do not see all executors
	Range      string         // preset of the days, "" = the last seven, custom = two dates
	NodesAlive int
	NodesKnown int
	Troubles   []Trouble
	Next       []model.Job
	Centers    []model.Node
}

// account is the picture of the ledger: succeeded, open, failed and not sent side by side.
func (v Dashboard) account() []bar {
	all := v.Today.Expected
	if all <= 0 {
		return nil
	}
	var out []bar
	x := 0.0
	for _, part := range []struct {
		n     int64
		class string
	}{{v.Today.Succeeded, "b-ok"}, {v.Today.Open, "b-open"}, {v.Today.Failed, "b-bad"}, {v.Today.NotSent, "b-missed"}} {
		if part.n <= 0 {
			continue
		}
		// What is there is seen, however little it is.
		w := max(0.6, 100*float64(part.n)/float64(all))
		out = append(out, bar{X: decimal(min(x, 100-w)), H: decimal(w), Class: part.class})
		x += w
	}
	return out
}

// overloaded gives the nodes that do not keep up: much is due and what is sent is late.
func (v Dashboard) overloaded() (out []model.Node) {
	for _, n := range v.Centers {
		if n.State() == model.NodeAlive && n.Backlog >= 100 && n.LateMS >= 5000 {
			out = append(out, n)
		}
	}
	return out
}

// upFor says how long a node has been running, without what changes each second.
func (v Dashboard) upFor(n model.Node) string {
	d := v.Now.Sub(time.UnixMilli(n.StartedMS))
	return v.L.Age(max(time.Minute, d.Truncate(time.Minute)))
}

// quietBeat is how old a beat may be without being worth a number.
const quietBeat = 4 * time.Second

// heartbeat says whether a node beats.
func (v Dashboard) heartbeat(n model.Node) string {
	silent := time.Duration(n.SilentMS) * time.Millisecond
	if silent < quietBeat {
		return v.T("dash.center_beats")
	}
	return v.T("dash.center_beat", "Ago", v.L.Age(silent))
}

// reasonClass is the colour of a reason.
func reasonClass(reason string) string {
	if info, ok := model.ReasonOf(reason); ok && info.Class == model.ClassNotSent {
		return "missed"
	}
	return "bad"
}

// todayURL lists exactly the runs that a number of today counts.
func (v Dashboard) todayURL(status model.RunStatus, reason string) string {
	return v.fires(v.Today, status, reason)
}

// Trouble is a job that is failing, with the message of its last run as plain text.
type Trouble struct {
	model.FailingJob
	Count   int
	More    bool
	LastID  int64 // 0 = not kept any more
	LastMS  int64
	Result  model.RunResult
	Message string
}

// troubleText says how often and since when a job fails.
func (v Dashboard) troubleText(t Trouble) string {
	n := v.L.Number(int64(max(1, t.Count)))
	if t.More {
		n += "+"
	}
	return v.T("dash.failing", "Number", n, "When", v.when(v.millis(t.SinceMS)))
}

// troubleURL leads to the run that failed last.
func (v Dashboard) troubleURL(t Trouble) string {
	if t.LastID == 0 {
		return v.URL("/runs", "executor", itoa(t.GroupID), "job", itoa(t.ID))
	}
	return v.URL("/runs/" + id64(t.LastID))
}

// dayURL is the list of the runs of a day, one for each fire.
func (v Dashboard) dayURL(d model.Ledger, status model.RunStatus) string {
	return v.fires(d, status, "")
}

// DayRanges are the periods on offer for the days.
func DayRanges() []string {
	return []string{"", "today", "yesterday", "month", "lastmonth", "30days", "custom"}
}

// SelfURL is the address of this page with its days.
func (v Dashboard) SelfURL() string {
	if v.Range != "custom" || len(v.Days) == 0 {
		return v.URL("/", "range", v.Range)
	}
	return v.URL("/", "range", v.Range, "from", v.Days[0].Day, "to", v.Days[len(v.Days)-1].Day)
}

// slice is a part of the ring: fires of one class of all days.
type slice struct {
	Class, Dot, Label, Number, Percent, URL string
	Length, Offset                          string // of the ring, in percent
	Part                                    float64
}

// ring adds the days up, by class.
func (v Dashboard) ring() []slice {
	var sum model.Ledger
	attempts := false
	for _, d := range v.Days {
		sum.Succeeded, sum.Failed, sum.Open, sum.NotSent = sum.Succeeded+d.Succeeded, sum.Failed+d.Failed, sum.Open+d.Open, sum.NotSent+d.NotSent
		attempts = attempts || d.Attempts
	}
	all := max(1, sum.Succeeded+sum.Failed+sum.Open+sum.NotSent)
	var out []slice
	offset := 25.0 // begins at the top
	for _, part := range []struct {
		n          int64
		class, dot string
		status     model.RunStatus
	}{{sum.Succeeded, "b-ok", "ok", model.RunsSucceeded}, {sum.Failed, "b-bad", "bad", model.RunsFailed}, {sum.Open, "b-open", "open", model.RunsOpen}, {sum.NotSent, "b-missed", "missed", model.RunsMissed}} {
		share := 100 * float64(part.n) / float64(all)
		one := slice{
			Class: part.class, Dot: part.dot, Label: statusLabel(v.Page, part.status), Number: v.L.Number(part.n), Percent: v.L.Percent(int(part.n), int(all)),
			Length: decimal(share) + " " + decimal(100-share), Offset: decimal(offset), Part: share,
		}
		if !attempts && len(v.Days) > 0 { // rows of others are no fires: they are listed by the day
			one.URL = v.fireList(v.Days[0].Day, v.Days[len(v.Days)-1].Day, part.status, "", "1")
		}
		out = append(out, one)
		if offset -= share; offset < 0 {
			offset += 100
		}
	}
	return out
}

func (v Dashboard) fires(d model.Ledger, status model.RunStatus, reason string) string {
	fires := "1"
	if d.Attempts {
		fires = ""
	}
	return v.fireList(d.Day, d.Day, status, reason, fires)
}

// Geometry of the day chart in user units.
const (
	chartLeft   = 8
	chartRight  = 46     // the scales: the newest days are beside them, also where only those are seen
	chartWidth  = 7 * 84 // of all days
	chartBar    = 40     // the widest
	upperTop    = 12
	upperBottom = 152
	lowerTop    = 204
	lowerBottom = 252
	chartHeight = 276
)

type dayBar struct {
	Label, Title, URL string
	X, Mid, W         string
	Parts             []dayPart // success and in progress
	Bad               []dayPart // failed and missed, own scale
}

// dayPart is a part of a bar: fires of one class and where they are listed.
type dayPart struct {
	bar
	W          string
	Title, URL string
	N          int64
}

// dayChart is the bars and the two scales of the day chart.
type dayChart struct {
	Bars         []dayBar
	Upper, Lower []tick
	Width        string
	Axis, End    string // where the scales stand, where the lines end
}

type tick struct{ Y, Label string }

// niceTop rounds up to 1, 2 or 5 times a power of ten.
func niceTop(n int) int {
	for step := 1; ; step *= 10 {
		for _, f := range []int{1, 2, 5} {
			if f*step >= n {
				return max(2, f*step)
			}
		}
	}
}

func (v Dashboard) chart() dayChart {
	most, worst := 0, 0
	for _, d := range v.Days {
		most, worst = max(most, int(d.Succeeded+d.Open)), max(worst, int(d.Failed+d.NotSent))
	}
	top, low := niceTop(most), niceTop(worst)
	scale := func(n, limit, height int) float64 { return float64(n) * float64(height) / float64(limit) }
	ticks := func(limit, topY, bottomY int) []tick {
		return []tick{
			{itoa(bottomY), "0"},
			{decimal(float64(topY+bottomY) / 2), v.short(limit / 2)},
			{itoa(topY), v.short(limit)},
		}
	}
	c := dayChart{
		Upper: ticks(top, upperTop, upperBottom), Lower: []tick{{itoa(lowerBottom), "0"}, {itoa(lowerTop), v.short(low)}},
		Width: itoa(chartLeft + chartWidth + chartRight), Axis: itoa(chartLeft + chartWidth + 6), End: itoa(chartLeft + chartWidth),
	}
	pitch := float64(chartWidth) / float64(max(1, len(v.Days)))
	width := min(chartBar, pitch*0.6)
	every := (len(v.Days) + 13) / 14 // labels that have room
	for i, d := range v.Days {
		x := chartLeft + float64(i)*pitch + (pitch-width)/2
		label := v.dayLabel(d.Day)
		if (len(v.Days)-1-i)%every != 0 {
			label = ""
		}
		b := dayBar{
			Label: label, X: decimal(x), Mid: decimal(x + width/2), W: decimal(width),
			Title: v.T("dash.day_title", "Day", d.Day, "Succeeded", v.L.Number(d.Succeeded),
				"Failed", v.L.Number(d.Failed), "Running", v.L.Number(d.Open),
				"Missed", v.L.Number(d.NotSent)),
			URL: v.dayURL(d, model.RunsAll),
		}
		stack := func(bottom float64, count int64, limit, height int, class string, status model.RunStatus) (dayPart, float64) {
			n := max(0, int(count))
			h := scale(n, limit, height)
			if n > 0 {
				h = max(h, 2) // what exists is visible
			}
			return dayPart{
				bar: bar{X: decimal(x), Y: decimal(bottom - h), H: decimal(h), Class: class}, W: decimal(width), N: int64(n), URL: v.dayURL(d, status),
				Title: d.Day + " · " + statusLabel(v.Page, status) + " " + v.L.Number(int64(n)),
			}, bottom - h
		}
		one, y := stack(upperBottom, d.Succeeded, top, upperBottom-upperTop, "b-ok", model.RunsSucceeded)
		two, _ := stack(y, d.Open, top, upperBottom-upperTop, "b-open", model.RunsOpen)
		b.Parts = []dayPart{one, two}
		one, y = stack(lowerBottom, d.Failed, low, lowerBottom-lowerTop, "b-bad", model.RunsFailed)
		two, _ = stack(y, d.NotSent, low, lowerBottom-lowerTop, "b-missed", model.RunsMissed)
		b.Bad = []dayPart{one, two}
		c.Bars = append(c.Bars, b)
	}
	return c
}

// short gives a scale label: 500, 50 k, 2 M.
func (v Dashboard) short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return v.L.Number(int64(n/1_000_000)) + " M"
	case n >= 10_000:
		return v.L.Number(int64(n/1000)) + " k"
	}
	return v.L.Number(int64(n))
}

func (v Dashboard) dayLabel(day string) string {
	if len(day) == len(time.DateOnly) {
		return day[5:]
	}
	return day
}

// word names a preset in a key: the usual one has no name in the address.
func word(preset string) string {
	if preset == "" {
		return "week"
	}
	return preset
}
