// Package node is this process among those that share the database: its name, its
// beats, who else is alive, and what those left that are gone.
package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
)

var errNameTaken = errors.New("another process has taken the node name")

// Store is what nodes and takeover need from the database.
type Store interface {
	JoinNode(ctx context.Context, name, version, url string, aliveMS int64) (epoch int64, err error)
	Beat(ctx context.Context, n model.Node) (bool, error)
	LeaveNode(ctx context.Context, name string, epoch int64) error
	LiveNodes(ctx context.Context, withinMS int64) ([]model.Node, error)
	NotePlan(ctx context.Context, name string, epoch, nowMS int64) error

	PutBackAhead(ctx context.Context, keep []string, limit int) (int, error)
	OrphanedRuns(ctx context.Context, newOwners []string, beforeMS int64, limit int) ([]model.Run, error)
	AdoptRuns(ctx context.Context, keep, newOwners []string, limit int) (planned, unknown int, err error)
	HandOver(ctx context.Context, owner string, newOwners []string) (int, error)
	JobsByID(ctx context.Context, ids []int) (map[int]model.Job, error)
	PlannedIDs(ctx context.Context, owner string, afterMS, untilMS int64, limit int, latest bool) ([]int64, error)
	RunsByID(ctx context.Context, ids []int64) ([]model.Run, error)
	RecordDispatches(ctx context.Context, owner string, list []model.Dispatch, now time.Time, follow model.Follow) error
}

// Node is this process among those that share the database: a name, an epoch
// that grows with each start, and what it knows of the others.
type Node struct {
	Store  Store
	Cfg    config.Config
	Fatal  func(error)
	Report func(context.Context, *model.Node) // fills in what the node tells of itself; may be nil
	Gone   func()                             // another node is not there any more; may be nil

	mu      sync.Mutex
	epoch   int64
	leaving bool
	alive   []string // Owners that beat, this one included
	working []string // those of them that take new runs; never empty
	beatOK  time.Time
	took    time.Duration // of the last beat
}

// Join announces the process. Rows of an earlier process of the same name carry
// an older epoch and are therefore up for adoption at once.
func (n *Node) Join(ctx context.Context, now time.Time) error {
	epoch, err := n.announce(ctx)
	if err != nil {
		return fmt.Errorf("join the nodes: %w", err)
	}
	n.mu.Lock()
	n.epoch, n.beatOK, n.leaving = epoch, now, false
	n.alive = []string{n.ownerLocked()}
	n.working = n.alive
	n.mu.Unlock()
	return n.refresh(ctx)
}

// announce writes the name down. Where the name cannot be told from that of a living
// node it waits until that one must have beaten again: a process that was killed and
// started anew with its name in other letters finds itself.
func (n *Node) announce(ctx context.Context) (int64, error) {
	const step = 500 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		epoch, err := n.Store.JoinNode(ctx, n.Cfg.NodeName, n.Cfg.Version, n.Cfg.URL, n.Cfg.NodeDeadAfter.Milliseconds())
		if model.CodeOf(err) != model.CodeConflict || waited > n.Cfg.NodeDeadAfter {
			return epoch, err
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(step):
		}
	}
}

// Owner is the identity that this process writes into rows: the fencing token.
func (n *Node) Owner() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ownerLocked()
}

func (n *Node) ownerLocked() string { return OwnerOf(n.Cfg.NodeName, n.epoch) }

// OwnerOf is the identity of an incarnation of a node.
func OwnerOf(name string, epoch int64) string { return fmt.Sprintf("%s#%d", name, epoch) }

// Owners lists the nodes that take new runs, as they were seen last.
func (n *Node) Owners() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.working
}

// Living lists all nodes that beat, also those that are leaving.
func (n *Node) Living() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive
}

// Leads reports whether this node does what one node is enough for. It needs no
// election: should two think so for a moment, each step is guarded in the database.
func (n *Node) Leads() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.working[0] == n.ownerLocked()
}

// Beat renews the sign of life and looks who else is alive. A process whose
// name was taken by another must end: it may not plan or ring any more.
func (n *Node) Beat(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	me := model.Node{Name: n.Cfg.NodeName, Epoch: n.epoch, Leaving: n.leaving}
	n.mu.Unlock()
	if n.Report != nil {
		n.Report(ctx, &me)
	}
	began := n.Cfg.Now()
	ok, err := n.Store.Beat(ctx, me)
	took := n.Cfg.Now().Sub(began)
	if err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if !ok {
		err := fmt.Errorf("%w %q: give each node its own --node-name", errNameTaken, n.Cfg.NodeName)
		n.Fatal(err)
		return err
	}
	n.mu.Lock()
	n.beatOK, n.took = now, took
	n.mu.Unlock()
	return n.refresh(ctx)
}

// Took is how long the database took for the last beat.
func (n *Node) Took() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.took
}

// Leave tells the others at once that this node takes no new runs.
func (n *Node) Leave(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	n.leaving = true
	n.mu.Unlock()
	return n.Beat(ctx, now)
}

func (n *Node) refresh(ctx context.Context) error {
	nodes, err := n.Store.LiveNodes(ctx, n.Cfg.NodeDeadAfter.Milliseconds())
	if err != nil {
		return fmt.Errorf("living nodes: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.alive
	defer func() {
		left := func(o string) bool { return !slices.Contains(n.alive, o) }
		if n.Gone != nil && slices.ContainsFunc(before, left) {
			n.Gone()
		}
	}()
	me := n.ownerLocked()
	n.alive = []string{me}
	n.working = nil
	if !n.leaving {
		n.working = []string{me}
	}
	for _, x := range nodes {
		o := OwnerOf(x.Name, x.Epoch)
		if o == me {
			continue
		}
		n.alive = append(n.alive, o)
		if !x.Leaving {
			n.working = append(n.working, o)
		}
	}
	slices.Sort(n.working)
	if len(n.working) == 0 {
		n.working = []string{me} // nobody else: it keeps its runs for its own next start
	}
	return nil
}

// SinceBeat is how long the last successful beat is ago.
func (n *Node) SinceBeat(now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Sub(n.beatOK)
}

// NotePlan writes down that everything due was planned, and by whom.
func (n *Node) NotePlan(ctx context.Context, now time.Time) error {
	name, epoch := n.identity()
	return n.Store.NotePlan(ctx, name, epoch, now.UnixMilli())
}

// Goodbye says that the process is gone for good.
func (n *Node) Goodbye(ctx context.Context) error {
	name, epoch := n.identity()
	return n.Store.LeaveNode(ctx, name, epoch)
}

func (n *Node) identity() (name string, epoch int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Cfg.NodeName, n.epoch
}
