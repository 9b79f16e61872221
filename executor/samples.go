package executor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RegisterSamples adds the handlers of the sample executor, for demonstrations
// and first steps:
//
//	demo.hello   logs six lines within two seconds
//	demo.shard   logs its part of a broadcast
//	demo.fail    fails after a few lines
//	demo.sleep   waits for the time in its parameter, such as 30s
//	demo.child   is meant to be the child of another job
func RegisterSamples(e *Executor) {
	e.Handle("demo.hello", sampleHello)
	e.Handle("demo.shard", sampleShard)
	e.Handle("demo.fail", sampleFail)
	e.Handle("demo.sleep", sampleSleep)
	e.Handle("demo.child", sampleChild)
}

// wait waits and gives the reason when ctx ends earlier.
func wait(ctx context.Context, d time.Duration) error {
	if !pause(ctx, d) {
		return context.Cause(ctx)
	}
	return nil
}

func sampleHello(ctx context.Context, run *Run) error {
	name := run.Param
	if name == "" {
		name = "world"
	}
	run.Logf("Hello, %s. This log grows while you watch.", name)
	for i := 1; i <= 4; i++ {
		if err := wait(ctx, 400*time.Millisecond); err != nil {
			return err
		}
		run.Logf("step %d of 4", i)
	}
	run.Logf("Good-bye, %s.", name)
	run.SetResult("greeted %s", name)
	return nil
}

func sampleShard(ctx context.Context, run *Run) error {
	const items = 12
	mine := 0
	for i := range items {
		if i%run.ShardTotal != run.ShardIndex {
			continue
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		run.Logf("shard %d of %d: item %d", run.ShardIndex, run.ShardTotal, i)
		mine++
	}
	run.SetResult("shard %d of %d: %d of %d items", run.ShardIndex, run.ShardTotal, mine, items)
	return nil
}

func sampleFail(ctx context.Context, run *Run) error {
	run.Logf("reading orders.csv")
	if err := wait(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	run.Logf("line 17: want 5 columns, have 4")
	return errors.New("orders.csv, line 17: want 5 columns, have 4 (this sample always fails)")
}

func sampleSleep(ctx context.Context, run *Run) error {
	d, err := time.ParseDuration(run.Param)
	if err != nil {
		return fmt.Errorf("the parameter must be a duration such as 30s or 2m: %w", err)
	}
	run.Logf("sleeping for %s", d)
	if err := wait(ctx, d); err != nil {
		return fmt.Errorf("woken early: %w", err)
	}
	run.SetResult("slept for %s", d)
	return nil
}

func sampleChild(ctx context.Context, run *Run) error {
	run.Logf("The parent has succeeded, so it is my turn (parameter %q).", run.Param)
	return wait(ctx, 200*time.Millisecond)
}
