package report

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// MailStore is what sending reports needs of the database.
type MailStore interface {
	DueReportMails(ctx context.Context, now int64) ([]model.ReportMail, error)
	PostReport(ctx context.Context, m model.ReportMail, first string, to []string, next, now int64) error
}

// Postman puts reports that are due into the outbox. One node does it; a second one does
// no harm.
type Postman struct {
	Store MailStore
	Leads func() bool
	Zone  *time.Location // of the center: of the days
	// Trouble reports whether the days of a report had some, or an incident is open.
	Trouble func(ctx context.Context, m model.ReportMail, p Period) (bool, error)
	// Posted is told that the outbox has something new.
	Posted func()
}

// Pass posts what is due.
func (p *Postman) Pass(ctx context.Context, now time.Time) error {
	if !p.Leads() {
		return nil
	}
	due, err := p.Store.DueReportMails(ctx, now.UnixMilli())
	for _, m := range due {
		if err := p.post(ctx, m, now); err != nil {
			return err
		}
	}
	return err
}

func (p *Postman) post(ctx context.Context, m model.ReportMail, now time.Time) error {
	about := LastOver(Kind(m.Kind), now.In(p.Zone))
	to := m.To
	if m.Off {
		to = nil
	} else if m.OnlyTrouble {
		trouble, err := p.Trouble(ctx, m, about)
		if err != nil {
			return err
		}
		if !trouble {
			to = nil
		}
	}
	next := NextMail(m.ReportMailSettings, now, p.Zone)
	if err := p.Store.PostReport(ctx, m, about.First.Format(time.DateOnly), to, next.UnixMilli(), now.UnixMilli()); err != nil {
		return err
	}
	if len(to) > 0 {
		p.Posted()
	}
	return nil
}

// LastOver is the last day, week or month that is over.
func LastOver(k Kind, now time.Time) Period {
	today := model.Date(now)
	switch k {
	case Week:
		return unitPeriod(Week, model.UnitWeek, today.AddDate(0, 0, -7))
	case Month:
		return unitPeriod(Month, model.UnitMonth, model.UnitMonth.Start(today).AddDate(0, 0, -1))
	}
	return Period{Day, today.AddDate(0, 0, -1), today.AddDate(0, 0, -1)}
}

// NextMail is when a report goes out next after an instant. A time of day that a change of
// the clock skips or repeats is used once.
func NextMail(m model.ReportMailSettings, after time.Time, center *time.Location) time.Time {
	zone := center
	if z, err := time.LoadLocation(m.Zone); err == nil && m.Zone != "" {
		zone = z
	}
	at, err := time.Parse("15:04", m.At)
	if err != nil {
		at = time.Date(0, 1, 1, 8, 0, 0, 0, time.UTC)
	}
	day := model.Date(after.In(zone)).AddDate(0, 0, -1)
	for range 70 { // a month has at most 31 days
		day = day.AddDate(0, 0, 1)
		if m.Kind == string(Week) && (int(day.Weekday())+6)%7+1 != max(1, m.Weekday) || m.Kind == string(Month) && day.Day() != max(1, m.MonthDay) {
			continue
		}
		if t := time.Date(day.Year(), day.Month(), day.Day(), at.Hour(), at.Minute(), 0, 0, zone); t.After(after) {
			return t
		}
	}
	return after.AddDate(0, 0, 1)
}
