package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// isAhead is true of a run that is claimed ahead of its instant: it has no time of sending yet.
const isAhead = `l.run_state = ? AND l.owner = ? AND l.sent_time IS NULL AND l.handle_code = 0`

// isWanted is true when a run's job is to be made: it was not stopped by somebody and not
// deleted. One that its schedule has ended is wanted.
const isWanted = `EXISTS (SELECT 1 FROM xxl_job_info j WHERE j.id = l.job_id AND (j.trigger_status = 1 OR j.carillon_condition <> ''))`

// ConfirmAhead makes claims of runs that owner has claimed ahead, with instants up to
// untilMS, and gives those that are still its own and whose jobs were not stopped
// meanwhile. First it writes down, once for all of them, that owner rings up to untilMS:
// what PutBackAhead finds after that may have been sent.
func (s *Store) ConfirmAhead(ctx context.Context, owner string, untilMS int64, ids []int64) ([]int64, error) {
	name, epoch := ownerParts(owner)
	known, err := matched(s.w.ExecContext(ctx, `UPDATE carillon_node SET rings_until = `+s.d.greatest("COALESCE(rings_until, 0)", "?")+`
		WHERE name = ? AND epoch = ?`, untilMS, name, epoch))
	if err != nil || !known {
		return nil, err
	}
	var out []int64
	err = chunks(ids, 1000, func(part []int64) error {
		// On a connection that writes: it sees what was written before, also in a cluster.
		list, err := collect(ctx, s.w, one[int64], `SELECT l.id FROM xxl_job_log l WHERE l.id IN (`+marks(len(part))+`) AND `+isAhead+` AND `+isWanted,
			append(anys(part), model.PhaseSending, owner)...)
		out = append(out, list...)
		return err
	})
	return out, err
}

// PutBackAhead makes runs planned again that nodes which are gone had claimed ahead of
// their instants and certainly not sent; they keep their owners. Those of jobs that were
// stopped or deleted are left for the settling, which ends them. It returns how many
// were put back.
func (s *Store) PutBackAhead(ctx context.Context, keep []string, limit int) (int, error) {
	owners, err := s.openOwners(ctx, model.PhaseSending, keep)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, owner := range owners {
		n, err := s.putBackAheadOf(ctx, owner, limit)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (s *Store) putBackAheadOf(ctx context.Context, owner string, limit int) (int, error) {
	var some int64
	err := s.h.QueryRowContext(ctx, `SELECT l.id FROM xxl_job_log l WHERE `+isAhead+` LIMIT 1`, model.PhaseSending, owner).Scan(&some)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	name, _ := ownerParts(owner)
	n := 0
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		n = 0
		// Written, not only locked: in a cluster of databases a node that confirms at the
		// same moment is in conflict with this, wherever it writes.
		known, err := matched(tx.ExecContext(ctx, `UPDATE carillon_node SET taken_over_at = `+s.d.nowMS+` WHERE name = ?`, name))
		if err != nil || !known {
			return err // nobody knows what it has rung: all of it is asked about
		}
		var until int64
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(rings_until, 0) FROM carillon_node WHERE name = ?`, name).Scan(&until); err != nil {
			return err
		}
		ids, err := collect(ctx, tx, one[int64], `SELECT l.id FROM xxl_job_log l WHERE `+isAhead+` AND l.planned_time > ? AND `+isWanted+`
			ORDER BY l.planned_time LIMIT ?`, model.PhaseSending, owner, until, limit)
		if err != nil {
			return err
		}
		return chunks(compact(ids), 1000, func(part []int64) error {
			// A row that another session holds must not hold up the others: it is asked about.
			free, err := collect(ctx, tx, one[int64], `SELECT l.id FROM xxl_job_log l WHERE l.id IN (`+marks(len(part))+`) AND `+isAhead+`
				ORDER BY l.id`+cmp.Or(s.d.skipLocked, s.d.forUpdate), append(anys(part), model.PhaseSending, owner)...)
			if err != nil || len(free) == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, `UPDATE xxl_job_log SET run_state = ?, executor_address = NULL WHERE id IN (`+marks(len(free))+`)`,
				slices.Concat([]any{model.PhasePlanned}, anys(free))...)
			n += len(free)
			return err
		})
	})
	return n, err
}

// ownerParts is the name and the epoch of the node that an owner is.
func ownerParts(owner string) (name string, epoch int64) {
	i := strings.LastIndexByte(owner, '#')
	if i < 0 {
		return owner, 0
	}
	epoch, _ = strconv.ParseInt(owner[i+1:], 10, 64)
	return owner[:i], epoch
}
