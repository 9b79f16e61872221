package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/carillon-scheduler/carillon/app"
)

type cli struct {
	SiteFlags `embed:""`

	Checker    CheckerCmd    `cmd:"" help:"For every job and planned instant: made exactly once? Under faults."`
	Throughput ThroughputCmd `cmd:"" help:"The highest sustained rate of completed runs."`
	Burst      BurstCmd      `cmd:"" help:"Many jobs due at one instant."`
	Dead       DeadCmd       `cmd:"" help:"Jobs whose executor has no address beside living ones."`
	Overload   OverloadCmd   `cmd:"" help:"More than the machine sustains for a while: when is the backlog gone?"`
	Scale      ScaleCmd      `cmd:"" help:"The cost of a scan with few and with a million stored jobs."`
	Retention  RetentionCmd  `cmd:"" help:"A million old runs removed while others are made."`
	Batch      BatchCmd      `cmd:"" help:"Ten thousand jobs stopped in the console while others run."`
	Alarms     AlarmsCmd     `cmd:"" help:"What is told when an executor goes away and when thousands of runs fail, and what it costs."`
	History    HistoryCmd    `cmd:"" help:"The pages with millions of stored runs."`
}

func main() {
	if code, ok := asNode(os.Args); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	k := kong.Parse(&c, kong.Name("bench"), kong.Description("Proves and measures a scheduling center from outside."))
	k.BindTo(ctx, (*context.Context)(nil))
	k.Bind(&c.SiteFlags, &Report{out: os.Stdout, command: "go run ./bench " + strings.Join(os.Args[1:], " ")})
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// asNode makes this program a center when it was started as one: "node" and the
// arguments of carillon. A node is a process of its own, so that it can be killed.
func asNode(args []string) (code int, ok bool) {
	if len(args) < 2 || args[1] != "node" {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return app.Main(ctx, args[2:], os.Stdout, os.Stderr), true
}
