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
	about := mailedNow(m.ReportMailSettings, now, p.Zone)
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

// LastOver is the last day, week or month that is over by the calendar of now.
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

// mailing is one time that a report goes out.
type mailing struct {
	at    time.Time
	about Period
}

// mailingOf is the mailing of a day of the reader's calendar, if there is one. It is about
// the last period that is over by the calendar of that day; of which the center's calendar is
// further by then, in winter or in summer, the last one that is over there. It waits until the
// period is over in the center. As each day of the reader has a period of its own, none is left
// out and none comes twice, whatever the clocks of both do.
func mailingOf(m model.ReportMailSettings, day time.Time, reader, center *time.Location) (out mailing, ok bool) {
	kind, further := Kind(m.Kind), 0
	switch {
	case kind == Week && (int(day.Weekday())+6)%7+1 != max(1, m.Weekday), kind == Month && day.Day() != max(1, m.MonthDay):
		return out, false
	case kind != Month: // on the 1st to 28th of a month another day changes nothing
		for _, season := range []time.Month{time.January, time.July} {
			date := time.Date(day.Year(), season, 1, 0, 0, 0, 0, time.UTC)
			further = max(further, int(model.Date(mailClock(m.At, date, reader).In(center)).Sub(date)/(24*time.Hour)))
		}
	}
	out = mailing{mailClock(m.At, day, reader), LastOver(kind, day.AddDate(0, 0, further))}
	if _, end := DayBounds(out.about.Last, center); out.at.Before(end) {
		out.at = end.Add(time.Minute)
	}
	return out, true
}

// mailClock is a time of day on a date. One that a change of the clock skips or repeats is
// there once.
func mailClock(clock string, day time.Time, zone *time.Location) time.Time {
	at, err := time.Parse("15:04", clock)
	if err != nil {
		at = time.Date(0, 1, 1, 8, 0, 0, 0, time.UTC)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), at.Hour(), at.Minute(), 0, 0, zone)
}

// readerZone is the zone in which a report goes out.
func readerZone(m model.ReportMailSettings, center *time.Location) *time.Location {
	if z, err := time.LoadLocation(m.Zone); err == nil && m.Zone != "" {
		return z
	}
	return center
}

const (
	// mailWaits is how many days a mailing may wait for the center: zones are up to 26 hours apart.
	mailWaits = 3
	// mailDays is how many days there are from one mailing to the next at most, and some.
	mailDays = 70
)

// NextMail is when a report goes out next after an instant.
func NextMail(m model.ReportMailSettings, after time.Time, center *time.Location) time.Time {
	reader := readerZone(m, center)
	day := model.Date(after.In(reader)).AddDate(0, 0, -mailWaits)
	for range mailDays {
		if x, ok := mailingOf(m, day, reader, center); ok && x.at.After(after) {
			return x.at
		}
		day = day.AddDate(0, 0, 1)
	}
	return after.AddDate(0, 0, 1)
}

// mailedNow is what a report is about that goes out now, or should have some time ago.
func mailedNow(m model.ReportMailSettings, now time.Time, center *time.Location) Period {
	reader := readerZone(m, center)
	day := model.Date(now.In(reader))
	for range mailDays {
		if x, ok := mailingOf(m, day, reader, center); ok && !x.at.After(now) {
			return x.about
		}
		day = day.AddDate(0, 0, -1)
	}
	return LastOver(Kind(m.Kind), now.In(center))
}
