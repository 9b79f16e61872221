package alarm

import (
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// enough reports whether a job has failed often enough for people to be told: so many times in
// a row, or of its newest fires.
func (p *pass) enough(inc *model.Incident, rule model.AlarmRule) bool {
	if rule.OutOf == 0 {
		return inc.Failed+inc.Missed >= rule.InARow
	}
	n := p.Recent[inc.JobID]
	if n < max(1, rule.InARow) {
		return false
	}
	inc.Detail = model.AlarmDetail{Recent: n, OutOf: rule.OutOf}.Text()
	return true
}

// attempt takes a failed attempt that will be tried again: the rule of its job may want to hear
// of it. Those of a job that is in trouble already say nothing new.
func (p *pass) attempt(e model.AlarmEvent, reason string) {
	job, there := p.Jobs[e.JobID]
	rule := p.Rules.For(&job)
	if !there || rule.Off || !rule.EachAttempt || slices.Contains(rule.Without, reason) {
		return
	}
	inc := p.open[jobSubject(e.JobID)]
	if inc == nil {
		e.Reason = model.AlarmAttempt
		inc = p.openNew(model.Incident{Subject: jobSubject(e.JobID), JobID: e.JobID, GroupID: job.GroupID, Severity: severityOf(rule), FirstRun: e.RunID}, e)
	}
	if inc.Reason != model.AlarmAttempt {
		return
	}
	inc.LastRun, inc.LastMS = e.RunID, max(inc.LastMS, e.AtMS)
	if inc.ToldMS == 0 && inc.TellMS == 0 && rule.InARow <= 1 && rule.OutOf == 0 {
		inc.TellMS = p.Now.UnixMilli()
	}
	p.changed(inc)
}
