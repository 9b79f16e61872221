package model

// Node is one process of the scheduling center that shares the database.
type Node struct {
	Name      string
	Epoch     int64 // grows with each start under the same name: the fencing token
	StartedMS int64 // by the database's clock
	BeatMS    int64
	Version   string
	Leaving   bool   // stops: takes no new runs, ends what it sent
	PlanMS    int64  // when it planned last, 0 = never
	Backlog   int    // runs due and not sent yet
	LateMS    int    // p99 of the last minute: sent after the planned instant
	URL       string // where it answers
	SilentMS  int64  // since its last beat; -1 = it said goodbye
}

// Fires is one line of the ledger: how many fires of a day were expected
// (Reason LedgerExpected) or not made for a reason.
type Fires struct {
	Day    string // yyyy-mm-dd in the center's zone
	Reason string
	Count  int64
}

// LedgerExpected is the ledger's line of all fires that were decided.
const LedgerExpected = "expected"

// Ledger is the account of a day: every fire that was decided is made, open or
// missed for a reason.
type Ledger struct {
	Day                          string
	Expected, Made, Open, Missed int64
	Reasons                      []Fires // of the missed, most first
}

// Pick is how often and when (epoch ms) an address was chosen for a job.
type Pick struct {
	JobID   int
	Address string
	Picks   int64
	UsedMS  int64
	Base    int64 // the count that it begins with when it is the first of its job
}

// DayCount is one row of the daily report.
type DayCount struct {
	Day                        string // yyyy-mm-dd in the center's zone
	Running, Succeeded, Failed int
	Missed                     int
}
