package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// runOnceForm asks for parameter and addresses. With from=RUN both are those of that
// run, so that it can be made again.
func (c *Console) runOnceForm(r *request) error {
	j, err := c.pathJob(r, model.LevelOperate, "job.run")
	if err != nil {
		return err
	}
	v := views.RunOnce{Param: j.Param, Where: views.WhereRoute}
	var chosen []string
	if from, err := strconv.ParseInt(r.QueryParam("from"), 10, 64); err == nil {
		d, err := c.svc.Run(r.Request().Context(), r.actor(), from)
		if err != nil {
			return err
		}
		if d.Run.JobID == j.ID {
			v.Again, v.Param = from, d.Run.Param
			if j.Route == model.RouteBroadcast {
				v.Shard = views.Shard(d.Run.Sharding)
			}
			chosen = splitAddresses(d.Run.Address)
		}
	}
	return c.drawRunOnce(r, http.StatusOK, j, v, chosen, true)
}

func splitAddresses(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' })
}

// drawRunOnce draws the form with what can be chosen. With keep the addresses are those
// of an earlier run: of these the ones that can still be chosen are.
func (c *Console) drawRunOnce(r *request, status int, j model.Job, v views.RunOnce, chosen []string, keep bool) error {
	choices, err := c.svc.RunChoices(r.Request().Context(), r.actor(), j.ID)
	if err != nil {
		return err
	}
	v.Page, v.ID, v.Name, v.Route = r.page("jobs", r.loc.T("runonce.title")+" · "+j.Name), j.ID, j.Name, j.Route
	v.Once = newRequestID()
	for _, n := range choices.Nodes {
		node := views.RunNode{ExecutorNode: views.ExecutorNode(n), Off: n.Drain != nil || !n.Alive && !choices.Typed}
		node.Chosen = !node.Off && slices.Contains(chosen, n.Address)
		if node.Chosen && keep {
			v.Where = views.WhereChosen
		}
		v.Nodes = append(v.Nodes, node)
	}
	if keep && len(chosen) > 0 && v.Where != views.WhereChosen {
		v.Gone = strings.Join(chosen, ", ")
	}
	for _, p := range choices.Params {
		v.Params = append(v.Params, views.UsedParam(p))
	}
	return r.pageOr(status, views.RunOncePage(v), views.RunOnceFragment(v))
}

// runOnce makes the run and leads to its page, or puts an earlier parameter into the form.
func (c *Console) runOnce(r *request) error {
	j, err := c.pathJob(r, model.LevelOperate, "job.run")
	if err != nil {
		return err
	}
	form, err := r.FormParams()
	if err != nil {
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	v := views.RunOnce{
		Param: strings.ReplaceAll(r.FormValue("param"), "\r\n", "\n"), Where: r.FormValue("where"),
		Addresses: r.FormValue("addresses"), Shard: r.FormValue("shard"), Sure: r.FormValue("sure") != "",
	}
	v.Again, _ = strconv.ParseInt(r.FormValue("from"), 10, 64) // only said in the heading
	chosen := form["address"]
	if v.Where == "" { // a script, or an old page
		v.Where = views.WhereRoute
		if strings.TrimSpace(v.Addresses) != "" {
			v.Where = views.WhereOther
		}
	}
	if use := r.FormValue("use"); use != "" {
		if v.Param, err = c.paramOf(r, j.ID, use); err != nil {
			return err
		}
		return c.drawRunOnce(r, http.StatusOK, j, v, chosen, false)
	}
	if r.FormValue("resume") != "" {
		return c.drawRunOnce(r, http.StatusOK, j, v, chosen, false)
	}
	addresses := ""
	switch v.Where {
	case views.WhereRoute:
	case views.WhereChosen:
		if addresses = strings.Join(chosen, ","); addresses == "" {
			v.ChosenError = r.loc.T("field.choose_address")
		}
	case views.WhereOther:
		addresses = v.Addresses
		if strings.TrimSpace(addresses) == "" {
			v.AddressError = r.loc.T("field.required")
		}
		if r.actor().Admin && !v.Sure {
			v.SureError = r.loc.T("field.sure")
		}
	default:
		v.Message, v.Where = r.loc.T("field.unknown_value", "Value", v.Where), views.WhereRoute
	}
	if v.ChosenError+v.AddressError+v.SureError+v.Message != "" {
		return c.drawRunOnce(r, http.StatusUnprocessableEntity, j, v, chosen, false)
	}
	run, err := c.svc.RunNow(r.Request().Context(), r.actor(), j.ID, jobs.RunInput{
		Param: &v.Param, Addresses: addresses, Shard: v.Shard, Trigger: model.TriggerManual,
	})
	if model.CodeOf(err) == model.CodeInvalid {
		fields := fieldMessages(r.loc, err)
		v.ParamError, v.AddressError, v.ShardError = fields["param"], fields["addresses"], fields["shard"]
		if v.Where == views.WhereChosen {
			v.ChosenError, v.AddressError = v.AddressError, ""
		}
		if len(fields) == 0 {
			v.Message = message(r.loc, err)
		}
		return c.drawRunOnce(r, http.StatusUnprocessableEntity, j, v, chosen, false)
	}
	if err != nil {
		return err
	}
	id := strconv.FormatInt(run, 10)
	return r.leave(c.path("/runs/"+id), r.loc.T("runonce.done", "ID", run))
}

// paramOf gives the parameter of a run of the job.
func (c *Console) paramOf(r *request, jobID int, run string) (string, error) {
	id, err := strconv.ParseInt(run, 10, 64)
	if err != nil {
		return "", model.Errf(model.CodeNotFound, "error.not_found")
	}
	d, err := c.svc.Run(r.Request().Context(), r.actor(), id)
	if err == nil && d.Run.JobID != jobID {
		err = model.Errf(model.CodeNotFound, "error.not_found")
	}
	return d.Run.Param, err
}
