package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// Store is what the loops need from the database; store.Store has it and its
// documentation is the contract.
type Store interface {
	EnsureLock(ctx context.Context) error
	PlanDue(ctx context.Context, untilMS int64, limit int, now time.Time,
		plan func([]model.Job, map[int]model.Group) []model.JobPlan) (jobs, runs int, err error)

	LastPlanMS(ctx context.Context) (int64, error)
	NotePlan(ctx context.Context, name string, epoch, nowMS int64) error

	JoinNode(ctx context.Context, name, version, url string) (epoch int64, err error)
	Beat(ctx context.Context, n model.Node) (bool, error)
	LeaveNode(ctx context.Context, name string, epoch int64) error
	LiveNodes(ctx context.Context, withinMS int64) ([]model.Node, error)

	PlannedIDs(ctx context.Context, owner string, afterMS, untilMS int64, limit int, latest bool) ([]int64, error)
	RunsByID(ctx context.Context, ids []int64) ([]model.Run, error)
	CountDue(ctx context.Context, owner string, nowMS int64) (int, error)
	JobsByID(ctx context.Context, ids []int) (map[int]model.Job, error)
	Definitions(ctx context.Context, ids []int) (map[int]*model.Definition, error)
	GroupsByID(ctx context.Context, ids []int) (map[int]model.Group, error)
	AddShards(ctx context.Context, r *model.Run, total int, now time.Time) (bool, error)
	ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error)
	NoteWaiting(ctx context.Context, owner string, id int64, msg string) error
	RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error
	MissRuns(ctx context.Context, owner string, ids []int64, reason, msg string, now time.Time) error
	StoreHandled(ctx context.Context, list []model.Handled, now time.Time, follow model.Follow) ([]model.HandledStatus, error)

	AddPicks(ctx context.Context, picks, gone []model.Pick) error
	Picks(ctx context.Context, jobIDs []int) ([]model.Pick, error)

	OrphanedRuns(ctx context.Context, newOwners []string, beforeMS int64, limit int) ([]model.Run, error)
	AdoptRuns(ctx context.Context, keep, newOwners []string, limit int) (planned, unknown int, err error)
	HandOver(ctx context.Context, owner string, newOwners []string) (int, error)
	UnknownRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int, latest bool) ([]model.Run, error)
	SendingRuns(ctx context.Context, owner string, sentBeforeMS int64, limit int) ([]model.Run, error)
	Unclaim(ctx context.Context, owner string, id int64, address string, claimedBeforeMS int64, now time.Time) (bool, error)
	Replan(ctx context.Context, owner string, id int64, now time.Time) (bool, error)
	AcceptedRuns(ctx context.Context, plannedBeforeMS, afterID int64, limit int) ([]model.Run, error)

	SweepRegistry(ctx context.Context, aliveSince, now time.Time) (int, error)
	Registrations(ctx context.Context) ([]model.Registration, error)
	DeleteRunsBefore(ctx context.Context, cutoff time.Time, limit int) (int, error)
}

// SentState is the three-valued outcome of ringing an executor.
type SentState int

// Outcomes of ringing.
const (
	SentUnknown  SentState = iota // may or may not have arrived
	SentAccepted                  // the executor has it
	SentRefused                   // certainly not taken
)

// Sent is what came of ringing.
type Sent struct {
	State       SentState
	Code        int
	Msg         string
	Unreachable bool // refused because there was no connection to the address
	Gone        bool // unreachable because nothing listens there
}

// ErrGone in the error of a probe means that nothing listens at the address: the
// process that was there has ended.
var ErrGone = errors.New("nothing listens at the address")

// Executor is the small client to executors; app adapts executorclient to it.
type Executor interface {
	Run(ctx context.Context, address string, t protocol.Trigger) Sent
	Beat(ctx context.Context, address string) error
	IdleBeat(ctx context.Context, address string, jobID int64) (idle bool, err error)
	GlobalIdleBeat(ctx context.Context, address string) (idle bool, err error)
	Log(ctx context.Context, address string, q protocol.LogRequest) (protocol.LogResult, error)
}
