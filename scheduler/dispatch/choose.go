package dispatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/router"
	"github.com/carillon-scheduler/carillon/scheduler/call"
)

// choose finds the address; a broadcast without a shard becomes one run per address.
func (d *Dispatcher) choose(ctx context.Context, j *job) error {
	if j.def.ID == 0 {
		return model.Errf(model.CodeNotFound, "error.job_not_found", "ID", j.run.JobID)
	}
	addresses := d.addresses(j)
	if j.def.Route == model.RouteBroadcast && j.run.Sharding == "" && len(addresses) > 0 {
		ok, err := d.store.AddShards(ctx, j.run, len(addresses), d.cfg.Now())
		if err != nil {
			return err
		}
		if ok {
			j.run.Sharding = fmt.Sprintf("0/%d", len(addresses))
		}
	}
	index, _ := shard(j.run.Sharding)
	d.letGo(j)
	now := d.cfg.Now()
	strategy := j.def.Route
	if j.run.Address != "" && (strategy == model.RouteLFU || strategy == model.RouteLRU) {
		strategy = model.RouteFirst // a person's choice for one run is no news about the executor's addresses
	}
	pick, err := d.route.Pick(ctx, router.Request{
		Strategy: strategy, JobID: j.run.JobID, Addresses: addresses, Exclude: j.tried, ShardIndex: index, Turn: j.run.Turn, Now: now,
		Beat: d.probe(model.AskedBeat, func(ctx context.Context, address string) (bool, error) {
			return true, d.noteProbe(address, now, d.exec.Beat(ctx, address))
		}),
		IdleBeat: d.probe(model.AskedIdleBeat, func(ctx context.Context, address string) (bool, error) {
			idle, err := d.exec.IdleBeat(ctx, address, int64(j.run.JobID))
			return idle, d.noteProbe(address, now, err)
		}),
		GlobalIdleBeat: d.probe(model.AskedGlobalIdleBeat, func(ctx context.Context, address string) (bool, error) {
			idle, err := d.exec.GlobalIdleBeat(ctx, address)
			return idle, d.noteProbe(address, now, err)
		}),
	})
	j.address, j.said = pick.Address, pick.Said
	j.note.Route = append(j.note.Route, pick.Asked...)
	if err == nil && j.def.Route == model.RouteGlobalBusyover {
		j.held = pick.Address
	}
	return err
}

// probe asks an address and writes down what it answered.
func (d *Dispatcher) probe(asked string, ask func(context.Context, string) (bool, error)) func(context.Context, string) router.Answer {
	return func(ctx context.Context, address string) router.Answer {
		var said call.Answer
		began := d.cfg.Now()
		free, err := ask(call.WithAnswer(ctx, &said), address)
		took := d.cfg.Now().Sub(began)
		out := router.Answer{Free: free && err == nil, Busy: !free && err == nil, Code: said.Code, Text: said.Text, MS: took.Milliseconds()}
		if err != nil && out.Text == "" {
			out.Text = err.Error()
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // else nobody waited for it
			d.calls.note(model.LastCall{Address: address, AtMS: began.UnixMilli(), Asked: asked, Reason: probeReason(err, said), Code: said.Code, Text: out.Text, TookMS: out.MS})
		}
		return out
	}
}

