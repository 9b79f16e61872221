package model

import "time"

// Change is one field of something that was changed. Of secrets and scripts the
// values are empty: only that they changed is told.
type Change struct {
	Field string `json:"f"`
	Old   string `json:"o,omitempty"`
	New   string `json:"n,omitempty"`
}

// AuditKind is the kind of object that somebody did something to.
type AuditKind string

// Kinds of objects.
const (
	AuditJob      AuditKind = "job"
	AuditRun      AuditKind = "run"
	AuditExecutor AuditKind = "executor"
	AuditUser     AuditKind = "user"
	AuditSession  AuditKind = "session"
	AuditIncident AuditKind = "incident"
)

// AuditOutcome says what came of a wish.
type AuditOutcome string

// Outcomes.
const (
	AuditDone    AuditOutcome = "done"
	AuditRefused AuditOutcome = "refused"
)

// AuditEntry is one line of the audit: who did what to which object.
type AuditEntry struct {
	ID       int64
	At       time.Time
	UserID   int    // 0 for the API, the command line, and names that nobody has
	User     string // as it was then, or as it was typed
	From     string // address, "" = this machine
	Action   string // one of AuditActions
	Kind     AuditKind
	ObjectID int64
	Object   string // its name as it was then
	Outcome  AuditOutcome
	Changes  []Change
}

// AuditActions lists what is noted.
func AuditActions() []string {
	return []string{
		"login", "logout", "password.change", "password.reset", "session.end",
		"job.add", "job.edit", "job.delete", "job.start", "job.stop", "job.run", "job.note", "job.script", "job.import",
		"run.kill", "run.takeback", "runs.clear",
		"executor.add", "executor.edit", "executor.delete", "executor.drain", "executor.take", "executor.ping",
		"user.add", "user.edit", "user.disable", "user.enable", "user.delete",
		"incident.ack", "incident.mute", "incident.comment", "alarm.rule", "alarm.channel", "alarm.test", "report.mail", "report.send", "report.target",
		"retention.edit", "retention.run", "audit.read",
	}
}

// AuditFilter chooses lines; zero fields choose all.
type AuditFilter struct {
	User     string // part of the name
	Action   string
	Kind     AuditKind
	ObjectID int64
	Object   string // part of the name, or the number
	Outcome  AuditOutcome
	From, To time.Time // To is not included
	Before   int64     // lines older than this one, for the next page
	Limit    int
}
