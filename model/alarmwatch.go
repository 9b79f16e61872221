package model

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// What is watched, beside what runs decide. A subject is one of these with a colon and what it
// is about behind it.
const (
	WatchExecutor = "executor" // the executor with this id does not answer, or has no address
	WatchOverrun  = "overrun"  // a run of the job with this id goes on for too long
	WatchLate     = "late"     // a fire of the job has not been sent although its time is over
	WatchLates    = "lates"    // fires of many jobs of an executor: EXECUTOR/RULE
	WatchDisk     = "disk"     // a folder of a node, whose name is before the space
	WatchSlow     = "slowdb"   // the database
	WatchCapacity = "capacity" // a node
	WatchBroken   = "broken"   // the job cannot be planned
	WatchOldRuns  = "retention"
	WatchDeadline = "deadline" // the job was not done by its time of day
)

// Reasons of incidents that are watched.
const (
	AlarmOverrun = "overrun" // longer than the rule allows
	AlarmUnusual = "unusual" // far longer than the job's runs usually take
	AlarmLate    = "late"
	AlarmBroken  = "quarantined" // JobQuarantined

	AlarmDiskFull     = "disk_full"     // of a node
	AlarmDatabaseSlow = "database_slow" // for a node
	AlarmOverCapacity = "over_capacity" // more is due than a node can send
	AlarmRetention    = "retention_late"

	AlarmAttempt = "attempt" // a run has failed and will be tried again; nothing but that yet
	AlarmNotDone = "not_done"
)

// CenterReasons are those of troubles of the center itself: the default rule holds for them.
func CenterReasons() []string {
	return []string{AlarmNodeGone, AlarmLoopSick, AlarmOverCapacity, AlarmDatabaseSlow, AlarmDiskFull, AlarmRetention}
}

// Choosable reports whether a rule can say that a reason raises nothing.
func Choosable(reason string) bool {
	if reason == AlarmBroken || slices.Contains(CenterReasons(), reason) {
		return true
	}
	_, known := ReasonOf(reason)
	return known && Raises(reason) && reason != ReasonDiscarded
}

// WatchedJob is the subject of what is watched of a job.
func WatchedJob(kind string, job int) string { return kind + ":" + strconv.Itoa(job) }

// Kind is the part of the subject before the colon.
func (i *Incident) Kind() string {
	kind, _, _ := strings.Cut(i.Subject, ":")
	return kind
}

// OfRuns reports whether the incident is one that the outcomes of a job's runs open and end.
func (i *Incident) OfRuns() bool { return i.JobID != 0 && i.Subject == JobSubject(i.JobID) }

// AlarmDetail is what of a watched trouble is known in numbers: the column detail of an
// incident. Times are epoch ms, durations ms; 0 = it has none.
type AlarmDetail struct {
	SentMS  int64 `json:"sent,omitempty"`   // the run that goes on was sent then
	LimitMS int64 `json:"limit,omitempty"`  // what the rule allows
	UsualMS int64 `json:"usual,omitempty"`  // the longest of the recent runs that succeeded
	DueMS   int64 `json:"due,omitempty"`    // it had to be done, or sent, by then
	N       int64 `json:"n,omitempty"`      // percent of a disk, ms of a statement, runs that wait
	Recent  int   `json:"recent,omitempty"` // fires that failed, of the newest OutOf
	OutOf   int   `json:"outOf,omitempty"`
	FromMS  int64 `json:"from,omitempty"` // a success counts of fires that were planned since then
}

// Text is the detail as it is stored.
func (d AlarmDetail) Text() string {
	b, err := json.Marshal(d)
	if err != nil || string(b) == "{}" {
		return ""
	}
	return string(b)
}

// Details reads the detail; what cannot be read is none.
func (i *Incident) Details() (d AlarmDetail) {
	if i.Detail != "" && json.Unmarshal([]byte(i.Detail), &d) != nil {
		return AlarmDetail{}
	}
	return d
}

// OpenRun is the oldest run of a job that has been sent and has no result.
type OpenRun struct {
	JobID  int
	RunID  int64
	SentMS int64
}

// LateFire is the oldest fire of a job whose time is over and that has not been sent.
type LateFire struct {
	JobID int
	RunID int64 // 0 = it has not even been written down
	DueMS int64
}

// attemptMark is before the reason of an event that is about an attempt that will be tried again.
const attemptMark = "try:"

// AttemptEvent is the event of an attempt that failed and will be tried again.
func AttemptEvent(r *Run) AlarmEvent {
	return AlarmEvent{AtMS: r.FinishedMS, JobID: r.JobID, RunID: r.ID, Reason: attemptMark + r.Outcome()}
}

// Attempt gives the reason of an event about an attempt, and whether it is one.
func (e *AlarmEvent) Attempt() (reason string, is bool) {
	return strings.CutPrefix(e.Reason, attemptMark)
}
