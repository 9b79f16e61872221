package views

import (
	"bytes"
	"context"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// ReportMail is a report as a mail. Its Page has the address of the console as Base.
type ReportMail struct {
	Report
	Open      []AlarmLine // incidents that last, the first of them
	OpenOf    int
	PictureID string // under which the picture goes with the mail; "" = none
	URL       string // of the report
}

// Subject says the most important at once.
func (m ReportMail) Subject() string {
	parts := []string{strings.TrimRight(m.sentence(), ".。")}
	if m.Now.Failed+m.Now.Missed-m.Now.Excused > 0 && m.Now.Rated() >= 20 {
		parts[0] = m.T("report.mail.short", "Succeeded", m.L.Number(m.Now.Succeeded), "Rated", m.L.Number(m.Now.Rated()))
	}
	if m.OpenOf > 0 {
		parts = append(parts, m.L.N("report.mail.open", m.OpenOf))
	}
	return m.Heading() + m.T("report.mail.colon") + strings.Join(parts, m.T("report.comma"))
}

// facts are the figures with those that they are compared with.
func (m ReportMail) facts() (out []mailFact) {
	for _, x := range []struct {
		key       string
		now, then int64
		status    model.RunStatus
		how       string
		usual     func(*model.Usual) model.UsualFigure
	}{
		{"planned", m.Now.Expected, m.Then.Expected, model.RunsAll, "", func(u *model.Usual) model.UsualFigure { return u.Expected }}, {"succeeded", m.Now.Succeeded, m.Then.Succeeded, model.RunsSucceeded, "", func(u *model.Usual) model.UsualFigure { return u.Succeeded }},
		{"rescued", m.Now.Rescued, m.Then.Rescued, "", model.HowRescued, func(u *model.Usual) model.UsualFigure { return u.Rescued }}, {"failed", m.Now.Failed, m.Then.Failed, model.RunsFailed, "", usualFailed},
		{"missed", m.Now.Missed, m.Then.Missed, model.RunsMissed, "", usualMissed}, {"late", m.Now.Late, m.Then.Late, "", model.HowLate, func(u *model.Usual) model.UsualFigure { return u.Late }},
	} {
		f := mailFact{Name: m.T("report.x." + x.key), Value: m.L.Number(x.now), URL: m.runsURL(x.status, "", 0)}
		if x.how != "" {
			f.URL = m.howURL(x.how)
		}
		if m.Then.Expected > 0 {
			f.Value += " (" + m.Before() + m.T("report.mail.colon") + m.L.Number(x.then) + ")"
		}
		if m.Usual.Known() && m.Usual.Odd(x.usual(m.Usual), x.now) {
			f.Value += " · " + m.T("report.odd")
		}
		out = append(out, f)
	}
	return out
}

// lineDetail says how a job did.
func (m ReportMail) lineDetail(l ReportLine) string {
	out := rate(m.Page, l.Now)
	if n := l.Now.Failed; n > 0 {
		out += " · " + m.T("report.rest_failed", "N", m.L.Number(n))
	}
	if n := l.Now.Missed; n > 0 {
		out += " · " + m.T("report.rest_missed", "N", m.L.Number(n))
	}
	if l.Owner != "" {
		out += " · " + plainLine(l.Owner, 60)
	}
	return out
}

func (m ReportMail) jobLines() (out []AlarmLine) {
	for _, l := range m.Lines {
		status := model.RunsFailed
		if l.Now.Failed == 0 {
			status = model.RunsMissed
		}
		out = append(out, AlarmLine{Name: plainLine(l.Title(m.Page), 200), Detail: m.lineDetail(l), URL: m.runsURL(status, "", l.JobID)})
	}
	return out
}

// tone is the colour of the bar.
func (m ReportMail) tone() string {
	if m.OpenOf > 0 || m.Now.Failed+m.Now.Missed-m.Now.Excused > 0 {
		return "#c92a2a"
	}
	return "#1a7f37"
}

// HTML draws the mail.
func (m ReportMail) HTML(ctx context.Context) (string, error) {
	var b bytes.Buffer
	err := reportMail(m).Render(ctx, &b)
	return b.String(), err
}

// Text is the mail for programs that show no HTML.
func (m ReportMail) Text() string {
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line(m.Heading())
	line()
	line(m.Sentence())
	if text := m.comparison(); text != "" {
		line(text)
	}
	line()
	for _, f := range m.facts() {
		line(f.Name, m.T("report.mail.colon"), f.Value)
	}
	section := func(title, none string, list []AlarmLine) {
		line()
		line(title)
		if len(list) == 0 {
			line("  ", none)
		}
		for _, x := range list {
			line("  ", x.Name, " · ", x.Detail)
			line("    ", x.URL)
		}
	}
	section(m.T("report.mail.incidents"), m.T("report.mail.incidents_none"), m.Open)
	if list := m.targetLines(); len(list) > 0 {
		section(m.T("target.mail_title"), "", list)
	}
	section(m.T("report.mail.jobs"), m.T("report.list_none.failing"), m.jobLines())
	line()
	line(m.URL)
	line()
	line(m.T("report.def.rate"), m.T("report.mail.colon"), m.T("report.def.rate_text"))
	line(m.CenterZone(), " · ", m.asOf())
	return b.String()
}
