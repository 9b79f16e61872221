package console

import (
	"context"

	"github.com/carillon-scheduler/carillon/model"
)

// Addresses and the system are tested with the real use cases (app/address_test.go,
// jobs/address_test.go); the fake has enough to draw the pages.

func (f *fake) Ping(_ context.Context, _ model.Actor, id int, address string) (model.LastCall, *model.Report, error) {
	return model.LastCall{Address: address, AtMS: f.now.UnixMilli(), TookMS: 3}, nil, f.note("ping %d %s", id, address)
}

func (f *fake) Drain(_ context.Context, _ model.Actor, id int, address string, on bool) error {
	return f.note("drain %d %s %v", id, address, on)
}

func (f *fake) Lacking(context.Context, model.Actor) (map[int][]model.GlueType, error) {
	return nil, nil
}

func (f *fake) System(context.Context, model.Actor) (model.System, error) {
	return model.System{Node: "n1", Nodes: []model.Node{{Name: "n1", Version: "1.2.3", PlanMS: f.now.UnixMilli()}}}, nil
}
