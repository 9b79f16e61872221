package legacy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// runList lists runs. There a run was written down when it was sent; so those that
// are planned for later are left out here.
func runList(c *call) (any, error) {
	group, err := c.group()
	if err != nil {
		return nil, err
	}
	f := model.RunFilter{GroupID: group, DueByMS: c.h.Service.Now().UnixMilli()}
	if f.JobID = max(0, atoi(c.value("jobId"), 0)); f.JobID > 0 && group > 0 {
		j, err := c.h.Service.Job(c.r.Context(), c.actor, f.JobID)
		switch {
		case model.CodeOf(err) == model.CodeNotFound: // its runs may be there still
		case err != nil:
			return nil, err
		case j.GroupID != group:
			return page{[]runRow{}, 0}, nil
		}
	}
	switch strings.TrimSpace(c.value("logStatus")) {
	case "1":
		f.Status = model.RunsSucceeded
	case "2":
		f.Status = model.RunsFailed
	case "3":
		f.Taken = true
	}
	if text := strings.TrimSpace(c.value("filterTime")); text != "" {
		var ok bool
		if f.From, f.To, ok = period(text, c.h.Service.Now().Location()); !ok {
			bad := model.Errf(model.CodeInvalid, "error.invalid")
			bad.AddField("filterTime", "legacy.period")
			return nil, bad
		}
	}
	f.Offset, f.Limit = c.paging()
	list, total, err := c.h.Service.FindRuns(c.r.Context(), c.actor, f)
	rows := make([]runRow, len(list))
	for i := range list {
		rows[i] = c.runRow(&list[i])
	}
	return page{rows, total}, err
}

// htmlText makes the log safe to put into a page, as the scripts of old expect it.
var htmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func runLog(c *call) (any, error) {
	id, err := strconv.ParseInt(strings.TrimSpace(c.value("logId")), 10, 64)
	if err != nil || id <= 0 {
		return nil, model.Errf(model.CodeInvalid, "error.id_range", "Value", c.value("logId"))
	}
	chunk, err := c.h.Service.ReadLog(c.r.Context(), c.actor, id, max(1, atoi(c.value("fromLineNum"), 1)))
	return map[string]any{
		"fromLineNum": chunk.From, "toLineNum": chunk.To, "logContent": htmlText.Replace(chunk.Content), "end": chunk.End,
	}, err
}

// clearTime bounds how long one call removes runs.
const clearTime = 10 * time.Minute

// runClear removes ended runs by the kinds of old, in one call as there. Whose runs are meant
// has to be said: an executor that is left out by mistake is not all of them.
func runClear(c *call) (any, error) {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	in := jobs.ClearInput{Kind: model.ClearKind(c.number(bad, "type")), GroupID: c.number(bad, "jobGroup"), JobID: c.number(bad, "jobId")}
	if strings.TrimSpace(c.value("jobGroup")) == "" {
		bad.AddField("jobGroup", "field.required")
	}
	if in.GroupID < 0 || in.JobID < 0 {
		bad.AddField("jobGroup", "field.range", "Min", 0, "Max", model.MaxID)
	}
	if !in.Kind.Valid() {
		bad.AddField("type", "field.range", "Min", int(model.ClearMonth), "Max", int(model.ClearAll))
	}
	if err := problems(bad); err != nil {
		return nil, err
	}
	ctx, began := c.r.Context(), c.h.Service.Now()
	if in.JobID > 0 && in.GroupID > 0 {
		j, err := c.h.Service.Job(ctx, c.actor, in.JobID)
		if err != nil {
			return nil, err
		}
		if j.GroupID != in.GroupID {
			bad.AddField("jobId", "field.unknown_value", "Value", in.JobID)
			return nil, bad
		}
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Time{}) // recorders have none; each step is short
	for {
		done, err := c.h.Service.ClearRuns(ctx, c.actor, in)
		if err != nil || !done.More {
			return nil, err
		}
		if c.h.Service.Now().Sub(began) > clearTime {
			return nil, model.Errf(model.CodeUnavailable, "legacy.more_to_clear")
		}
		in.BeforeID = done.BeforeID
	}
}

// chart gives the runs per day, in the lists that the charts of old take. The counts are
// those of the whole center, so who may not see all runs gets none.
func chart(c *call) (any, error) {
	bad, zone := model.Errf(model.CodeInvalid, "error.invalid"), c.h.Service.Now().Location()
	instant := func(name string) time.Time {
		t, err := time.ParseInLocation(time.DateTime, strings.TrimSpace(c.value(name)), zone)
		if err != nil {
			bad.AddField(name, "legacy.instant")
		}
		return t
	}
	from, to := instant("startDate"), instant("endDate")
	if err := problems(bad); err != nil {
		return nil, err
	}
	if from != model.DayStart(from, 0) { // a day begins at midnight: one that had begun is left out, as there
		from = model.DayStart(from, 1)
	}
	list, err := c.h.Service.DayCounts(c.r.Context(), c.actor, from, to)
	if err != nil {
		return nil, err
	}
	days, running, good, bads := []string{}, []int{}, []int{}, []int{}
	for _, d := range list {
		days, running, good, bads = append(days, d.Day), append(running, d.Running), append(good, d.Succeeded), append(bads, d.Failed)
	}
	if len(days) == 0 {
		for i := -6; i <= 0; i++ {
			days, running, good, bads = append(days, model.Day(c.h.Service.Now(), i)), append(running, 0), append(good, 0), append(bads, 0)
		}
	}
	return map[string]any{
		"triggerDayList": days, "triggerDayCountRunningList": running, "triggerDayCountSucList": good, "triggerDayCountFailList": bads,
		"triggerCountRunningTotal": sum(running), "triggerCountSucTotal": sum(good), "triggerCountFailTotal": sum(bads),
	}, nil
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

func runKill(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return nil, c.h.Service.KillRun(c.r.Context(), c.actor, id)
}
