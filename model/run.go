package model

import "time"

// Result codes on the wire and in the database (reference: protocol.md 5,
// schema.md 4). Every other value that is not zero counts as failure.
const (
	CodeNone    = 0
	CodeSuccess = 200
	CodeFail    = 500
	CodeTimeout = 502
	// Codes of executors that tell what happened (reference: protocol.md 3.3).
	CodeDiscarded = 407
	CodeKilled    = 408
	// CodeMissed is our trigger_code of a run that was never sent: cancelled or
	// skipped. The reason stands in Run.Reason.
	CodeMissed = 410
)

// RunPhase is how far a run has come. It is stored in our own nullable column;
// rows written by others have none (PhaseForeign).
type RunPhase int

// Phases, in the order in which a run passes them.
const (
	PhaseForeign  RunPhase = 0 // row of a Java admin
	PhasePlanned  RunPhase = 1 // written down, owned by a node, not sent
	PhaseSending  RunPhase = 2 // claimed by its owner: may have been sent
	PhaseUnknown  RunPhase = 3 // sent, answer lost: waits to be settled
	PhaseAccepted RunPhase = 4 // the executor has it
	PhaseFinished RunPhase = 5 // has its outcome
	PhaseMissed   RunPhase = 6 // was decided not to be made; Reason says why
)

// ReasonKillUntaken in a Handled says that an executor did not take the order to
// end a run. It is never stored.
const ReasonKillUntaken = "kill_untaken"

// Run is one row of xxl_job_log: one decision to ring one executor for one job
// at one planned instant.
type Run struct {
	ID          int64
	GroupID     int
	JobID       int
	Address     string
	Handler     string
	Param       string
	Sharding    string // "i/n", broadcast only
	RetryLeft   int
	TriggerTime time.Time // whole seconds; travels as logDateTime
	TriggerCode int
	TriggerMsg  string
	HandleTime  time.Time
	HandleCode  int
	HandleMsg   string
	AlarmStatus int

	Phase       RunPhase
	PlannedMS   int64 // epoch ms of the planned instant
	SentMS      int64 // claimed for sending
	AcceptedMS  int64 // executor's answer arrived
	FinishedMS  int64 // callback stored
	TriggerType TriggerType
	Owner       string // node incarnation that rings it
	FireKey     string // unique: job, planned time and shard; empty = NULL
	ParentID    int64  // run that started this one as a child
	FirstID     int64  // first attempt, for retries
	Reason      string
	Turn        int64  // the job's turn for ROUND; 0 = none was given
	ShardKey    string // the broadcast that this shard belongs to; empty = none
	Lineage     string // job ids from the first parent down to this job, "3>7>9"; empty = no parent
	MissedFires int    // of a missed run: how many fires it stands for; 0 = one
	JobName     string // filled by list queries
	JobGone     bool   // filled with the name: the job was deleted
	Note        Note   // what the center says of the run, and whom it asked
	RetryOf     int64  // of a retry that is not written down yet: the attempt before it
	Corrected   bool   // while a late result is stored: the center had declared the run lost
	// ShardsLeft is filled for Follow when a shard succeeds: how many shards of
	// its broadcast have not succeeded yet.
	ShardsLeft int
}

// RunResult is what people call the state of a run.
type RunResult string

// Results, each with its own word and colour on the screen.
const (
	ResultPlanned   RunResult = "planned"
	ResultSending   RunResult = "sending"
	ResultUnknown   RunResult = "unknown"
	ResultRunning   RunResult = "running"
	ResultSucceeded RunResult = "succeeded"
	ResultFailed    RunResult = "failed"
	ResultTimeout   RunResult = "timeout"
	ResultKilled    RunResult = "killed"
	ResultLost      RunResult = "lost"
	ResultCovered   RunResult = "covered"
	ResultMissed    RunResult = "missed"
)

