package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// mostMade is how many runs a batch makes, ends or loses, and how many jobs it deletes:
// each is a call or a history of its own.
const mostMade = 500

// pickedIDs reads which lines were ticked. What is no number is an error: nothing is done then.
func pickedIDs(r *request) ([]int64, error) {
	out, err := readIDs(r.FormValue("ids"))
	if err != nil {
		return nil, err
	}
	for _, text := range r.Request().PostForm["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// pickedJobs are the ticked jobs, or all that match the filter of the list.
func (c *Console) pickedJobs(r *request) ([]int64, error) {
	picked, err := pickedIDs(r)
	if err != nil {
		return nil, err
	}
	if r.FormValue("all") == "1" {
		query, err := url.ParseQuery(r.FormValue("filter"))
		if err != nil {
			return nil, model.Errf(model.CodeInvalid, "error.invalid")
		}
		f := jobFilter(r, readJobFilter(query))
		f.Limit, f.Offset = mostPicked, 0
		list, total, err := c.svc.FindJobs(r.Request().Context(), r.actor(), f)
		if err != nil {
			return nil, err
		}
		if total > len(list) { // all or nothing: nobody sees which were left out
			return nil, tooMany(mostPicked)
		}
		var ids []int64
		for i := range list {
			ids = append(ids, int64(list[i].ID))
		}
		return ids, nil
	}
	if len(picked) > 0 && picked[len(picked)-1] > model.MaxID {
		return nil, model.Errf(model.CodeInvalid, "error.invalid")
	}
	return picked, nil
}

func asInts(ids []int64) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(min(id, model.MaxID+1))
	}
	return out
}

// jobDoer gives what does something to jobs, and whether it can.
func (c *Console) jobDoer(r *request, do string) (doer, bool) {
	a := r.actor()
	switched := func(status model.JobStatus, back string) doer {
		return doer{400, func(ctx context.Context, ids []int64, _ workPart) ([]jobs.BatchItem, error) {
			return c.svc.SwitchMany(ctx, a, asInts(ids), status)
		}, func(workPart, jobs.BatchItem) (string, workPart) { return back, workPart{} }}
	}
	switch do {
	case "start":
		return switched(model.JobRunning, "stop"), true
	case "stop":
		return switched(model.JobStopped, "start"), true
	case "run":
		return doer{20, func(ctx context.Context, ids []int64, _ workPart) ([]jobs.BatchItem, error) {
			return c.svc.RunMany(ctx, a, asInts(ids))
		}, nil}, true
	case "delete":
		return doer{20, func(ctx context.Context, ids []int64, _ workPart) ([]jobs.BatchItem, error) {
			return c.svc.DeleteMany(ctx, a, asInts(ids))
		}, nil}, true
	}
	if !slices.Contains(jobs.JobChanges(), do) {
		return doer{}, false
	}
	return doer{20, func(ctx context.Context, ids []int64, p workPart) ([]jobs.BatchItem, error) {
		return c.svc.ChangeMany(ctx, a, asInts(ids), jobs.JobChange{Do: do, Value: p.Value, Expect: p.Expect})
	}, func(p workPart, item jobs.BatchItem) (string, workPart) {
		back := jobs.JobChange{Do: do, Value: p.Value}.Back(item.Was)
		return back.Do, workPart{Value: back.Value, Expect: back.Expect}
	}}, true
}

// exportOf names the jobs of a batch in an address: all of a filter by the filter.
func (c *Console) exportOf(r *request, ids []int64) string {
	if r.FormValue("all") == "1" {
		return r.FormValue("filter") // was read already
	}
	return url.Values{"ids": {idText(ids)}}.Encode()
}

// jobBatch does something to many jobs and says what became of each. What cannot be taken
// back is asked about first, and what they get is asked for.
func (c *Console) jobBatch(r *request) error {
	do := r.FormValue("do")
	v := views.Batch{Page: r.page("jobs", r.loc.T("batch.title")), Action: c.path("/jobs/batch"), Back: c.path("/jobs"), Do: do}
	var w *work
	if text := r.FormValue("work"); text != "" {
		var err error
		if w, err = readWork(text); err != nil {
			return err
		}
	} else {
		ids, err := c.pickedJobs(r)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			v.Heading, v.Done = r.loc.T("batch.none"), true
			return c.drawBatch(r, v)
		}
		switch {
		case (do == "delete" || do == "run") && len(ids) > mostMade:
			return tooMany(mostMade)
		case (do == "delete" || do == "run" && len(ids) > 1) && r.FormValue("sure") == "":
			return c.askBatch(r, v, do, ids)
		case do == "change":
			return c.drawChange(r, v, ids)
		case do == "export":
			return r.goTo(c.path("/jobs/export?" + c.exportOf(r, ids)))
		}
		value := ""
		if slices.Contains(jobs.JobChanges(), do) {
			change, err := c.svc.CheckChange(r.Request().Context(), r.actor(), jobs.JobChange{Do: do, Value: r.FormValue("value_" + do)})
			if model.CodeOf(err) == model.CodeInvalid {
				v.Errors = map[string]string{do: fieldMessages(r.loc, err)["value"]}
				return c.drawChange(r, v, ids)
			}
			if err != nil {
				return err
			}
			value = change.Value
		}
		w = newWork(do, value, ids)
	}
	d, ok := c.jobDoer(r, w.Do)
	if !ok {
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	return c.answerWork(r, v, w, d, func(l workLine) string {
		switch {
		case l.Run > 0:
			return c.path("/runs/" + strconv.FormatInt(l.Run, 10))
		case w.Do == "delete":
			return ""
		}
		return c.path("/jobs/" + strconv.FormatInt(l.ID, 10))
	})
}

