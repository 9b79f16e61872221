package views

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Dashboard is the landing page.
type Dashboard struct {
	Page
	Jobs       model.JobCounts
	RunsTotal  int64
	Today      model.Ledger
	Days       []model.Ledger // empty for people who do not see all executors
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

func (v Dashboard) fires(d model.Ledger, status model.RunStatus, reason string) string {
	center := v.Center
	if center == nil {
		center = v.Now.Location()
	}
	at, err := time.ParseInLocation(time.DateOnly, d.Day, center)
	if err != nil {
		return v.URL("/runs")
	}
	zone := v.Now.Location()
	const local = "2006-01-02T15:04:05"
	fires := "1"
	if d.Attempts {
		fires = ""
	}
	return v.URL("/runs", "preset", "custom", "from", at.In(zone).Format(local), "to", at.AddDate(0, 0, 1).In(zone).Format(local),
		"status", string(status), "reason", reason, "fires", fires)
}

// Geometry of the day chart in user units.
const (
	chartLeft   = 8
	chartRight  = 46 // the scales: the newest days are beside them, also where only those are seen
	chartPitch  = 84
	chartBar    = 40
	upperTop    = 12
	upperBottom = 152
	lowerTop    = 204
	lowerBottom = 252
	chartHeight = 276
)

type dayBar struct {
	Label, Title, URL string
	X, Mid            string
	Parts             []dayPart // success and in progress
	Bad               []dayPart // failed and missed, own scale
}

// dayPart is a part of a bar: fires of one class and where they are listed.
type dayPart struct {
	bar
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
		Width: itoa(chartLeft + len(v.Days)*chartPitch + chartRight), Axis: itoa(chartLeft + len(v.Days)*chartPitch + 6), End: itoa(chartLeft + len(v.Days)*chartPitch),
	}
	for i, d := range v.Days {
		x := chartLeft + i*chartPitch + (chartPitch-chartBar)/2
		b := dayBar{
			Label: v.dayLabel(d.Day), X: itoa(x), Mid: itoa(x + chartBar/2),
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
				bar: bar{X: itoa(x), Y: decimal(bottom - h), H: decimal(h), Class: class}, N: int64(n), URL: v.dayURL(d, status),
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
