package jobs

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Executors lists the executors that the actor may see, with their addresses,
// and for administrators the app names that register without an executor.
func (s *Service) Executors(ctx context.Context, actor model.Actor) (ExecutorPage, error) {
	var p ExecutorPage
	groups, err := s.store.Groups(ctx, actor.GroupLimit())
	if err != nil {
		return p, err
	}
	regs, err := s.store.Registrations(ctx)
	if err != nil {
		return p, err
	}
	counts, err := s.store.JobsPerGroup(ctx)
	if err != nil {
		return p, err
	}
	known, err := s.addressBook(ctx)
	if err != nil {
		return p, err
	}
	byApp := map[string][]ExecutorNode{}
	for _, r := range regs {
		app := strings.ToLower(r.Key)
		byApp[app] = append(byApp[app], s.registered(&r))
	}
	apps := map[string]bool{}
	for _, g := range groups {
		app := strings.ToLower(g.AppName)
		apps[app] = true
		p.Rows = append(p.Rows, ExecutorRow{Group: g, JobCount: counts[g.ID], Nodes: known.fill(&g, slices.Clone(byApp[app]))})
	}
	if actor.Admin {
		for _, r := range regs {
			app := strings.ToLower(r.Key)
			if apps[app] {
				continue
			}
			apps[app] = true
			p.Unassigned = append(p.Unassigned, ExecutorRow{Group: model.Group{AppName: r.Key}, Nodes: byApp[app]})
		}
	}
	return p, nil
}

// Executor reads one executor that the actor may see.
func (s *Service) Executor(ctx context.Context, actor model.Actor, id int) (model.Group, error) {
	g, err := s.store.Group(ctx, id)
	if !actor.Sees(id) || model.CodeOf(err) == model.CodeNotFound {
		return model.Group{}, model.Errf(model.CodeNotFound, "error.not_found")
	}
	return g, err
}

// AddExecutor creates an executor group; only administrators may.
func (s *Service) AddExecutor(ctx context.Context, actor model.Actor, in ExecutorInput) (int, error) {
	if !actor.Admin {
		err := forbidden()
		s.note(ctx, actor, "executor.add", thing{model.AuditExecutor, 0, in.Title}, err)
		return 0, err
	}
	g, bad := checkExecutor(in)
	if !model.ValidAppName(g.AppName) {
		bad.AddField("app_name", "field.app_name")
	} else if _, err := s.store.GroupByApp(ctx, g.AppName); err == nil {
		bad.AddField("app_name", "error.app_name_taken", "Value", g.AppName)
	} else if model.CodeOf(err) != model.CodeNotFound {
		return 0, err
	}
	if len(bad.Fields) > 0 {
		return 0, bad
	}
	g.UpdateTime = s.Now()
	id, err := s.store.InsertGroup(ctx, &g, s.aliveSince())
	if err == nil {
		s.log.Info("executor added", "executor_id", id, "app_name", g.AppName, "user", actor.Name)
		g.ID = id
		s.note(ctx, actor, "executor.add", groupThing(&g), nil, model.Change{Field: "app_name", New: g.AppName})
	}
	return id, err
}

// UpdateExecutor changes title, type and addresses; the app name stays.
func (s *Service) UpdateExecutor(ctx context.Context, actor model.Actor, id int, in ExecutorInput) error {
	old, err := s.executorFor(ctx, actor, id, actor.May(model.LevelAdminister, id), "executor.edit")
	if err != nil {
		return err
	}
	g, bad := checkExecutor(in)
	// The access token of the center goes to every address: who administers one executor
	// does not choose addresses.
	if !actor.Admin && (g.AddressType != old.AddressType || g.AddressType == model.AddressManual && g.AddressList != old.AddressList) {
		bad.AddField("address_list", "field.admin_only")
	}
	if len(bad.Fields) > 0 {
		if lacksRights(bad) {
			s.note(ctx, actor, "executor.edit", groupThing(&old), bad)
		}
		return bad
	}
	g.ID, g.AppName, g.UpdateTime = id, old.AppName, s.Now()
	if err := s.store.UpdateGroup(ctx, &g, s.aliveSince()); err != nil {
		return err
	}
	s.log.Info("executor changed", "executor_id", id, "user", actor.Name)
	s.note(ctx, actor, "executor.edit", groupThing(&g), nil, groupChanges(&old, &g)...)
	return nil
}

