package model

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// What a target is about, beside ScopeJob, ScopeTag and ScopeExecutor.
const ScopeAll = "all"

// GoalWhole is a goal of 100 %.
const GoalWhole = 100_000

// TargetSettings say what a target asks for.
type TargetSettings struct {
	Scope   string `json:"scope"` // ScopeJob, ScopeTag, ScopeExecutor or ScopeAll
	JobID   int    `json:"job,omitempty"`
	Tag     string `json:"tag,omitempty"`
	GroupID int    `json:"executor,omitempty"`
	Goal    int    `json:"goal"`         // thousandths of a percent: 99500 is 99.5 %
	By      string `json:"by,omitempty"` // a time in the center's zone, 06:00; "" = fires are counted
	Off     bool   `json:"off,omitempty"`
}

// Timed reports whether days are counted, and not fires.
func (t TargetSettings) Timed() bool { return t.By != "" }

// SameDays reports whether both count the same days, whatever their goal.
func (t TargetSettings) SameDays(o TargetSettings) bool {
	t.Goal, o.Goal = 0, 0
	return t == o
}

// Filter selects the counters that a target is measured by.
func (t TargetSettings) Filter() CounterFilter {
	switch t.Scope {
	case ScopeJob:
		return CounterFilter{JobIDs: []int{t.JobID}}
	case ScopeTag:
		return CounterFilter{Tag: t.Tag}
	case ScopeExecutor:
		return CounterFilter{GroupID: t.GroupID}
	}
	return CounterFilter{}
}

// Target is how much of something must be good in a month.
type Target struct {
	ID   int
	Name string
	TargetSettings

	// Of one with a time: the last day (2006-01-02) that was looked at after its end, the
	// last one after its time, and the job that comes next while a day is being looked at.
	Judged, Early string
	NextJob       int
}

// TargetDay is whether a job was done in time on a day.
type TargetDay struct {
	JobID  int
	Counts bool // the job had a fire to be done
	Met    bool
	DoneMS int64 // epoch ms; 0 = not that day
}

// TargetSum is how many fires or days count, and how many of them were good.
type TargetSum struct{ Rated, Good int64 }

// TargetResult is how a target stands in a month.
type TargetResult struct {
	Target
	TargetSum
	Of string // the job or the executor that it is about
}

// Lost is how many were not good.
func (r TargetResult) Lost() int64 { return r.Rated - r.Good }

// Allowed is how many may be lost of those that there were, rounded down.
func (r TargetResult) Allowed() int64 { return r.Rated * int64(GoalWhole-r.Goal) / GoalWhole }

// Left is how many may still be lost; below 0: the target is missed.
func (r TargetResult) Left() int64 { return r.Allowed() - r.Lost() }

// Missed reports whether too many were lost.
func (r TargetResult) Missed() bool { return r.Left() < 0 }

// UsedUp reports whether some were lost and none may be any more.
func (r TargetResult) UsedUp() bool { return r.Lost() > 0 && r.Left() <= 0 }

// Burn is which part of the budget is used: 1 = all of it; without a budget any loss is
// endless.
func (r TargetResult) Burn() float64 {
	switch budget := float64(r.Rated) * float64(GoalWhole-r.Goal) / GoalWhole; {
	case r.Lost() == 0:
		return 0
	case budget == 0:
		return math.Inf(1)
	default:
		return float64(r.Lost()) / budget
	}
}

// Reached is how much was good in thousandths of a percent, rounded down; -1 = there was
// nothing.
func (r TargetResult) Reached() int {
	if r.Rated <= 0 {
		return -1
	}
	return int(r.Good * GoalWhole / r.Rated)
}

var goalForm = regexp.MustCompile(`^(\d{1,3})(?:\.(\d{1,3}))?$`)

// ParseGoal reads a percentage above 0 up to 100 with at most three decimals.
func ParseGoal(text string) (goal int, ok bool) {
	m := goalForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	goal, err := strconv.Atoi(m[1] + (m[2] + "000")[:3])
	return goal, err == nil && goal > 0 && goal <= GoalWhole
}

// GoalText writes thousandths of a percent without zeros at the end.
func GoalText(goal int) string {
	return strconv.FormatFloat(float64(goal)/1000, 'f', -1, 64)
}
