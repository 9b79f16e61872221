package jobs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// mostReportMails bounds the reports that go out by mail.
const mostReportMails = 100

// ReportMails lists the reports that go out by mail: for administrators all, for who
// administers executors those about one of these.
func (s *Service) ReportMails(ctx context.Context, actor model.Actor) ([]model.ReportMail, error) {
	if !actor.MaySomewhere(model.LevelAdminister) {
		return nil, forbidden()
	}
	list, err := s.store.ReportMails(ctx)
	return slices.DeleteFunc(list, func(m model.ReportMail) bool { return !managesReport(actor, m) }), err
}

// managesReport reports whether the actor may change a report that goes out by mail.
func managesReport(actor model.Actor, m model.ReportMail) bool {
	return actor.Admin || m.GroupID != 0 && actor.May(model.LevelAdminister, m.GroupID)
}

// ReportMail gives one that the actor may change.
func (s *Service) ReportMail(ctx context.Context, actor model.Actor, id int) (model.ReportMail, error) {
	if !actor.MaySomewhere(model.LevelAdminister) {
		return model.ReportMail{}, forbidden()
	}
	m, err := s.store.ReportMail(ctx, id)
	if err == nil && !managesReport(actor, m) {
		return model.ReportMail{}, model.Errf(model.CodeNotFound, "error.report_mail_not_found", "ID", int64(id))
	}
	return m, err
}

// SaveReportMail checks and writes a report that goes out by mail, a new one when it has no id.
func (s *Service) SaveReportMail(ctx context.Context, actor model.Actor, m model.ReportMail) error {
	err := error(nil)
	if !actor.MaySomewhere(model.LevelAdminister) {
		err = forbidden()
	} else if m.ID != 0 {
		_, err = s.ReportMail(ctx, actor, m.ID)
	}
	if err != nil {
		s.note(ctx, actor, "report.mail", thing{id: int64(m.ID), name: m.Name}, err)
		return err
	}
	if err := s.checkReportMail(ctx, actor, &m); err != nil {
		return err
	}
	m.NextMS = report.NextMail(m.ReportMailSettings, s.now(), s.Now().Location()).UnixMilli()
	_, err = s.store.SaveReportMail(ctx, m)
	s.note(ctx, actor, "report.mail", thing{id: int64(m.ID), name: m.Name}, err)
	return err
}

func (s *Service) checkReportMail(ctx context.Context, actor model.Actor, m *model.ReportMail) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	m.Name, m.Tag, m.Owner = strings.TrimSpace(m.Name), strings.TrimSpace(m.Tag), strings.TrimSpace(m.Owner)
	line(bad, "name", m.Name, 100, true)
	line(bad, "tag", m.Tag, 40, false) // before it becomes small: that hides what is no text
	m.Tag = strings.ToLower(m.Tag)
	line(bad, "owner", m.Owner, 64, false)
	known(bad, "kind", m.Kind, slices.Contains([]report.Kind{report.Day, report.Week, report.Month}, report.Kind(m.Kind)))
	if !clockForm.MatchString(m.At) {
		bad.AddField("at", "field.clock")
	}
	if m.Weekday != 0 || m.Kind == string(report.Week) {
		whole(bad, "weekday", m.Weekday, 1, 7)
	}
	if m.MonthDay != 0 || m.Kind == string(report.Month) {
		whole(bad, "month_day", m.MonthDay, 1, 28)
	}
	if m.Zone != "" {
		if _, err := time.LoadLocation(m.Zone); err != nil || m.Zone == "Local" {
			bad.AddField("zone", "field.zone")
		}
	}
	known(bad, "language", m.Language, slices.Contains([]string{"", "zh-Hans", "zh-Hant", "en"}, m.Language))
	if len(m.To) == 0 {
		bad.AddField("to", "field.required")
	}
	checkMails(bad, "to", m.To)
	var to []string
	for _, a := range m.To { // one person gets one, however often the address is written
		if !slices.ContainsFunc(to, func(b string) bool { return strings.EqualFold(a, b) }) {
			to = append(to, a)
		}
	}
	m.To = to
	switch {
	case m.GroupID == 0 && !actor.Admin:
		bad.AddField("executor", "field.required")
	case !managesReport(actor, *m):
		bad.AddField("executor", "field.not_found")
	case m.GroupID != 0:
		if _, err := s.store.Group(ctx, m.GroupID); model.CodeOf(err) == model.CodeNotFound {
			bad.AddField("executor", "field.not_found")
		} else if err != nil {
			return err
		}
	}
	if m.ID == 0 {
		list, err := s.store.ReportMails(ctx)
		if err != nil {
			return err
		}
		if len(list) >= mostReportMails {
			bad.AddField("name", "field.too_many", "Max", mostReportMails)
		}
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// DeleteReportMail ends a report that goes out by mail.
func (s *Service) DeleteReportMail(ctx context.Context, actor model.Actor, id int) error {
	m, err := s.ReportMail(ctx, actor, id)
	if err != nil {
		return err
	}
	err = s.store.DeleteReportMail(ctx, id)
	s.note(ctx, actor, "report.mail", thing{id: int64(id), name: m.Name}, err)
	return err
}

// SendReport sends the report to one address at once and gives the server's own answer.
func (s *Service) SendReport(ctx context.Context, actor model.Actor, id int, address string) (string, error) {
	m, err := s.ReportMail(ctx, actor, id)
	if err != nil {
		return "", err
	}
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if address = strings.TrimSpace(address); address == "" {
		bad.AddField("address", "field.required")
	} else {
		checkMails(bad, "address", []string{address})
	}
	if len(bad.Fields) == 0 && !s.teller.MailSet() {
		bad.AddField("address", "field.no_mail")
	}
	if len(bad.Fields) > 0 {
		return "", bad
	}
	answer, err := s.teller.SendReport(ctx, m, address)
	s.note(ctx, actor, "report.send", thing{id: int64(id), name: m.Name + " → " + address}, err)
	if err != nil {
		return "", &model.Error{Code: model.CodeUnavailable, Key: "error.not_delivered", Args: map[string]any{"Text": err.Error()}, Cause: err}
	}
	return answer, nil
}

// PreviewReport is the mail as it would go out now, and its picture.
func (s *Service) PreviewReport(ctx context.Context, actor model.Actor, id int) (subject, html string, picture []byte, err error) {
	m, err := s.ReportMail(ctx, actor, id)
	if err != nil {
		return "", "", nil, err
	}
	return s.teller.PreviewReport(ctx, m)
}
