package alarm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// mostJobs is how many jobs one message can be about.
const mostJobs = 5000

// ruleOf is the rule that an incident follows.
func (p *pass) ruleOf(inc *model.Incident) model.AlarmRule {
	if inc.JobID != 0 {
		if job, there := p.Jobs[inc.JobID]; there {
			return p.Rules.For(&job)
		}
	}
	if r, is := p.Rules.ofLates(inc); is {
		return r
	}
	if inc.GroupID != 0 {
		return p.Rules.ForGroup(inc.GroupID)
	}
	return p.Rules.Default()
}

// tell does what is due for an open incident.
func (p *pass) tell(inc *model.Incident) {
	now := p.Now.UnixMilli()
	if inc.TellMS == 0 || inc.TellMS > now {
		return
	}
	p.changed(inc)
	rule := p.ruleOf(inc)
	if rule.Off {
		inc.TellMS = 0
		return
	}
	if inc.MutedMS > now {
		inc.TellMS = inc.MutedMS
		if inc.MutedMS >= model.MutedForGood {
			inc.TellMS = 0
		}
		return
	}
	if end := quietUntil(rule.AlarmSettings, inc.Severity, p.Now); !end.IsZero() {
		inc.TellMS = end.UnixMilli()
		return
	}
	if parent := p.parentOf(inc); parent != nil && inc.ToldMS == 0 {
		p.joined(inc, parent)
		return
	}
	switch {
	case inc.ToldMS == 0:
		if p.grouped(inc) || p.lateTogether(inc) {
			if inc.TellMS != 0 {
				p.joined(inc, p.parentOf(inc))
			}
			return
		}
		inc.ToldMS = now
		p.say(inc, model.StepOpened, 0, p.targets(inc, false))
	case inc.AckedMS != 0: // somebody is at it
		inc.TellMS = 0
		return
	case p.escalates(inc, rule):
		inc.EscalatedMS = now
		p.note(inc, "escalated", strings.Join(rule.EscalateTo, ", "))
		p.say(inc, model.StepEscalated, 0, p.targets(inc, true))
	default:
		inc.Reminders++
		p.say(inc, model.StepReminder, inc.Reminders, p.targets(inc, false))
	}
	p.again(inc, rule)
}

// joined tells of a cause to those who hear of it by a job that came later. Who was told
// already is not told again: the outbox has each telling once.
func (p *pass) joined(inc, parent *model.Incident) {
	inc.TellMS = 0
	if parent.ToldMS != 0 && parent.MutedMS <= p.Now.UnixMilli() {
		p.say(parent, model.StepOpened, 0, p.targetsOf(parent, []*model.Incident{inc}, false))
	}
}

func (p *pass) escalates(inc *model.Incident, rule model.AlarmRule) bool {
	return rule.EscalateMinutes > 0 && len(rule.EscalateTo) > 0 && inc.EscalatedMS == 0 &&
		p.Now.UnixMilli() >= inc.ToldMS+int64(rule.EscalateMinutes)*60_000
}

// again sets when the incident is looked at next: the reminder, or the escalation before it.
func (p *pass) again(inc *model.Incident, rule model.AlarmRule) {
	now := p.Now.UnixMilli()
	inc.TellMS = 0
	if rule.RemindMinutes > 0 {
		inc.TellMS = now + int64(rule.RemindMinutes)*60_000
	}
	if rule.EscalateMinutes > 0 && len(rule.EscalateTo) > 0 && inc.EscalatedMS == 0 {
		if at := inc.ToldMS + int64(rule.EscalateMinutes)*60_000; inc.TellMS == 0 || at < inc.TellMS {
			inc.TellMS = max(at, now)
		}
	}
}

