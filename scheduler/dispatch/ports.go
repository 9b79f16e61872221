package dispatch

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Store is what dispatching needs from the database.
type Store interface {
	PlannedIDs(ctx context.Context, owner string, afterMS, untilMS int64, limit int, latest bool) ([]int64, error)
	RunsByID(ctx context.Context, ids []int64) ([]model.Run, error)
	CountDue(ctx context.Context, owner string, nowMS int64) (n int, oldestMS int64, err error)
	Definitions(ctx context.Context, ids []int) (map[int]*model.Definition, error)
	GroupsByID(ctx context.Context, ids []int) (map[int]model.Group, error)
	AddShards(ctx context.Context, r *model.Run, total int, now time.Time) (bool, error)
	ClaimRuns(ctx context.Context, owner string, claims []model.Claim, nowMS int64) (map[int64]bool, error)
	GiveBack(ctx context.Context, owner string, ids []int64) error
	ConfirmAhead(ctx context.Context, owner string, untilMS int64, ids []int64) ([]int64, error)
	Unclaim(ctx context.Context, owner string, id int64, address string, claimedBeforeMS int64, now time.Time) (bool, error)
	NoteWaiting(ctx context.Context, owner string, id int64, note model.Note) (waits bool, err error)
	StoreHandled(ctx context.Context, list []model.Handled, now time.Time, follow model.Follow) ([]model.HandledStatus, error)
	RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error
	AddPicks(ctx context.Context, picks, gone []model.Pick) error
	NoteCalls(ctx context.Context, list []model.LastCall) error
	Picks(ctx context.Context, jobIDs []int) ([]model.Pick, error)
}

// Node is who sends.
type Node interface {
	Owner() string
	SinceBeat(now time.Time) time.Duration
}
