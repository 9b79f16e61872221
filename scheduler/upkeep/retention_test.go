package upkeep_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/upkeep"
)

// oldRun is a run of the fake store.
type oldRun struct {
	at     time.Time
	job    int
	failed bool
}

func (o oldRun) row(id int) model.Run {
	r := model.Run{ID: int64(id), JobID: o.job, TriggerTime: o.at, Phase: model.PhaseFinished, TriggerCode: 200, HandleCode: 200}
	if o.failed {
		r.HandleCode = 500
	}
	return r
}

// history is what a store keeps, in the order of time.
type history struct {
	state     model.RetentionState
	runs      []oldRun
	lines     int
	incidents int
	keep      map[int]model.Keep
	takes     time.Duration // per row that is removed
	fails     error

	looked  int
	bites   []int // sizes asked for
	began   []time.Time
	days    model.RetentionDay
	cutoffs []time.Time
}

func (h *history) RetentionState(context.Context) (model.RetentionState, error) { return h.state, nil }

func (h *history) NoteRetention(_ context.Context, x model.RetentionState) error {
	x.AskedMS, x.ChangedMS, x.Own = h.state.AskedMS, h.state.ChangedMS, h.state.Own
	h.state = x
	return nil
}

func (h *history) AddRemoved(_ context.Context, _ time.Time, d model.RetentionDay) error {
	h.days.Incidents, h.days.AuditLines, h.days.Passes = h.days.Incidents+d.Incidents, h.days.AuditLines+d.AuditLines, h.days.Passes+d.Passes
	h.days.Succeeded += d.Succeeded // counted with the bites: must stay 0
	return nil
}

func (h *history) KeepOfJobs(context.Context) (map[int]model.Keep, error) { return h.keep, nil }
func (h *history) HeldRuns(context.Context) (map[int64]bool, error)       { return nil, nil }

func (h *history) RetireRuns(ctx context.Context, after model.RunCursor, before time.Time, p model.Retention, _ map[int64]bool, now time.Time, most int) (model.Bite, error) {
	if h.fails != nil {
		return model.Bite{}, h.fails
	}
	h.bites, h.began = append(h.bites, most), append(h.began, time.Now())
	b := model.Bite{End: true, Next: after}
	var gone []int
	for i, r := range h.runs {
		if !r.at.After(after.At) || !r.at.Before(before) {
			continue
		}
		if b.Looked == most {
			b.End = false
			break
		}
		row := r.row(i + 1)
		if b.Looked, b.Next = b.Looked+1, (model.RunCursor{At: r.at, ID: row.ID}); p.Gone(&row, now) {
			gone = append(gone, i)
			if r.failed {
				b.Failed++
			} else {
				b.Succeeded++
			}
		}
	}
	h.looked += b.Looked
	for _, i := range slices.Backward(gone) {
		h.runs = slices.Delete(h.runs, i, i+1)
	}
	time.Sleep(time.Millisecond + time.Duration(len(gone))*h.takes)
	return b, ctx.Err()
}

func (h *history) take(left *int, cutoff time.Time, limit int) (int, error) {
	h.cutoffs = append(h.cutoffs, cutoff)
	n := min(*left, limit)
	*left -= n
	return n, nil
}

func (h *history) DeleteAuditBefore(_ context.Context, cutoff time.Time, limit int) (int, error) {
	return h.take(&h.lines, cutoff, limit)
}

func (h *history) RemoveIncidents(_ context.Context, cutoff time.Time, limit int) (int, error) {
	return h.take(&h.incidents, cutoff, limit)
}
func (h *history) ForgetJobs(context.Context, time.Time) error          { return nil }
func (h *history) ForgetAddresses(context.Context, int64) error         { return nil }
func (h *history) ForgetRetentionDays(context.Context, time.Time) error { return nil }

// fill writes n runs a day, every second one failed, since so many days ago.
func (h *history) fill(days, n int) {
	today := model.DayStart(time.Now().UTC(), 0)
	for d := -days; d <= 0; d++ {
		for i := range n {
			h.runs = append(h.runs, oldRun{today.AddDate(0, 0, d).Add(time.Duration(i+1) * time.Minute), 1 + i%3, i%2 == 1})
		}
	}
}

func retention(h *history, days int) *upkeep.Retention {
	return &upkeep.Retention{Store: h, Leads: func() bool { return true }, Cfg: config.Config{
		RetentionDays: days, RetentionBatch: 1000, Location: time.UTC, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}}
}

// work ticks until a pass has come to its end.
func work(t *testing.T, r *upkeep.Retention, h *history) {
	t.Helper()
	for range 10_000 {
		require.NoError(t, r.Tick(t.Context(), time.Now()))
		if !h.state.Due(time.Now()) {
			return
		}
		time.Sleep(upkeep.RetentionTick)
	}
	require.Fail(t, "no end")
}

func (h *history) oldest(failed bool) time.Time {
	i := slices.IndexFunc(h.runs, func(r oldRun) bool { return r.failed == failed })
	return h.runs[i].at.Truncate(24 * time.Hour)
}

