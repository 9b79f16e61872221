package views

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// AlarmMail is what a message about an incident is made of.
type AlarmMail struct {
	L    *i18n.Localizer
	Zone *time.Location
	Now  time.Time
	Base string // address of the console, without a slash at its end
	Step string
	N    int // of the reminder

	Incident   model.Incident
	JobName    string
	GroupTitle string
	Jobs       int         // concerned, of an incident that many have
	Members    []AlarmLine // the first of them
	Job        *model.Job
	Run        *model.Run
	NextMS     int64
	SuccessMS  int64
	NoteText   string
	NoteHTML   string // the same, sanitised
	LogTail    string
	Plain      func(string) string // makes text of what others wrote as HTML
}

// AlarmLine is a job or an incident with its link.
type AlarmLine struct{ Name, Detail, URL string }

// AlarmDigest is what was not told one by one.
type AlarmDigest struct {
	L     *i18n.Localizer
	Zone  *time.Location
	Now   time.Time
	Base  string
	Lines []AlarmLine // the first of them
	Total int
	Open  int // of the incidents
}

// mailFact is a line of the table in a mail.
type mailFact struct{ Name, Value, URL string }

// Subject is the same for all mails of an incident, so that mailboxes put them together.
func (m AlarmMail) Subject() string {
	return m.L.T("alarm.subject."+m.about(), "Name", m.name())
}

// about is the kind of trouble.
func (m AlarmMail) about() string {
	kind, _, _ := strings.Cut(m.Incident.Subject, ":")
	return kind
}

func (m AlarmMail) name() string {
	switch {
	case m.JobName != "":
		return m.JobName
	case m.GroupTitle != "":
		return m.GroupTitle
	}
	_, name, _ := strings.Cut(m.Incident.Subject, ":")
	return name
}

// Headline says in one sentence what is the matter.
func (m AlarmMail) Headline() string {
	i := m.Incident
	end := m.Now
	if i.EndedMS != 0 {
		end = time.UnixMilli(i.EndedMS)
	}
	args := []any{"Name", m.name(), "Count", m.Jobs, "Failed", i.Failed, "Missed", i.Missed, "For", m.L.Duration(end.Sub(time.UnixMilli(i.OpenedMS)).Round(time.Second))}
	key := "alarm.head." + m.Step
	switch m.Step {
	case model.StepOpened:
		if key += "." + m.about(); m.about() == "job" && i.Failed == 0 {
			key += ".missed"
		} else if m.about() == "executor" && m.Jobs == 0 {
			key += ".silent"
		}
	case model.StepTest:
	default:
		switch {
		case m.about() == "job":
			key += ".job"
		case m.Jobs == 0:
			key += ".silent"
		default:
			key += ".many"
		}
	}
	return m.L.T(key, args...)
}

// tone is the colour of the bar: bad, warn or good.
func (m AlarmMail) tone() string {
	switch m.Step {
	case model.StepEnded:
		return "#1a7f37"
	case model.StepTest:
		return "#0459b0"
	}
	return "#c92a2a"
}

func (m AlarmMail) at(ms int64) string {
	return i18n.DateTime(time.UnixMilli(ms).In(m.Zone)) + " " + time.UnixMilli(ms).In(m.Zone).Format("MST")
}

// Reason says why the last fire was not made, in words.
func (m AlarmMail) Reason() string {
	if m.Run != nil {
		theirs, ours := Cause(m.L, m.Zone, *m.Run, m.Plain)
		return strings.TrimSpace(strings.Join([]string{oneLine(theirs, 500), ours}, "\n"))
	}
	return reasonText(m.L, m.Incident.Reason)
}

