package jobs

import (
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// JobInput is a job as a person or a script asks for it. Texts are taken as
// typed; AddJob and UpdateJob trim and check them and answer field errors
// under the names given here as json keys.
type JobInput struct {
	GroupID      int                   `json:"group"`
	Name         string                `json:"name"`
	Author       string                `json:"author"`
	AlarmEmail   string                `json:"alarm_email"`
	ScheduleType model.ScheduleType    `json:"schedule_type"`
	ScheduleConf string                `json:"schedule_conf"`
	Misfire      model.MisfireStrategy `json:"misfire"`
	Route        model.RouteStrategy   `json:"route"`
	Handler      string                `json:"handler"`
	Param        string                `json:"param"`
	Block        model.BlockStrategy   `json:"block"`
	TimeoutSec   int                   `json:"timeout"`
	RetryCount   int                   `json:"retry"`
	// RetryDelaySec is the wait before a retry in seconds, 0 = at once.
	RetryDelaySec int  `json:"retry_delay"`
	RetryGrowing  bool `json:"retry_growing"` // the wait doubles with each attempt
	// MisfireAfterSec is how late a fire may be made, 0 = as the center is configured.
	MisfireAfterSec int `json:"misfire_after"`
	// KeepDays and KeepFailedDays say for how long its runs are kept.
	KeepDays       model.KeepDays `json:"keep_days"`
	KeepFailedDays model.KeepDays `json:"keep_failed_days"`

	GlueType   model.GlueType `json:"glue_type"`
	GlueSource string         `json:"glue_source"`
	GlueRemark string         `json:"glue_remark"`
	ChildIDs   string         `json:"child_ids"`
	Tags       string         `json:"tags"` // comma separated
	// Version is the version of the job that was seen when the edit began. Jobs of
	// other programs have 0 until they are edited here for the first time.
	Version int64 `json:"version"`
	// Unread is what of a form could not be read at all: it is refused with the rest.
	Unread *model.Error `json:"-"`
}

// RunInput is a run by hand.
type RunInput struct {
	Param     *string // nil = the job's own parameter
	Addresses string  // comma separated; empty = the executor's addresses
	// Shard is the one shard of a broadcast that is to be made, as people count: "2/5" is
	// the second of five; empty = all.
	Shard   string
	Trigger model.TriggerType
}

// JobRow is a job in the list with what people want to know beside it.
type JobRow struct {
	model.Job
	GroupTitle string
	InWords    string      // the schedule in words is made by the page; kept empty here
	Recent     []model.Run // newest last, at most 20, without texts
	FailingMS  int64       // since when its fires fail, epoch ms; 0 = the last one did not fail
	Favourite  bool        // of the actor
}

// JobPage is one page of the job list.
type JobPage struct {
	Rows   []JobRow
	Total  int // rows that match the filter
	Counts model.JobCounts
	Groups []model.Group // executors the actor may see, for the filter
	Tags   []string      // of jobs that the actor may see, for the filter
}

// RunPage is one page of the run list, newest first.
type RunPage struct {
	Rows   []model.Run
	Older  bool // there are rows after the last one
	Newer  bool // there are rows before the first one
	Groups []model.Group
	// JobName and JobGroup are those of the chosen job, empty when there is none that the
	// actor may see.
	JobName  string
	JobGroup int
	Planned  int // runs planned for later than DueByMS of the filter, at most 10 000
}

// RunDetail is everything about one run.
type RunDetail struct {
	Run        model.Run
	Job        *model.Job // nil when the job was deleted
	GroupTitle string
	Linked     []model.Run // other attempts, parent and children
	Place, Of  int         // of a run that is due and waits: its place, from 1, among those of its job
	AverageMS  int64       // mean duration of recent successful runs, 0 = unknown

	// FailingMS is since when the job's fires fail, epoch ms; 0 = the last one did not fail.
	// FailingRuns counts them, at most 1000.
	FailingMS   int64
	FailingRuns int
	SucceededMS int64 // when a recent run succeeded last, 0 = none
}

// ExecutorInput is an executor group as a person asks for it.
type ExecutorInput struct {
	AppName     string
	Title       string
	AddressType model.AddressType
	AddressList string
}

// ExecutorRow is one executor with its addresses.
type ExecutorRow struct {
	model.Group
	Nodes    []ExecutorNode
	JobCount int
}

// ExecutorNode is one address of an executor. Beat is zero for addresses that
// were typed and never registered.
type ExecutorNode struct {
	Address string
	Beat    time.Time
	Alive   bool
	// Listed says that runs can go there, unless it drains.
	Listed bool
	// Drain is set while it gets no new runs.
	Drain *model.Drain
	// Open is how many runs it has got and not ended, as far as the center knows.
	Open int
	// Report is what it says of itself; nil unless it is of our SDK.
	Report *model.Report
	// Call is what came of the last call to it, nil = none is known.
	Call *model.LastCall
}

// ExecutorPage is the executor list.
type ExecutorPage struct {
	Rows []ExecutorRow
	// Unassigned are app names that register but belong to no executor yet.
	Unassigned []ExecutorRow
}

// Trouble is a job that is failing.
type Trouble struct {
	model.FailingJob
	Count int        // fires that failed since, at most 1000
	More  bool       // there are more than Count
	Last  *model.Run // the last run that failed, nil when the retention has removed it
}

// Dashboard is the landing page.
type Dashboard struct {
	Jobs       model.JobCounts
	Incidents  int   // that last
	RunsTotal  int64 // all time, by the daily report
	Today      model.Ledger
	Days       []model.Ledger // last 7 days, oldest first, gaps filled; administrators only
	NodesAlive int            // executor addresses that beat
	NodesKnown int
	Troubles   []Trouble   // failing jobs, newest trouble first, at most 8; Jobs.Failing is how many there are
	Next       []model.Job // next to fire, at most 8
	Centers    []model.Node
}

// JobDetail is everything about one job that changes by itself.
type JobDetail struct {
	Job      model.Job
	Group    model.Group // no id when the executor is gone
	Fires    []time.Time // the next ones, in the zone of the schedule; empty = none
	FireZone string
	Recent   []model.Run // newest last, at most 100, without texts, none that is planned
	Last     []model.Run // the newest of them first, at most 8, with texts
	Streak   model.Failures
	Incident *model.Incident // that lasts; nil = none
	Waiting  model.Waiting
	Nodes    []ExecutorNode // addresses of its executor, living ones first
}

// Relatives are the jobs beside a job. A child that is gone, or that the actor may not
// see, has its id only.
type Relatives struct{ Parents, Children []model.Job }

// JobEnd is what deleting a job would do.
type JobEnd struct {
	Job model.Job
	Relatives
	Runs      int       // how many of its runs are stored
	RunsMore  bool      // and there are more
	RunsUntil time.Time // when the last of them is removed; zero = never
	Planned   int       // runs that are planned and not sent
}

// RunChoices is what a run by hand may be given.
type RunChoices struct {
	Nodes  []ExecutorNode
	Typed  bool        // the addresses were typed by a person and need no beat
	Params []UsedParam // different ones, newest first, at most 5
}

// UsedParam is a parameter that a run by hand had.
type UsedParam struct {
	RunID int64
	At    time.Time
	Param string
}
