package model

import "errors"

// ErrLocked means that another node holds the schedule lock: skip this tick.
var ErrLocked = errors.New("another node holds the schedule lock")

// ErrBadRow means that the database refuses what is to be written: a value is too long,
// of the wrong kind, or no text. Trying again does not help.
var ErrBadRow = errors.New("the database refuses the row")

// JobPlan is what the planner decided for one job: the runs to write down and
// the job's new fire times. It is computed by a pure function and applied in
// one transaction.
type JobPlan struct {
	JobID  int
	OldMS  int64 // next fire as it was read; guards the update
	LastMS int64
	NextMS int64
	// Condition other than JobNormal stops the job and says why.
	Condition JobCondition
	Reason    Said
	Turns     int // fires planned, for the job's turn
	Runs      []Run
}

// Claim is one planned run that its owner is about to send to an address.
type Claim struct {
	RunID   int64
	Address string
	// Again moves a run that is claimed already to another address: nothing was
	// sent to the first one.
	Again bool
	// Ahead claims a run of a schedule before its instant: it is not sent before the claim
	// is confirmed.
	Ahead bool
}

// Dispatch is what came of sending one run.
type Dispatch struct {
	RunID  int64
	Phase  RunPhase // PhaseAccepted, PhaseUnknown, PhaseFinished (refused) or PhaseMissed (discarded)
	Code   int      // trigger_code; 0 while unknown
	Reason string
	// Note is what the center says of it and whom it asked, with what was noted before;
	// empty = nothing new.
	Note Note
	AtMS int64 // when the answer was known
	// SentMS is when the call began; 0 = when the run was claimed, or as it was.
	SentMS int64
}

// Handled is the end of one run: reported by its executor, or decided by the
// center (Reason lost or killed; ReasonKillUntaken ends nothing).
type Handled struct {
	RunID  int64
	Code   int
	Msg    string // verbatim; of the center: empty, Said has it
	Reason string
	AtMS   int64
	// TriggerMS is the trigger time that came with it, epoch ms; 0 = none came. It
	// tells a result of another run that once had the same id.
	TriggerMS int64
	Echo      bool   // TriggerMS is that of the trigger for certain, not of the executor's own clock
	Said      []Said // what the center or the SDK says of the end
	// Call is what is known of the call to the executor and not written down yet.
	Call *Dispatch
}

// HandledStatus says what became of a Handled.
type HandledStatus int

// Outcomes of storing a Handled.
const (
	HandledUnknown   HandledStatus = iota // no such run
	HandledStored                         // this one decided the run
	HandledRepeat                         // the run had its result already
	HandledCorrected                      // it replaced the center's own guess
	HandledLocked                         // another session has locked the row: to be tried again
)

// Follow decides which runs follow from a finished run: a retry or children.
// jobs holds the run's job and its child jobs, as far as they exist. It is not
// asked about a success without children. It must be pure: a transaction may be
// repeated.
type Follow func(run Run, jobs map[int]Job) []Run
