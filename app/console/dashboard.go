package console

import (
	"net/http"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) dashboard(r *request) error {
	name, days := dayRange(r)
	d, err := c.svc.Dashboard(r.Request().Context(), r.actor(), days)
	if err != nil {
		return err
	}
	v := views.Dashboard{
		Page: r.page("dashboard", r.loc.T("dash.title")), Jobs: d.Jobs, Incidents: d.Incidents, RunsTotal: d.RunsTotal, Today: d.Today,
		Days: d.Days, Range: name, NodesAlive: d.NodesAlive, NodesKnown: d.NodesKnown, Next: d.Next, Centers: d.Centers,
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

// dayRange reads which days the chart shows: one of the known presets, or two dates.
func dayRange(r *request) (name string, days model.DayRange) {
	today := r.now.In(r.center)
	day := func(n int) string { return model.Day(today, n) }
	month := func(n int) string {
		return time.Date(today.Year(), today.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	switch name = r.QueryParam("range"); name {
	case "today":
		return name, model.DayRange{First: day(0), Last: day(0)}
	case "yesterday":
		return name, model.DayRange{First: day(-1), Last: day(-1)}
	case "30days":
		return name, model.DayRange{First: day(-29), Last: day(0)}
	case "month":
		return name, model.DayRange{First: month(0), Last: day(0)}
	case "lastmonth":
		end := time.Date(today.Year(), today.Month(), 0, 0, 0, 0, 0, time.UTC)
		return name, model.DayRange{First: month(-1), Last: end.Format(time.DateOnly)}
	case "custom":
		return name, model.DayRange{First: r.QueryParam("from"), Last: r.QueryParam("to")}
	}
	return "", model.DayRange{}
}