func (m AlarmMail) facts() []mailFact {
	t := m.L.T
	var out []mailFact
	add := func(key, value, url string) {
		if value != "" {
			out = append(out, mailFact{t("alarm.fact." + key), value, url})
		}
	}
	i := m.Incident
	if m.Step == model.StepTest {
		return nil
	}
	if m.JobName != "" {
		add("job", m.JobName, m.Base+"/jobs/"+itoa(i.JobID))
	}
	add("executor", m.GroupTitle, "")
	if m.Run != nil && m.Step != model.StepEnded {
		add("address", m.Run.Address, "")
		if m.Run.PlannedMS > 0 {
			add("planned", m.at(m.Run.PlannedMS), "")
		}
		if m.Run.SentMS > 0 {
			add("sent", m.at(m.Run.SentMS), "")
		}
		if m.Run.FinishedMS > 0 {
			add("ended", m.at(m.Run.FinishedMS), "")
		}
	}
	if m.Step != model.StepEnded {
		add("reason", m.Reason(), "")
	}
	add("since", m.at(i.OpenedMS), "")
	if i.EndedMS != 0 {
		add("over", m.at(i.EndedMS), "")
	}
	if n := i.Failed; n > 0 {
		add("failed", m.L.Number(int64(n)), "")
	}
	if n := i.Missed; n > 0 {
		add("missed", m.L.Number(int64(n)), "")
	}
	if m.SuccessMS > 0 {
		add("success", m.at(m.SuccessMS), "")
	}
	if m.NextMS > 0 {
		add("next", m.at(m.NextMS), "")
	}
	if m.Job != nil {
		add("owner", m.Job.Author, "")
	}
	if i.AckedBy != "" && m.Step != model.StepOpened {
		add("acked", i.AckedBy, "")
	}
	return out
}

// links are what one clicks at 3 a.m., the most useful first.
func (m AlarmMail) links() []AlarmLine {
	t := m.L.T
	if m.Step == model.StepTest {
		return []AlarmLine{{Name: t("alarm.link.incidents"), URL: m.Base + "/incidents"}}
	}
	page := m.Base + "/incidents/" + itoa64(m.Incident.ID)
	var out []AlarmLine
	if m.Run != nil && m.Step != model.StepEnded {
		out = append(out, AlarmLine{Name: t("alarm.link.run"), URL: m.Base + "/runs/" + itoa64(m.Run.ID)})
	}
	out = append(out, AlarmLine{Name: t("alarm.link.incident"), URL: page})
	if m.Incident.JobID != 0 {
		out = append(out, AlarmLine{Name: t("alarm.link.job"), URL: m.Base + "/jobs/" + itoa(m.Incident.JobID)})
	}
	return out
}

// Text is the plain part.
func (m AlarmMail) Text() string {
	var b strings.Builder
	b.WriteString(m.Headline() + "\n\n")
	for _, f := range m.facts() {
		b.WriteString(f.Name + ": " + strings.ReplaceAll(f.Value, "\n", "\n  ") + "\n")
	}
	if len(m.Members) > 0 {
		b.WriteString("\n" + m.L.N("alarm.jobs", m.Jobs) + "\n")
		for _, x := range m.Members {
			b.WriteString("- " + x.Name + "\n")
		}
		if rest := m.Jobs - len(m.Members); rest > 0 {
			b.WriteString(m.L.N("alarm.more", rest) + "\n")
		}
	}
	if m.LogTail != "" {
		b.WriteString("\n" + m.L.T("alarm.log") + "\n" + m.LogTail + "\n")
	}
	if m.NoteText != "" {
		b.WriteString("\n" + m.L.T("alarm.note") + "\n" + m.NoteText + "\n")
	}
	b.WriteString("\n")
	for _, x := range m.links() {
		b.WriteString(x.Name + ": " + x.URL + "\n")
	}
	return b.String()
}

// HTML is the other part.
func (m AlarmMail) HTML(ctx context.Context) (string, error) {
	var b bytes.Buffer
	err := alarmMail(m).Render(ctx, &b)
	return b.String(), err
}

// Subject of a digest.
func (d AlarmDigest) Subject() string { return d.L.N("alarm.digest.subject", d.Total) }

// Headline says how much there is, and how much of it lasts.
func (d AlarmDigest) Headline() string {
	return d.L.N("alarm.digest.head", d.Total, "Open", d.Open)
}

// Text is the plain part.
func (d AlarmDigest) Text() string {
	var b strings.Builder
	b.WriteString(d.Headline() + "\n\n")
	for _, x := range d.Lines {
		b.WriteString("- " + x.Name + " · " + x.Detail + "\n  " + x.URL + "\n")
	}
	if rest := d.Total - len(d.Lines); rest > 0 {
		b.WriteString(d.L.N("alarm.more", rest) + "\n")
	}
	b.WriteString("\n" + d.L.T("alarm.link.incidents") + ": " + d.Base + "/incidents\n")
	return b.String()
}

// HTML is the other part.
func (d AlarmDigest) HTML(ctx context.Context) (string, error) {
	var b bytes.Buffer
	err := alarmDigest(d).Render(ctx, &b)
	return b.String(), err
}

// oneLine cuts a text of somebody else.
func oneLine(text string, most int) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }
