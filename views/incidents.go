package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Incidents is the list of troubles.
type Incidents struct {
	Page
	Open, Past []IncidentRow
	Older      bool
	MailSet    bool // alarms can be mailed
}

// IncidentRow is one trouble in a list.
type IncidentRow struct {
	model.Incident
	JobName, GroupTitle string
	Jobs                int
}

// IncidentView is the page of one.
type IncidentView struct {
	Page
	IncidentRow
	Parent   *IncidentRow
	Members  []IncidentRow
	Notes    []model.IncidentNote
	Told     []model.Message
	Run      *model.Run
	NextMS   int64
	Success  int64
	NoteHTML string
	Owner    string
	Theirs   string // what the executor wrote of the last run
	Ours     string // what the center says
	Comment  string // typed, refused
	Error    string
}

// title names the trouble.
func (r IncidentRow) title(p Page) string {
	return AlarmMail{L: p.L, Incident: r.Incident, JobName: r.JobName, GroupTitle: r.GroupTitle}.Subject()
}

func (r IncidentRow) url(p Page) string { return p.URL("/incidents/" + id64(r.ID)) }

// state is the word for how it stands: open, acked, muted or over.
func (r IncidentRow) state(p Page) string {
	switch {
	case !r.Open():
		return "ended"
	case r.MutedMS > p.Now.UnixMilli():
		return "muted"
	case r.AckedMS != 0:
		return "acked"
	}
	return "open"
}

func (r IncidentRow) stateClass(p Page) string {
	return map[string]string{"ended": "ok", "muted": "off", "acked": "open", "open": "bad"}[r.state(p)]
}

// lasted is how long it lasts, or has lasted.
func (r IncidentRow) lasted(p Page) string {
	end := p.Now
	if !r.Open() {
		end = time.UnixMilli(r.EndedMS)
	}
	return p.L.Duration(end.Sub(time.UnixMilli(r.OpenedMS)).Round(time.Second))
}

// reason is the short word for the last event.
func (r IncidentRow) reason(p Page) string { return reasonText(p.L, r.Reason) }

func (v IncidentView) path(action string) string {
	return v.URL("/incidents/" + id64(v.ID) + "/" + action)
}

func (v IncidentView) mayAct() bool {
	if v.GroupID == 0 {
		return v.SeesAll()
	}
	return v.Actor.May(model.LevelOperate, v.GroupID)
}

// noteText says in words what happened.
func (v IncidentView) noteText(n model.IncidentNote) string {
	switch n.Kind {
	case "opened":
		return v.T("incident.note.opened", "Reason", reasonText(v.L, n.Text))
	case "muted":
		if d, err := time.ParseDuration(n.Text); err == nil {
			return v.T("incident.note.muted", "For", v.L.Duration(d))
		}
		return v.T("incident.note.muted_for_good")
	case "comment":
		return n.Text
	case "escalated":
		return v.T("incident.note.escalated", "Names", n.Text)
	}
	return v.T("incident.note." + n.Kind)
}

// toldState is what became of a message.
func (v IncidentView) toldState(m model.Message) (class, text string) {
	switch m.State {
	case model.OutboxSent:
		return "ok", v.T("incident.told.sent", "Time", v.when(v.millis(m.SentMS)))
	case model.OutboxFailed:
		return "bad", v.T("incident.told.failed")
	case model.OutboxFolded:
		return "off", v.T("incident.told.folded")
	}
	if m.Attempts > 1 {
		return "open", v.T("incident.told.again", "Time", v.when(v.millis(m.NextMS)))
	}
	return "open", v.T("incident.told.waiting")
}

// answer is what the server or robot said.
func (v IncidentView) answer(m model.Message) string {
	text := strings.TrimSpace(m.Answer)
	if m.Code != 0 && !strings.HasPrefix(text, strconv.Itoa(m.Code)) {
		text = strings.TrimSpace(strconv.Itoa(m.Code) + " " + text)
	}
	return text
}

// mail is the trouble as a mail would tell it now.
func (v IncidentView) mail() AlarmMail {
	m := AlarmMail{L: v.L, Zone: v.Now.Location(), Now: v.Now, Step: model.StepReminder, Incident: v.Incident, JobName: v.JobName, GroupTitle: v.GroupTitle, Run: v.Run, SuccessMS: v.Success}
	if !v.Open() {
		m.Step = model.StepEnded
	}
	return m
}

// counted says that fires that failed or were not made belong to the trouble.
func (v IncidentView) counted() bool { return v.JobID == 0 && v.Failed+v.Missed > 0 || v.OfRuns() }

// nobody says why nobody was told.
func (v IncidentView) nobody() string {
	if v.JobID == 0 && v.GroupID == 0 {
		return v.T("incident.told.nobody_center")
	}
	return v.T("incident.told.nobody")
}
