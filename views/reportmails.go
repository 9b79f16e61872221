package views

import (
	"strings"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// ReportMails is the list of the reports that go out by mail.
type ReportMails struct {
	Page
	List    []model.ReportMail
	MailSet bool

	SentID          int // of which a mail was just sent by hand, or should have been
	Address, Error  string
	Answer, Refused string // of the server
}

// ReportMailForm is the form of one. Values are as they were typed.
type ReportMailForm struct {
	Page
	ID     int
	Values map[string]string
	Errors map[string]string
	Groups []model.Group
	People []model.MailPerson
}

// says puts one into a line: what, when, in which zone.
func (v ReportMails) says(m model.ReportMail) string {
	out := []string{v.T("report.title." + m.Kind)}
	switch m.Kind {
	case "week":
		out = append(out, weekdayFromMonday(v.Page, m.Weekday-1)+" "+m.At)
	case "month":
		out = append(out, v.T("report.mails.month_day", "Day", m.MonthDay)+" "+m.At)
	default:
		out = append(out, m.At)
	}
	if m.Zone != "" {
		out = append(out, m.Zone)
	}
	if m.OnlyTrouble {
		out = append(out, v.T("report.mails.only_trouble"))
	}
	return strings.Join(out, " · ")
}

func (v ReportMails) next(m model.ReportMail) string {
	if m.Off {
		return v.T("report.mails.off")
	}
	return i18n.DateTime(v.millis(m.NextMS))
}

func (v ReportMails) last(m model.ReportMail) string {
	if m.LastMS == 0 {
		return "–"
	}
	return i18n.DateTime(v.millis(m.LastMS))
}

func (v ReportMailForm) action() string {
	if v.ID == 0 {
		return v.URL("/reports/mails")
	}
	return v.URL("/reports/mails/" + itoa(v.ID))
}

func (v ReportMailForm) field(name string, f Field) Field {
	f.Name, f.Label, f.Value, f.Error = name, v.T("report.mails.field."+name), v.Values[name], v.Errors[name]
	if key := "report.mails.hint." + name; v.L.Has(key) && f.Hint == "" {
		f.Hint = v.T(key)
	}
	return f
}

func (v ReportMailForm) kinds() (out []Option) {
	for _, k := range []string{"day", "week", "month"} {
		out = append(out, Option{k, v.T("report.title." + k)})
	}
	return out
}

func (v ReportMailForm) weekdays() (out []Option) {
	for d := range 7 {
		out = append(out, Option{itoa(d + 1), weekdayFromMonday(v.Page, d)})
	}
	return out
}

func (v ReportMailForm) groups() []Option {
	var out []Option
	if v.Admin {
		out = append(out, Option{"", v.T("jobs.all_executors")})
	}
	for _, g := range v.Groups {
		out = append(out, Option{itoa(g.ID), g.Title})
	}
	return out
}

func (v ReportMailForm) languages() []Option { return AlarmRuleForm{Page: v.Page}.languages() }
