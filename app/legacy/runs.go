package legacy

import (
	"strconv"
	"strings"

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

func runKill(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return nil, c.h.Service.KillRun(c.r.Context(), c.actor, id)
}
