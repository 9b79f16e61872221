package alarm

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// How long to wait before people are told of what several jobs may suffer from, and after
// how long without news the center and its database count as well again.
const (
	GroupWait  = 30 * time.Second // an executor
	CenterWait = 5 * time.Second  // the center or its database: it says what was missed at once
	CalmAfter  = 2 * time.Minute
)

// Work is what one pass decides about.
type Work struct {
	Now    time.Time          // in the zone of the center
	Events []model.AlarmEvent // in their order
	Jobs   map[int]model.Job  // those of the events and of all open incidents
	Open   []model.Incident
	Rules  Rules
	// Well are jobs whose open incident is over: they have succeeded since.
	Well []int
	// Ended are jobs of open incidents that are stopped or gone: nobody is told.
	Ended []int
	// Failed is how many fires of jobs have failed, as far as that was counted.
	Failed map[int]int
	// Recent is how many of the newest fires of jobs failed or were not made, as many as their
	// rule names; of jobs with events and of Well, where the rule asks for it.
	Recent map[int]int
	// Watched says that Conditions is what is wrong now beside the jobs; else nobody looked.
	Watched    bool
	Conditions []Condition
	// Addressed are executors of open incidents that have an address now.
	Addressed []int
	// Away are nodes that do not say any more what is wrong with them.
	Away []string
}

// Condition is something that is wrong for as long as it is seen.
type Condition struct {
	Subject string // executor:3, node:a, loop:a/plan, overrun:12
	JobID   int    // whose rule holds; 0 = it is about no job
	GroupID int    // of an executor
	RunID   int64
	SinceMS int64 // since when it is wrong; 0 = since it is seen
	Reason  string
	Detail  model.AlarmDetail
}

// What a pass gives.
type (
	Decision = model.AlarmDecision
	Telling  = model.Telling
	Target   = model.TellTarget
	Note     = model.DecidedNote
)

type pass struct {
	Work
	d      Decision
	open   map[string]*model.Incident // by subject
	byID   map[int64]*model.Incident
	listed map[*model.Incident]bool // in d.Changed
	// unknown are those with a member of which nobody knows whether it is over.
	unknown map[*model.Incident]bool
}

// Decide is pure: the same work gives the same decision.
func Decide(w Work) *Decision {
	p := &pass{Work: w, open: map[string]*model.Incident{}, byID: map[int64]*model.Incident{}, listed: map[*model.Incident]bool{}, unknown: map[*model.Incident]bool{}, d: Decision{Runs: map[int64]int{}, Parents: map[*model.Incident]*model.Incident{}}}
	for i := range w.Open {
		inc := w.Open[i]
		if n := w.Failed[inc.JobID]; inc.OfRuns() && n > inc.Failed {
			inc.Failed = n // failures of a trouble that is told are no events
		}
		p.open[inc.Subject], p.byID[inc.ID] = &inc, &inc
	}
	for _, inc := range p.inOrder() {
		p.setBack(inc)
		p.moved(inc)
	}
	for _, e := range w.Events {
		p.event(e)
		p.d.Events = append(p.d.Events, e.ID)
	}
	for _, id := range w.Well {
		p.well(jobSubject(id), w.Now.UnixMilli(), math.MaxInt64, 0)
	}
	for _, id := range w.Ended {
		if inc := p.open[jobSubject(id)]; inc != nil {
			p.end(inc, w.Now.UnixMilli(), false)
		}
	}
	p.conditions()
	for _, inc := range p.inOrder() {
		p.calm(inc)
	}
	for _, inc := range p.inOrder() {
		p.tell(inc)
	}
	return &p.d
}

func jobSubject(id int) string { return model.JobSubject(id) }

