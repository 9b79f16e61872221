package console

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/views"
)

// reportAsk reads what a report is to be about.
func reportAsk(r *request) jobs.ReportAsk {
	q := r.QueryParams()
	a := jobs.ReportAsk{
		Kind: report.Kind(q.Get("kind")), Day: q.Get("day"), From: q.Get("from"), To: q.Get("to"),
		GroupID: r.queryInt("executor"), Owner: searchText(q.Get("owner")), Tag: searchText(q.Get("tag")), List: report.List(q.Get("list")),
	}
	if !slices.Contains(report.Kinds(), a.Kind) {
		a.Kind = report.Day
	}
	if !slices.Contains(report.Lists(), a.List) {
		a.List = report.Failing
	}
	return a
}

// report shows how the runs of a period went.
func (c *Console) report(r *request) error {
	ask := reportAsk(r)
	p, err := c.svc.Report(r.Request().Context(), r.actor(), ask)
	if err != nil {
		return err
	}
	v := ReportView(ask, p)
	v.Page = r.page("reports", r.loc.T("report.title."+v.Kind)+" "+v.First.Format(time.DateOnly))
	today := model.Date(r.now.In(r.center))
	if next := p.Period.Step(1); !next.First.After(today) {
		v.NextURL = v.StepURL(next.First, next.Last)
	}
	prev := p.Period.Step(-1)
	v.PrevURL = v.StepURL(prev.First, prev.Last)
	return r.render(http.StatusOK, views.ReportPage(v))
}

// ReportView is a report as pages and mails draw it, without its Page.
func ReportView(ask jobs.ReportAsk, p jobs.ReportPage) views.Report {
	v := views.Report{
		Kind: string(p.Period.Kind), First: p.Period.First, Last: p.Period.Last, BeforeFirst: p.Before.First, BeforeLast: p.Before.Last,
		Filter: views.ReportFilter{GroupID: ask.GroupID, Owner: ask.Owner, Tag: ask.Tag, List: string(ask.List)},
		Groups: p.Groups, Owners: p.Owners, Tags: p.Tags, Now: p.Now, Then: p.Then, Usual: p.Usual, Over: p.Over(), TrendUnit: p.TrendUnit, Trend: p.Trend,
		Heat: p.Heat, HeatFirst: p.HeatFirst, HeatLast: p.HeatLast, LinesOf: p.JobsOf, Ran: p.Ran, Quiet: p.Quiet, Incidents: p.Incidents, State: p.State,
		Targets: p.Targets, Month: p.Month.First,
	}
	titles := map[int]string{}
	for _, g := range p.Groups {
		titles[g.ID] = g.Title
	}
	for _, l := range p.Jobs {
		j := p.Names[l.JobID]
		group := j.GroupID
		if group == 0 {
			group = l.GroupID
		}
		v.Lines = append(v.Lines, views.ReportLine{
			JobID: l.JobID, GroupID: group, Name: j.Name, Owner: j.Author, Unit: titles[group], Gone: j.GroupID == 0, Now: l.Now, Then: l.Then, Usual: l.Usual, Days: l.Days,
		})
	}
	return v
}

// mostReportJobs is how many jobs a table of a report has at most.
const mostReportJobs = 20_000

// reportCSV gives all jobs of the report as a table.
func (c *Console) reportCSV(r *request) error {
	ask := reportAsk(r)
	ask.List, ask.Length, ask.NoTargets = report.Busy, mostReportJobs, true
	p, err := c.svc.Report(r.Request().Context(), r.actor(), ask)
	if err != nil {
		return err
	}
	v := ReportView(ask, p)
	t, err := c.startTable(r, "report-"+p.Period.First.Format(time.DateOnly), "job_id", "job", "executor", "owner", "first_day", "last_day", "planned", "succeeded", "rescued", "failed",
		"not_sent", "excused", "open", "late", "success_rate", "average_ms", "p50_ms", "p95_ms")
	if err != nil {
		return err
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, l := range v.Lines {
		n := l.Now
		rate := ""
		if n.Rated() > 0 {
			rate = strconv.FormatFloat(float64(n.Succeeded)/float64(n.Rated()), 'f', 4, 64)
		}
		var average, p50, p95 string
		if n.TookRuns > 0 {
			average, p50, p95 = whole(n.TookMS/n.TookRuns), whole(n.Took.Quantile(0.5)), whole(n.Took.Quantile(0.95))
		}
		err = t.line(strconv.Itoa(l.JobID), l.Name, l.Unit, l.Owner, v.First.Format(time.DateOnly), v.Last.Format(time.DateOnly), whole(n.Expected), whole(n.Succeeded), whole(n.Rescued),
			whole(n.Failed), whole(n.Missed), whole(n.Excused), whole(n.Open()), whole(n.Late), rate, average, p50, p95)
		if err != nil {
			return err
		}
	}
	return t.send()
}

// reportXLSX gives the report as a workbook.
func (c *Console) reportXLSX(r *request) error {
	ask := reportAsk(r)
	ask.List, ask.Length = report.Busy, mostReportJobs
	p, err := c.svc.Report(r.Request().Context(), r.actor(), ask)
	if err != nil {
		return err
	}
	v := ReportView(ask, p)
	v.Page = r.page("reports", "")
	lines := make(map[int]views.ReportLine, len(v.Lines))
	for _, l := range v.Lines {
		lines[l.JobID] = l
	}
	var out bytes.Buffer
	err = report.WriteXLSX(&out, report.Book{
		Report: p.Report, Title: v.Heading(), Sentence: v.Sentence(), Before: v.Before(), Zone: r.loc.T("report.zone", "Zone", views.ZoneName(r.now.In(r.center))),
		Job: func(id int) (name, executor, owner string) {
			l := lines[id]
			return l.Title(v.Page), l.Unit, l.Owner
		},
		Targets: p.Targets, Month: p.Month, About: func(t model.TargetResult) string { return views.TargetAbout(v.Page, t) },
		Reason: func(code string) string { return views.ShortReason(r.loc, code) }, T: r.loc.T,
	})
	if err != nil {
		return err
	}
	h := r.Response().Header()
	h.Set(echo.HeaderContentDisposition, `attachment; filename="report-`+p.Period.First.Format(time.DateOnly)+`.xlsx"`)
	return r.Blob(http.StatusOK, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", out.Bytes())
}
