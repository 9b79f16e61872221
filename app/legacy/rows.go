package legacy

import (
	"github.com/carillon-scheduler/carillon/model"
)

// jobRow is a job as the lists of old give it, with the names of all generations.
type jobRow struct {
	ID              int    `json:"id"`
	JobGroup        int    `json:"jobGroup"`
	JobDesc         string `json:"jobDesc"`
	Name            string `json:"name"`
	AddTime         any    `json:"addTime"`
	UpdateTime      any    `json:"updateTime"`
	Author          string `json:"author"`
	AlarmEmail      string `json:"alarmEmail"`
	ScheduleType    string `json:"scheduleType"`
	ScheduleConf    string `json:"scheduleConf"`
	MisfireStrategy string `json:"misfireStrategy"`
	Route           string `json:"executorRouteStrategy"`
	Handler         string `json:"executorHandler"`
	Param           string `json:"executorParam"`
	Block           string `json:"executorBlockStrategy"`
	Timeout         int    `json:"executorTimeout"`
	FailRetryCount  int    `json:"executorFailRetryCount"`
	GlueType        string `json:"glueType"`
	GlueSource      string `json:"glueSource"`
	GlueRemark      string `json:"glueRemark"`
	GlueUpdatetime  any    `json:"glueUpdatetime"`
	ChildJobID      string `json:"childJobId"`
	TriggerStatus   int    `json:"triggerStatus"`
	TriggerLastTime int64  `json:"triggerLastTime"`
	TriggerNextTime int64  `json:"triggerNextTime"`
}

func (c *call) jobRow(j *model.Job) jobRow {
	return jobRow{
		ID: j.ID, JobGroup: j.GroupID, JobDesc: j.Name, Name: j.Name, AddTime: c.time(j.AddTime), UpdateTime: c.time(j.UpdateTime),
		Author: j.Author, AlarmEmail: j.AlarmEmail, ScheduleType: string(j.ScheduleType), ScheduleConf: j.ScheduleConf,
		MisfireStrategy: string(j.Misfire), Route: string(j.Route), Handler: j.Handler, Param: j.Param, Block: string(j.Block),
		Timeout: j.TimeoutSec, FailRetryCount: j.RetryCount, GlueType: string(j.GlueType), GlueSource: j.GlueSource, GlueRemark: j.GlueRemark,
		GlueUpdatetime: c.time(j.GlueUpdateTime), ChildJobID: j.ChildIDs, TriggerStatus: int(j.Status),
		TriggerLastTime: j.LastMS, TriggerNextTime: j.NextMS,
	}
}

// runRow is a run as the lists of old give it.
type runRow struct {
	ID             int64  `json:"id"`
	JobGroup       int    `json:"jobGroup"`
	JobID          int    `json:"jobId"`
	Address        string `json:"executorAddress"`
	Handler        string `json:"executorHandler"`
	Param          string `json:"executorParam"`
	Sharding       string `json:"executorShardingParam"`
	FailRetryCount int    `json:"executorFailRetryCount"`
	TriggerTime    any    `json:"triggerTime"`
	TriggerCode    int    `json:"triggerCode"`
	TriggerMsg     string `json:"triggerMsg"`
	HandleTime     any    `json:"handleTime"`
	HandleCode     int    `json:"handleCode"`
	HandleMsg      string `json:"handleMsg"`
	AlarmStatus    int    `json:"alarmStatus"`
}

func (c *call) runRow(r *model.Run) runRow {
	return runRow{
		ID: r.ID, JobGroup: r.GroupID, JobID: r.JobID, Address: r.Address, Handler: r.Handler, Param: r.Param, Sharding: r.Sharding,
		FailRetryCount: r.RetryLeft, TriggerTime: c.time(r.TriggerTime), TriggerCode: r.TriggerCode, TriggerMsg: r.TriggerMsg,
		HandleTime: c.time(r.HandleTime), HandleCode: r.HandleCode, HandleMsg: r.HandleMsg, AlarmStatus: r.AlarmStatus,
	}
}

// groupRow is an executor.
type groupRow struct {
	ID           int      `json:"id"`
	AppName      string   `json:"appname"`
	Title        string   `json:"title"`
	Name         string   `json:"name"`
	AddressType  int      `json:"addressType"`
	AddressList  *string  `json:"addressList"`
	UpdateTime   any      `json:"updateTime"`
	RegistryList []string `json:"registryList"`
}

func (c *call) groupRow(g *model.Group) groupRow {
	row := groupRow{
		ID: g.ID, AppName: g.AppName, Title: g.Title, Name: g.Title, AddressType: int(g.AddressType), UpdateTime: c.time(g.UpdateTime),
		RegistryList: g.Addresses(),
	}
	if g.AddressList != "" {
		row.AddressList = &g.AddressList
	}
	return row
}

// fieldNames says what the calls name the fields of the use cases.
func fieldNames() map[string]string {
	return map[string]string{
		"group": "jobGroup", "name": "jobDesc", "alarm_email": "alarmEmail", "schedule_type": "scheduleType", "schedule_conf": "scheduleConf",
		"misfire": "misfireStrategy", "route": "executorRouteStrategy", "handler": "executorHandler", "param": "executorParam",
		"block": "executorBlockStrategy", "timeout": "executorTimeout", "retry": "executorFailRetryCount", "glue_type": "glueType",
		"glue_source": "glueSource", "glue_remark": "glueRemark", "child_ids": "childJobId", "addresses": "addressList",
		"app_name": "appname", "address_type": "addressType", "address_list": "addressList",
		"groups": "permission", "old": "oldPassword", "new": "password",
	}
}
