package api

import (
	"context"
	"strconv"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/protocol"
)

// apiActor is who asks when a script does: the token opens everything, as in
// the original.
func apiActor(ctx context.Context) model.Actor {
	from, _ := ctx.Value(fromKey{}).(string)
	return model.Actor{Name: "api", Admin: true, From: from}
}

// fromKey is where a call finds the address that it came from.
type fromKey struct{}

// jobBody is the body of addJob and updateJob (reference: protocol.md 4). A key
// that is missing in updateJob leaves the stored value. childJobId is ours.
type jobBody struct {
	ID           int64                  `json:"id"`
	JobGroup     int64                  `json:"jobGroup"`
	Name         *string                `json:"name"`
	JobDesc      *string                `json:"jobDesc"` // name of the key up to 3.4
	Author       *string                `json:"author"`
	AlarmEmail   *string                `json:"alarmEmail"`
	ScheduleType *model.ScheduleType    `json:"scheduleType"`
	ScheduleConf *string                `json:"scheduleConf"`
	Misfire      *model.MisfireStrategy `json:"misfireStrategy"`
	Route        *model.RouteStrategy   `json:"executorRouteStrategy"`
	Handler      *string                `json:"executorHandler"`
	Param        *string                `json:"executorParam"`
	Block        *model.BlockStrategy   `json:"executorBlockStrategy"`
	TimeoutSec   *int64                 `json:"executorTimeout"`
	RetryCount   *int64                 `json:"executorFailRetryCount"`
	RetryDelay   *int64                 `json:"retryDelay"`     // seconds; ours
	RetryGrowing *bool                  `json:"retryGrowing"`   // ours
	MisfireAfter *int64                 `json:"misfireAfter"`   // seconds; ours
	KeepDays     *int64                 `json:"keepDays"`       // days, 0 = for ever, -1 = as all; ours
	KeepFailed   *int64                 `json:"keepFailedDays"` // the same
	GlueType     *model.GlueType        `json:"glueType"`
	GlueSource   *string                `json:"glueSource"`
	GlueRemark   *string                `json:"glueRemark"`
	ChildJobID   *string                `json:"childJobId"`
	Tags         *string                `json:"tags"` // comma separated; ours
	AddressList  string                 `json:"addressList"`
}

func (a *API) addJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	var in jobBody
	if err := decode(body, &in); err != nil {
		return protocol.Answer{}, err
	}
	job := jobs.NewJobInput()
	job.ScheduleType = model.ScheduleNone
	job.GroupID = clamp(in.JobGroup)
	in.fill(&job)
	id, err := a.Service.AddJob(ctx, apiActor(ctx), job)
	return protocol.OK(strconv.Itoa(id)), err // the id is a string, as people's scripts expect
}

func (a *API) updateJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	var in jobBody
	if err := decode(body, &in); err != nil {
		return protocol.Answer{}, err
	}
	id, err := checkID(in.ID)
	if err != nil {
		return protocol.Answer{}, err
	}
	old, err := a.Service.Job(ctx, apiActor(ctx), id)
	if err != nil {
		return protocol.Answer{}, err
	}
	job := jobs.InputOf(&old)
	in.fill(&job)
	if in.JobGroup != 0 && clamp(in.JobGroup) != old.GroupID {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		bad.AddField("group", "field.fixed", "Value", old.GroupID)
		return protocol.Answer{}, bad
	}
	return protocol.OK(nil), a.Service.UpdateJob(ctx, apiActor(ctx), id, job)
}

func (a *API) removeJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	return a.withID(ctx, body, a.Service.DeleteJob)
}

func (a *API) startJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	return a.withID(ctx, body, a.Service.StartJob)
}

func (a *API) stopJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	return a.withID(ctx, body, a.Service.StopJob)
}

func (a *API) withID(ctx context.Context, body []byte, do func(context.Context, model.Actor, int) error) (protocol.Answer, error) {
	var in struct {
		ID int64 `json:"id"`
	}
	if err := decode(body, &in); err != nil {
		return protocol.Answer{}, err
	}
	id, err := checkID(in.ID)
	if err != nil {
		return protocol.Answer{}, err
	}
	return protocol.OK(nil), do(ctx, apiActor(ctx), id)
}

// triggerJob runs a job once and answers the id of the run as a string. A
// missing parameter means the empty one, as in the original.
func (a *API) triggerJob(ctx context.Context, body []byte) (protocol.Answer, error) {
	var in jobBody
	if err := decode(body, &in); err != nil {
		return protocol.Answer{}, err
	}
	id, err := checkID(in.ID)
	if err != nil {
		return protocol.Answer{}, err
	}
	param := ""
	if in.Param != nil {
		param = *in.Param
	}
	run, err := a.Service.RunNow(ctx, apiActor(ctx), id, jobs.RunInput{Param: &param, Addresses: in.AddressList, Trigger: model.TriggerAPI})
	return protocol.OK(strconv.FormatInt(run, 10)), err
}

// checkID refuses ids that no job can have.
func checkID(id int64) (int, error) {
	if id <= 0 || id > model.MaxID {
		return 0, model.Errf(model.CodeInvalid, "error.id_range", "Value", id)
	}
	return int(id), nil
}

// clamp keeps a number that is too large wrong instead of wrapping it into a right one.
func clamp(n int64) int {
	if n > model.MaxID {
		return model.MaxID + 1
	}
	return int(max(n, -1))
}

func (in *jobBody) fill(job *jobs.JobInput) {
	set(&job.Name, in.JobDesc)
	set(&job.Name, in.Name)
	set(&job.Author, in.Author)
	set(&job.AlarmEmail, in.AlarmEmail)
	set(&job.ScheduleType, in.ScheduleType)
	set(&job.ScheduleConf, in.ScheduleConf)
	set(&job.Misfire, in.Misfire)
	set(&job.Route, in.Route)
	set(&job.Handler, in.Handler)
	set(&job.Param, in.Param)
	set(&job.Block, in.Block)
	set(&job.GlueType, in.GlueType)
	set(&job.GlueSource, in.GlueSource)
	set(&job.GlueRemark, in.GlueRemark)
	set(&job.ChildIDs, in.ChildJobID)
	set(&job.Tags, in.Tags)
	number(&job.TimeoutSec, in.TimeoutSec)
	number(&job.RetryCount, in.RetryCount)
	number(&job.RetryDelaySec, in.RetryDelay)
	number(&job.MisfireAfterSec, in.MisfireAfter)
	days(&job.KeepDays, in.KeepDays)
	days(&job.KeepFailedDays, in.KeepFailed)
	set(&job.RetryGrowing, in.RetryGrowing)
}

func number(dst *int, v *int64) {
	if v != nil {
		*dst = clamp(*v)
	}
}

// days reads for how long runs are kept: -1 takes an own value away.
func days(dst *model.KeepDays, v *int64) {
	switch {
	case v == nil:
	case *v == -1:
		*dst = model.KeepDefault
	default:
		*dst = model.KeepDaysOf(int(max(-2, min(*v, model.MaxKeepDays+1))))
	}
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}
