package console

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// pickedIDs reads which lines were ticked. What is no number is an error: nothing is done then.
func pickedIDs(r *request) ([]int64, error) {
	var out []int64
	for _, text := range r.Request().PostForm["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		out = append(out, id)
	}
	return out, nil
}

// pickedJobs are the ticked jobs, or all that match the filter of the list.
func (c *Console) pickedJobs(r *request) ([]int, error) {
	picked, err := pickedIDs(r)
	if err != nil {
		return nil, err
	}
	var ids []int
	if r.FormValue("all") == "1" {
		query, err := url.ParseQuery(r.FormValue("filter"))
		if err != nil {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		f := jobFilter(r, readJobFilter(query))
		f.Limit, f.Offset = 10_000, 0
		list, _, err := c.svc.FindJobs(r.Request().Context(), r.actor(), f)
		if err != nil {
			return nil, err
		}
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		return ids, nil
	}
	for _, id := range picked {
		if id > model.MaxID {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		ids = append(ids, int(id))
	}
	return ids, nil
}

// jobBatch does something to many jobs and says what became of each. What cannot be taken
// back is asked about first.
func (c *Console) jobBatch(r *request) error {
	ctx, do := r.Request().Context(), r.FormValue("do")
	ids, err := c.pickedJobs(r)
	if err != nil {
		return err
	}
	v := views.Batch{Page: r.page("jobs", r.loc.T("batch.title")), Action: c.path("/jobs/batch"), Back: c.path("/jobs"), Do: do}
	if len(ids) == 0 {
		v.Heading, v.Done = r.loc.T("batch.none"), true
		return c.drawBatch(r, v)
	}
	if (do == "delete" || do == "run" && len(ids) > 1) && r.FormValue("sure") == "" {
		return c.askBatch(r, v, do, ids)
	}
	var items []jobs.BatchItem
	switch do {
	case "start":
		v.Undo = "stop"
		items, err = c.svc.SwitchMany(ctx, r.actor(), ids, model.JobRunning)
	case "stop":
		v.Undo = "start"
		items, err = c.svc.SwitchMany(ctx, r.actor(), ids, model.JobStopped)
	case "run":
		items, err = c.svc.RunMany(ctx, r.actor(), ids)
	case "delete":
		items, err = c.svc.DeleteMany(ctx, r.actor(), ids)
	default:
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	return c.batchDone(r, v, items, err, func(item jobs.BatchItem) string {
		switch {
		case item.NewID > 0:
			return c.path("/runs/" + strconv.FormatInt(item.NewID, 10))
		case do == "delete":
			return ""
		}
		return c.path("/jobs/" + strconv.FormatInt(item.ID, 10))
	})
}

// askBatch names the jobs that are meant and waits for a word.
func (c *Console) askBatch(r *request, v views.Batch, do string, ids []int) error {
	list, _, err := c.svc.FindJobs(r.Request().Context(), r.actor(), model.JobFilter{IDs: ids, Limit: len(ids)})
	if err != nil {
		return err
	}
	v.Heading, v.Text, v.Button = r.loc.N("batch.ask_run", len(list)), r.loc.T("batch.ask_run_text"), r.loc.T("action.run")
	if do == "delete" {
		v.Heading, v.Text, v.Button = r.loc.N("batch.ask_delete", len(list)), r.loc.T("batch.ask_delete_text"), r.loc.T("action.delete")
	}
	for i := range list {
		v.IDs = append(v.IDs, strconv.Itoa(list[i].ID))
		if len(v.Lines) < views.MostBatchLines {
			class := "off"
			if list[i].Status == model.JobRunning {
				class = "ok"
			}
			v.Lines = append(v.Lines, views.BatchLine{Class: class, Name: list[i].Name, Text: list[i].Author, URL: c.path("/jobs/" + strconv.Itoa(list[i].ID))})
		}
	}
	v.More = len(list) - len(v.Lines)
	return c.drawBatch(r, v)
}

// runBatch does the same to many runs.
func (c *Console) runBatch(r *request) error {
	ids, err := pickedIDs(r)
	if err != nil {
		return err
	}
	op := jobs.RunsOp(r.FormValue("do"))
	v := views.Batch{Page: r.page("runs", r.loc.T("batch.title")), Action: c.path("/runs/batch"), Back: c.path("/runs"), Do: string(op)}
	if len(ids) == 0 {
		v.Heading, v.Done = r.loc.T("batch.none"), true
		return c.drawBatch(r, v)
	}
	if op == jobs.RunsKill && r.FormValue("sure") == "" {
		v.Heading, v.Text, v.Button = r.loc.N("batch.ask_kill", len(ids)), r.loc.T("batch.ask_kill_text"), r.loc.T("run.kill")
		for _, id := range ids {
			v.IDs = append(v.IDs, strconv.FormatInt(id, 10))
		}
		return c.drawBatch(r, v)
	}
	items, err := c.svc.EachRun(r.Request().Context(), r.actor(), ids, op)
	return c.batchDone(r, v, items, err, func(item jobs.BatchItem) string {
		id := item.ID
		if item.NewID > 0 {
			id = item.NewID
		}
		return c.path("/runs/" + strconv.FormatInt(id, 10))
	})
}

// batchDone says what became of each: what did not work first. An error in the middle ends
// the work; what was done before is said all the same.
func (c *Console) batchDone(r *request, v views.Batch, items []jobs.BatchItem, err error, link func(jobs.BatchItem) string) error {
	if err != nil && len(items) == 0 {
		return err
	}
	changed, same, bad := 0, 0, 0
	var good []views.BatchLine
	for _, item := range items {
		line := views.BatchLine{Class: "ok", Name: item.Name, URL: link(item)}
		if line.Name == "" {
			line.Name = "#" + strconv.FormatInt(item.ID, 10)
		}
		switch {
		case item.Err != nil:
			bad++
			line.Class, line.Text = "bad", message(r.loc, item.Err)
			v.Lines = append(v.Lines, line)
			continue
		case item.Changed:
			changed++
			v.IDs = append(v.IDs, strconv.FormatInt(item.ID, 10))
			line.Text = r.loc.T("batch.done")
			if item.NewID > 0 {
				line.Text = r.loc.T("run.title", "ID", item.NewID)
			}
		default:
			same++
			line.Class, line.Text = "off", r.loc.T("batch.same")
		}
		good = append(good, line)
	}
	v.Lines = append(v.Lines, good...)
	v.More = max(0, len(v.Lines)-views.MostBatchLines)
	v.Lines = v.Lines[:len(v.Lines)-v.More]
	v.Heading, v.Done = r.loc.T("batch.result", "Changed", changed, "Same", same, "Failed", bad), true
	if err != nil {
		c.log.ErrorContext(r.Request().Context(), "a batch broke off", "request_id", r.id, "done", changed, "error", err)
		v.Text = r.loc.T("batch.broken")
	}
	if v.Undo == "" {
		v.IDs = nil
	}
	if r.htmx() {
		r.trigger(map[string]any{"carillon:refresh": "", "carillon:batch": ""})
	}
	return c.drawBatch(r, v)
}

func (c *Console) drawBatch(r *request, v views.Batch) error {
	return r.pageOr(http.StatusOK, views.BatchPage(v), views.BatchFragment(v))
}
