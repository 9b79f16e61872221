package views

import (
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Geometry of the pictures of a report, in user units.
const (
	trendWidth  = 720
	trendTop    = 10
	trendBottom = 130
	lostTop     = 156
	lostBottom  = 196
	trendHeight = 216
	trendAxis   = 44 // the scale at the left
	trendRight  = 12 // room for the last label

	heatCell   = 20
	heatRow    = 16
	heatLeft   = 40
	heatTop    = 18
	heatWidth  = heatLeft + 24*heatCell
	heatHeight = heatTop + 7*heatRow

	sparkHeight = 26
	sparkBar    = 4
)

func decimal2(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// trendBar is one day, week or month.
type trendBar struct {
	X, W, Mid, Label, Title, URL string
	Parts                        []dayPart
	In                           bool // belongs to the period of the report
}

type trendChart struct {
	Bars        []trendBar
	Top, Bottom string // labels of the two scales
}

func (v Report) trend() trendChart {
	most, worst := int64(1), int64(1)
	for _, c := range v.Trend {
		most, worst = max(most, c.Succeeded+c.Open()), max(worst, c.Failed+c.Missed)
	}
	top, low := niceTop(int(most)), niceTop(int(worst))
	out := trendChart{Top: v.L.Number(int64(top)), Bottom: v.L.Number(int64(low))}
	pitch := float64(trendWidth-trendAxis-trendRight) / float64(max(1, len(v.Trend)))
	width := min(40, pitch*0.72)
	every := (len(v.Trend) + 9) / 10
	for i, c := range v.Trend {
		first, err := time.Parse(time.DateOnly, c.Start)
		if err != nil {
			continue
		}
		last := v.TrendUnit.Next(first, 1).AddDate(0, 0, -1)
		x := trendAxis + float64(i)*pitch + (pitch-width)/2
		b := trendBar{
			X: decimal(x), W: decimal(width), Mid: decimal(x + width/2), In: !last.Before(v.First) && !first.After(v.Last),
			URL: v.firesOf(c.Start, last.Format(time.DateOnly), model.RunsAll, "", 0),
		}
		name := first.Format("01-02")
		if v.TrendUnit == model.UnitMonth {
			name = first.Format("2006-01")
		}
		if (len(v.Trend)-1-i)%every == 0 {
			b.Label = name
		}
		b.Title = v.T("dash.day_title", "Day", name, "Succeeded", v.L.Number(c.Succeeded), "Failed", v.L.Number(c.Failed), "Running", v.L.Number(c.Open()), "Missed", v.L.Number(c.Missed))
		stack := func(bottom float64, n int64, limit, height int, class string, status model.RunStatus) float64 {
			if n <= 0 {
				return bottom
			}
			h := max(2, float64(n)*float64(height)/float64(limit)) // what exists is visible
			b.Parts = append(b.Parts, dayPart{
				bar: bar{X: decimal(x), Y: decimal(bottom - h), H: decimal(h), Class: class}, W: decimal(width), N: n,
				Title: name + " · " + statusLabel(v.Page, status) + " " + v.L.Number(n), URL: v.firesOf(c.Start, last.Format(time.DateOnly), status, "", 0),
			})
			return bottom - h
		}
		y := stack(trendBottom, c.Succeeded, top, trendBottom-trendTop, "b-ok", model.RunsSucceeded)
		stack(y, c.Open(), top, trendBottom-trendTop, "b-open", model.RunsOpen)
		y = stack(lostBottom, c.Failed, low, lostBottom-lostTop, "b-bad", model.RunsFailed)
		stack(y, c.Missed, low, lostBottom-lostTop, "b-missed", model.RunsMissed)
		out.Bars = append(out.Bars, b)
	}
	return out
}

// heatSquare is an hour of the week.
type heatSquare struct{ X, Y, Class, Title string }

// heat shows how much is planned in each hour of the week, and where it is lost. The steps
// are few, so that they can be told apart.
func (v Report) heat() (out []heatSquare) {
	most := int64(1)
	for _, c := range v.Heat {
		most = max(most, c.Expected)
	}
	for day := range 7 {
		for hour := range 24 {
			c := v.Heat[day*24+hour]
			lost := c.Failed + c.Missed
			class := "q0"
			switch {
			case lost > 0 && lost*20 >= c.Expected:
				class = "h-lost2"
			case lost > 0:
				class = "h-lost1"
			case c.Expected > 0:
				class = "q" + itoa(1+min(3, int(4*c.Expected/(most+1))))
			}
			out = append(out, heatSquare{
				X: itoa(heatLeft + hour*heatCell), Y: itoa(heatTop + day*heatRow), Class: class,
				Title: v.T("report.heat_cell", "Day", weekdayFromMonday(v.Page, day), "Hour", itoa(hour)+":00", "Planned", v.L.Number(c.Expected), "Failed", v.L.Number(c.Failed), "Missed", v.L.Number(c.Missed)),
			})
		}
	}
	return out
}

// weekdayFromMonday names a day of the week, 0 = Monday.
func weekdayFromMonday(p Page, day int) string { return p.T("weekday." + itoa((day+1)%7+1)) }

// worstHour is the hour of the week in which most is lost, when it stands out; "" = none.
func (v Report) worstHour() string {
	all, worst, at := int64(0), int64(0), -1
	for i := range 7 * 24 {
		lost := v.Heat[i].Failed + v.Heat[i].Missed
		all += lost
		if lost > worst {
			worst, at = lost, i
		}
	}
	if at < 0 || worst < 3 || worst*4 < all {
		return ""
	}
	return v.T("report.heat_worst", "Day", weekdayFromMonday(v.Page, at/24), "Hour", itoa(at%24)+":00", "Part", v.L.Percent(int(worst), int(all)))
}

// spark is the days of a job as bars: the height says how many fires, the colour whether
// some were lost.
func (v Report) spark(l ReportLine) (out []bar) {
	most := int64(1)
	for _, c := range l.Days {
		most = max(most, c.Expected)
	}
	for i, c := range l.Days {
		if c.Expected == 0 {
			continue
		}
		h := max(2, float64(c.Expected)*sparkHeight/float64(most))
		class := "b-quiet"
		if c.Failed+c.Missed-c.Excused > 0 {
			class = "b-bad"
		}
		out = append(out, bar{X: itoa(i * (sparkBar + 1)), Y: decimal(sparkHeight - h), H: decimal(h), Class: class, Title: c.Start + " · " + rate(v.Page, c)})
	}
	return out
}
