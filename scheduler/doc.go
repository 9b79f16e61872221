// Package scheduler puts the rooms together in which runs are made to happen, and
// starts and stops them: the planner writes due fires down as rows (plan, by the
// rules in rule), the ring waits for their instants and executors are rung
// (dispatch), what had no clear answer is settled (settle), what a lost node left is
// adopted (node), what is over is removed (upkeep). ARCHITECTURE.md tells the life
// of one run; the rule that everything here serves is: write down, then act.
//
// No room knows SQL or HTTP: both come in through interfaces that the rooms state
// themselves. No room knows the assembly.
package scheduler