// grouped makes jobs that one executor fails together one incident: it is told, they are not.
func (p *pass) grouped(inc *model.Incident) bool {
	if inc.JobID == 0 || model.CauseOf(inc.Reason) != model.CauseExecutor || !p.atHome(inc) {
		return false
	}
	subject := executorSubject(inc.GroupID)
	var same []*model.Incident
	for _, x := range p.inOrder() {
		if x.JobID != 0 && x.GroupID == inc.GroupID && p.atHome(x) && x.ToldMS == 0 && p.parentOf(x) == nil && model.CauseOf(x.Reason) == model.CauseExecutor {
			same = append(same, x)
		}
	}
	if len(same) < 2 && p.open[subject] == nil {
		return false
	}
	opened := same[0].OpenedMS
	for _, x := range same {
		p.join(x, subject, model.AlarmEvent{AtMS: opened, Reason: x.Reason, RunID: x.LastRun, Fires: x.Failed + x.Missed})
	}
	if parent := p.open[subject]; parent.ToldMS == 0 {
		p.tell(parent)
	}
	return true
}

// atHome reports whether the job still has the executor on which it failed.
func (p *pass) atHome(inc *model.Incident) bool {
	job, there := p.Jobs[inc.JobID]
	return !there || job.GroupID == inc.GroupID
}

func (p *pass) say(inc *model.Incident, step string, n int, to []Target) {
	if step == model.StepOpened && len(to) == 0 && p.d.Runs[inc.FirstRun] != 1 {
		p.run(inc.FirstRun, 1)
	}
	x := Telling{Incident: inc, Step: step, N: n, Targets: to}
	if step == model.StepEnded { // the other steps are decided when they may be told
		if end := quietUntil(p.ruleOf(inc).AlarmSettings, inc.Severity, p.Now); !end.IsZero() {
			x.NotBeforeMS = end.UnixMilli()
		}
	}
	p.d.Told = append(p.d.Told, x)
}

// targets are those whom an incident is told to: of one that many jobs have, everybody
// hears of the jobs that are theirs.
func (p *pass) targets(inc *model.Incident, escalated bool) []Target {
	return p.targetsOf(inc, append([]*model.Incident{inc}, p.members(inc)...), escalated)
}

// targetsOf are those who hear of an incident by it or by some of its members.
func (p *pass) targetsOf(inc *model.Incident, by []*model.Incident, escalated bool) []Target {
	rule := p.ruleOf(inc)
	var out []Target
	add := func(channel, name string, job int) {
		if at := strings.LastIndex(name, "@"); channel == model.ChannelMail && at > 0 {
			name = name[:at] + strings.ToLower(name[at:]) // what is counted for an address is counted for all spellings of its domain
		}
		i := slices.IndexFunc(out, func(t Target) bool { return t.Channel == channel && strings.EqualFold(t.Name, name) })
		if i < 0 {
			i = len(out)
			out = append(out, Target{Channel: channel, Name: name, JobIDs: []int{}})
		}
		switch {
		case job == 0:
			out[i].JobIDs = nil
		case out[i].JobIDs != nil && len(out[i].JobIDs) < mostJobs && !slices.Contains(out[i].JobIDs, job):
			out[i].JobIDs = append(out[i].JobIDs, job)
		}
	}
	of := func(r model.AlarmRule, job int) {
		mails := r.Mails
		if escalated {
			mails = r.EscalateTo
		} else {
			for _, id := range r.Channels {
				add(model.ChannelOther, strconv.Itoa(id), job)
			}
		}
		for _, m := range mails {
			add(model.ChannelMail, m, job)
		}
	}
	of(rule, 0)
	for _, x := range by {
		job, there := p.Jobs[x.JobID]
		if x.JobID == 0 || !there {
			continue
		}
		own := 0
		if inc.JobID == 0 {
			own = x.JobID
		}
		if !escalated {
			for _, m := range Mails(job.AlarmEmail) {
				add(model.ChannelMail, m, own)
			}
		}
		of(p.Rules.For(&job), own)
	}
	return out
}

// members are the incidents of which this one is the cause, in order.
func (p *pass) members(inc *model.Incident) []*model.Incident {
	var out []*model.Incident
	for _, x := range p.inOrder() {
		if p.parentOf(x) == inc && x != inc {
			out = append(out, x)
		}
	}
	return out
}
