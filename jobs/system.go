package jobs

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/model"
)

// System tells administrators how the center does: all nodes as they beat, and the node
// that was asked in detail.
func (s *Service) System(ctx context.Context, actor model.Actor) (model.System, error) {
	if !actor.Admin {
		return model.System{}, forbidden()
	}
	var sys model.System
	var err error
	if s.system != nil {
		if sys, err = s.system(ctx); err != nil {
			return sys, err
		}
	}
	if sys.Keep, err = s.Keeping(ctx); err != nil {
		return sys, err
	}
	if sys.Nodes, err = s.store.Nodes(ctx); err != nil {
		return sys, err
	}
	sys.Nodes = slices.DeleteFunc(sys.Nodes, func(n model.Node) bool {
		return n.State() == model.NodeStopped || n.SilentMS > goneShown.Milliseconds()
	})
	return sys, nil
}
