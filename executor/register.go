package executor

import (
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// register tells every center where this executor is, at once and then every
// BeatEvery, until ctx ends. While no center takes it, it tries more often.
func (e *Executor) register(ctx context.Context) {
	var wait time.Duration
	known := false
	for {
		said, err := e.centers.each(ctx, "registry", e.introduction())
		n := len(said)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Warn("registration failed", "centers", len(e.centers.urls), "taken", n, "error", err)
		}
		if n > 0 && !known {
			e.log.Info("registered", "app_name", e.o.AppName, "address", e.address)
		}
		if n > 0 {
			e.days.hear(said)
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

// introduction is a registration with what this executor says of itself.
func (e *Executor) introduction() protocol.Registry {
	r := e.registration()
	if own, err := json.Marshal(protocol.Own{About: e.about(true)}); err == nil { // plain values always marshal
		r.Own = own
	}
	return r
}

// about says how much there is to do here, and with all also what can be run here.
func (e *Executor) about(all bool) *protocol.About {
	a := &protocol.About{Version: e.version(), SDK: sdkVersion(debug.ReadBuildInfo()), Language: runtime.Version()}
	e.mu.Lock()
	for _, q := range e.queues {
		a.Waiting += len(q.waiting)
		if q.running != nil {
			a.Running++
		}
	}
	if all {
		a.Handlers = slices.Sorted(maps.Keys(e.handlers))
	}
	e.mu.Unlock()
	if !all {
		return a
	}
	a.Types = []string{glueBean}
	for name, kind := range scriptKinds() {
		if _, err := exec.LookPath(kind.command); err == nil && !e.o.NoScripts {
			a.Types = append(a.Types, name)
		}
	}
	slices.Sort(a.Types)
	return a
}

// version is that of the application.
func (e *Executor) version() string {
	if e.o.Version != "" {
		return e.o.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}

// module is where our SDK comes from.
const module = "github.com/carillon-scheduler/carillon"

// sdkVersion finds the version of the SDK in what a program was built from, "" when it was
// built from a working copy.
func sdkVersion(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return ""
	}
	version := ""
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module {
			continue
		}
		if version = m.Version; m.Replace != nil {
			version = m.Replace.Version
		}
	}
	if version == "(devel)" {
		return ""
	}
	return version
}