// Result derives the state from phase and codes. Rows of others are read by
// the codes alone (reference: schema.md 4).
func (r *Run) Result() RunResult {
	switch {
	case r.HandleCode == CodeSuccess:
		return ResultSucceeded
	case r.HandleCode != 0 && (r.Reason == ReasonKilled || r.Reason == ReasonKillAsked):
		return ResultKilled
	case r.HandleCode != 0 && r.Reason == ReasonCovered:
		return ResultCovered
	case r.HandleCode != 0 && r.Reason == ReasonLost:
		return ResultLost
	case r.HandleCode == CodeDiscarded && r.Reason == ReasonDiscarded:
		return ResultMissed
	case r.HandleCode == CodeTimeout:
		return ResultTimeout
	case r.HandleCode != 0:
		return ResultFailed
	case r.Phase == PhaseMissed:
		return ResultMissed
	case r.TriggerCode != 0 && r.TriggerCode != CodeSuccess:
		return ResultFailed
	case r.Phase == PhaseUnknown:
		return ResultUnknown
	case r.TriggerCode == CodeSuccess:
		return ResultRunning
	case r.Phase == PhaseSending:
		return ResultSending
	}
	return ResultPlanned
}

// Fires is how many planned fires the row stands for.
func (r *Run) Fires() int { return max(1, r.MissedFires) }

// FirstAttempt is the id of the run that this one retries, or its own.
func (r *Run) FirstAttempt() int64 {
	if r.FirstID != 0 {
		return r.FirstID
	}
	return r.ID
}

// Open reports whether the run can still change by itself.
func (r *Run) Open() bool {
	switch r.Result() {
	case ResultPlanned, ResultSending, ResultUnknown, ResultRunning:
		return true
	}
	return false
}

// InProgress reports whether a node of the center has to do with the run: it is open, and
// no row of a Java admin.
func (r *Run) InProgress() bool { return r.Open() && r.Phase != PhaseForeign }

// DurationMS is the time from acceptance to the callback, or -1 while unknown.
func (r *Run) DurationMS() int64 {
	start := r.AcceptedMS
	if start == 0 {
		start = r.SentMS
	}
	if start == 0 || r.FinishedMS == 0 {
		return -1
	}
	return max(0, r.FinishedMS-start)
}

// RunStatus is the status filter of the run list.
type RunStatus string

// Status filters.
const (
	RunsAll       RunStatus = ""
	RunsSucceeded RunStatus = "succeeded"
	RunsFailed    RunStatus = "failed"
	RunsOpen      RunStatus = "open" // planned, sending, unknown, running
	RunsMissed    RunStatus = "missed"
)

// Values of RunFilter.How.
const (
	HowLate    = "late"
	HowRescued = "rescued"
)

// RunFilter selects runs for a list, newest first. Zero values mean "any".
// Paging is by key: Before continues after the smallest id already shown,
// After goes back to newer ones.
type RunFilter struct {
	GroupID int
	Groups  []int // when not nil: only runs of these groups (permission)
	JobID   int
	Status  RunStatus
	Reason  string // a reason, which is the outcome
	// Fires leaves one row for each planned fire, as the ledger counts: attempts that
	// were tried again and rows of others are left out, and From and To are about the
	// first attempt.
	Fires bool
	From  time.Time // trigger time, inclusive
	To    time.Time // trigger time, exclusive
	// Trigger takes runs that began in this way, Address those on addresses with this text,
	// Tag those of jobs that have the tag now. Without a period or a job the first two look
	// at the newest 100,000 runs only.
	Trigger      TriggerType
	Address, Tag string
	Owner        string // of the jobs
	// How leaves fires whose first attempt was sent late (HowLate), or that succeeded at a later
	// attempt (HowRescued).
	How  string
	Text string // id, name or handler of the job; of new runs also address, parameter, message
	// DueByMS leaves out runs that are planned for later than this, epoch ms; 0 = none.
	DueByMS int64
	Before  int64
	After   int64
	Limit   int
	// Taken leaves runs that an executor has and that have no result yet.
	Taken bool
	// Offset skips rows, for programs that page by number.
	Offset int
}

// LogChunk is a piece of a run's log as an executor returned it.
type LogChunk struct {
	From    int // first line number, from 1
	To      int // last line number contained, 0 or less than From = nothing new
	Content string
	End     bool // no more lines will come
}
