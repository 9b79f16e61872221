package model

import "time"

// NodeDeadAfter is how long a node counts as alive without a beat.
const NodeDeadAfter = 10 * time.Second

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
	SilentMS  int64  // since its last beat, by the database's clock; -1 = it said goodbye
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
	case n.SilentMS > NodeDeadAfter.Milliseconds():
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