// nowhere says why no executor could be chosen.
func (d *Dispatcher) nowhere(j *job, err error) (reason string, said []model.Said) {
	key := ""
	if e, ok := errors.AsType[*model.Error](err); ok {
		key = e.Key
	}
	asked := map[string]bool{}
	refused := 0
	for _, a := range j.note.Route {
		asked[a.Address] = true
		if protocol.WrongToken(a.Code, a.Text) {
			refused++
		}
	}
	list := strings.Join(slices.Sorted(maps.Keys(asked)), ", ")
	switch {
	case j.def.ID == 0:
		return model.ReasonJobGone, []model.Said{model.Say(model.ReasonJobGone, "ID", j.run.JobID)}
	case j.group.ID == 0 && j.run.Address == "":
		return model.ReasonExecutorGone, []model.Said{model.Say(model.ReasonExecutorGone, "ID", j.def.GroupID)}
	case len(j.bad) > 0 && len(asked) == 0:
		return model.ReasonBadAddress, []model.Said{model.Say(model.ReasonBadAddress, "App", j.group.AppName, "Addresses", strings.Join(j.bad, ", "))}
	case len(asked) == 0 && d.drains(j) != "":
		return model.ReasonDraining, []model.Said{model.Say(model.ReasonDraining, "App", j.group.AppName, "Addresses", d.drains(j))}
	case refused > 0 && refused == len(j.note.Route):
		return model.ReasonWrongToken, []model.Said{model.Say(model.ReasonWrongToken, "App", j.group.AppName, "Addresses", list)}
	case key == router.KeyAllBusy:
		return model.ReasonAllBusy, []model.Said{model.Say(model.ReasonAllBusy, "App", j.group.AppName, "Addresses", list)}
	case key == router.KeyNoneAlive:
		return model.ReasonNoneAnswers, []model.Said{model.Say(model.ReasonNoneAnswers, "App", j.group.AppName, "Addresses", list)}
	}
	return model.ReasonNoAddress, []model.Said{model.Say(model.ReasonNoAddress, "App", j.group.AppName)}
}

// drains gives the addresses that the run could have gone to, if they took new runs.
func (d *Dispatcher) drains(j *job) string {
	list := j.group.Addresses()
	if j.run.Address != "" {
		list = (&model.Group{AddressList: j.run.Address}).Addresses()
	}
	return strings.Join(slices.DeleteFunc(list, func(a string) bool { return !slices.Contains(j.group.Draining, a) }), ", ")
}

// letGo ends the reservation of an address: the run was sent, and the executor
// itself says from now on that it is busy.
func (d *Dispatcher) letGo(j *job) {
	if j.held != "" {
		d.route.Release(j.held)
		j.held = ""
	}
}

// addresses gives those of the executor, or those that a person gave for this run.
// Those that take no new runs are left out, whoever chose them.
// What the database cannot take as the address of a run is left out: others write into
// the tables, too.
func (d *Dispatcher) addresses(j *job) []string {
	list := j.group.Taking()
	if j.run.Address != "" {
		list = (&model.Group{AddressList: j.run.Address, Draining: j.group.Draining}).Taking()
	}
	j.bad = nil
	for i, a := range list {
		if storable(a) {
			continue
		}
		good := slices.Clone(list[:i])
		for _, a := range list[i:] {
			if storable(a) {
				good = append(good, a)
			} else {
				j.bad = append(j.bad, strings.ToValidUTF8(a[:min(len(a), 100)], "?"))
			}
		}
		return good
	}
	return list
}

func storable(address string) bool { return len(address) <= 255 && utf8.ValidString(address) }

// another chooses once more after nothing listened at the address. A shard
// belongs to its address, so it has no other.
// Where the strategy wants an idle executor and all others are busy, the run waits.
func (d *Dispatcher) another(ctx context.Context, j *job) (again, wait bool) {
	j.tried = append(j.tried, j.address)
	if j.def.Route == model.RouteBroadcast || len(j.tried) >= len(d.addresses(j)) {
		return false, false
	}
	first := j.address
	if err := d.choose(ctx, j); err != nil {
		j.address = first
		return false, waits(err)
	}
	j.said = append([]model.Said{model.Say("route_elsewhere", "Addresses", strings.Join(j.tried, ", "))}, j.said...)
	return true, false
}

// waits reports whether a run is to be tried again later: its strategy wants an
// idle executor and all are busy.
func waits(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Key == router.KeyGlobalBusy
}

// noteHealth remembers whether an address takes connections.
func (d *Dispatcher) noteHealth(address string, sent call.Sent, now time.Time) {
	if sent.Unreachable {
		d.route.NoteRefused(address, now)
	} else if sent.State == call.Accepted {
		d.route.NoteAnswered(address)
	}
}

// noteProbe remembers the same of a probe and gives its error back.
func (d *Dispatcher) noteProbe(address string, now time.Time, err error) error {
	if errors.Is(err, call.ErrGone) {
		d.route.NoteRefused(address, now)
	} else if err == nil {
		d.route.NoteAnswered(address)
	}
	return err
}
