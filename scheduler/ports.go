package scheduler

import (
	"context"

	"github.com/carillon-scheduler/carillon/scheduler/call"
	"github.com/carillon-scheduler/carillon/scheduler/config"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
	"github.com/carillon-scheduler/carillon/scheduler/node"
	"github.com/carillon-scheduler/carillon/scheduler/plan"
	"github.com/carillon-scheduler/carillon/scheduler/settle"
	"github.com/carillon-scheduler/carillon/scheduler/upkeep"
)

// Store is what the rooms need from the database; store.Store has it and its
// documentation is the contract.
type Store interface {
	EnsureLock(ctx context.Context) error

	plan.Store
	dispatch.Store
	settle.Store
	node.Store
	upkeep.Store
}

// Executor is the small client to executors; app adapts executorclient to it.
type Executor = call.Executor

// Config says how the loops behave.
type Config = config.Config
