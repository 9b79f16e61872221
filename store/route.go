package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

// AddPicks adds what one node picked to what all have picked and removes
// addresses that have left. An address that is new begins with its base, whoever
// tells of it first.
func (s *Store) AddPicks(ctx context.Context, picks, gone []model.Pick) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, p := range gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM carillon_route WHERE job_id = ? AND address = ?`, p.JobID, p.Address); err != nil {
				return err
			}
		}
		return chunks(picks, 200, func(part []model.Pick) error {
			if err := s.beginPicks(ctx, tx, part); err != nil {
				return err
			}
			var add []any
			for _, p := range part {
				add = append(add, p.JobID, cut(p.Address, 255), p.Picks, p.UsedMS)
			}
			values := rowsOf(4, len(part))
			_, err := tx.ExecContext(ctx, `INSERT INTO carillon_route (job_id, address, picks, used_at) VALUES `+values+s.d.upsertPicks, add...)
			return err
		})
	})
}

// beginPicks writes the addresses that are not there: new ones, or such that
// another node did not see for a moment and took away. One that joins others
// begins with the smallest count among them, so that it is not flooded.
func (s *Store) beginPicks(ctx context.Context, tx *sql.Tx, picks []model.Pick) error {
	var jobs []int
	for _, p := range picks {
		jobs = append(jobs, p.JobID)
	}
	jobs = compact(jobs)
	least := map[int]int64{}
	_, err := collect(ctx, tx, func(x row) (none struct{}, err error) {
		var job int
		var n int64
		err = x.Scan(&job, &n)
		least[job] = n
		return none, err
	}, `SELECT job_id, MIN(picks) FROM carillon_route WHERE job_id IN (`+marks(len(jobs))+`) GROUP BY job_id`, anys(jobs)...)
	if err != nil {
		return err
	}
	var args []any
	for _, p := range picks {
		base, ok := least[p.JobID]
		if !ok {
			base = p.Base
		}
		args = append(args, p.JobID, cut(p.Address, 255), base, p.UsedMS)
	}
	_, err = tx.ExecContext(ctx, s.d.insertIgnore+`carillon_route (job_id, address, picks, used_at) VALUES `+rowsOf(4, len(picks)), args...)
	return err
}

// Picks reads what all nodes have picked for the jobs.
func (s *Store) Picks(ctx context.Context, jobIDs []int) ([]model.Pick, error) {
	var out []model.Pick
	err := chunks(jobIDs, 500, func(part []int) error {
		var p model.Pick
		list, err := collect(ctx, s.h, into(&p, []any{&p.JobID, &p.Address, &p.Picks, &p.UsedMS}),
			`SELECT job_id, address, picks, used_at FROM carillon_route WHERE job_id IN (`+marks(len(part))+`)`, anys(part)...)
		out = append(out, list...)
		return err
	})
	return out, err
}
