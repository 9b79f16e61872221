package store

import (
	"context"
	"database/sql"

	"github.com/carillon-scheduler/carillon/model"
)

// JoinNode announces a process under a name and returns its epoch, which is
// greater than that of every earlier process of this name.
func (s *Store) JoinNode(ctx context.Context, name, version, url string) (int64, error) {
	var epoch int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_node (name, epoch, started_at, beat_at, version) VALUES (?, 0, 0, 0, '')`, name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE carillon_node SET epoch = epoch + 1, started_at = `+s.d.nowMS+`, beat_at = `+s.d.nowMS+`,
			leaving = NULL, backlog = NULL, late_ms = NULL, version = ?, url = ? WHERE name = ?`, cut(version, 50), cut(url, 255), name); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT epoch FROM carillon_node WHERE name = ?`, name).Scan(&epoch)
	})
	return epoch, err
}

// Beat renews the node's sign of life by the database's clock, with what it
// tells of itself. It reports false when another process has taken the name since.
func (s *Store) Beat(ctx context.Context, n model.Node) (bool, error) {
	return matched(s.w.ExecContext(ctx, `UPDATE carillon_node SET beat_at = `+s.d.nowMS+`, backlog = ?, late_ms = ?, leaving = ? WHERE name = ? AND epoch = ?`,
		n.Backlog, n.LateMS, null(n.Leaving), n.Name, n.Epoch))
}

// LeaveNode says that the process is gone for good.
func (s *Store) LeaveNode(ctx context.Context, name string, epoch int64) error {
	_, err := s.w.ExecContext(ctx, `UPDATE carillon_node SET beat_at = 0 WHERE name = ? AND epoch = ?`, name, epoch)
	return err
}

// LiveNodes lists the nodes that beat within the last withinMS, by the
// database's clock.
func (s *Store) LiveNodes(ctx context.Context, withinMS int64) ([]model.Node, error) {
	return s.nodes(ctx, s.w, ` WHERE beat_at > `+s.d.nowMS+` - ?`, withinMS)
}

// Nodes lists every node that ever joined and how long ago it beat, in ms by
// the database's clock; -1 when it said goodbye.
func (s *Store) Nodes(ctx context.Context) ([]model.Node, error) {
	return s.nodes(ctx, s.r, "")
}

func (s *Store) nodes(ctx context.Context, q querier, where string, args ...any) ([]model.Node, error) {
	return collect(ctx, q, func(r row) (n model.Node, err error) {
		err = r.Scan(&n.Name, &n.Epoch, &n.StartedMS, &n.BeatMS, &n.Version, nz(&n.PlanMS), nz(&n.Backlog), nz(&n.LateMS), nz(&n.URL), nz(&n.Leaving), &n.SilentMS)
		return n, err
	}, `SELECT name, epoch, started_at, beat_at, version, plan_at, backlog, late_ms, url, leaving,
		CASE WHEN beat_at = 0 THEN -1 ELSE `+s.d.nowMS+` - beat_at END FROM carillon_node`+where+` ORDER BY name`, args...)
}
