package console

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) Retention(_ context.Context, a model.Actor) (jobs.RetentionPage, error) {
	if !a.Admin {
		return jobs.RetentionPage{}, model.Errf(model.CodeForbidden, "error.forbidden")
	}
	ms := func(ago time.Duration) int64 { return f.now.Add(-ago).UnixMilli() }
	return jobs.RetentionPage{
		State: model.RetentionState{
			Own: model.Keep{Succeeded: 7}, ChangedMS: ms(50 * time.Hour), ChangedBy: "admin", BeganMS: ms(3 * time.Minute), FinishedMS: ms(2 * time.Minute), BusyMS: 4200, Removed: 12_345,
			RemovedUntilMS: ms(7 * 24 * time.Hour),
		},
		Default: 30, Keep: model.Keep{Succeeded: 7, Failed: 30}, Own: 1, Oldest: f.now.AddDate(0, 0, -30),
		Jobs: []jobs.KeepingJob{{ID: 1042, Name: "Nightly ledger close", Keep: model.Keep{Succeeded: 365, Failed: model.KeepForever}}},
		Days: []model.RetentionDay{{Day: model.Day(f.now, 0), Succeeded: 12_000, Failed: 300, Missed: 45, AuditLines: 8, BusyMS: 4200, Passes: 144}, {Day: model.Day(f.now, -1), Succeeded: 11_000, ByHand: 90}},
	}, nil
}

func (f *fake) CountRetention(_ context.Context, a model.Actor, own model.Keep) (jobs.RetentionLoss, error) {
	if !a.Admin {
		return jobs.RetentionLoss{}, model.Errf(model.CodeForbidden, "error.forbidden")
	}
	if !own.Succeeded.Valid() || !own.Failed.Valid() {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("keep_days", "field.range", "Min", 0, "Max", model.MaxKeepDays)
		return jobs.RetentionLoss{}, bad
	}
	if own.Succeeded > 0 && own.Succeeded < 7 {
		return jobs.RetentionLoss{Keep: own, Runs: 4711, Until: own.Succeeded.Cutoff(f.now)}, nil
	}
	return jobs.RetentionLoss{Keep: own}, nil
}

func (f *fake) SaveRetention(_ context.Context, a model.Actor, own model.Keep) error {
	return f.note("keep %s/%s", own.Succeeded, own.Failed)
}

func (f *fake) StartRetention(context.Context, model.Actor) error { return f.note("retention") }
