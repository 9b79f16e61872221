package console

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// Report gives a small report of one job.
func (f *fake) Report(_ context.Context, a model.Actor, in jobs.ReportAsk) (jobs.ReportPage, error) {
	f.report = in
	period := report.NewPeriod(in.Kind, in.Day, in.From, in.To, f.now)
	day := period.Last.Format(time.DateOnly)
	c := model.NewCounter(model.UnitDay, day, 7, 1)
	c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS = 1000, 980, 12, 15, 5, 2, 3, 980, 980*1200
	c.Lines = map[string]int64{model.ReasonError: 15, model.ReasonMisfire: 3, model.ReasonPaused: 2}
	c.Hours = model.Hours{26: {Expected: 40, Failed: 15, Missed: 3}, 30: {Expected: 960}}
	c.Took = model.Took{model.TookBucket(1200): 940, model.TookBucket(60_000): 40}
	then := model.NewCounter(model.UnitDay, day, 7, 1)
	then.Expected, then.Succeeded, then.Failed = 1000, 999, 1
	r := &report.Report{
		Ask: report.Ask{Period: period, List: in.List}, Before: period.Before(), Now: c, Then: then, TrendUnit: model.UnitDay, Trend: []*model.Counter{then, c}, Heat: c.Hours,
		HeatFirst: period.First, HeatLast: period.Last, Jobs: []report.Line{{JobID: 7, GroupID: 1, Now: c, Then: then, Days: []*model.Counter{then, c}}}, JobsOf: 1, Ran: 5, Quiet: 4,
		Incidents: model.IncidentFigures{Opened: 2, Open: 1, RecoveryMS: 600_000}, State: model.CountState{FoldedMS: f.now.UnixMilli(), CountedFrom: "2020-01-01"},
	}
	targets := []model.TargetResult{
		{Target: model.Target{ID: 3, Name: "Ledger <b>", TargetSettings: model.TargetSettings{Scope: model.ScopeJob, JobID: 7, Goal: 99_500}}, TargetSum: model.TargetSum{Rated: 998, Good: 980}, Of: "=Nightly <ledger>"},
		{Target: model.Target{ID: 4, Name: "Close of day", TargetSettings: model.TargetSettings{Scope: model.ScopeTag, Tag: "billing", Goal: 99_000, By: "06:00"}}, TargetSum: model.TargetSum{Rated: 400, Good: 398}},
	}
	return jobs.ReportPage{Targets: targets, Month: report.NewPeriod(report.Month, day, "", "", f.now), Report: r, Names: map[int]model.Job{7: {ID: 7, GroupID: 1, Name: "=Nightly <ledger>", Author: "Li Wei"}}, Groups: f.seen(a), Owners: []string{"Li Wei"}, Tags: []string{"billing"}, Zone: f.now.Location()}, nil
}

func (f *fake) ReportMails(context.Context, model.Actor) ([]model.ReportMail, error) { return nil, nil }

func (f *fake) ReportMail(_ context.Context, _ model.Actor, id int) (model.ReportMail, error) {
	return model.ReportMail{ID: id}, nil
}

func (f *fake) SaveReportMail(context.Context, model.Actor, model.ReportMail) error { return f.err }

func (f *fake) DeleteReportMail(context.Context, model.Actor, int) error { return f.err }

func (f *fake) Targets(context.Context, model.Actor) (jobs.TargetPage, error) {
	return jobs.TargetPage{}, nil
}

func (f *fake) Target(_ context.Context, _ model.Actor, id int) (model.Target, error) {
	return model.Target{ID: id}, nil
}

func (f *fake) SaveTarget(context.Context, model.Actor, model.Target) error { return f.err }

func (f *fake) DeleteTarget(context.Context, model.Actor, int) error { return f.err }

func (f *fake) SendReport(context.Context, model.Actor, int, string) (string, error) {
	return "", f.err
}

func (f *fake) PreviewReport(context.Context, model.Actor, int) (subject, html string, picture []byte, err error) {
	return "", "", nil, f.err
}