// DeleteExecutor removes an executor that has no jobs.
func (s *Service) DeleteExecutor(ctx context.Context, actor model.Actor, id int) error {
	g, err := s.executorFor(ctx, actor, id, actor.Admin, "executor.delete")
	if err != nil {
		return err
	}
	if err := s.store.DeleteGroup(ctx, id); err != nil {
		return err
	}
	s.log.Info("executor deleted", "executor_id", id, "user", actor.Name)
	s.note(ctx, actor, "executor.delete", groupThing(&g), nil, model.Change{Field: "app_name", Old: g.AppName})
	return nil
}

// executorFor reads an executor to change it, and notes who may not.
func (s *Service) executorFor(ctx context.Context, actor model.Actor, id int, may bool, action string) (model.Group, error) {
	g, err := s.store.Group(ctx, id)
	if may || err != nil && model.CodeOf(err) != model.CodeNotFound {
		return g, err
	}
	g.ID, err = id, forbidden()
	s.note(ctx, actor, action, groupThing(&g), err)
	if !actor.Sees(id) {
		err = model.Errf(model.CodeNotFound, "error.not_found")
	}
	return g, err
}

func groupChanges(old, new *model.Group) []model.Change {
	var out []model.Change
	add := func(field, was, is string) {
		if was != is {
			out = append(out, model.Change{Field: field, Old: was, New: is})
		}
	}
	add("title", old.Title, new.Title)
	add("address_type", itoa(int(old.AddressType)), itoa(int(new.AddressType)))
	if old.AddressType == model.AddressManual || new.AddressType == model.AddressManual {
		add("address_list", old.AddressList, new.AddressList)
	}
	return out
}

func checkExecutor(in ExecutorInput) (model.Group, *model.Error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	g := model.Group{AppName: strings.TrimSpace(in.AppName), Title: strings.TrimSpace(in.Title), AddressType: in.AddressType}
	line(bad, "title", g.Title, 64, true)
	if g.AddressType != model.AddressAuto && g.AddressType != model.AddressManual {
		bad.AddField("address_type", "field.unknown_value", "Value", int(g.AddressType))
	}
	if g.AddressType == model.AddressManual {
		list := checkAddressList(in.AddressList, bad, "address_list")
		if len(list) == 0 {
			bad.AddField("address_list", "field.required")
		}
		if g.AddressList = strings.Join(list, ","); len(g.AddressList) > maxParamBytes {
			bad.AddField("address_list", "field.too_long", "Max", maxParamBytes)
		}
	}
	return g, bad
}

// Register stores a beat of an executor; its address is usable at once.
func (s *Service) Register(ctx context.Context, reg model.Registration) error {
	if err := checkRegistration(reg); err != nil {
		return err
	}
	reg.Beat = s.Now()
	return s.store.Register(ctx, reg, s.aliveSince())
}

// Deregister removes an address; it is not rung any more.
func (s *Service) Deregister(ctx context.Context, reg model.Registration) error {
	if err := checkRegistration(reg); err != nil {
		return err
	}
	reg.Beat = s.Now()
	s.log.Info("executor left", "app_name", reg.Key, "address", reg.Address)
	return s.store.Deregister(ctx, reg, s.aliveSince())
}

func checkRegistration(reg model.Registration) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if reg.Group != "EXECUTOR" {
		bad.AddField("registryGroup", "field.unknown_value", "Value", reg.Group)
	}
	line(bad, "registryKey", reg.Key, 255, true)
	if strings.TrimSpace(reg.Key) == "" {
		bad.AddField("registryKey", "field.required")
	}
	switch {
	case strings.TrimSpace(reg.Address) == "":
		bad.AddField("registryValue", "field.required")
	case !model.ValidAddress(reg.Address):
		bad.AddField("registryValue", "field.address", "Value", reg.Address)
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}
