package jobfile

import (
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// row is one job or executor of another center, by the names of its columns.
type row struct {
	line   int
	values map[string]string
}

// columnOf says which column of the tables a key of the JSON calls is.
func columnOf(key string) string {
	switch key {
	case "jobGroup":
		return "job_group"
	case "jobDesc", "name":
		return "job_desc"
	case "alarmEmail":
		return "alarm_email"
	case "scheduleType":
		return "schedule_type"
	case "scheduleConf":
		return "schedule_conf"
	case "jobCron":
		return "job_cron"
	case "misfireStrategy":
		return "misfire_strategy"
	case "executorRouteStrategy":
		return "executor_route_strategy"
	case "executorHandler":
		return "executor_handler"
	case "executorParam":
		return "executor_param"
	case "executorBlockStrategy":
		return "executor_block_strategy"
	case "executorTimeout":
		return "executor_timeout"
	case "executorFailRetryCount":
		return "executor_fail_retry_count"
	case "glueType":
		return "glue_type"
	case "glueSource":
		return "glue_source"
	case "glueRemark":
		return "glue_remark"
	case "childJobId":
		return "child_jobid"
	case "triggerStatus":
		return "trigger_status"
	case "appname", "appName":
		return "app_name"
	}
	return key
}

// wireFields says in which column of another center a field of ours is.
func wireFields() map[string]string {
	return map[string]string{
		"author": "author", "alarm_email": "alarm_email", "schedule_type": "schedule_type", "schedule_conf": "schedule_conf",
		"misfire": "misfire_strategy", "route": "executor_route_strategy", "block": "executor_block_strategy", "glue_type": "glue_type",
		"handler": "executor_handler", "param": "executor_param", "glue_source": "glue_source", "glue_remark": "glue_remark",
		"timeout": "executor_timeout", "retry": "executor_fail_retry_count",
	}
}

// fromRows turns the rows of another center into jobs: its numbers into names.
func fromRows(found []row, executors map[int]string) ([]model.JobDoc, error) {
	apps, jobs := map[string]string{}, map[string]model.JobKey{}
	for n, app := range executors {
		apps[strconv.Itoa(n)] = app
	}
	for _, r := range found {
		if app := r.values["app_name"]; app != "" && r.values["glue_type"] == "" && apps[r.values["id"]] == "" {
			apps[r.values["id"]] = app
		}
	}
	var list []row
	for _, r := range found {
		if r.values["glue_type"] == "" {
			continue
		}
		app := apps[r.values["job_group"]]
		if app == "" {
			return nil, errorAt(r.line, "import.group_unknown", "ID", r.values["job_group"], "Name", r.values["job_desc"])
		}
		list = append(list, r)
		if id := r.values["id"]; id != "" {
			jobs[id] = model.JobKey{Executor: app, Name: strings.TrimSpace(r.values["job_desc"])}
		}
	}
	docs := make([]model.JobDoc, 0, len(list))
	for _, r := range list {
		d, err := r.job(apps[r.values["job_group"]], jobs)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (r row) job(app string, jobs map[string]model.JobKey) (model.JobDoc, error) {
	d := model.JobDoc{Executor: app, Name: strings.TrimSpace(r.values["job_desc"]), Line: r.line, Has: map[string]bool{}}
	if d.Name == "" {
		return d, errorAt(r.line, "import.key_missing", "Name", "job_desc")
	}
	if cron, ok := r.values["job_cron"]; ok { // before 2.3
		d.ScheduleType, d.ScheduleConf = model.ScheduleCron, cron
		d.Has["schedule_type"], d.Has["schedule_conf"] = true, true
	}
	for field, column := range wireFields() {
		v, ok := r.values[column]
		if !ok {
			continue
		}
		if dst := text(&d, field); dst != nil {
			*dst, d.Has[field] = v, true
			continue
		}
		if v == "" {
			v = "0"
		}
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil {
			return d, errorAt(r.line, "import.number", "Name", column, "Value", v)
		}
		*number(&d, field), d.Has[field] = max(0, int(n)), true
	}
	if v, ok := r.values["trigger_status"]; ok {
		d.Running, d.Has["status"] = v == "1", true
	}
	v, ok := r.values["child_jobid"]
	d.Has["children"] = ok
	for item := range strings.SplitSeq(v, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		child, known := jobs[item]
		if !known {
			return d, errorAt(r.line, "import.child_unknown", "Name", d.Name, "ID", item)
		}
		d.Children = append(d.Children, child)
	}
	return d, nil
}
