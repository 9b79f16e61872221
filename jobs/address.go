package jobs

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// addressBook is what is known of addresses beside their beats.
type addressBook struct {
	drains []model.Drain
	calls  map[string]model.LastCall
	loads  map[int]map[string]int
}

func (s *Service) addressBook(ctx context.Context) (b addressBook, err error) {
	if b.drains, err = s.store.Drains(ctx); err != nil {
		return b, err
	}
	if b.calls, err = s.store.LastCalls(ctx); err != nil {
		return b, err
	}
	loads, err := s.store.AddressLoads(ctx)
	b.loads = map[int]map[string]int{}
	for _, l := range loads {
		if b.loads[l.GroupID] == nil {
			b.loads[l.GroupID] = map[string]int{}
		}
		b.loads[l.GroupID][l.Address] = l.Open
	}
	return b, err
}

// registered is an address that beats.
func (s *Service) registered(r *model.Registration) ExecutorNode {
	return ExecutorNode{Address: r.Address, Beat: r.Beat, Alive: r.Beat.After(s.aliveSince()), Report: r.Report}
}

// fill gives the addresses of an executor with all that is known of them: those of its
// list, of an automatic one those that registered, those that take no new runs, and
// those that have left with runs.
func (b addressBook) fill(g *model.Group, beats []ExecutorNode) []ExecutorNode {
	list := g.Addresses()
	nodes := beats
	at := func(address string) int {
		return slices.IndexFunc(nodes, func(n ExecutorNode) bool { return n.Address == address })
	}
	if g.AddressType == model.AddressManual {
		nodes = nil
		for _, a := range list {
			if at(a) >= 0 {
				continue // typed twice
			}
			if i := slices.IndexFunc(beats, func(n ExecutorNode) bool { return n.Address == a }); i >= 0 {
				nodes = append(nodes, beats[i])
			} else {
				nodes = append(nodes, ExecutorNode{Address: a})
			}
		}
	}
	also := slices.Clone(g.Draining)
	for a := range b.loads[g.ID] {
		if !strings.Contains(a, ",") { // else a choice of several, of which none is taken yet
			also = append(also, a)
		}
	}
	slices.Sort(also)
	for _, a := range also {
		if at(a) < 0 {
			nodes = append(nodes, ExecutorNode{Address: a})
		}
	}
	for i := range nodes {
		n := &nodes[i]
		n.Listed = slices.Contains(list, n.Address)
		n.Open = b.loads[g.ID][n.Address]
		if c, ok := b.calls[n.Address]; ok {
			n.Call = &c
		}
		if slices.Contains(g.Draining, n.Address) {
			n.Drain = &model.Drain{GroupID: g.ID, Address: n.Address}
			if i := slices.IndexFunc(b.drains, func(d model.Drain) bool { return d.GroupID == g.ID && d.Address == n.Address }); i >= 0 {
				n.Drain = &b.drains[i]
			}
		}
	}
	return nodes
}

// addressFor finds an executor and one of its addresses for who administers it. Others
// are not called and not drained: nobody makes the center call what it does not know.
func (s *Service) addressFor(ctx context.Context, actor model.Actor, id int, address, action string) (model.Group, error) {
	g, err := s.executorFor(ctx, actor, id, actor.May(model.LevelAdminister, id), action)
	if err != nil {
		return g, err
	}
	if slices.Contains(g.Addresses(), address) || slices.Contains(g.Draining, address) {
		return g, nil
	}
	regs, err := s.store.AppRegistrations(ctx, g.AppName)
	if err == nil && g.AddressType == model.AddressAuto && slices.ContainsFunc(regs, func(r model.Registration) bool { return r.Address == address }) {
		return g, nil
	}
	if err != nil {
		return g, err
	}
	return g, model.Errf(model.CodeNotFound, "error.address_unknown", "Address", address)
}

// Ping calls an address of an executor and says what came of it, and what the executor
// says of itself if it does. That it does not answer
// is no error.
func (s *Service) Ping(ctx context.Context, actor model.Actor, id int, address string) (model.LastCall, *model.Report, error) {
	if _, err := s.addressFor(ctx, actor, id, address, "executor.ping"); err != nil {
		return model.LastCall{}, nil, err
	}
	call, report := s.executors.Ping(ctx, address)
	call.Address, call.Asked = address, model.AskedBeat
	if ctx.Err() != nil {
		return call, nil, ctx.Err()
	}
	s.log.Info("executor pinged", "executor_id", id, "address", address, "reason", call.Reason, "ms", call.TookMS, "user", actor.Name)
	return call, report, s.store.NoteCalls(ctx, []model.LastCall{call})
}

// Drain says that an address of an executor gets no new runs, or that it gets them again.
// What it has got goes on.
func (s *Service) Drain(ctx context.Context, actor model.Actor, id int, address string, on bool) error {
	action := "executor.drain"
	if !on {
		action = "executor.take"
	}
	g, err := s.addressFor(ctx, actor, id, address, action)
	if err != nil {
		return err
	}
	changed, err := s.store.SetDrain(ctx, model.Drain{GroupID: id, Address: address, SinceMS: s.now().UnixMilli(), By: actor.Name}, on)
	if err != nil || !changed {
		return err
	}
	s.log.Info("address drained or given back", "drain", on, "executor_id", id, "address", address, "user", actor.Name)
	s.note(ctx, actor, action, groupThing(&g), nil, model.Change{Field: "address", New: address})
	return nil
}

// Lacking gives for each executor that the actor may see the types of jobs that none of
// its addresses runs. Only our SDK says which it runs; where one address says nothing,
// nothing is known.
func (s *Service) Lacking(ctx context.Context, actor model.Actor) (map[int][]model.GlueType, error) {
	groups, err := s.store.Groups(ctx, actor.GroupLimit())
	if err != nil {
		return nil, err
	}
	reports, err := s.reports(ctx)
	out := map[int][]model.GlueType{}
	for _, g := range groups {
		if lacking := model.Lacking(reports(&g)); len(lacking) > 0 {
			out[g.ID] = lacking
		}
	}
	return out, err
}

// reports gives what the addresses of executors say of themselves.
func (s *Service) reports(ctx context.Context) (func(*model.Group) []*model.Report, error) {
	regs, err := s.store.Registrations(ctx)
	alive := s.aliveSince()
	return func(g *model.Group) (out []*model.Report) {
		for _, a := range g.Taking() {
			i := slices.IndexFunc(regs, func(r model.Registration) bool {
				return r.Address == a && strings.EqualFold(r.Key, g.AppName) && r.Beat.After(alive)
			})
			if i < 0 {
				out = append(out, nil)
				continue
			}
			out = append(out, regs[i].Report)
		}
		return out
	}, err
}

// reportedHandlers gives the handlers that the addresses of an executor say they have.
func (s *Service) reportedHandlers(ctx context.Context, groupID int) ([]string, error) {
	g, err := s.store.Group(ctx, groupID)
	if err != nil {
		return nil, err
	}
	reports, err := s.reports(ctx)
	var out []string
	for _, r := range reports(&g) {
		if r != nil {
			out = append(out, r.Handlers...)
		}
	}
	return out, err
}
