package report_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

var (
	errTaken     = errors.New("taken")
	errMeanwhile = errors.New("meanwhile")
)

// counters is a database that says what it was asked for.
type counters struct {
	state           model.CountState
	oldest, removed time.Time
	folds           int
	recounted       []string
	err             error // of the next fold
	wrong           error // of the next recount
}

func (c *counters) FoldCounts(context.Context, time.Time) (bool, error) {
	c.folds++
	err := c.err
	c.err = nil
	return c.folds%3 != 0, err
}
func (c *counters) CountState(context.Context) (model.CountState, error) { return c.state, nil }
func (c *counters) OldestRun(context.Context) (time.Time, error)         { return c.oldest, nil }
func (c *counters) RemovedUntil(context.Context) (time.Time, error)      { return c.removed, nil }
func (c *counters) RecountDay(_ context.Context, day, _ time.Time) (int, bool, error) {
	err := c.wrong
	c.wrong = nil
	if err == nil {
		c.recounted = append(c.recounted, day.Format(time.DateOnly))
	}
	return 1, true, err
}

func (c *counters) NoteCounted(_ context.Context, from, checked string) error {
	if from != "" {
		c.state.CountedFrom = from
	}
	if checked != "" {
		c.state.Checked = checked
	}
	return nil
}

func TestKeeper(t *testing.T) {
	zone := time.FixedZone("here", 8*3600)
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, zone) }
	now, leads, cost := at(20, 1), true, time.Duration(0)
	clock := now
	db := &counters{oldest: at(17, 12)}
	k := &report.Keeper{Store: db, Taken: errTaken, Meanwhile: errMeanwhile, Leads: func() bool { return leads }, Zone: zone, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { clock = clock.Add(cost); return clock }}
	pass := func() { t.Helper(); require.NoError(t, k.Pass(t.Context(), now)); now = now.Add(2 * time.Second) }

	leads = false
	pass()
	require.Zero(t, db.folds, "another node does it")
	leads = true
	for range 6 {
		pass()
	}
	require.Equal(t, []string{"2026-11-20", "2026-11-19", "2026-11-18", "2026-11-17"}, db.recounted, "back to the oldest run, a day each pass")
	require.Equal(t, "1970-01-01", db.state.CountedFrom, "nothing is left to be counted")
	require.Greater(t, db.folds, 6, "until nothing is left")

	now = at(20, 4)
	db.wrong = errMeanwhile
	pass() // somebody added to the counters meanwhile: it is tried again
	pass()
	pass()
	require.Equal(t, "2026-11-19", db.recounted[len(db.recounted)-1], "yesterday, once")
	require.Len(t, db.recounted, 5)
	require.Equal(t, "2026-11-19", db.state.Checked)

	now, db.removed = at(21, 4), at(20, 0)
	pass()
	require.Len(t, db.recounted, 5, "a day of which runs are gone is left as it is")
	require.Equal(t, "2026-11-20", db.state.Checked)

	db.err = errTaken
	pass()
	db.err = errors.New("no database")
	require.Error(t, k.Pass(t.Context(), now))

	now, cost = at(21, 5), time.Second
	pass()
	folds := db.folds
	pass()
	require.Equal(t, folds, db.folds, "it takes a twentieth of the time at most")
	now = now.Add(time.Minute)
	pass()
	require.Greater(t, db.folds, folds)
}

// TestKeeperWithoutOldRuns: of days of which runs were removed nothing can be counted, and
// nobody is told that they still will be.
func TestKeeperWithoutOldRuns(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	db := &counters{oldest: now.AddDate(0, 0, -9), removed: now}
	k := &report.Keeper{Store: db, Taken: errTaken, Meanwhile: errMeanwhile, Leads: func() bool { return true }, Zone: time.UTC, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
	for range 3 {
		require.NoError(t, k.Pass(t.Context(), now))
	}
	require.Empty(t, db.recounted)
	require.Equal(t, "1970-01-01", db.state.CountedFrom)
}
