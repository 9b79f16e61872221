package model

import (
	"cmp"
	"slices"
	"time"
)

// NodeDeadAfter is how long a node counts as alive without a beat, unless the center is
// told otherwise. A node that got no processor time for three seconds keeps its runs.
const NodeDeadAfter = 4 * time.Second

// Node is one process of the scheduling center that shares the database.
type Node struct {
	Name      string
	Epoch     int64 // grows with each start under the same name: the fencing token
	StartedMS int64 // by the database's clock
	BeatMS    int64
	Version   string
	Leaving   bool  // stops: takes no new runs, ends what it sent
	PlanMS    int64 // when it planned last, 0 = never
	Backlog   int   // runs due and not sent yet
	LateMS    int   // p99 of the last minute: sent after the planned instant
	Late50MS  int   // the median of the same
	// SlowWaiting is how many runs wait in the slow lane.
	SlowWaiting int
	Troubles    []NodeTrouble
	SickLoops   string // names of loops that have not succeeded for long, separated by commas
	URL         string // where it answers
	SilentMS    int64  // since its last beat, by the database's clock; -1 = it said goodbye
	DeadMS      int64  // without a beat for so long it counts as dead; 0 = NodeDeadAfter
}

// NodeTrouble is something that a node says is wrong with it.
type NodeTrouble struct {
	Reason string `json:"reason"` // of an incident
	N      int64  `json:"n,omitempty"`
	What   string `json:"what,omitempty"` // such as the folder of a disk
}

// NodeState is what is known of a node from its beats.
type NodeState string

// States of nodes.
const (
	NodeAlive    NodeState = "alive"
	NodeStopping NodeState = "stopping" // takes no new runs
	NodeStopped  NodeState = "stopped"  // said goodbye
	NodeGone     NodeState = "gone"     // no beat for NodeDeadAfter
)

// State says whether the node lives.
func (n *Node) State() NodeState {
	switch {
	case n.SilentMS < 0:
		return NodeStopped
	case n.SilentMS > cmp.Or(n.DeadMS, NodeDeadAfter.Milliseconds()):
		return NodeGone
	case n.Leaving:
		return NodeStopping
	}
	return NodeAlive
}

// Planner is the name of the living node that planned last; empty when the last
// one is not alive or none has planned.
func Planner(nodes []Node) string {
	var last Node
	for _, n := range nodes {
		if n.PlanMS > last.PlanMS {
			last = n
		}
	}
	if last.State() != NodeAlive {
		return ""
	}
	return last.Name
}

// Fires is one line of the ledger: how many fires of a day were expected
// (LedgerExpected), succeeded (OutcomeSucceeded) or ended for a reason.
type Fires struct {
	Day    string // yyyy-mm-dd in the center's zone
	Reason string
	Count  int64
}

// LedgerExpected is the ledger's line of all fires that were decided.
const LedgerExpected = "expected"

// Ledger is the account of a day: every planned fire has succeeded, failed, is open or
// was not sent. Whatever shows numbers of runs takes them from here.
type Ledger struct {
	Day                                        string
	Expected, Succeeded, Failed, Open, NotSent int64
	Reasons                                    []Fires // of the failed and of those not sent, most first
	// Attempts says that the numbers are of the daily report, which counts attempts: of a
	// day of a Java admin alone, or before there was a ledger.
	Attempts bool
}

// NewLedger adds the lines of one day up.
func NewLedger(day string, lines []Fires) Ledger {
	l := Ledger{Day: day}
	for _, f := range lines {
		info, known := ReasonOf(f.Reason)
		switch {
		case f.Reason == LedgerExpected:
			l.Expected += f.Count
			continue
		case f.Reason == OutcomeSucceeded:
			l.Succeeded += f.Count
			continue
		case known && info.Class == ClassNotSent:
			l.NotSent += f.Count
		default:
			l.Failed += f.Count
		}
		if f.Count != 0 {
			l.Reasons = append(l.Reasons, f)
		}
	}
	l.Open = l.Expected - l.Succeeded - l.Failed - l.NotSent
	slices.SortFunc(l.Reasons, func(a, b Fires) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason)) })
	return l
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
