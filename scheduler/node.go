package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

var errNameTaken = errors.New("another process has taken the node name")

// node is this process among those that share the database: a name, an epoch
// that grows with each start, and what it knows of the others.
type node struct {
	store  Store
	cfg    Config
	fatal  func(error)
	report func(context.Context, *model.Node) // fills in what the node tells of itself; may be nil
	gone   func()                             // another node is not there any more; may be nil

	mu      sync.Mutex
	epoch   int64
	leaving bool
	alive   []string // owners that beat, this one included
	working []string // those of them that take new runs; never empty
	beatOK  time.Time
}

// join announces the process. Rows of an earlier process of the same name carry
// an older epoch and are therefore up for adoption at once.
func (n *node) join(ctx context.Context, now time.Time) error {
	epoch, err := n.store.JoinNode(ctx, n.cfg.NodeName, n.cfg.Version, n.cfg.URL)
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

// owner is the identity that this process writes into rows: the fencing token.
func (n *node) owner() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ownerLocked()
}

func (n *node) ownerLocked() string { return ownerOf(n.cfg.NodeName, n.epoch) }

func ownerOf(name string, epoch int64) string { return fmt.Sprintf("%s#%d", name, epoch) }

// owners lists the nodes that take new runs, as they were seen last.
func (n *node) owners() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.working
}

// living lists all nodes that beat, also those that are leaving.
func (n *node) living() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive
}

// leads reports whether this node does what one node is enough for. It needs no
// election: should two think so for a moment, each step is guarded in the database.
func (n *node) leads() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.working[0] == n.ownerLocked()
}

// beat renews the sign of life and looks who else is alive. A process whose
// name was taken by another must end: it may not plan or ring any more.
func (n *node) beat(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	me := model.Node{Name: n.cfg.NodeName, Epoch: n.epoch, Leaving: n.leaving}
	n.mu.Unlock()
	if n.report != nil {
		n.report(ctx, &me)
	}
	ok, err := n.store.Beat(ctx, me)
	if err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if !ok {
		err := fmt.Errorf("%w %q: give each node its own --node-name", errNameTaken, n.cfg.NodeName)
		n.fatal(err)
		return err
	}
	n.mu.Lock()
	n.beatOK = now
	n.mu.Unlock()
	return n.refresh(ctx)
}

// leave tells the others at once that this node takes no new runs.
func (n *node) leave(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	n.leaving = true
	n.mu.Unlock()
	return n.beat(ctx, now)
}

func (n *node) refresh(ctx context.Context) error {
	nodes, err := n.store.LiveNodes(ctx, n.cfg.NodeDeadAfter.Milliseconds())
	if err != nil {
		return fmt.Errorf("living nodes: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.alive
	defer func() {
		left := func(o string) bool { return !slices.Contains(n.alive, o) }
		if n.gone != nil && slices.ContainsFunc(before, left) {
			n.gone()
		}
	}()
	me := n.ownerLocked()
	n.alive = []string{me}
	n.working = nil
	if !n.leaving {
		n.working = []string{me}
	}
	for _, x := range nodes {
		o := ownerOf(x.Name, x.Epoch)
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

// sinceBeat is how long the last successful beat is ago.
func (n *node) sinceBeat(now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Sub(n.beatOK)
}
