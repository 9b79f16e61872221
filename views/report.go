package views

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Report is the page that says how the runs of a period went.
type Report struct {
	Page
	Kind                    string // day, week, month or range
	First, Last             time.Time
	BeforeFirst, BeforeLast time.Time
	PrevURL, NextURL        string // "" = there is nothing
	Filter                  ReportFilter
	Groups                  []model.Group
	Owners, Tags            []string

	Now, Then *model.Counter
	Usual     *model.Usual // of a day: what it is compared with
	Over      bool         // the period has no further runs: only then a week or longer is compared
	TrendUnit model.Unit
	Trend     []*model.Counter
	Heat      model.Hours
	HeatFirst time.Time
	HeatLast  time.Time
	Lines     []ReportLine
	LinesOf   int
	Ran       int
	Quiet     int
	Incidents model.IncidentFigures
	State     model.CountState

	Targets []model.TargetResult // in the month of the last day, the worst first
	Month   time.Time            // its first day
}

// ReportFilter is what the address of a report says beside its period.
type ReportFilter struct {
	Day, From, To string
	GroupID       int
	Owner, Tag    string
	List          string
}

// ReportLine is a job in the report.
type ReportLine struct {
	JobID, GroupID    int
	Name, Owner, Unit string // Unit: the title of its executor
	Gone              bool
	Now, Then         *model.Counter
	Usual             *model.Usual
	Days              []*model.Counter
}

// ReportKinds are the periods on offer, ReportLists the lists of jobs.
func ReportKinds() []string { return []string{"day", "week", "month", "range"} }

// ReportLists are the lists of jobs on offer.
func ReportLists() []string { return []string{"failing", "slow", "slower", "noisy", "never", "busy"} }

// url is this report with another period or filter.
func (v Report) url(path, kind string, f ReportFilter) string {
	kv := []string{"kind", kind, "executor", zeroEmpty(f.GroupID), "owner", f.Owner, "tag", f.Tag}
	if kind == "range" {
		kv = append(kv, "from", f.From, "to", f.To)
	} else {
		kv = append(kv, "day", f.Day)
	}
	if f.List != "failing" {
		kv = append(kv, "list", f.List)
	}
	return v.URL(path, kv...)
}

// SelfURL is the address of this report, which names its days: it shows the same tomorrow.
func (v Report) SelfURL() string { return v.url("/reports", v.Kind, v.fixed()) }

// fixed is the filter with the days that are shown.
func (v Report) fixed() ReportFilter {
	f := v.Filter
	f.Day, f.From, f.To = v.First.Format(time.DateOnly), v.First.Format(time.DateOnly), v.Last.Format(time.DateOnly)
	return f
}

func (v Report) kindURL(kind string) string {
	f := v.fixed()
	f.Day = v.Last.Format(time.DateOnly)
	return v.url("/reports", kind, f)
}

// StepURL is the report of another day, week, month or range.
func (v Report) StepURL(first, last time.Time) string {
	f := v.Filter
	f.Day, f.From, f.To = first.Format(time.DateOnly), first.Format(time.DateOnly), last.Format(time.DateOnly)
	return v.url("/reports", v.Kind, f)
}

func (v Report) listURL(list string) string {
	f := v.fixed()
	f.List = list
	return v.url("/reports", v.Kind, f) + "#jobs"
}

func (v Report) tableURL(path string) string { return v.url(path, v.Kind, v.fixed()) }

// period names the days.
func (v Report) period() string {
	return periodName(v.Page, v.Kind, v.First, v.Last)
}

// Before names what the period is compared with.
func (v Report) Before() string {
	if v.Kind == "day" {
		return v.T("report.before_day", "Day", weekday(v.Page, v.BeforeFirst))
	}
	return v.T("report.before." + v.Kind)
}

func periodName(p Page, kind string, first, last time.Time) string {
	switch kind {
	case "day":
		return weekday(p, first) + " " + first.Format(time.DateOnly)
	case "month":
		return first.Format("2006-01")
	}
	return first.Format(time.DateOnly) + " – " + last.Format(time.DateOnly)
}

func weekday(p Page, t time.Time) string {
	return p.T("weekday." + itoa(int(t.Weekday())+1))
}

// asOf says how far the counters are.
func (v Report) asOf() string {
	if v.State.FoldedMS == 0 {
		return v.T("report.counting")
	}
	return v.T("report.as_of", "When", v.when(v.millis(v.State.FoldedMS)))
}

// counting says from which day on there are numbers, while older ones are still counted.
func (v Report) incomplete() bool {
	return v.State.CountedFrom == "" || v.State.CountedFrom > v.First.Format(time.DateOnly)
}

// rate is the success rate in words: of few fires their numbers.
func rate(p Page, c *model.Counter) string {
	rated := c.Rated()
	switch {
	case rated <= 0:
		return "–"
	case rated < 20:
		return p.T("report.of", "Part", p.L.Number(c.Succeeded), "Whole", p.L.Number(rated))
	}
	return p.L.Percent(int(c.Succeeded), int(rated))
}

