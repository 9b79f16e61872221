package app

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/carillon-scheduler/carillon/model"
)

// NodesCmd lists the processes of the center that share a database.
type NodesCmd struct {
	DatabaseFlags `embed:""`
}

// Run prints the list.
func (c *NodesCmd) Run(ctx context.Context, out *Output) error {
	st, err := openStore(ctx, c.DatabaseFlags, nil)
	if err != nil {
		return err
	}
	list, err := st.Nodes(ctx)
	if err = errors.Join(err, st.Close()); err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(out.Out, "no node has used this database yet")
		return nil
	}
	planner := model.Planner(list)
	w := tabwriter.NewWriter(out.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tLAST BEAT\tPLANS\tLATE P99\tBACKLOG\tSTART\tVERSION\tADDRESS")
	for _, n := range list {
		plans := ""
		if n.Name == planner {
			plans = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d ms\t%d\t#%d\t%s\t%s\n",
			n.Name, n.State(), lastBeat(n), plans, n.LateMS, n.Backlog, n.Epoch, n.Version, n.URL)
	}
	return w.Flush()
}

func lastBeat(n model.Node) string {
	if n.SilentMS < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f s ago", float64(n.SilentMS)/1000)
}
