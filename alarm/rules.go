package alarm

import (
	"cmp"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Rules finds the rule of a job.
type Rules []model.AlarmRule

// Default is the rule of what is about no job.
func (rs Rules) Default() model.AlarmRule {
	for _, r := range rs {
		if r.Scope == model.ScopeDefault {
			return r
		}
	}
	return model.DefaultAlarmRule()
}

// For gives the narrowest rule that fits the job; of several the oldest.
func (rs Rules) For(j *model.Job) model.AlarmRule {
	best, width := rs.Default(), 4
	for _, r := range rs {
		w := 4
		switch {
		case r.Scope == model.ScopeJob && r.JobID == j.ID:
			w = 1
		case r.Scope == model.ScopeTag && slices.Contains(strings.Split(j.Tags, ","), r.Tag):
			w = 2
		case r.Scope == model.ScopeExecutor && r.GroupID == j.GroupID:
			w = 3
		}
		if w < width {
			best, width = r, w
		}
	}
	return best
}

// ForGroup gives the rule of an executor.
func (rs Rules) ForGroup(group int) model.AlarmRule {
	for _, r := range rs {
		if r.Scope == model.ScopeExecutor && r.GroupID == group {
			return r
		}
	}
	return rs.Default()
}

// Of gives the rule of an incident that is about no job, as somebody hears of it: by the rule of
// the trouble, or by the first of the jobs that is told of whose rule names the target.
func (rs Rules) Of(inc *model.Incident, jobs []model.Job, channel, target string) model.AlarmRule {
	if r, is := rs.ofLates(inc); is {
		return r
	}
	own := rs.ForGroup(inc.GroupID)
	if Tells(own, channel, target) {
		return own
	}
	for i := range jobs {
		if r := rs.For(&jobs[i]); Tells(r, channel, target) {
			return r
		}
	}
	return own
}

// quietUntil gives the end of the quiet hours that an instant lies in, or zero. What is
// critical has none.
func quietUntil(s model.AlarmSettings, sev model.Severity, now time.Time) time.Time {
	if s.QuietFrom == "" || s.QuietTo == "" || sev == model.SeverityCritical {
		return time.Time{}
	}
	if loc, err := time.LoadLocation(s.Zone); err == nil && s.Zone != "" {
		now = now.In(loc)
	}
	clock := now.Format("15:04")
	from, to := s.QuietFrom, s.QuietTo
	inside := from <= clock && clock < to
	if from > to { // over midnight
		inside = clock >= from || clock < to
	}
	if !inside {
		return time.Time{}
	}
	at, err := time.Parse("15:04", to)
	if err != nil {
		return time.Time{}
	}
	end := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if !end.After(now) {
		end = time.Date(now.Year(), now.Month(), now.Day()+1, at.Hour(), at.Minute(), 0, 0, now.Location())
	}
	return end
}

// Mails takes apart the addresses of a job: separated by commas, semicolons or lines, with
// or without names. What is none stays as it is, so that its refusal is seen.
func Mails(list string) []string {
	var out []string
	add := func(a string) {
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, a) }) {
			out = append(out, a)
		}
	}
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(",;，；\r\n", r) }) {
		if a, err := mail.ParseAddress(part); err == nil {
			add(a.Address)
			continue
		}
		for _, word := range strings.Fields(part) {
			add(word)
		}
	}
	return out
}

func severityOf(r model.AlarmRule) model.Severity {
	return cmp.Or(r.Severity, model.SeverityCritical)
}

// Tells reports whether a rule names somebody: a mail address, or a channel by its id.
func Tells(r model.AlarmRule, channel, target string) bool {
	if channel != model.ChannelMail {
		return slices.ContainsFunc(r.Channels, func(id int) bool { return strconv.Itoa(id) == target })
	}
	return slices.ContainsFunc(slices.Concat(r.Mails, r.EscalateTo), func(a string) bool { return strings.EqualFold(a, target) })
}
