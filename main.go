// Command carillon is a scheduling center: it keeps the clock for jobs, rings
// the executors that run them and shows people what happened.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones of jobs must not depend on what the machine has installed

	"github.com/carillon-scheduler/carillon/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
