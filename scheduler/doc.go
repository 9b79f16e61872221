// Package scheduler holds the loops that make runs happen: the planner writes
// due fires down as rows, the ring waits for their instants, the dispatcher
// rings executors, completion stores results, and monitors look after what
// stayed open. ARCHITECTURE.md tells the life of one run; the rule
// that everything here serves is: write down, then act.
//
// The package knows no SQL and no HTTP: both come in through the interfaces in
// ports.go. Decisions are pure functions of (now, rows): Plan, Follow, Overdue.
package scheduler