// rateThen is the success rate with which that of a period is compared: of a day the median of
// the rates of the usual days, with which its difference is computed, too.
func rateThen(p Page, then *model.Counter, u *model.Usual) string {
	if !u.Known() {
		return rate(p, then)
	}
	const fine = 1_000_000
	return p.L.Percent(int(math.Round(u.Rate.Median*fine)), 100*fine)
}

// change says how the rate differs from that of the period before, in points; "" = not worth a word.
func change(p Page, now, then *model.Counter) (text, class string) {
	a, b := now.Rated(), then.Rated()
	if a < 20 || b < 20 {
		return "", ""
	}
	d := 100*float64(now.Succeeded)/float64(a) - 100*float64(then.Succeeded)/float64(b)
	return signed(p, d, "report.points")
}

func signed(p Page, d float64, key string) (text, class string) {
	switch n := decimal2(d); {
	case n == "0.00" || n == "-0.00":
		return p.T("report.same"), "sub"
	case d > 0:
		return p.T(key, "N", "+"+n), "good"
	default:
		return p.T(key, "N", "−"+strings.TrimPrefix(n, "-")), "worse"
	}
}

// compared says how something differs from what it is compared with: a difference that is
// worth a mark, and the rest of the line.
type compared struct{ Mark, Class, Text string }

// rateCompared compares a success rate. Of a day only what is unusual is marked.
func (v Report) rateCompared(now, then *model.Counter, u *model.Usual) (out compared) {
	if u == nil {
		if !v.Over {
			return compared{Text: v.T("report.not_over")}
		}
		if out.Mark, out.Class = change(v.Page, now, then); out.Mark != "" {
			out.Text = v.T("report.against", "Before", v.Before())
		}
		return out
	}
	switch {
	case now.Expected == 0:
	case !u.Known():
		out.Text = v.T("report.no_usual")
	case now.Rated() < 20 || then.Rated() < 20:
	case u.OddRate(now):
		out.Mark, out.Class = signed(v.Page, 100*float64(now.Succeeded)/float64(now.Rated())-u.Rate.Median, "report.points")
		out.Text = v.T("report.against", "Before", v.Before())
	default:
		out.Text = v.T("report.usually", "N", rateThen(v.Page, then, u))
	}
	return out
}

// lostCompared compares a number of which less is better.
func (v Report) lostCompared(now, then int64, of func(*model.Usual) model.UsualFigure) (out compared) {
	switch u := v.Usual; {
	case u == nil && !v.Over:
		out.Text = v.T("report.not_over")
	case u == nil:
		out.Text = v.more(now, then)
	case !u.Known():
		out.Text = v.T("report.no_usual")
	case u.Odd(of(u), now):
		out.Mark, out.Class = v.signedNumber(now-then), "good"
		if now > then {
			out.Class = "worse"
		}
		out.Text = v.T("report.against", "Before", v.Before())
	default:
		out.Text = v.T("report.usually", "N", v.L.Number(then))
	}
	return out
}

func usualFailed(u *model.Usual) model.UsualFigure { return u.Failed }
func usualMissed(u *model.Usual) model.UsualFigure { return u.Missed }

func (v Report) signedNumber(n int64) string {
	if n < 0 {
		return "−" + v.L.Number(-n)
	}
	return "+" + v.L.Number(n)
}

// more says how a number differs from that of the period before.
func (v Report) more(now, then int64) string {
	switch {
	case v.Then.Expected == 0:
		return v.T("report.no_before")
	case now == then:
		return v.T("report.same_as", "Before", v.Before())
	}
	return v.T("report.more", "N", v.signedNumber(now-then), "Before", v.Before())
}

// runsURL lists the fires that a number counts.
func (v Report) runsURL(status model.RunStatus, reason string, job int) string {
	return v.firesOf(v.First.Format(time.DateOnly), v.Last.Format(time.DateOnly), status, reason, job)
}

func (v Report) firesOf(first, last string, status model.RunStatus, reason string, job int) string {
	return v.fireList(first, last, status, reason, "1", "executor", zeroEmpty(v.Filter.GroupID), "job", zeroEmpty(job), "tag", v.Filter.Tag, "owner", v.Filter.Owner)
}

// howURL lists the fires that were sent late, or that succeeded at a later attempt.
func (v Report) howURL(how string) string {
	return v.fireList(v.First.Format(time.DateOnly), v.Last.Format(time.DateOnly), model.RunsAll, "", "1",
		"executor", zeroEmpty(v.Filter.GroupID), "tag", v.Filter.Tag, "owner", v.Filter.Owner, "how", how)
}

// reasonCount is a reason and how many fires ended so.
type reasonCount struct {
	Code string
	N    int64
}

