package model

import "time"

// System is what administrators see of a running center. What is counted in memory is of
// the node that was asked.
type System struct {
	Node                      string // the node that was asked
	Nodes                     []Node
	Loops                     []LoopState // of this node
	Work                      NodeWork    // of this node
	Database                  Database
	Settings                  []Setting // of this node
	Token                     TokenState
	Keep                      Keep // for how long runs are kept
	Version, Build, GoVersion string
}

// LoopState is one loop of a node.
type LoopState struct {
	Name           string
	Every          time.Duration
	LastOK         time.Time // zero = never
	Passes, Errors int64
	Average        time.Duration // of a pass
	Sick           bool          // it has not succeeded for long
}

// NodeWork is what a node does, and did since its start.
type NodeWork struct {
	InRing, Sending                         int // runs in memory, runs being sent
	SlowWaiting                             int // runs that wait in the slow lane
	Backlog                                 int // runs that are due and not sent
	OldestLate                              time.Duration
	Over                                    time.Duration // for how long it has not kept up, 0 = it does
	Accepted, Refused, Unreachable, Unknown int64         // calls to executors
	Results                                 int64         // results stored
}

// Database is the database as the node finds it.
type Database struct {
	Engine, Version string
	Latency         time.Duration // of a question that needs no table
	InUse, Open     int           // connections
	Most            int           // connections that may be open
	Waits           int64         // times that somebody waited for a connection since the start
}

// Setting is how something was configured. Secrets say only whether they are set.
type Setting struct {
	Name   string
	Value  string
	Secret bool // Value is "set" or ""
}

// TokenState says how far a change of the access token is.
type TokenState struct {
	// PreviousUntil is until when the token before the current one counts; zero = there is none.
	PreviousUntil time.Time
	OldCalls      int64 // that came with it since the start of the node
	OldLast       time.Time
	OldFrom       string   // where the last of them came from
	WantOld       []string // addresses that refuse the current token and take the one before
}
