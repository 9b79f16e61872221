package executor_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/carillon-scheduler/carillon/executor"
)

// An executor with one handler: it registers as "billing" and runs the handler
// whenever the center rings it, until it is interrupted.
func ExampleNew() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ex, err := executor.New(executor.Options{
		Centers: []string{"http://127.0.0.1:8080"}, AppName: "billing", AccessToken: os.Getenv("TOKEN"),
	})
	if err != nil {
		log.Fatal(err)
	}
	ex.Handle("sendInvoices", func(ctx context.Context, run *executor.Run) error {
		run.Logf("sending the invoices of %s", run.Param) // a line in the log of this run
		if run.Param == "" {
			return fmt.Errorf("which month?") // the run fails with this message
		}
		return ctx.Err() // ends early when the run is killed or takes too long
	})
	if err := ex.Run(ctx); err != nil {
		log.Print(err)
	}
}
