package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/carillon-scheduler/carillon/model"
)

// Reports are read from counters per job and day, week and month (carillon_count). What
// changes them is written with the runs, as one row of a journal per transaction: a few
// bytes for each run and no row that two transactions want. FoldCounts adds it to the
// counters behind the path of the runs.

// Stages of the journal.
const (
	stageWritten = 0 // by the transaction that changed runs
	stageMerged  = 1 // many of those together, of some jobs
)

// writeJournal notes what a transaction counts.
func writeJournal(ctx context.Context, tx *sql.Tx, t tally) error {
	var all model.Counted
	for _, d := range t {
		if all == nil {
			all = d.counted
		} else {
			all.Merge(d.counted)
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO carillon_count_journal (stage, body) VALUES (?, ?)`, stageWritten, all.Encode())
	return err
}

type journalRow struct {
	id   int64
	body model.Counted
}

// ErrCountsTaken means that another node takes the same rows of the journal.
var ErrCountsTaken = errors.New("another node counts as well")

// journal reads rows of a stage, the oldest first.
func journal(ctx context.Context, q querier, stage, limit int) ([]journalRow, error) {
	return collect(ctx, q, func(x row) (j journalRow, err error) {
		var body []byte
		if err = x.Scan(&j.id, &body); err == nil {
			j.body, err = model.DecodeCounted(body)
		}
		return j, err
	}, `SELECT id, body FROM carillon_count_journal WHERE stage = ? ORDER BY id LIMIT ?`, stage, limit)
}
