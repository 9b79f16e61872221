package model

import "strconv"

// AlarmEvent is something that happened to a job and that an alarm may be about. It is
// written in the transaction that decides the run, and removed in the one that decides
// what people are told.
type AlarmEvent struct {
	ID    int64
	AtMS  int64
	JobID int
	RunID int64 // of the last attempt; 0 = it was decided where it was planned
	// Reason is a line of the ledger; OutcomeSucceeded when a job that failed is well again.
	Reason string
	Fires  int // that it stands for
	// GroupID is the executor that the run was planned for, of a success; 0 = it is not known.
	GroupID int
}

// Raises reports whether an outcome is one that people may be told about: a fire that has
// failed for good, or that was not sent although nobody wanted so.
func Raises(outcome string) bool {
	info, known := ReasonOf(outcome)
	switch {
	case !known:
		return outcome != "" && outcome != OutcomeSucceeded
	case info.Class == ClassFailed:
		return !info.Final
	}
	switch outcome {
	case ReasonPaused, ReasonCancelled, ReasonTakenBack:
		return false
	}
	return true
}

// Cause is what several jobs may suffer from together.
type Cause string

// Causes. An executor's has its id behind it.
const (
	CauseJob      Cause = "job"
	CauseExecutor Cause = "executor"
	CauseDatabase Cause = "database"
	CauseCenter   Cause = "center"
)

// CauseOf says where the trouble of an outcome is to be looked for.
func CauseOf(outcome string) Cause {
	switch outcome {
	case ReasonNoAddress, ReasonDraining, ReasonNoneAnswers, ReasonUnreached, ReasonExecutorGone, ReasonWrongToken:
		return CauseExecutor
	case ReasonNoDatabase:
		return CauseDatabase
	case ReasonCenterDown, ReasonStarved, ReasonTakeover:
		return CauseCenter
	}
	return CauseJob
}

// Severity of an incident.
type Severity string

// Severities.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Incident is one trouble from its first event to its end.
type Incident struct {
	ID int64
	// Subject is what it is about: "job:12", "executor:3", "database", "center", "node:a",
	// "loop:a/plan", or one that is watched: "overrun:12", "lates:3/7". Of each subject one is open at a time.
	Subject  string
	ParentID int64 // the incident that is its cause; 0 = none
	JobID    int   // 0 = it is about no job
	GroupID  int   // the executor; 0 = none
	Severity Severity
	Reason   string // of the last event
	Detail   string // JSON of AlarmDetail, of what is watched
	FirstRun int64  // 0 = none was written down
	LastRun  int64
	Failed   int // fires
	Missed   int
	OpenedMS int64
	LastMS   int64
	EndedMS  int64 // 0 = it is open
	// TellMS is when people are to be told of it next, ToldMS when they were told that it is
	// open; 0 = not at all.
	TellMS      int64
	ToldMS      int64
	Reminders   int
	EscalatedMS int64
	AckedMS     int64
	AckedBy     string
	MutedMS     int64 // until then nobody is told; MutedForGood = until it ends
	Version     int   // grows with each change
}

// MutedForGood in an incident's MutedMS holds until its end.
const MutedForGood = 1 << 53

// Open reports whether the trouble lasts.
func (i *Incident) Open() bool { return i.EndedMS == 0 }

// Steps of telling.
const (
	StepOpened    = "opened"
	StepReminder  = "reminder"
	StepEscalated = "escalated"
	StepEnded     = "ended"
	StepDigest    = "digest" // what was not told one by one
	StepTest      = "test"
	StepReport    = "report" // no alarm: a report that goes out by mail
)

// IncidentNote is a line of an incident's history.
type IncidentNote struct {
	ID, IncidentID int64
	AtMS           int64
	Kind           string // opened, ended, acked, muted, unmuted, comment, …
	User           string // who; empty = the center
	Text           string
}

// States of a message in the outbox.
const (
	OutboxWaiting = "waiting"
	OutboxSending = "sending" // by its owner; an owner that is gone has it taken away
	OutboxSent    = "sent"
	OutboxFailed  = "failed" // for good
	OutboxFolded  = "folded" // into a digest
)

// How a message goes: to a mail address, or over a Channel.
const (
	ChannelMail  = "mail"
	ChannelOther = "channel"
)

// Message is one telling: of an incident, a step, to one target.
type Message struct {
	ID         int64
	IncidentID int64
	// Dedup is the same for the same telling: it is written once.
	Dedup    string
	Step     string
	Channel  string // ChannelMail, or "channel"
	Target   string // mail address, or the id of the channel
	JobIDs   []int  // that the target may know of; nil = all of the incident
	State    string
	Owner    string
	Attempts int
	MadeMS   int64
	NextMS   int64 // when it is tried next; of one that is being sent, when its owner counts as gone
	SentMS   int64
	Code     int    // the answer: of SMTP or HTTP
	Answer   string // its text
	FoldedIn int64
}

// AlarmRule says what people are told of, whom and how. The narrowest rule that fits a job
// holds for it: of the job, of one of its tags, of its executor, the default.
type AlarmRule struct {
	ID      int
	Name    string
	Scope   string // ScopeDefault, ScopeExecutor, ScopeTag or ScopeJob
	GroupID int
	JobID   int
	Tag     string
	AlarmSettings
}

