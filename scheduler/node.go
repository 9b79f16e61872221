package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var errNameTaken = errors.New("another process has taken the node name")

// node is this process among those that share the database: a name, an epoch
// that grows with each start, and what it knows of the others.
type node struct {
	store Store
	cfg   Config
	fatal func(error)

	mu     sync.Mutex
	epoch  int64
	alive  []string // owners that beat, this one included
	beatOK time.Time
}

// join announces the process. Rows of an earlier process of the same name carry
// an older epoch and are therefore up for adoption at once.
func (n *node) join(ctx context.Context, now time.Time) error {
	epoch, err := n.store.JoinNode(ctx, n.cfg.NodeName, n.cfg.Version)
	if err != nil {
		return fmt.Errorf("join the nodes: %w", err)
	}
	n.mu.Lock()
	n.epoch, n.beatOK = epoch, now
	n.alive = []string{n.ownerLocked()}
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

// owners lists the living nodes as they were seen last.
func (n *node) owners() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive
}

// beat renews the sign of life and looks who else is alive. A process whose
// name was taken by another must end: it may not plan or ring any more.
func (n *node) beat(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	epoch := n.epoch
	n.mu.Unlock()
	ok, err := n.store.Beat(ctx, n.cfg.NodeName, epoch)
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

func (n *node) refresh(ctx context.Context) error {
	nodes, err := n.store.LiveNodes(ctx, n.cfg.NodeDeadAfter.Milliseconds())
	if err != nil {
		return fmt.Errorf("living nodes: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	me := n.ownerLocked()
	alive := []string{me}
	for _, x := range nodes {
		if o := ownerOf(x.Name, x.Epoch); o != me {
			alive = append(alive, o)
		}
	}
	n.alive = alive
	return nil
}

// sinceBeat is how long the last successful beat is ago.
func (n *node) sinceBeat(now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Sub(n.beatOK)
}
