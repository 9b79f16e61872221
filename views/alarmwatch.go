package views

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// watched says that the message is about what is watched, not about outcomes of runs: the
// words for it are its own, and a run that belongs to it may go on.
func (m AlarmMail) watched() bool {
	return m.Incident.ID != 0 && m.Incident.Reason != "" && !m.Incident.OfRuns() && m.Incident.JobID != 0
}

// headKey finds the words of a step: those of the kind of trouble, else the common ones.
func (m AlarmMail) headKey() string {
	key, about := "alarm.head."+m.Step+".", m.about()
	if about == model.WatchLates {
		return key + about
	}
	if m.Step == model.StepOpened && m.L.Has(key+m.Incident.Reason) {
		return key + m.Incident.Reason
	}
	if about == model.WatchLate && m.Step == model.StepEnded && (m.Run == nil || m.Run.SentMS == 0) {
		return key + "late.unsent"
	}
	if m.L.Has(key + about) {
		return key + about
	}
	if about == "job" {
		return key + "job"
	}
	return key + "many"
}

// until is the end of the trouble, or now.
func (m AlarmMail) until() time.Time {
	if m.Incident.EndedMS != 0 {
		return time.UnixMilli(m.Incident.EndedMS)
	}
	return m.Now
}

// span is a time in words, "" when it is not known.
func (m AlarmMail) span(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return m.L.Duration((time.Duration(ms) * time.Millisecond).Round(time.Second))
}

// took is for how long the run that is watched runs, or ran.
func (m AlarmMail) took() string {
	d := m.Incident.Details()
	if d.SentMS == 0 {
		return ""
	}
	end := m.until().UnixMilli()
	if m.Run != nil && m.Run.FinishedMS > 0 {
		end = m.Run.FinishedMS
	}
	return m.span(max(1, end-d.SentMS))
}

// watchedArgs are what the words of watched troubles name.
func (m AlarmMail) watchedArgs() []any {
	d := m.Incident.Details()
	return []any{"Late", m.late(), "Took", m.took(), "Limit", m.span(d.LimitMS), "Usual", m.span(d.UsualMS)}
}

// clock is a time of day in the reader's zone; of another day with its date.
func (m AlarmMail) clock(ms int64) string {
	at, now := time.UnixMilli(ms).In(m.Zone), m.Now.In(m.Zone)
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// late is by how much what had to be done or sent is late, or was.
func (m AlarmMail) late() string {
	d := m.Incident.Details()
	if d.DueMS == 0 {
		return ""
	}
	end := m.until().UnixMilli()
	if m.Incident.Kind() == model.WatchLate && m.Run != nil && m.Run.SentMS > d.DueMS {
		end = m.Run.SentMS
	} else if m.Incident.EndedMS != 0 && m.SuccessMS > d.DueMS && m.SuccessMS < end {
		end = m.SuccessMS
	}
	return m.span(max(1000, end-d.DueMS))
}

// watchedFacts are what is known in numbers of what is watched, and of how often a job failed.
func (m AlarmMail) watchedFacts() (out []mailFact) {
	t, i, d := m.L.T, m.Incident, m.Incident.Details()
	add := func(key, value string) {
		if value != "" {
			out = append(out, mailFact{Name: t("alarm.fact." + key), Value: value})
		}
	}
	if d.OutOf > 0 && m.Step != model.StepEnded {
		add("recent", t("alarm.recent", "N", d.Recent, "Of", d.OutOf))
	}
	if !m.watched() {
		return out
	}
	switch {
	case i.Kind() == model.WatchLate:
		if m.Run == nil {
			add("planned", m.at(d.DueMS))
		}
		add("late", m.late())
	case i.Kind() == model.WatchDeadline:
		add("due", m.at(d.DueMS))
		add("late", m.late())
		if m.Run != nil {
			add("last_result", t("result."+string(m.Run.Result())))
		}
	case m.Step != model.StepEnded:
		add("running", m.took())
	case m.Run != nil:
		add("result", t("result."+string(m.Run.Result())))
	}
	add("allowed", m.span(d.LimitMS))
	add("usual", m.span(d.UsualMS))
	return out
}

// opening is the first line of the mail that told of it, with the numbers of then.
func (m AlarmMail) opening() string {
	m.Step = model.StepOpened
	return m.Headline()
}
