package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// RecountCmd counts the days of reports anew from their runs.
type RecountCmd struct {
	From          string `help:"First day to count, as 2026-11-20; the day of the oldest run when empty." placeholder:"DAY"`
	DatabaseFlags `embed:""`
}

// recountTries is how often a day is tried on which runs end meanwhile.
const recountTries = 20

// Run counts one day after the other. Days of which runs were removed keep their numbers.
func (c *RecountCmd) Run(ctx context.Context, out *Output) error {
	first, err := c.first()
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c.DatabaseFlags, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer st.Close()
	if err := prepareSchema(ctx, st, false, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if first.IsZero() {
		oldest, err := st.OldestRun(ctx)
		if err != nil {
			return err
		}
		if oldest.IsZero() {
			fmt.Fprintln(out.Out, "There are no runs.")
			return nil
		}
		first = model.Date(oldest.In(st.Location()))
	}
	removed, err := st.RemovedUntil(ctx)
	if err != nil {
		return err
	}
	for day := first; !day.After(model.Date(time.Now().In(st.Location()))); day = day.AddDate(0, 0, 1) {
		name := day.Format(time.DateOnly)
		if !removed.IsZero() && !day.After(model.Date(removed.In(st.Location()))) {
			fmt.Fprintf(out.Out, "%s  left as it is: runs of this day were removed\n", name)
			continue
		}
		fires, changed, err := recountDay(ctx, st, day)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		what := "right"
		if changed {
			what = "set right"
		}
		fmt.Fprintf(out.Out, "%s  %d fires, %s\n", name, fires, what)
	}
	return nil
}

// first is the day that was asked for; zero when none was.
func (c *RecountCmd) first() (time.Time, error) {
	if c.From == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, c.From)
	if err != nil {
		return day, errors.New("--from must be a day such as 2026-11-20")
	}
	return day, nil
}

// recountDay tries again when a center adds to the counters at the same moment.
func recountDay(ctx context.Context, st *store.Store, day time.Time) (fires int, changed bool, err error) {
	for range recountTries {
		if fires, changed, err = st.RecountDay(ctx, day, time.Now()); !errors.Is(err, store.ErrCountedMeanwhile) {
			break
		}
	}
	return fires, changed, err
}