// inOrder gives the open incidents, oldest first, groups before jobs.
func (p *pass) inOrder() []*model.Incident {
	var out []*model.Incident
	for _, inc := range p.open {
		out = append(out, inc)
	}
	slices.SortFunc(out, func(a, b *model.Incident) int {
		return cmp.Or(cmp.Compare(a.OpenedMS, b.OpenedMS), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

func (p *pass) changed(inc *model.Incident) {
	if !p.listed[inc] {
		p.listed[inc] = true
		p.d.Changed = append(p.d.Changed, inc)
	}
}

func (p *pass) note(inc *model.Incident, kind, text string) {
	p.d.Notes = append(p.d.Notes, Note{Incident: inc, Kind: kind, Text: text})
}

// event takes one outcome of a fire.
func (p *pass) event(e model.AlarmEvent) {
	if e.Reason == model.OutcomeSucceeded {
		p.well(jobSubject(e.JobID), e.AtMS, e.RunID, e.GroupID)
		return
	}
	if reason, is := e.Attempt(); is {
		p.attempt(e, reason)
		return
	}
	job, there := p.Jobs[e.JobID]
	rule := p.Rules.For(&job)
	if !there || rule.Off || slices.Contains(rule.Without, e.Reason) || e.Reason == model.ReasonDiscarded && !rule.Discarded {
		p.run(e.RunID, 1)
		return
	}
	inc := p.open[jobSubject(e.JobID)]
	if inc == nil {
		inc = p.openNew(model.Incident{Subject: jobSubject(e.JobID), JobID: e.JobID, GroupID: job.GroupID, Severity: severityOf(rule), FirstRun: e.RunID}, e)
	}
	inc.GroupID = job.GroupID // it may have been moved
	if inc.Reason == model.AlarmAttempt && inc.ToldMS != 0 && inc.AckedMS == 0 {
		inc.TellMS = p.Now.UnixMilli() // people heard that it would be tried again
	}
	count(inc, e)
	p.changed(inc)
	p.run(e.RunID, 1)
	parent := p.parentOf(inc)
	cause := model.CauseOf(e.Reason)
	if cause == model.CauseCenter || cause == model.CauseDatabase {
		p.join(inc, string(cause), e)
		return
	}
	if parent != nil && (cause == model.CauseExecutor && parent.Subject == executorSubject(job.GroupID)) {
		count(parent, e)
		p.changed(parent)
		return
	}
	inc.ParentID = 0
	delete(p.d.Parents, inc)
	if inc.ToldMS == 0 && inc.TellMS == 0 && p.enough(inc, rule) {
		inc.TellMS = p.Now.UnixMilli()
		if cause == model.CauseExecutor {
			inc.TellMS += GroupWait.Milliseconds()
		}
	}
	if inc.ToldMS == 0 && inc.TellMS > 0 {
		p.run(inc.FirstRun, -1)
	}
}

func executorSubject(group int) string { return model.WatchExecutor + ":" + strconv.Itoa(group) }

func (p *pass) openNew(inc model.Incident, e model.AlarmEvent) *model.Incident {
	inc.OpenedMS, inc.Reason = e.AtMS, e.Reason
	p.open[inc.Subject] = &inc
	p.note(&inc, "opened", e.Reason)
	return &inc
}

func notSent(outcome string) bool {
	info, known := model.ReasonOf(outcome)
	return known && info.Class == model.ClassNotSent
}

func count(inc *model.Incident, e model.AlarmEvent) {
	if notSent(e.Reason) {
		inc.Missed += max(1, e.Fires)
	} else {
		inc.Failed += max(1, e.Fires)
	}
	inc.Reason, inc.LastMS = e.Reason, max(inc.LastMS, e.AtMS)
	if e.RunID != 0 {
		inc.LastRun = e.RunID
		if inc.FirstRun == 0 {
			inc.FirstRun = e.RunID
		}
	}
}

// join makes a job's incident part of one that many jobs have.
func (p *pass) join(inc *model.Incident, subject string, e model.AlarmEvent) {
	parent := p.open[subject]
	if parent == nil {
		rule := p.Rules.Default()
		if inc.GroupID != 0 && subject == executorSubject(inc.GroupID) {
			rule = p.Rules.ForGroup(inc.GroupID)
		}
		x := model.Incident{Subject: subject, Severity: severityOf(rule)}
		if subject == executorSubject(inc.GroupID) {
			x.GroupID = inc.GroupID
		}
		parent = p.openNew(x, e)
		if parent.TellMS = p.Now.UnixMilli(); inc.GroupID == 0 || x.GroupID == 0 {
			parent.TellMS += CenterWait.Milliseconds()
		}
	}
	count(parent, e)
	if p.parentOf(inc) != parent {
		p.run(inc.FirstRun, 1)
		switch {
		case inc.ToldMS != 0: // of itself; it goes on
		case parent.ToldMS != 0: // whoever hears of this job only has heard nothing yet
			inc.TellMS = p.Now.UnixMilli()
		default:
			inc.TellMS = 0
		}
	}
	if parent.ToldMS == 0 {
		p.run(parent.FirstRun, -1)
	}
	p.d.Parents[inc] = parent
	p.changed(parent)
	p.changed(inc)
}

func (p *pass) parentOf(inc *model.Incident) *model.Incident {
	if parent := p.d.Parents[inc]; parent != nil {
		return parent
	}
	if parent := p.byID[inc.ParentID]; parent != nil && parent.Open() {
		return parent
	}
	return nil
}

func (p *pass) run(id int64, status int) {
	if id != 0 {
		p.d.Runs[id] = status
	}
}

// well ends the incident of a job that has succeeded. Its executor answers, too. The run is
// 0 when it is not known, and so is the executor that it was planned for.
func (p *pass) well(subject string, at, run int64, group int) {
	inc := p.open[subject]
	if inc == nil {
		return
	}
	if at < inc.LastMS && run < inc.LastRun { // written late: something newer has failed
		return
	}
	if rule := p.ruleOf(inc); rule.OutOf > 0 && inc.ToldMS != 0 && p.Recent[inc.JobID] >= max(1, rule.InARow) {
		return // one good fire among many bad ones
	}
	parent := p.parentOf(inc)
	if parent != nil && parent.GroupID != 0 && group != 0 && group != parent.GroupID {
		return // it was sent before the job was moved to the executor that it is in trouble with
	}
	if parent != nil && parent.GroupID != 0 && !p.holds(parent.Subject) {
		p.end(parent, at, true)
	}
	if inc.Open() {
		p.end(inc, at, parent == nil || inc.ToldMS != 0)
	}
}

// clockSlack is how far ahead of this node others may write down what has happened.
const clockSlack = time.Minute

// setBack moves the times of an incident that is from the future: the clock was set back, and
// what is still to be told is not to wait for as long.
func (p *pass) setBack(inc *model.Incident) {
	now := p.Now.UnixMilli()
	ahead := max(inc.LastMS, inc.ToldMS) - now
	if ahead <= clockSlack.Milliseconds() {
		return
	}
	inc.LastMS = min(inc.LastMS, now)
	if inc.ToldMS != 0 {
		inc.ToldMS = min(inc.ToldMS, now)
	}
	if inc.TellMS > now {
		inc.TellMS = max(now, inc.TellMS-ahead)
	}
	p.changed(inc)
}

// moved takes a job that has another executor now out of the trouble of the one that it had: what
// it does there says nothing about that one. Where people heard of that one only, the job's own
// is over, and nobody is told.
func (p *pass) moved(inc *model.Incident) {
	job, there := p.Jobs[inc.JobID]
	parent := p.parentOf(inc)
	if !there || !inc.OfRuns() && inc.Kind() != model.WatchLate || parent == nil || parent.GroupID == 0 || parent.GroupID == job.GroupID {
		return
	}
	if inc.ToldMS == 0 {
		p.end(inc, p.Now.UnixMilli(), false)
		return
	}
	inc.ParentID, inc.GroupID = 0, job.GroupID
	p.changed(inc)
}

// holds reports whether a condition lasts.
func (p *pass) holds(subject string) bool {
	return slices.ContainsFunc(p.Conditions, func(c Condition) bool { return c.Subject == subject })
}

// calm ends what nobody reports the end of.
func (p *pass) calm(inc *model.Incident) {
	if (inc.Subject == string(model.CauseCenter) || inc.Subject == string(model.CauseDatabase)) && p.Now.UnixMilli()-inc.LastMS > CalmAfter.Milliseconds() && inc.ToldMS > 0 {
		p.end(inc, inc.LastMS, true)
	}
	if inc.GroupID != 0 && inc.JobID == 0 { // an executor: over with the last of its jobs, and when it has an address
		if p.holds(inc.Subject) || !p.Watched {
			return
		}
		for _, x := range p.open {
			if p.parentOf(x) == inc {
				return
			}
		}
		p.end(inc, p.Now.UnixMilli(), p.knownWell(inc))
	}
}

// knownWell reports whether what many jobs had is over, now that none of them has it any more. When
// those of an executor were stopped, deleted or moved, nobody knows: an address is what was
// missing, or it says nothing. Of runs that are late nobody knows without their rule.
func (p *pass) knownWell(inc *model.Incident) bool {
	if inc.Kind() == model.WatchLates {
		return !p.unknown[inc] && p.stillWatched(inc)
	}
	return inc.Reason == model.ReasonNoAddress && slices.Contains(p.Addressed, inc.GroupID)
}

// end closes an incident; who was told of it is told so.
func (p *pass) end(inc *model.Incident, at int64, say bool) {
	if say && inc.ToldMS > 0 {
		p.say(inc, model.StepEnded, 0, p.targets(inc, false))
	}
	if inc.ToldMS == 0 && p.parentOf(inc) == nil {
		p.run(inc.FirstRun, 1)
	}
	var members []*model.Incident
	if inc.Kind() == model.WatchExecutor {
		members = p.members(inc)
	}
	inc.EndedMS, inc.TellMS = max(at, inc.OpenedMS), 0
	delete(p.open, inc.Subject)
	p.changed(inc)
	p.note(inc, "ended", "")
	for _, x := range members { // their fires were those of this trouble: the next one does not count them again
		if x.ToldMS == 0 {
			p.end(x, at, false)
		}
	}
}
