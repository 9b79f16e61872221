package alarm

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/model"
)

// latesSubject is the subject of jobs of one executor that are late together. They follow one
// rule, so who is told, when and how is the same for each of them.
func latesSubject(group int, r model.AlarmRule) string {
	return fmt.Sprintf("%s:%d/%d", model.WatchLates, group, r.ID)
}

// ofLates is the rule of such an incident, while it is there.
func (rs Rules) ofLates(inc *model.Incident) (model.AlarmRule, bool) {
	for _, r := range rs {
		if inc.Kind() == model.WatchLates && inc.Subject == latesSubject(inc.GroupID, r) {
			return r, true
		}
	}
	return model.AlarmRule{}, false
}

// lateTogether makes jobs of one executor that are late at once one incident: it is told, and
// each of those who hear of one of its jobs. One that was told by itself belongs to it from
// then on, too, unless somebody is at it.
func (p *pass) lateTogether(inc *model.Incident) bool {
	if inc.Kind() != model.WatchLate || inc.GroupID == 0 {
		return false
	}
	now := p.Now.UnixMilli()
	rule := p.ruleOf(inc)
	subject := latesSubject(inc.GroupID, rule)
	var same []*model.Incident
	for _, x := range p.inOrder() {
		if x.Kind() == model.WatchLate && x.GroupID == inc.GroupID && p.parentOf(x) == nil && x.AckedMS == 0 && x.MutedMS <= now && p.ruleOf(x).ID == rule.ID {
			same = append(same, x)
		}
	}
	parent := p.open[subject]
	if parent == nil {
		if len(same) < 2 {
			return false
		}
		parent = p.openNew(model.Incident{Subject: subject, GroupID: inc.GroupID, Severity: severityOf(rule), TellMS: now}, model.AlarmEvent{AtMS: same[0].OpenedMS, Reason: model.AlarmLate})
	}
	for _, x := range same {
		p.d.Parents[x] = parent
		x.TellMS = 0
		if x.ToldMS == 0 && parent.ToldMS != 0 { // whoever hears of this job only has heard nothing yet
			x.TellMS = now
		}
		p.changed(x)
	}
	parent.LastMS = now
	p.changed(parent)
	if parent.ToldMS == 0 {
		p.tell(parent)
	}
	return true
}
