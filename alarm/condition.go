package alarm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// conditions opens and ends the incidents of what is watched.
func (p *pass) conditions() {
	if !p.Watched {
		return
	}
	for _, c := range p.Conditions {
		if p.open[c.Subject] == nil {
			p.begin(c)
		}
	}
	for _, inc := range p.inOrder() {
		if p.watched(inc) && !p.holds(inc.Subject) {
			known := p.stillWatched(inc)
			if parent := p.parentOf(inc); parent != nil && !known {
				p.unknown[parent] = true
			}
			p.end(inc, p.Now.UnixMilli(), known)
		}
	}
}

// stillWatched reports whether a condition that is not seen any more has ended: when nobody
// looks for it any more, that is not known, and nobody is told that it has.
func (p *pass) stillWatched(inc *model.Incident) bool {
	rule := p.ruleOf(inc)
	switch inc.Reason {
	case model.AlarmOverrun:
		return !rule.Off && rule.OverrunMinutes > 0
	case model.AlarmUnusual:
		return !rule.Off && rule.OverrunTimes > 0
	case model.AlarmDiskFull, model.AlarmOverCapacity:
		_, node, _ := strings.Cut(inc.Subject, ":")
		if inc.Reason == model.AlarmDiskFull {
			node, _, _ = strings.Cut(node, " ")
		}
		return !slices.Contains(p.Away, node)
	case model.AlarmLate:
		if _, there := p.Rules.ofLates(inc); !there && inc.Kind() == model.WatchLates {
			return false
		}
		// A rule that allows more by now does not look for what was late for it before.
		limit := inc.Details().LimitMS
		return !rule.Off && rule.LateMinutes > 0 && (limit == 0 || int64(rule.LateMinutes)*60_000 <= limit)
	case model.AlarmNotDone, model.AlarmBroken:
		job, there := p.Jobs[inc.JobID]
		return there && job.Active()
	}
	return true
}

// watched reports whether an incident lasts as long as its condition is seen, and no longer.
// Those of executors end with a success, too.
func (p *pass) watched(inc *model.Incident) bool {
	switch inc.Kind() {
	case "node", "loop", model.WatchDisk, model.WatchSlow, model.WatchCapacity, model.WatchOldRuns, model.WatchBroken, model.WatchOverrun, model.WatchLate, model.WatchDeadline:
		return true
	}
	return false
}

// begin opens the incident of a condition, when its rule wants to hear of it.
func (p *pass) begin(c Condition) {
	rule := p.Rules.Default()
	switch {
	case c.JobID != 0:
		job, there := p.Jobs[c.JobID]
		if !there {
			return
		}
		rule = p.Rules.For(&job)
	case c.GroupID != 0:
		rule = p.Rules.ForGroup(c.GroupID)
	}
	if rule.Off || slices.Contains(rule.Without, c.Reason) {
		return
	}
	now := p.Now.UnixMilli()
	inc := p.openNew(model.Incident{Subject: c.Subject, JobID: c.JobID, GroupID: c.GroupID, Severity: severityOf(rule), LastRun: c.RunID, LastMS: now, TellMS: now, Detail: c.Detail.Text()},
		model.AlarmEvent{AtMS: cmp.Or(c.SinceMS, now), Reason: c.Reason})
	p.changed(inc)
}
