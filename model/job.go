package model

import (
	"strconv"
	"strings"
	"time"
)

// MaxID is the largest job or group id: the wire carries them as 32-bit
// integers (reference: protocol.md 2.3).
const MaxID = 1<<31 - 1

// MaxRetryDelaySec bounds the wait before a retry, fixed or grown: a day.
const MaxRetryDelaySec = 86400

// JobStatus is what the user asked for: scheduled or not.
type JobStatus int

// Job states as stored in trigger_status.
const (
	JobStopped JobStatus = 0
	JobRunning JobStatus = 1
)

// JobCondition is what the scheduler found out about a job. It explains a job
// that is stopped although nobody stopped it.
type JobCondition string

// Job conditions.
const (
	JobNormal      JobCondition = ""            // nothing to say
	JobEnded       JobCondition = "ended"       // the schedule has no further fire
	JobQuarantined JobCondition = "quarantined" // the stored definition is broken
)

// Job is one row of xxl_job_info: what to run, when, where and how.
type Job struct {
	ID         int
	GroupID    int
	Name       string // job_desc
	AddTime    time.Time
	UpdateTime time.Time
	Author     string
	AlarmEmail string // comma separated

	ScheduleType ScheduleType
	ScheduleConf string // cron text, or seconds for FIX_RATE
	Misfire      MisfireStrategy

	Route      RouteStrategy
	Handler    string
	Param      string
	Block      BlockStrategy
	TimeoutSec int // 0 = unlimited
	RetryCount int
	// RetryDelaySec is the wait in seconds before a retry, 0 = at once.
	RetryDelaySec int
	RetryGrowing  bool // the wait doubles with each attempt, up to MaxRetryDelaySec
	// MisfireAfterSec is how late a fire may be made, in seconds; 0 = as the
	// center is configured. Later ones fall under the misfire strategy.
	MisfireAfterSec int
	Keep            Keep // for how long its runs are kept, where not as all

	GlueType       GlueType
	GlueSource     string // not loaded by list queries
	GlueRemark     string
	GlueUpdateTime time.Time
	GlueAuthor     string // who saves the source: goes into its history, is never read

	ChildIDs string // comma separated job ids
	Tags     string // comma separated, as TagList gives them

	Status JobStatus
	LastMS int64 // previous planned fire, epoch ms, 0 = none
	NextMS int64 // next planned fire, epoch ms, 0 = none

	Condition       JobCondition
	ConditionReason string
	Version         int64 // grows with each change made by people; guards edits
	Turn            int64 // fires so far: the turn of ROUND, shared by all nodes
}

// Active reports whether the job is to be made: it is on, or is made on demand.
func (j *Job) Active() bool { return j.Status == JobRunning || j.ScheduleType == ScheduleNone }

// Definition is what of a job is needed to ring an executor.
type Definition struct {
	ID, GroupID    int
	Route          RouteStrategy
	Handler, Param string
	Block          BlockStrategy
	TimeoutSec     int
	GlueType       GlueType
	GlueSource     string
	GlueUpdateTime time.Time
}

// ChildIDList splits the comma separated child ids. Blanks around the commas
// and empty items are ignored; an item that is no positive 32-bit number is an
// error that names it.
func ChildIDList(text string) ([]int, error) {
	var ids []int
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		n, err := strconv.ParseInt(item, 10, 64)
		if err != nil || n <= 0 || n > MaxID {
			return nil, &Error{Code: CodeInvalid, Key: "error.child_id", Args: map[string]any{"Value": item}}
		}
		ids = append(ids, int(n))
	}
	return ids, nil
}

// JobFilter selects jobs for a list. Zero values mean "any".
type JobFilter struct {
	GroupID int
	Groups  []int // when not nil: only jobs of these groups (permission)
	IDs     []int // when not empty: only these
	Status  *JobStatus
	Failing bool // only jobs whose last fire has failed, and that nobody has stopped
	// Scheduled leaves jobs without a schedule out: they are never started.
	Scheduled bool
	// OnDemand takes jobs without a schedule: they are made by hand, by API or as a child.
	OnDemand bool
	// Ended takes jobs whose schedule has no further fire.
	Ended bool
	// Waiting takes jobs with a run that was due by DueMS (epoch ms) and is not sent yet.
	Waiting bool
	DueMS   int64
	Text    string // substring of name, handler, author, parameter or tag, or exact id
	Tag     string // only jobs with this tag
	// Marked takes the jobs that this user has marked as favourites.
	Marked int
	// Name, Handler and Author are substrings of one column each.
	Name, Handler, Author string
	Sort                  JobSort
	Offset                int
	Limit                 int
}

// ScheduleCount is how many started jobs have a schedule.
type ScheduleCount struct {
	Type   ScheduleType
	Conf   string
	NextMS int64 // of a fixed rate: the begin of the minute of the next fire, epoch ms
	Jobs   int
}

// JobSwitch starts or stops a job as it was read.
type JobSwitch struct {
	ID      int
	Version int64
	NextMS  int64 // first fire, epoch ms; 0 when it is stopped
}

// JobSort is the order of a list of jobs.
type JobSort string

// Orders of jobs. The zero value is the newest first.
const (
	JobsNewest   JobSort = ""
	JobsOldest   JobSort = "id"
	JobsByName   JobSort = "name"
	JobsByNext   JobSort = "next" // those that fire soonest first, those without a next fire last
	JobsByLast   JobSort = "last" // those that fired last first
	JobsByNameZA JobSort = "-name"
	// By the recent runs: the longest mean duration, or the most failures, first.
	JobsByDuration JobSort = "duration"
	JobsByFailures JobSort = "failures"
)

// JobSorts lists the orders.
func JobSorts() []JobSort {
	return []JobSort{JobsNewest, JobsOldest, JobsByName, JobsByNameZA, JobsByNext, JobsByLast, JobsByDuration, JobsByFailures}
}

// JobCounts says how many jobs match, by state, without the status filter. Ended ones are
// stopped ones, too. Waiting is counted when the filter says what
// is due.
type JobCounts struct{ All, Running, Stopped, OnDemand, Failing, Ended, Waiting int }

// Of is how many of those that were counted a filter takes by its status.
func (c JobCounts) Of(f JobFilter) (n int, known bool) {
	status := JobStatus(-1)
	if f.Status != nil {
		status = *f.Status
	}
	type by struct {
		status                                       JobStatus
		scheduled, onDemand, failing, ended, waiting bool
	}
	n, known = map[by]int{
		{status: -1}:                          c.All,
		{status: JobRunning}:                  c.Running,
		{status: JobStopped, scheduled: true}: c.Stopped,
		{status: -1, onDemand: true}:          c.OnDemand,
		{status: -1, failing: true}:           c.Failing,
		{status: -1, ended: true}:             c.Ended,
		{status: -1, waiting: true}:           c.Waiting,
	}[by{status, f.Scheduled, f.OnDemand, f.Failing, f.Ended, f.Waiting}]
	return n, known
}

// FailingJob is a job whose last fire has failed.
type FailingJob struct {
	ID, GroupID  int
	Name, Author string
	Streak
}

// Streak is since when the fires of a job fail.
type Streak struct {
	SinceMS  int64 // when the first of them had failed, epoch ms; 0 = the last fire did not fail
	FirstRun int64 // that run, or the newest of that moment
}
