package jobs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// mostReportTags is how many tags and owners a report offers.
const mostReportTags = 200

// ReportAsk is what a report is to be about, as an address says it.
type ReportAsk struct {
	Kind          report.Kind
	Day, From, To string
	GroupID       int
	Owner, Tag    string
	List          report.List
	Length        int // jobs that are named; 0 = as many as a page has
	NoTargets     bool
}

// ReportPage is a report with the names that belong to it.
type ReportPage struct {
	*report.Report
	Names  map[int]model.Job // of the jobs that are named
	Groups []model.Group     // that may be chosen
	Owners []string
	Tags   []string
	Zone   *time.Location // of the days
	// Targets are how those that belong to the report stand in the month of its last day,
	// the worst first.
	Targets []model.TargetResult
	Month   report.Period
}

// Report makes a report of what the actor may see. Days are those of the center.
func (s *Service) Report(ctx context.Context, actor model.Actor, in ReportAsk) (ReportPage, error) {
	zone := s.Now().Location()
	p := ReportPage{Zone: zone}
	groups := actor.GroupLimit()
	ask := report.Ask{
		Period: report.NewPeriod(in.Kind, in.Day, in.From, in.To, s.Now()),
		Filter: model.CounterFilter{Groups: groups, GroupID: in.GroupID, Owner: in.Owner, Tag: in.Tag},
		List:   in.List, Length: in.Length, Today: model.Date(s.Now()),
	}
	var err error
	if p.Report, err = report.Build(ctx, s.store, ask, zone); err != nil {
		return p, err
	}
	ids := make([]int, len(p.Jobs))
	for i, l := range p.Jobs {
		ids[i] = l.JobID
	}
	if p.Names, err = s.titles(ctx, actor, ids); err != nil {
		return p, err
	}
	if p.Groups, err = s.store.Groups(ctx, groups); err != nil {
		return p, err
	}
	if p.Tags, err = s.store.Tags(ctx, groups, mostReportTags); err != nil {
		return p, err
	}
	if p.Owners, err = s.store.Owners(ctx, groups, mostReportTags); err != nil || in.NoTargets {
		return p, err
	}
	p.Month = report.NewPeriod(report.Month, p.Period.Until(s.Now()).Last.Format(time.DateOnly), "", "", s.Now())
	p.Targets, err = s.targetResults(ctx, actor, p.Month, ask.Filter)
	return p, err
}
