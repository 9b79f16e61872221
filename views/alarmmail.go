package views

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"strings"
	"time"
	"unicode"

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
	Acts       []AlarmLine         // links that act: acknowledge, mute
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
		return plainLine(m.JobName, 200)
	case m.GroupTitle != "":
		return plainLine(m.GroupTitle, 200)
	}
	_, name, _ := strings.Cut(m.Incident.Subject, ":")
	return plainLine(cmp.Or(name, m.Incident.Subject), 200)
}

// Headline says in one or two sentences what is the matter.
func (m AlarmMail) Headline() string {
	i := m.Incident
	about := m.about()
	args := []any{"N", m.L.Number(i.Details().N), "By", m.clock(i.Details().DueMS), "Name", m.name(), "For", m.L.Duration(max(0, m.until().Sub(time.UnixMilli(i.OpenedMS)).Round(time.Second)))}
	if m.Step == model.StepTest {
		return m.L.T("alarm.head.test")
	}
	key := m.headKey()
	switch {
	case m.Step == model.StepOpened && about == "job" && i.Failed == 0 && i.Missed > 0:
		key += ".missed"
	case m.watched():
		args = append(args, m.watchedArgs()...)
	case m.Step != model.StepOpened && about != "job":
		args = append(args, "What", m.L.T("alarm.what."+about, "Name", m.name()))
	}
	out := []string{m.L.T(key, args...)}
	if about != "job" && m.Jobs > 0 {
		out = append(out, m.L.N("alarm.concerned", m.Jobs, "N", m.L.Number(int64(m.Jobs))))
	}
	if !m.watched() && (m.Step != model.StepOpened || about != "job" && i.Missed > 0) {
		out = append(out, m.meanwhile())
	}
	return strings.TrimSpace(strings.Join(out, map[bool]string{true: " "}[m.L.Lang() == "en"]))
}