// TestRetention: runs go by what became of them, in bites that leave the whole seconds and
// most of the time to others, on one node only.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, leads := &history{lines: 2500, incidents: 7, takes: 100 * time.Microsecond}, false
		h.fill(60, 200)
		h.state.Own.Succeeded = 7
		r := retention(h, 30)
		r.Leads = func() bool { return leads }
		require.NoError(t, r.Tick(t.Context(), time.Now()))
		require.Empty(t, h.bites, "another node does it")
		leads = true
		began, today := time.Now(), model.DayStart(time.Now().UTC(), 0)
		work(t, r, h)
		took := time.Since(began)
		require.Equal(t, today.AddDate(0, 0, -7), h.oldest(false))
		require.Equal(t, today.AddDate(0, 0, -30), h.oldest(true), "those of the flag")
		removed := 53*100 + 30*100
		require.EqualValues(t, removed, h.state.Removed)
		require.Zero(t, h.lines+h.incidents)
		require.Equal(t, model.RetentionDay{Incidents: 7, AuditLines: 2500, Passes: 1}, h.days)
		for _, c := range h.cutoffs {
			require.Equal(t, today.AddDate(0, 0, -30), c, "the audit stays as long as any run")
		}
		for _, at := range h.began {
			into := at.Sub(at.Truncate(time.Second))
			require.True(t, into >= 300*time.Millisecond && into <= 900*time.Millisecond, "%s: schedules fire on whole seconds", into)
		}
		busy := r.Stats().Busy
		require.Less(t, 3*busy, took)
		require.EqualValues(t, 53*100, r.Stats().Succeeded)
		require.False(t, h.state.Working())
		require.Zero(t, h.state.Overdue(time.Now()))

		// The same day nothing is left: no run is looked at again.
		h.looked = 0
		time.Sleep(time.Hour)
		work(t, r, h)
		require.Zero(t, h.looked)
		// The next day only what has come of age, and the day before, is looked at.
		time.Sleep(24 * time.Hour)
		work(t, r, h)
		require.Equal(t, today.AddDate(0, 0, -6), h.oldest(false))
		require.Equal(t, today.AddDate(0, 0, -29), h.oldest(true))
		require.Equal(t, 200+100+100, h.looked, "two days of the one and of the other, of which one was empty of it before")
		// Who asks gets it all, and so does a change.
		h.looked, h.state.AskedMS = 0, time.Now().UnixMilli()
		work(t, r, h)
		require.Equal(t, 23*100, h.looked, "failed ones that stay")
		h.looked = 0
		h.state.Own.Failed, h.state.ChangedMS = 10, time.Now().UnixMilli()
		work(t, r, h)
		require.Equal(t, model.DayStart(time.Now().UTC(), -10), h.oldest(true))
		// After days without a pass all of them are made up for.
		time.Sleep(5 * 24 * time.Hour)
		work(t, r, h)
		require.Equal(t, model.DayStart(time.Now().UTC(), -10), h.oldest(true))
	})
}

// TestRetentionForEver: 0 removes nothing.
func TestRetentionForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{lines: 5, keep: map[int]model.Keep{2: {Succeeded: 3}}}
		h.fill(10, 6)
		work(t, retention(h, 0), h)
		require.Equal(t, 5, h.lines)
		require.Len(t, h.runs, 66-7, "but a job has days of its own")
	})
}

// TestRetentionStopsAndGoesOn: a stop ends it at once, an error is written down, and it goes on.
func TestRetentionStopsAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{takes: time.Millisecond}
		h.fill(60, 500)
		r := retention(h, 30)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, stop)
		began := time.Now()
		require.ErrorIs(t, r.Tick(ctx, began), context.Canceled)
		require.Less(t, time.Since(began), 3*time.Second)
		before := len(h.runs)
		require.Less(t, before, 61*500)
		require.Empty(t, h.state.Failed, "a stop is no failure")

		other := retention(h, 30) // as a node that has taken over
		h.fails = errors.New("disk full")
		require.ErrorContains(t, other.Tick(t.Context(), time.Now()), "disk full")
		require.Equal(t, "disk full", h.state.Failed)
		require.True(t, h.state.Working())
		require.Zero(t, h.state.Overdue(time.Now()))
		require.Equal(t, 50*time.Hour, h.state.Overdue(time.UnixMilli(h.state.BeganMS).Add(50*time.Hour)), "none has ever finished")
		h.fails = nil
		require.NoError(t, other.Tick(t.Context(), time.Now()))
		require.Empty(t, h.state.Failed)
		require.Positive(t, h.state.ReachedMS)
		require.Positive(t, other.Stats().Behind)
		work(t, other, h)
		require.Equal(t, model.DayStart(time.Now().UTC(), -30), h.runs[0].at.Truncate(24*time.Hour))
		require.LessOrEqual(t, slices.Max(h.bites), 125, "1 ms for a row: small bites")
		require.Zero(t, other.Stats().Behind)
	})
}

// TestRetentionGivesWay: a node that has to catch up removes a bite a second.
func TestRetentionGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{takes: time.Millisecond}
		h.fill(60, 500)
		r := retention(h, 30)
		r.Busy = func() bool { return true }
		require.NoError(t, r.Tick(t.Context(), time.Now()))
		require.LessOrEqual(t, len(h.bites), 8)
		require.GreaterOrEqual(t, len(h.bites), 5)
	})
}
