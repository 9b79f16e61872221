package model

// Reason is why a run was not sent, or how it failed, in one word: the column
// run_reason and a line of the ledger. Its texts are in the locales under
// reason.CODE (a short name), why.CODE (a sentence with the arguments).
type ReasonInfo struct {
	Code  string
	Class Class
	// Final: a run that ended so is not tried again.
	Final bool
}

// Class is what people count runs by. Every planned fire is in exactly one, that of
// its last attempt.
type Class string

// Classes of counting.
const (
	ClassSucceeded Class = "succeeded"
	ClassFailed    Class = "failed"
	ClassOpen      Class = "open"
	ClassNotSent   Class = "missed" // was decided not to be made
)

// Reasons of runs that were not sent: run_state 6.
const (
	ReasonMisfire    = "misfire"         // later than the threshold, skipped by the misfire rule
	ReasonCenterDown = "center_down"     // the same, and no center planned at that time
	ReasonStarved    = "center_starved"  // the same: the center ran, but got no time to plan
	ReasonNoDatabase = "no_database"     // the same: the database did not answer
	ReasonLocked     = "locked"          // the same: another session had locked the job
	ReasonPaused     = "paused"          // the job was stopped
	ReasonCancelled  = "cancelled"       // the job was edited or deleted
	ReasonTakenBack  = "taken_back"      // a person took it back before it was sent
	ReasonTakeover   = "takeover"        // adopted so late that the misfire rule skips it
	ReasonWaited     = "waited_too_long" // no executor was free within the longest wait
	ReasonDiscarded  = "discarded"       // the executor was busy with the job and discards later runs
	ReasonOverlap    = "overlap"         // an earlier run of the job was open, and the job forbids two
	ReasonCycle      = "cycle"           // a child that would start itself again
)

// Reasons of runs that failed: run_state 5.
const (
	ReasonNoAddress    = "no_address"    // the executor has no address
	ReasonDraining     = "draining"      // its addresses take no new runs, as a person asked
	ReasonAllBusy      = "all_busy"      // every address of the executor is busy
	ReasonNoneAnswers  = "none_answers"  // no address of the executor answers
	ReasonBadAddress   = "bad_address"   // the address is none that can be called
	ReasonJobGone      = "job_gone"      // the job does not exist any more
	ReasonExecutorGone = "executor_gone" // the executor does not exist any more
	ReasonRefused      = "refused"       // the executor said no
	ReasonWrongToken   = "wrong_token"   // the executor said no: the token is not its own
	ReasonUnreached    = "unreachable"   // no connection to the address: nothing was sent
	ReasonLost         = "lost"          // no callback and the executor does not know the run
	ReasonKilled       = "killed"        // ended by a person
	ReasonKillAsked    = "kill_asked"    // a person asks for its end; not known yet whether the executor takes the order
	ReasonCovered      = "covered"       // ended by a later run of its job (COVER_EARLY)
	ReasonTimeout      = "timeout"       // the executor ended it after its time
	ReasonError        = "error"         // the executor reported a failure of its own
)

// Reasons lists all of them, in the order in which they are offered.
func Reasons() []ReasonInfo {
	return []ReasonInfo{
		{ReasonMisfire, ClassNotSent, true},
		{ReasonCenterDown, ClassNotSent, true},
		{ReasonStarved, ClassNotSent, true},
		{ReasonNoDatabase, ClassNotSent, true},
		{ReasonLocked, ClassNotSent, true},
		{ReasonPaused, ClassNotSent, true},
		{ReasonCancelled, ClassNotSent, true},
		{ReasonTakenBack, ClassNotSent, true},
		{ReasonTakeover, ClassNotSent, true},
		{ReasonWaited, ClassNotSent, true},
		{ReasonDiscarded, ClassNotSent, true},
		{ReasonOverlap, ClassNotSent, true},
		{ReasonCycle, ClassNotSent, true},

		{ReasonNoAddress, ClassFailed, false},
		{ReasonDraining, ClassFailed, false},
		{ReasonAllBusy, ClassFailed, false},
		{ReasonNoneAnswers, ClassFailed, false},
		{ReasonBadAddress, ClassFailed, false},
		{ReasonJobGone, ClassFailed, false},
		{ReasonExecutorGone, ClassFailed, false},
		{ReasonRefused, ClassFailed, false},
		{ReasonWrongToken, ClassFailed, false},
		{ReasonUnreached, ClassFailed, false},
		{ReasonLost, ClassFailed, false},
		{ReasonTimeout, ClassFailed, false},
		{ReasonError, ClassFailed, false},
		{ReasonKilled, ClassFailed, true},
		{ReasonCovered, ClassFailed, true},
	}
}

// ReasonOf finds a reason by its code.
func ReasonOf(code string) (ReasonInfo, bool) {
	if code == "" { // most runs: no list is made for them
		return ReasonInfo{}, false
	}
	for _, r := range Reasons() {
		if r.Code == code {
			return r, true
		}
	}
	return ReasonInfo{}, false
}

// Outcome is the line of the ledger under which a run is counted: OutcomeSucceeded, a
// reason, or "" while the run is open.
func (r *Run) Outcome() string {
	switch r.Result() {
	case ResultPlanned, ResultSending, ResultUnknown, ResultRunning:
		return ""
	case ResultSucceeded:
		return OutcomeSucceeded
	case ResultKilled:
		return ReasonKilled
	case ResultLost:
		return ReasonLost
	case ResultCovered:
		return ReasonCovered
	case ResultTimeout:
		return ReasonTimeout
	}
	// The result decides the class; a reason that is none of it, or of a newer center,
	// is not counted as such.
	class, other := ClassFailed, ReasonError
	if r.Result() == ResultMissed {
		class, other = ClassNotSent, ReasonMisfire
	}
	if info, known := ReasonOf(r.Reason); known && info.Class == class {
		return r.Reason
	}
	return other
}

// OutcomeSucceeded is the ledger's line of fires that were made.
const OutcomeSucceeded = "succeeded"

// Class says how people count the run.
func (r *Run) Class() Class {
	switch out := r.Outcome(); out {
	case "":
		return ClassOpen
	case OutcomeSucceeded:
		return ClassSucceeded
	default:
		if info, ok := ReasonOf(out); ok {
			return info.Class
		}
		return ClassFailed
	}
}