// meanwhile says how often it failed and was not made.
func (m AlarmMail) meanwhile() string {
	var parts []string
	for _, x := range []struct {
		key string
		n   int
	}{{"alarm.count.failed", m.Incident.Failed}, {"alarm.count.missed", m.Incident.Missed}} {
		if x.n > 0 {
			parts = append(parts, m.L.N(x.key, x.n, "N", m.L.Number(int64(x.n))))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return m.L.T("alarm.meanwhile", "What", strings.Join(parts, m.L.T("alarm.and")))
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
	return mailTime(ms, m.Zone)
}

// Reason says why the last fire was not made, in words. What an executor said of one job is
// not told to those who have other jobs.
func (m AlarmMail) Reason() string {
	if m.Incident.Reason == model.AlarmBroken && m.Job != nil && m.Job.Condition == model.JobQuarantined {
		return plainText(cmp.Or(conditionText(m.L, m.Zone, m.Job.ConditionReason), reasonText(m.L, m.Incident.Reason)), 1000)
	}
	if m.Run == nil || m.watched() && m.Run.Class() != model.ClassFailed {
		return reasonText(m.L, m.Incident.Reason)
	}
	theirs, ours := Cause(m.L, m.Zone, *m.Run, m.Plain)
	if m.Incident.JobID == 0 {
		theirs = ""
		ours = cmp.Or(ours, reasonText(m.L, m.Incident.Reason))
	}
	return strings.TrimSpace(plainText(theirs, 500) + "\n" + plainText(ours, 1000))
}

func (m AlarmMail) facts() []mailFact {
	t := m.L.T
	var out []mailFact
	add := func(key, value, url string) {
		if value != "" {
			out = append(out, mailFact{t("alarm.fact." + key), plainText(value, 2000), url})
		}
	}
	i := m.Incident
	if m.Step == model.StepTest {
		return nil
	}
	if m.JobName != "" {
		add("job", m.name(), m.Base+"/jobs/"+itoa(i.JobID))
	}
	add("executor", m.GroupTitle, "")
	if m.Run != nil && (m.Step != model.StepEnded || m.watched()) {
		if m.watched() || m.about() == "job" || m.about() == "executor" {
			add("address", m.Run.Address, "")
		}
		if i.JobID != 0 && m.Run.PlannedMS > 0 {
			add("planned", m.at(m.Run.PlannedMS), "")
		}
		if i.JobID != 0 && m.Run.SentMS > 0 {
			add("sent", m.at(m.Run.SentMS), "")
		}
		if i.JobID != 0 && m.Run.FinishedMS > 0 {
			add("ended", m.at(m.Run.FinishedMS), "")
		}
	}
	out = append(out, m.watchedFacts()...)
	if m.Step != model.StepEnded && m.Step != model.StepTest {
		add("reason", m.Reason(), "")
	}
	if i.OpenedMS != 0 {
		add("since", m.at(i.OpenedMS), "")
	}
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
	page := m.Base + "/incidents/" + id64(m.Incident.ID)
	var out []AlarmLine
	if m.Incident.ID == 0 {
		return []AlarmLine{{Name: t("alarm.link.incidents"), URL: m.Base + "/incidents"}}
	}
	if m.Run != nil && m.Incident.JobID != 0 && m.Step != model.StepEnded {
		out = append(out, AlarmLine{Name: t("alarm.link.run"), URL: m.Base + "/runs/" + id64(m.Run.ID)})
	}
	out = append(out, AlarmLine{Name: t(map[bool]string{true: "alarm.link.over", false: "alarm.link.incident"}[m.Step == model.StepEnded || len(m.Acts) > 0]), URL: page})
	if m.Incident.JobID != 0 {
		out = append(out, AlarmLine{Name: t("alarm.link.job"), URL: m.Base + "/jobs/" + itoa(m.Incident.JobID)})
	}
	return out
}

// Text is the plain part.
func (m AlarmMail) Text() string {
	var b strings.Builder
	b.WriteString(m.Headline() + "\n")
	if len(m.facts()) > 0 {
		b.WriteString("\n")
	}
	for _, f := range m.facts() {
		b.WriteString(f.Name + m.L.T("alarm.colon") + strings.ReplaceAll(f.Value, "\n", "\n  ") + "\n")
	}
	if len(m.Members) > 0 {
		b.WriteString("\n" + m.L.T("alarm.members") + "\n")
		for _, x := range m.Members {
			b.WriteString("- " + plainLine(x.Name, 200) + "\n")
		}
		if rest := m.Jobs - len(m.Members); rest > 0 {
			b.WriteString(m.L.N("alarm.more", rest) + "\n")
		}
	}
	if tail := m.tail(); tail != "" {
		b.WriteString("\n" + m.L.T("alarm.log") + "\n" + tail + "\n")
	}
	if m.NoteText != "" {
		b.WriteString("\n" + m.L.T("alarm.note") + "\n" + plainText(m.NoteText, mostNote) + "\n")
	}
	b.WriteString("\n")
	for _, x := range m.links() {
		b.WriteString(x.Name + m.L.T("alarm.colon") + x.URL + "\n")
	}
	if len(m.Acts) > 0 {
		b.WriteString("\n")
	}
	for _, x := range m.Acts {
		b.WriteString(x.Name + m.L.T("alarm.colon") + x.URL + "\n")
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
		b.WriteString("- " + plainLine(x.Name, 200) + " · " + x.Detail + "\n  " + x.URL + "\n")
	}
	if rest := d.Total - len(d.Lines); rest > 0 {
		b.WriteString(d.L.N("alarm.more", rest) + "\n")
	}
	b.WriteString("\n" + d.L.T("alarm.link.incidents") + d.L.T("alarm.colon") + d.Base + "/incidents\n")
	return b.String()
}

// HTML is the other part.
func (d AlarmDigest) HTML(ctx context.Context) (string, error) {
	var b bytes.Buffer
	err := alarmDigest(d).Render(ctx, &b)
	return b.String(), err
}

// tail is the end of the log, without what steers terminals.
func (m AlarmMail) tail() string { return plainText(m.LogTail, 5000) }

// Many mail servers refuse a mail of some hundred kilobytes, and Gmail hides what is behind
// the first hundred.
const (
	mostNote     = 8000
	mostNoteHTML = 40 << 10
)

// mailTime is an instant with its distance to UTC: names of zones mean several.
func mailTime(ms int64, zone *time.Location) string {
	t := time.UnixMilli(ms).In(zone)
	if _, offset := t.Zone(); offset == 0 {
		return i18n.DateTime(t) + " UTC"
	}
	return i18n.DateTime(t) + t.Format(" -07:00")
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// plainText cuts a text of somebody else, and drops what is not seen or turns the text around.
func plainText(text string, most int) string {
	text = strings.ReplaceAll(escapes.ReplaceAllString(text, ""), "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Trim(text, "\n ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// plainLine is plainText in one line.
func plainLine(text string, most int) string {
	return plainText(strings.Join(strings.Fields(text), " "), most)
}
