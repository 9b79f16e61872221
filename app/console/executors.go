package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func (c *Console) executorList(r *request) error {
	page, err := c.svc.Executors(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v := views.Executors{
		Page: r.page("executors", r.loc.T("exec.title")), Rows: executorRows(page.Rows), All: len(page.Rows),
		Unassigned: executorRows(page.Unassigned), Command: c.executorCommand(), Text: searchText(r.QueryParam("q")),
		Whole: r.queryInt("addresses"),
	}
	if v.Text != "" {
		found := v.Rows[:0]
		for _, row := range v.Rows {
			if matches(&row, strings.ToLower(v.Text)) {
				found = append(found, row)
			}
		}
		v.Rows = found
	}
	return r.pageOr(http.StatusOK, views.ExecutorsPage(v), views.ExecutorsPanel(v))
}

// matches searches name, app name and addresses; when it is an address that has the text,
// the others are left out.
func matches(row *views.ExecutorRow, text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	if has(row.Title) || has(row.AppName) {
		return true
	}
	row.Nodes = slices.DeleteFunc(row.Nodes, func(n views.ExecutorNode) bool { return !has(n.Address) })
	return len(row.Nodes) > 0
}

func executorRows(in []jobs.ExecutorRow) []views.ExecutorRow {
	out := make([]views.ExecutorRow, 0, len(in))
	for _, row := range in {
		v := views.ExecutorRow{Group: row.Group, JobCount: row.JobCount}
		for _, n := range row.Nodes {
			v.Nodes = append(v.Nodes, views.ExecutorNode(n))
		}
		out = append(out, v)
	}
	return out
}

// executorCommand is what to type to see a first executor appear; the token is for
// people to fill in.
func (c *Console) executorCommand() string {
	center := c.opt.CenterURL
	if center == "" {
		center = "http://127.0.0.1:8080/xxl-job-admin"
	}
	// Not as a flag: those of a process are seen by everybody on its machine.
	return "CARILLON_ACCESS_TOKEN=YOUR_TOKEN carillon executor --center " + center
}

func (c *Console) executorNew(r *request) error {
	return c.drawExecutor(r, http.StatusOK, views.ExecutorForm{
		Values: map[string]string{"app_name": r.QueryParam("app_name"), "title": r.QueryParam("app_name"), "address_type": "0"},
	})
}

func (c *Console) executorEdit(r *request) error {
	g, err := c.pathExecutor(r)
	if err != nil {
		return err
	}
	if !r.actor().May(model.LevelAdminister, g.ID) {
		return model.Errf(model.CodeForbidden, "error.forbidden")
	}
	return c.drawExecutor(r, http.StatusOK, views.ExecutorForm{ID: g.ID, Values: map[string]string{
		"app_name": g.AppName, "title": g.Title, "address_type": strconv.Itoa(int(g.AddressType)),
		"address_list": strings.Join(g.Addresses(), "\n"),
	}})
}

func (c *Console) pathExecutor(r *request) (model.Group, error) {
	id, err := r.jobID()
	if err != nil {
		return model.Group{}, err
	}
	return c.svc.Executor(r.Request().Context(), r.actor(), id)
}

func (c *Console) drawExecutor(r *request, status int, v views.ExecutorForm) error {
	title := r.loc.T("exec.add")
	if v.ID > 0 {
		title = r.loc.T("exec.edit")
	}
	v.Page = r.page("executors", title)
	return r.render(status, views.ExecutorFormPage(v))
}

func (c *Console) executorAdd(r *request) error {
	return c.saveExecutor(r, 0, "exec.added", func(ctx context.Context, in jobs.ExecutorInput) error {
		_, err := c.svc.AddExecutor(ctx, r.actor(), in)
		return err
	})
}

func (c *Console) executorUpdate(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	return c.saveExecutor(r, id, "exec.saved", func(ctx context.Context, in jobs.ExecutorInput) error {
		return c.svc.UpdateExecutor(ctx, r.actor(), id, in)
	})
}

// saveExecutor binds the form, saves and redraws it when something is wrong.
func (c *Console) saveExecutor(r *request, id int, done string, save func(context.Context, jobs.ExecutorInput) error) error {
	values := map[string]string{}
	for _, name := range []string{"app_name", "title", "address_type", "address_list"} {
		values[name] = r.FormValue(name)
	}
	if r.FormValue("resume") != "" {
		return c.drawExecutor(r, http.StatusOK, views.ExecutorForm{ID: id, Values: values})
	}
	in := jobs.ExecutorInput{AppName: strings.TrimSpace(values["app_name"]), Title: strings.TrimSpace(values["title"])}
	switch values["address_type"] {
	case "0", "":
	case "1":
		in.AddressType = model.AddressManual
		in.AddressList = strings.Join(strings.FieldsFunc(values["address_list"], func(c rune) bool {
			return c == ',' || c == '\n' || c == '\r' || c == ' ' || c == '\t'
		}), ",")
	default:
		in.AddressType = -1 // the use case says that there is none
	}
	err := save(r.Request().Context(), in)
	if code := model.CodeOf(err); code == model.CodeInvalid || code == model.CodeConflict {
		v := views.ExecutorForm{ID: id, Values: values, Errors: fieldMessages(r.loc, err), Message: message(r.loc, err)}
		if len(v.Errors) > 0 {
			v.Message = r.loc.T("form.errors")
		}
		return c.drawExecutor(r, statusOf(err), v)
	}
	if err != nil {
		return err
	}
	return r.leave(c.path("/executors"), r.loc.T(done, "Name", in.Title))
}

// executorAdopt makes an executor of an app name that registers already.
func (c *Console) executorAdopt(r *request) error {
	name := strings.TrimSpace(r.FormValue("app_name"))
	_, err := c.svc.AddExecutor(r.Request().Context(), r.actor(), jobs.ExecutorInput{AppName: name, Title: name})
	if model.CodeOf(err) == model.CodeInvalid {
		// A name that we would not allow, from a lenient client: let a person decide.
		return c.drawExecutor(r, http.StatusUnprocessableEntity, views.ExecutorForm{
			Values: map[string]string{"app_name": name, "title": name, "address_type": "0"},
			Errors: fieldMessages(r.loc, err), Message: message(r.loc, err),
		})
	}
	if err != nil {
		return err
	}
	return r.leave(c.path("/executors"), r.loc.T("exec.added", "Name", name))
}

func (c *Console) executorDeleteForm(r *request) error {
	g, err := c.pathExecutor(r)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Page: r.page("executors", r.loc.T("exec.delete_title")), Heading: r.loc.T("exec.delete_title"),
		Text: r.loc.T("exec.delete_text", "Name", g.Title, "AppName", g.AppName), Button: r.loc.T("action.delete"),
		Action: c.path("/executors/" + strconv.Itoa(g.ID) + "/delete"), Cancel: c.path("/executors"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) executorDelete(r *request) error {
	g, err := c.pathExecutor(r)
	if err != nil {
		return err
	}
	if err := c.svc.DeleteExecutor(r.Request().Context(), r.actor(), g.ID); err != nil {
		return err
	}
	return r.done(c.path("/executors"), r.loc.T("exec.deleted", "Name", g.Title))
}

// executorPing calls one address and says what came of it.
func (c *Console) executorPing(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	address := r.FormValue("address")
	call, report, err := c.svc.Ping(r.Request().Context(), r.actor(), id, address)
	if err != nil {
		return err
	}
	toast := views.Toast{Kind: "ok", Text: r.loc.T("exec.pinged.ok", "Address", address, "Took", r.loc.Millis(call.TookMS))}
	switch {
	case call.Reason != "":
		toast.Kind, toast.Text = "bad", r.loc.T("exec.pinged."+call.Reason, "Address", address, "Text", call.Text)
	case report != nil:
		toast.Text += " " + r.loc.T("exec.load", "Running", r.loc.Number(int64(report.Running)), "Waiting", r.loc.Number(int64(report.Waiting)))
	}
	return r.doneWith(c.path("/executors"), toast)
}

// executorDrain lets an address get no new runs.
func (c *Console) executorDrain(r *request) error { return c.drain(r, true) }

// executorTake lets it get them again.
func (c *Console) executorTake(r *request) error { return c.drain(r, false) }

func (c *Console) drain(r *request, on bool) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	address := r.FormValue("address")
	if err := c.svc.Drain(r.Request().Context(), r.actor(), id, address, on); err != nil {
		return err
	}
	done, back := "exec.drained", "take"
	if !on {
		done, back = "exec.taken", "drain"
	}
	return r.doneWith(c.path("/executors"), views.Toast{
		Kind: "ok", Text: r.loc.T(done, "Address", address),
		Undo: c.path("/executors/" + strconv.Itoa(id) + "/" + back + "?" + url.Values{"address": {address}}.Encode()),
	})
}
