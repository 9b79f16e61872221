package executor

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// register tells every center where this executor is, at once and then every
// BeatEvery, until ctx ends. While no center takes it, it tries more often.
func (e *Executor) register(ctx context.Context) {
	var wait time.Duration
	known := false
	for {
		n, err := e.centers.each(ctx, "registry", e.registration())
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Warn("registration failed", "centers", len(e.centers.urls), "taken", n, "error", err)
		}
		if n > 0 && !known {
			e.log.Info("registered", "app_name", e.o.AppName, "address", e.address)
		}
		known = n > 0
		if known {
			wait = 0
		} else {
			wait = min(e.backoff(wait), e.o.BeatEvery)
		}
		next := wait
		if known {
			next = e.o.BeatEvery
		}
		if !pause(ctx, next) {
			return
		}
	}
}

// deregister tells every center that this executor goes.
func (e *Executor) deregister(ctx context.Context) {
	if _, err := e.centers.each(ctx, "registryRemove", e.registration()); err != nil {
		e.log.Warn("deregistration failed", "error", err)
	}
}

func (e *Executor) registration() protocol.Registry {
	return protocol.Registry{Group: protocol.RegistryGroupExecutor, Key: e.o.AppName, Value: e.address}
}
