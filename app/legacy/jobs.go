package legacy

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func atoi(text string, otherwise int) int {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return otherwise
	}
	return int(n)
}

// longestSearch is what anybody means to search for; databases refuse longer patterns.
const longestSearch = 200

func searched(text string) string {
	runes := []rune(strings.ToValidUTF8(strings.TrimSpace(text), "?"))
	return string(runes[:min(len(runes), longestSearch)])
}

// group reads the executor that is asked for; 0 is all that the person may see. One
// that is not permitted is an error, not an empty list.
func (c *call) group() (int, error) {
	id := max(0, atoi(c.value("jobGroup"), 0))
	if id > 0 && !c.actor.Sees(id) {
		return 0, model.Errf(model.CodeForbidden, "error.forbidden")
	}
	return id, nil
}

func jobList(c *call) (any, error) {
	group, err := c.group()
	if err != nil {
		return nil, err
	}
	f := model.JobFilter{
		GroupID: group, Name: searched(c.value("jobDesc", "name")), Handler: searched(c.value("executorHandler")), Author: searched(c.value("author")),
	}
	if s := model.JobStatus(atoi(c.value("triggerStatus"), -1)); s == model.JobRunning || s == model.JobStopped {
		f.Status = &s
	}
	f.Offset, f.Limit = c.paging()
	rows, total, err := c.jobs(f)
	return page{rows, total}, err
}

func (c *call) jobs(f model.JobFilter) ([]jobRow, int, error) {
	ctx := c.r.Context()
	list, total, err := c.h.Service.FindJobs(ctx, c.actor, f)
	if err != nil {
		return nil, 0, err
	}
	if err := c.h.Service.AddSources(ctx, c.actor, list); err != nil {
		return nil, 0, err
	}
	rows := make([]jobRow, len(list))
	for i := range list {
		rows[i] = c.jobRow(&list[i])
	}
	return rows, total, nil
}

// jobsByGroup lists all jobs of an executor.
func jobsByGroup(c *call) (any, error) {
	group, err := c.group()
	if err != nil {
		return nil, err
	}
	rows, _, err := c.jobs(model.JobFilter{GroupID: group, Limit: 10_000})
	return rows, err
}

// fields reads what a person can set in the dialog of old. What is not sent is
// empty, as there; what only we have stays as it is in.
func (c *call) fields(in *jobs.JobInput) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	if c.has("jobGroup") {
		in.GroupID = c.number(bad, "jobGroup")
	}
	in.Name, in.Author, in.AlarmEmail = c.value("jobDesc", "name"), c.value("author"), c.value("alarmEmail")
	in.ScheduleType, in.ScheduleConf = model.ScheduleType(c.value("scheduleType")), c.value("scheduleConf")
	in.Misfire, in.Route = model.MisfireStrategy(c.value("misfireStrategy")), model.RouteStrategy(c.value("executorRouteStrategy"))
	in.Block = model.BlockStrategy(c.value("executorBlockStrategy"))
	in.Handler, in.Param, in.ChildIDs = c.value("executorHandler"), c.value("executorParam"), c.value("childJobId")
	in.TimeoutSec, in.RetryCount = max(0, c.number(bad, "executorTimeout")), max(0, c.number(bad, "executorFailRetryCount"))
	return problems(bad)
}

// jobAdd creates a job, and starts it when triggerStatus says so: what registers
// jobs by itself relies on that.
func jobAdd(c *call) (any, error) {
	in := jobs.NewJobInput()
	in.RetryGrowing = false
	if err := c.fields(&in); err != nil {
		return nil, err
	}
	in.GlueType = model.GlueType(c.value("glueType"))
	in.GlueSource, in.GlueRemark = c.value("glueSource"), c.value("glueRemark")
	ctx := c.r.Context()
	id, err := c.h.Service.AddJob(ctx, c.actor, in)
	if err != nil {
		return nil, err
	}
	if c.value("triggerStatus") == "1" && in.ScheduleType != model.ScheduleNone {
		if err := c.h.Service.StartJob(ctx, c.actor, id); err != nil {
			_ = c.h.Service.DeleteJob(context.WithoutCancel(ctx), c.actor, id) // refused as a whole
			return nil, err
		}
	}
	return strconv.Itoa(id), nil
}

// change reads a job and writes it back with a part changed. The last one who saves
// wins, as there: the calls know no version.
func (c *call) change(set func(*jobs.JobInput) error) (any, error) {
	id, err := c.shortID()
	if err != nil {
		return nil, err
	}
	for range 5 {
		var j model.Job
		if j, err = c.h.Service.Job(c.r.Context(), c.actor, id); err != nil {
			return nil, err
		}
		in := jobs.InputOf(&j)
		if err := set(&in); err != nil {
			return nil, err
		}
		if err = c.h.Service.UpdateJob(c.r.Context(), c.actor, id, in); model.CodeOf(err) != model.CodeConflict {
			return nil, err
		}
	}
	return nil, err
}

func jobUpdate(c *call) (any, error) {
	return c.change(func(in *jobs.JobInput) error {
		group := in.GroupID
		if err := c.fields(in); err != nil {
			return err
		}
		if in.GroupID <= 0 {
			in.GroupID = group
		}
		return nil
	})
}

func codeSave(c *call) (any, error) {
	return c.change(func(in *jobs.JobInput) error {
		in.GlueSource, in.GlueRemark = c.value("glueSource"), c.value("glueRemark")
		return nil
	})
}

func (c *call) withJob(do func(context.Context, model.Actor, int) error) (any, error) {
	id, err := c.shortID()
	if err != nil {
		return nil, err
	}
	return nil, do(c.r.Context(), c.actor, id)
}

func jobStart(c *call) (any, error) { return c.withJob(c.h.Service.StartJob) }
func jobStop(c *call) (any, error)  { return c.withJob(c.h.Service.StopJob) }

// jobDelete: what is gone already is no error to who would see it.
func jobDelete(c *call) (any, error) {
	out, err := c.withJob(c.h.Service.DeleteJob)
	if c.actor.Admin && model.CodeOf(err) == model.CodeNotFound {
		err = nil
	}
	return out, err
}

// jobTrigger runs a job once. The parameter always replaces the job's, also when
// there is none.
func jobTrigger(c *call) (any, error) {
	param := c.value("executorParam")
	return c.withJob(func(ctx context.Context, actor model.Actor, id int) error {
		_, err := c.h.Service.RunNow(ctx, actor, id, jobs.RunInput{Param: &param, Addresses: c.value("addressList"), Trigger: model.TriggerManual})
		return err
	})
}

func nextTimes(c *call) (any, error) {
	out := []string{}
	kind, conf := model.ScheduleType(c.value("scheduleType")), strings.TrimSpace(c.value("scheduleConf"))
	if conf == "" || kind == model.ScheduleNone {
		return out, nil
	}
	if !slices.Contains(model.ScheduleTypes(), kind) {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("scheduleType", "field.unknown_value", "Value", string(kind))
		return nil, bad
	}
	p, err := c.h.Service.Preview(kind, conf, "en", 5)
	for _, at := range p.Next {
		out = append(out, at.In(c.h.Service.Now().Location()).Format(time.DateTime))
	}
	return out, err
}