// drawChange asks what is to be changed of many jobs, and to what.
func (c *Console) drawChange(r *request, v views.Batch, ids []int64) error {
	ctx := r.Request().Context()
	page, err := c.svc.ListJobs(ctx, r.actor(), model.JobFilter{Limit: 1})
	if err != nil {
		return err
	}
	v.Change, v.IDs, v.Values = true, idText(ids), map[string]string{}
	for _, do := range jobs.JobChanges() {
		v.Values[do] = r.FormValue("value_" + do)
	}
	for _, g := range page.Groups {
		if r.actor().May(model.LevelEdit, g.ID) {
			v.Groups = append(v.Groups, g)
		}
	}
	v.Tags = page.Tags
	v.Heading = r.loc.N("batch.ask_change", len(ids))
	return c.drawBatch(r, v)
}

// askBatch names the jobs that are meant and waits for a word.
func (c *Console) askBatch(r *request, v views.Batch, do string, ids []int64) error {
	list, _, err := c.svc.FindJobs(r.Request().Context(), r.actor(), model.JobFilter{IDs: asInts(ids), Limit: len(ids)})
	if err != nil {
		return err
	}
	v.Heading, v.Text, v.Button = r.loc.N("batch.ask_run", len(list)), r.loc.T("batch.ask_run_text"), r.loc.T("action.run")
	if do == "delete" {
		v.Heading, v.Text, v.Button = r.loc.N("batch.ask_delete", len(list)), r.loc.T("batch.ask_delete_text"), r.loc.T("action.delete")
	}
	var named []int64
	for i := range list {
		named = append(named, int64(list[i].ID))
		if len(v.Lines) < views.MostBatchLines {
			class := "off"
			if list[i].Status == model.JobRunning {
				class = "ok"
			}
			v.Lines = append(v.Lines, views.BatchLine{Class: class, Name: list[i].Name, Text: list[i].Author, URL: c.path("/jobs/" + strconv.Itoa(list[i].ID))})
		}
	}
	v.IDs, v.More = idText(named), len(list)-len(v.Lines)
	return c.drawBatch(r, v)
}

// runBatch does the same to many runs.
func (c *Console) runBatch(r *request) error {
	v := views.Batch{Page: r.page("runs", r.loc.T("batch.title")), Action: c.path("/runs/batch"), Back: c.path("/runs"), Do: r.FormValue("do")}
	var w *work
	if text := r.FormValue("work"); text != "" {
		var err error
		if w, err = readWork(text); err != nil {
			return err
		}
	} else {
		ids, err := pickedIDs(r)
		if err != nil {
			return err
		}
		if len(ids) > mostMade {
			return tooMany(mostMade)
		}
		if len(ids) == 0 {
			v.Heading, v.Done = r.loc.T("batch.none"), true
			return c.drawBatch(r, v)
		}
		if jobs.RunsOp(v.Do) == jobs.RunsKill && r.FormValue("sure") == "" {
			v.Heading, v.Text, v.Button = r.loc.N("batch.ask_kill", len(ids)), r.loc.T("batch.ask_kill_text"), r.loc.T("run.kill")
			v.IDs = idText(ids)
			return c.drawBatch(r, v)
		}
		w = newWork(v.Do, "", ids)
	}
	op := jobs.RunsOp(w.Do)
	switch op {
	case jobs.RunsRetry, jobs.RunsKill, jobs.RunsTakeBack:
	default:
		return model.Errf(model.CodeInvalid, "error.invalid")
	}
	d := doer{10, func(ctx context.Context, ids []int64, _ workPart) ([]jobs.BatchItem, error) {
		return c.svc.EachRun(ctx, r.actor(), ids, op)
	}, nil}
	return c.answerWork(r, v, w, d, func(l workLine) string {
		id := l.ID
		if l.Run > 0 {
			id = l.Run
		}
		return c.path("/runs/" + strconv.FormatInt(id, 10))
	})
}