// Scopes of rules.
const (
	ScopeDefault  = "default"
	ScopeExecutor = "executor"
	ScopeTag      = "tag"
	ScopeJob      = "job"
)

// AlarmSettings is what a rule says. It is stored as JSON.
type AlarmSettings struct {
	Off bool `json:"off,omitempty"`
	// Without are the outcomes that raise nothing.
	Without []string `json:"without,omitempty"`
	// Discarded: what an executor discards because it is busy with the job raises an alarm, too:
	// the block strategy of the job asks for it, so it does not by itself.
	Discarded bool `json:"discarded,omitempty"`
	// InARow is after how many fires in a row people are told; 0 and 1 = of the first.
	InARow int `json:"inARow,omitempty"`
	// OutOf makes InARow a number of failures among so many of the newest fires; 0 = in a row.
	OutOf int `json:"outOf,omitempty"`
	// EachAttempt: failed attempts that will be tried again raise an alarm, too. The store looks
	// for it in the text of the settings.
	EachAttempt bool `json:"eachAttempt,omitempty"`
	// OverrunMinutes is how long a run may take; OverrunTimes how many times as long as the
	// longest of the recent successes; 0 = not watched.
	OverrunMinutes int `json:"overrunMinutes,omitempty"`
	OverrunTimes   int `json:"overrunTimes,omitempty"`
	// LateMinutes is how late a fire may be sent; 0 = not watched.
	LateMinutes int `json:"lateMinutes,omitempty"`
	// DoneBy is the time of day, as in 06:00 and in Zone, by which each job must have
	// succeeded, on DoneDays: 0 = Sunday; none = every day.
	DoneBy   string `json:"doneBy,omitempty"`
	DoneDays []int  `json:"doneDays,omitempty"`
	// RemindMinutes is the time between reminders; 0 = none.
	RemindMinutes int      `json:"remindMinutes,omitempty"`
	Severity      Severity `json:"severity,omitempty"`
	// QuietFrom and QuietTo, as in 22:00, bound the hours in which only what is critical is
	// told, in Zone.
	QuietFrom string `json:"quietFrom,omitempty"`
	QuietTo   string `json:"quietTo,omitempty"`
	Zone      string `json:"zone,omitempty"`
	// Mails are told beside the addresses of the job; Channels are ids.
	Mails    []string `json:"mails,omitempty"`
	Channels []int    `json:"channels,omitempty"`
	// EscalateMinutes is when EscalateTo are told of what nobody has acknowledged; 0 = never.
	EscalateMinutes int      `json:"escalateMinutes,omitempty"`
	EscalateTo      []string `json:"escalateTo,omitempty"`
	Language        string   `json:"language,omitempty"`
}

// DefaultAlarmRule holds until somebody writes one: the addresses of each job are told of
// each trouble at once, and every four hours while it lasts.
func DefaultAlarmRule() AlarmRule {
	return AlarmRule{Scope: ScopeDefault, AlarmSettings: AlarmSettings{RemindMinutes: 240, Severity: SeverityCritical}}
}

// Channel is a way of telling people beside mail.
type Channel struct {
	ID       int
	Name     string
	Kind     string
	URL      string // it may hold a secret
	Secret   string
	Disabled bool
}

// AlarmDecision is what a pass over events and open incidents has decided. It is written in
// one transaction.
type AlarmDecision struct {
	Events  []int64     // that were looked at
	Changed []*Incident // new ones have no id yet
	// Parents are new causes of incidents.
	Parents map[*Incident]*Incident
	Told    []Telling
	Notes   []DecidedNote
	// Runs get this alarm_status: -1 somebody is about to be told, 1 nobody is.
	Runs map[int64]int
}

// Empty says that nothing is to be written.
func (d *AlarmDecision) Empty() bool {
	return len(d.Events) == 0 && len(d.Changed) == 0 && len(d.Told) == 0
}

// Telling is one step of an incident to be told to its targets.
type Telling struct {
	Incident *Incident
	Step     string
	N        int // of the reminder
	Targets  []TellTarget
	// NotBeforeMS is when it may be told (epoch ms), 0 = at once.
	NotBeforeMS int64
}

// TellTarget is whom to tell.
type TellTarget struct {
	Channel string // ChannelMail or "channel"
	Name    string // address, or id of the channel
	JobIDs  []int  // of which it is told; nil = all
}

// DecidedNote is a line for an incident's history.
type DecidedNote struct {
	Incident *Incident
	Kind     string
	Text     string
}

// IncidentFilter selects incidents for a list.
type IncidentFilter struct {
	Open, Past bool
	JobID      int    // with those of which another one is the cause; 0 = any
	Groups     []int  // when not nil: of these executors, and of none
	Owner, Tag string // of these jobs, alone or with others
	Before     int64  // ids before this one; 0 = from the newest
	Limit      int
}

// Sent is what a target got lately.
type Sent struct {
	Single     int   // messages, digests apart
	LastDigest int64 // when the last digest was sent, epoch ms; 0 = none was
	Digests    int   // that wait or are being sent
	Sending    int   // of these
}

// Reasons of incidents that are about no run.
const (
	AlarmNodeGone = "node_gone" // a node of the center has no beat
	AlarmLoopSick = "loop_sick" // a loop of a node has not succeeded for long
)

// JobSubject is the subject of a job's incidents.
func JobSubject(id int) string { return "job:" + strconv.Itoa(id) }
