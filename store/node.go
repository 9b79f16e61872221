package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// JoinNode announces a process under a name and returns its epoch, which is
// greater than that of every earlier process of this name. A name that the database
// cannot tell from that of another living node (its collation ignores case, accents and
// blanks at the end) is model.CodeConflict; that of a dead one is taken over with the
// new spelling.
func (s *Store) JoinNode(ctx context.Context, name, version, url string, aliveMS int64) (int64, error) {
	var epoch int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		var known string
		var alive bool
		err := tx.QueryRowContext(ctx, `SELECT name, beat_at > `+s.d.nowMS+` - ? FROM carillon_node WHERE name = ?`+s.d.forUpdate, aliveMS, name).Scan(&known, &alive)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case known != name && alive:
			return model.Errf(model.CodeConflict, "error.node_name", "Name", name, "Other", known)
		case known != name:
			if _, err := tx.ExecContext(ctx, `UPDATE carillon_node SET name = ? WHERE name = ?`, name, known); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, s.d.insertIgnore+`carillon_node (name, epoch, started_at, beat_at, version) VALUES (?, 0, 0, 0, '')`, name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE carillon_node SET epoch = epoch + 1, started_at = `+s.d.nowMS+`, beat_at = `+s.d.nowMS+`,
			leaving = NULL, backlog = NULL, late_ms = NULL, late50_ms = NULL, slow_waiting = NULL, sick_loops = NULL, troubles = NULL, version = ?, url = ? WHERE name = ?`, cut(version, 50), cut(url, 255), name); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT epoch FROM carillon_node WHERE name = ?`, name).Scan(&epoch)
	})
	return epoch, err
}

// Beat renews the node's sign of life by the database's clock, with what it
// tells of itself. It reports false when another process has taken the name since.
func (s *Store) Beat(ctx context.Context, n model.Node) (bool, error) {
	if s.beats == nil {
		return s.beatOn(ctx, s.w, n)
	}
	began := s.conns.now()
	soon, cancel := context.WithTimeout(ctx, beatPatience)
	defer cancel()
	ok, err := s.beatOn(soon, s.w, n)
	if err == nil && s.conns.now().Sub(began) < answerGrace {
		// The server is well: who waits on it for seconds waits on a dead connection.
		s.sayDropped(s.conns.dropWaiting(deadAnswer))
	}
	if err == nil || soon.Err() == nil || ctx.Err() != nil {
		return ok, err
	}
	// The server does not answer, or only those that were connected before do not hear
	// it any more: a firewall that lost its state drops them in silence.
	fresh, cancelFresh := context.WithTimeout(ctx, beatPatience)
	defer cancelFresh()
	if ok, err = s.beatOn(fresh, s.beats, n); err != nil {
		return ok, err
	}
	select { // a server that was only slow answers the others now
	case <-ctx.Done():
	case <-time.After(answerGrace):
		s.sayDropped(s.conns.dropSilent(began))
	}
	return ok, err
}

func (s *Store) sayDropped(n int) {
	if n > 0 {
		s.log.Warn("database connections that had died in silence were dropped", "count", n)
	}
}

// deadAnswer is longer than any statement waits for a lock.
const deadAnswer = 3100 * time.Millisecond

// answerGrace is how long after a fresh connection was answered the others have time.
const answerGrace = 200 * time.Millisecond

// beatPatience is how long one try to beat may take.
const beatPatience = 1500 * time.Millisecond

func (s *Store) beatOn(ctx context.Context, db *sql.DB, n model.Node) (bool, error) {
	return matched(db.ExecContext(ctx, `UPDATE carillon_node SET beat_at = `+s.d.nowMS+`, backlog = ?, late_ms = ?, late50_ms = ?, slow_waiting = ?, sick_loops = ?, troubles = ?, leaving = ? WHERE name = ? AND epoch = ?`,
		n.Backlog, n.LateMS, n.Late50MS, n.SlowWaiting, null(cut(n.SickLoops, 255)), null(troublesText(n.Troubles)), null(n.Leaving), n.Name, n.Epoch))
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
		var troubles string
		err = r.Scan(&n.Name, &n.Epoch, &n.StartedMS, &n.BeatMS, &n.Version, nz(&n.PlanMS), nz(&n.Backlog), nz(&n.LateMS), nz(&n.URL), nz(&n.Leaving),
			nz(&n.Late50MS), nz(&n.SlowWaiting), nz(&n.SickLoops), nz(&troubles), &n.SilentMS)
		if err == nil && troubles != "" && json.Unmarshal([]byte(troubles), &n.Troubles) != nil {
			n.Troubles = nil // of a newer center
		}
		return n, err
	}, `SELECT name, epoch, started_at, beat_at, version, plan_at, backlog, late_ms, url, leaving, late50_ms, slow_waiting, sick_loops, troubles,
		CASE WHEN beat_at = 0 THEN -1 ELSE `+s.d.nowMS+` - beat_at END FROM carillon_node`+where+` ORDER BY name`, args...)
}

// mostTroubles is how many troubles of one node are written down.
const mostTroubles = 20

func troublesText(list []model.NodeTrouble) string {
	if len(list) == 0 {
		return ""
	}
	b, err := json.Marshal(list[:min(len(list), mostTroubles)])
	if err != nil {
		return ""
	}
	return string(b)
}