// reasons gives those of a class, the most frequent first.
func (v Report) reasons(class model.Class) (out []reasonCount) {
	for code, n := range v.Now.Lines {
		of := model.ClassFailed
		if info, known := model.ReasonOf(code); known {
			of = info.Class
		}
		if of == class && n > 0 {
			out = append(out, reasonCount{code, n})
		}
	}
	slices.SortFunc(out, func(a, b reasonCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Code, b.Code)) })
	return out
}

// took is median and p95 of a counter, of few runs the longest.
func took(p Page, c *model.Counter) string {
	n := c.Took.Total()
	if n <= 0 {
		return "–"
	}
	return p.L.Millis(c.Took.Quantile(0.5)) + " · " + p.L.Millis(c.Took.Quantile(model.LongPart(n)))
}

// slower says by how much the long runs are longer than before; "" = not worth a word.
func slowerBy(p Page, now, then *model.Counter, u *model.Usual) (text, class string) {
	a, b := now.Took.Total(), then.Took.Total()
	if a < 3 || b < 3 {
		return "", ""
	}
	x, y := float64(now.Took.Quantile(model.LongPart(a))), float64(then.Took.Quantile(model.LongPart(b)))
	switch {
	case u != nil && !u.Long.Beyond(x):
	case y > 0 && x/y >= 1.3:
		return "↑ ×" + decimal(x/y), "worse"
	case x > 0 && y/x >= 1.3:
		return "↓ ×" + decimal(y/x), "good"
	}
	return "", ""
}

// Heading names the report and its days, Sentence says how it went.
func (v Report) Heading() string { return v.T("report.title."+v.Kind) + " · " + v.period() }

// Sentence is what the report says in one line.
func (v Report) Sentence() string { return strings.TrimSpace(v.sentence() + " " + v.rest()) }

// sentence says the whole report in one line.
func (v Report) sentence() string {
	c := v.Now
	if c.Expected == 0 {
		return v.T("report.nothing")
	}
	if c.Rated() > 0 && c.Succeeded == c.Rated() && c.Open() == 0 {
		return v.T("report.all_good", "Number", v.L.Number(c.Succeeded))
	}
	return v.T("report.sentence", "Succeeded", v.L.Number(c.Succeeded), "Rated", v.L.Number(c.Rated()), "Rate", rate(v.Page, c))
}

// rest is what the sentence leaves out.
func (v Report) rest() string {
	c := v.Now
	var parts []string
	say := func(key string, n int64) {
		if n > 0 {
			parts = append(parts, v.T(key, "N", v.L.Number(n)))
		}
	}
	say("report.rest_failed", c.Failed)
	say("report.rest_missed", c.Missed)
	say("report.rest_rescued", c.Rescued)
	say("report.rest_open", c.Open())
	return strings.Join(parts, v.T("report.comma"))
}

// comparison is what the period is compared with, in one number.
func (v Report) comparison() string {
	switch {
	case v.Usual != nil && !v.Usual.Known() && v.Now.Expected > 0:
		return v.T("report.no_usual_day", "Day", weekday(v.Page, v.First))
	case v.Usual == nil && !v.Over:
		return v.T("report.not_over_compared", "Before", v.Before())
	case v.Then.Rated() < 20:
		return ""
	}
	return v.T("report.compared", "Before", v.Before(), "Rate", rateThen(v.Page, v.Then, v.Usual))
}

// recovery says what became of the incidents.
func (v Report) recovery() string {
	switch {
	case v.Incidents.Opened == 0:
		return v.T("report.tile.incidents_none")
	case v.Incidents.RecoveryMS < 0:
		return v.L.N("report.tile.incidents_open", v.Incidents.Open)
	}
	return v.T("report.tile.recovery", "Took", v.L.Age(max(time.Second, time.Duration(v.Incidents.RecoveryMS)*time.Millisecond)), "Open", v.L.Number(int64(v.Incidents.Open)))
}

// Title is the name of the job.
func (l ReportLine) Title(p Page) string {
	if l.Name == "" {
		return p.T("runs.job_gone", "ID", l.JobID)
	}
	return l.Name
}

// under says whose the job is.
func (l ReportLine) under() string {
	return strings.TrimPrefix(strings.TrimSuffix(l.Unit+" · "+l.Owner, " · "), " · ")
}

// linesNote says what the list leaves out.
func (v Report) linesNote() string {
	var parts []string
	if more := v.LinesOf - len(v.Lines); more > 0 {
		parts = append(parts, v.L.N("report.more_jobs", more))
	}
	if v.Filter.List != "never" && v.Ran > 0 {
		parts = append(parts, v.T("report.quiet", "Quiet", v.L.Number(int64(v.Quiet)), "Ran", v.L.Number(int64(v.Ran))))
	}
	return strings.Join(parts, " ")
}
