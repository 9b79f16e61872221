package model

// JobDoc is a job as files carry it: what is a number in one center only, its
// executor and its children, is said by name. Executor and name are its key.
type JobDoc struct {
	Executor string // app name
	Name     string
	Line     int // where it begins in the file, 0 = it was not read from one

	Author       string
	AlarmEmail   string
	ScheduleType ScheduleType
	ScheduleConf string
	Misfire      MisfireStrategy
	Route        RouteStrategy
	Block        BlockStrategy
	GlueType     GlueType
	Handler      string
	Param        string
	GlueSource   string
	GlueRemark   string
	Tags         string // comma separated, as TagList gives them

	TimeoutSec, RetryCount, RetryDelaySec, MisfireAfterSec int
	RetryGrowing                                           bool
	Keep                                                   Keep

	Children []JobKey
	Running  bool

	// Has names the fields that the file gives, by the names of jobs.JobInput's keys;
	// nil = all. What it does not give stays as it is.
	Has map[string]bool
}

// JobKey names a job in every center.
type JobKey struct{ Executor, Name string }

// Key names the job.
func (d *JobDoc) Key() JobKey { return JobKey{d.Executor, d.Name} }

// Gives reports whether the file says something about a field.
func (d *JobDoc) Gives(field string) bool { return d.Has == nil || d.Has[field] }

// String writes a key as files do. App names have no slash.
func (k JobKey) String() string { return k.Executor + "/" + k.Name }
