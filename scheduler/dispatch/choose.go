package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
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
	pick, why, err := d.route.Pick(ctx, router.Request{
		Strategy: strategy, JobID: j.run.JobID, Addresses: addresses, Exclude: j.tried, ShardIndex: index, Turn: j.run.Turn, Now: now,
		Beat: func(ctx context.Context, address string) error {
			return d.noteProbe(address, now, d.exec.Beat(ctx, address))
		},
		IdleBeat: func(ctx context.Context, address string) (bool, error) {
			idle, err := d.exec.IdleBeat(ctx, address, int64(j.run.JobID))
			return idle, d.noteProbe(address, now, err)
		},
		GlobalIdleBeat: func(ctx context.Context, address string) (bool, error) {
			idle, err := d.exec.GlobalIdleBeat(ctx, address)
			return idle, d.noteProbe(address, now, err)
		},
	})
	j.address, j.why = pick, why
	if err == nil && j.def.Route == model.RouteGlobalBusyover {
		j.held = pick
	}
	return err
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
func (d *Dispatcher) addresses(j *job) []string {
	if j.run.Address != "" {
		return (&model.Group{AddressList: j.run.Address}).Addresses()
	}
	return j.group.Addresses()
}

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
	j.why = strings.TrimSuffix(fmt.Sprintf("no connection to %s; %s", strings.Join(j.tried, ", "), j.why), "; ")
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
