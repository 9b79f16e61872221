package console

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) dashboard(r *request) error {
	d, err := c.svc.Dashboard(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v := views.Dashboard{
		Page: r.page("dashboard", r.loc.T("dash.title")), Jobs: d.Jobs, RunsTotal: d.RunsTotal, Today: d.Today,
		Days: d.Days, NodesAlive: d.NodesAlive, NodesKnown: d.NodesKnown, Next: d.Next, Centers: d.Centers,
	}
	for _, t := range d.Troubles {
		x := views.Trouble{FailingJob: t.FailingJob, Count: t.Count, More: t.More}
		if t.Last != nil {
			x.LastID, x.Result, x.LastMS = t.Last.ID, t.Last.Result(), t.Last.FinishedMS
			x.Message = runMessage(r.loc, r.now.Location(), *t.Last)
		}
		v.Troubles = append(v.Troubles, x)
	}
	return r.pageOr(http.StatusOK, views.DashboardPage(v), views.DashboardPanel(v))
}
