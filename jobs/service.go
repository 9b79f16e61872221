package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

// Store is what the use cases need from the database; store.Store has it and
// its documentation is the contract.
type Store interface {
	report.Store
	JobTitles(ctx context.Context, ids []int) (map[int]model.Job, error)
	Owners(ctx context.Context, groups []int, limit int) ([]string, error)
	ReportMails(ctx context.Context) ([]model.ReportMail, error)
	ReportMail(ctx context.Context, id int) (model.ReportMail, error)
	SaveReportMail(ctx context.Context, m model.ReportMail) (int, error)
	DeleteReportMail(ctx context.Context, id int) error
	Targets(ctx context.Context) ([]model.Target, error)
	Target(ctx context.Context, id int) (model.Target, error)
	SaveTarget(ctx context.Context, t model.Target) (int, error)
	DeleteTarget(ctx context.Context, id int) error
	TargetSums(ctx context.Context, ids []int, first, last string) (map[int]model.TargetSum, error)

	Job(ctx context.Context, id int) (model.Job, error)
	JobsByID(ctx context.Context, ids []int) (map[int]model.Job, error)
	Jobs(ctx context.Context, f model.JobFilter) ([]model.Job, int, error)
	JobsOf(ctx context.Context, f model.JobFilter) ([]model.Job, error)
	CountJobs(ctx context.Context, f model.JobFilter) (model.JobCounts, error)
	NextJobs(ctx context.Context, groups []int, limit int) ([]model.Job, error)
	CountPlanned(ctx context.Context, f model.RunFilter, nowMS int64, limit int) (int, error)
	JobsByName(ctx context.Context, groupID int, names []string) ([]model.Job, error)
	NamesOfJobs(ctx context.Context, ids []int) (map[int]string, error)
	JobNote(ctx context.Context, id int) (string, error)
	SetJobNote(ctx context.Context, id int, old, note string) error
	GoneJobs(ctx context.Context, ids []int) (map[int]string, error)
	ParentJobs(ctx context.Context, jobID int, groups []int, limit int) ([]model.Job, error)
	JobsBrief(ctx context.Context, ids []int) ([]model.Job, error)
	InsertJob(ctx context.Context, j *model.Job) (int, error)
	UpdateJob(ctx context.Context, j *model.Job, reschedule, newSource bool, now time.Time) error
	SetJobStatus(ctx context.Context, id int, version int64, status model.JobStatus, nextMS int64, now time.Time) error
	DeleteJob(ctx context.Context, id int, now time.Time) error
	Tags(ctx context.Context, groups []int, limit int) ([]string, error)
	Favourites(ctx context.Context, userID int, jobs []int) (map[int]bool, error)
	SetFavourite(ctx context.Context, userID, jobID int, on bool) error
	Filters(ctx context.Context, userID int, list string) ([]model.SavedFilter, error)
	SaveFilter(ctx context.Context, userID int, f model.SavedFilter) error
	RenameFilter(ctx context.Context, userID int, list, old, name string) error
	DeleteFilter(ctx context.Context, userID int, list, name string) error
	SetColumns(ctx context.Context, userID int, columns model.Columns) error
	Handlers(ctx context.Context, groupID, limit int) ([]string, error)
	SaveScript(ctx context.Context, j *model.Job, now time.Time) error
	ScriptVersions(ctx context.Context, jobID int) ([]model.ScriptVersion, error)
	ScriptVersion(ctx context.Context, jobID, id int) (model.ScriptVersion, error)

	GroupsByID(ctx context.Context, ids []int) (map[int]model.Group, error)
	AlarmRules(ctx context.Context) ([]model.AlarmRule, error)
	SaveAlarmRule(ctx context.Context, r model.AlarmRule) (int, error)
	DeleteAlarmRule(ctx context.Context, id int) error
	Channels(ctx context.Context) ([]model.Channel, error)
	SaveChannel(ctx context.Context, c model.Channel) (int, error)
	DeleteChannel(ctx context.Context, id int) error
	Incident(ctx context.Context, id int64) (model.Incident, error)
	Incidents(ctx context.Context, f model.IncidentFilter) ([]model.Incident, error)
	CountIncidents(ctx context.Context, groups []int) (int, error)
	CountMembers(ctx context.Context, id int64) (int, error)
	IncidentMembers(ctx context.Context, id int64, limit int) ([]model.Incident, error)
	IncidentNotes(ctx context.Context, id int64, limit int) ([]model.IncidentNote, error)
	Secret(ctx context.Context, name, fresh string) (string, error)
	LinkUsed(ctx context.Context, link string) (bool, error)
	TouchIncidentByLink(ctx context.Context, link string, id int64, note model.IncidentNote, change func(*model.Incident)) error
	TouchIncident(ctx context.Context, id int64, note model.IncidentNote, change func(*model.Incident)) error
	MessagesOf(ctx context.Context, incident int64, limit int) ([]model.Message, error)
	MessagesIn(ctx context.Context, digest int64, limit int) ([]model.Message, error)

	Run(ctx context.Context, id int64) (model.Run, error)
	Runs(ctx context.Context, f model.RunFilter) ([]model.Run, error)
	CountRuns(ctx context.Context, f model.RunFilter, most int) (int, error)
	RunsDuring(ctx context.Context, f model.RunFilter, lookBack time.Duration) (list []model.Run, more bool, err error)
	RunningSchedules(ctx context.Context, groups []int) ([]model.ScheduleCount, error)
	JobsOfSchedules(ctx context.Context, groups []int, confs []string, limit int) ([]model.Job, error)
	NewestRuns(ctx context.Context, c model.ClearScope, keep int) (int64, error)
	CountClear(ctx context.Context, c model.ClearScope, limit int) (int, error)
	ClearRuns(ctx context.Context, c model.ClearScope, limit int, now time.Time) (int, error)
	RetentionState(ctx context.Context) (model.RetentionState, error)
	SaveKeep(ctx context.Context, k model.Keep, by string, now time.Time) error
	AskRetention(ctx context.Context, by string, now time.Time) error
	KeepOfJobs(ctx context.Context) (map[int]model.Keep, error)
	RetentionDays(ctx context.Context, since time.Time) ([]model.RetentionDay, error)
	OldestRun(ctx context.Context) (time.Time, error)
	SwitchJobs(ctx context.Context, list []model.JobSwitch, status model.JobStatus, now time.Time) ([]int, error)
	Streaks(ctx context.Context, ids []int) (map[int]model.Streak, error)
	FailingJobs(ctx context.Context, groups []int, limit int) ([]model.FailingJob, error)
	LastFailures(ctx context.Context, of map[int]model.Streak) (map[int]*model.Run, error)
	CountFailures(ctx context.Context, of map[int]model.Streak, limit int) (map[int]int, error)
	RecentRuns(ctx context.Context, jobIDs []int, perJob int) (map[int][]model.Run, error)
	LinkedRuns(ctx context.Context, r *model.Run, groups []int, limit int) ([]model.Run, error)
	MarkKill(ctx context.Context, r *model.Run) (bool, error)
	TakeBack(ctx context.Context, id int64, name string, now time.Time) error
	LatestRuns(ctx context.Context, jobID, limit int) ([]model.Run, error)
	RunsWithTexts(ctx context.Context, ids []int64) ([]model.Run, error)
	SuccessBefore(ctx context.Context, jobID int, beforeID int64) (model.Run, error)
	WaitingRuns(ctx context.Context, jobID int, now int64, limit int) (model.Waiting, error)
	QueuePlace(ctx context.Context, r *model.Run, now int64) (place, of int, err error)
	HandRuns(ctx context.Context, jobID, limit int) ([]model.Run, error)
	CountRunsOf(ctx context.Context, jobID, most int) (int, error)
	InsertRun(ctx context.Context, r *model.Run, now time.Time) (int64, error)

	Groups(ctx context.Context, groups []int) ([]model.Group, error)
	Group(ctx context.Context, id int) (model.Group, error)
	GroupByApp(ctx context.Context, appName string) (model.Group, error)
	InsertGroup(ctx context.Context, g *model.Group, aliveSince time.Time) (int, error)
	UpdateGroup(ctx context.Context, g *model.Group, aliveSince time.Time) error
	DeleteGroup(ctx context.Context, id int) error
	JobsPerGroup(ctx context.Context) (map[int]int, error)
	Registrations(ctx context.Context) ([]model.Registration, error)
	SetDrain(ctx context.Context, d model.Drain, on bool) (changed bool, err error)
	Drains(ctx context.Context) ([]model.Drain, error)
	NoteCalls(ctx context.Context, list []model.LastCall) error
	LastCalls(ctx context.Context) (map[string]model.LastCall, error)
	AddressLoads(ctx context.Context) ([]model.AddressLoad, error)
	AppRegistrations(ctx context.Context, appName string) ([]model.Registration, error)
	Register(ctx context.Context, reg model.Registration, aliveSince time.Time) error
	Deregister(ctx context.Context, reg model.Registration, aliveSince time.Time) error

	User(ctx context.Context, id int) (model.User, error)
	UserByName(ctx context.Context, name string) (model.User, error)
	Users(ctx context.Context) ([]model.User, error)
	InsertUser(ctx context.Context, u *model.User) (int, error)
	SetPasswordHash(ctx context.Context, userID int, hash string, mustChange bool) (generation int64, err error)
	UpgradePasswordHash(ctx context.Context, userID int, hash string) error
	SetPreferences(ctx context.Context, userID int, language, theme string) error

	UpdateUser(ctx context.Context, u *model.User) error
	DeleteUser(ctx context.Context, id int) error
	SetProfile(ctx context.Context, userID int, p model.Profile) error
	UserSessions(ctx context.Context, userID int) ([]model.Session, error)
	EndSession(ctx context.Context, userID int, id string) (bool, error)

	InsertAudit(ctx context.Context, list []model.AuditEntry) error
	Audit(ctx context.Context, f model.AuditFilter) ([]model.AuditEntry, error)

	Report(ctx context.Context, first, last time.Time) ([]model.DayCount, error)
	RunsTotal(ctx context.Context) (int64, error)
	Ledger(ctx context.Context, first, last time.Time) ([]model.Fires, error)
	Nodes(ctx context.Context) ([]model.Node, error)
}

// Ringer is the part of the scheduler that the use cases talk to.
type Ringer interface {
	Owner() string
	Nudge()
	Complete(ctx context.Context, list []model.Handled) ([]model.HandledStatus, error)
}

// Executors is what the use cases ask of executors; app adapts executorclient.
type Executors interface {
	ReadLog(ctx context.Context, address string, runID int64, triggered time.Time, fromLine int) (model.LogChunk, error)
	Kill(ctx context.Context, address string, jobID int) error
	// Ping calls the address and says what came of it; the report is nil unless the
	// executor is of our SDK.
	Ping(ctx context.Context, address string) (model.LastCall, *model.Report)
}

// Service holds the use cases. Errors that people may see are *model.Error.
type Service struct {
	store     Store
	ringer    Ringer
	executors Executors
	teller    Teller
	now       func() time.Time
	loc       *time.Location
	log       *slog.Logger
	aliveFor  time.Duration
	throttle  *throttle
	gate      *gate

	system        func(context.Context) (model.System, error)
	retentionDays int
	logDays       logDays
	refused       refusals
	refusedLogins refusals
}

// Options build a Service.
type Options struct {
	Store     Store
	Ringer    Ringer
	Executors Executors
	Teller    Teller           // nil = nobody can be told
	Now       func() time.Time // default time.Now
	Location  *time.Location   // default time.Local
	Logger    *slog.Logger
	// AliveFor is how long a registration counts without a beat; default 90 s.
	AliveFor time.Duration
	// RetentionDays is how many days runs are kept, 0 = for ever.
	RetentionDays int
	// System tells what this node does; nil = nothing is told.
	System func(context.Context) (model.System, error)
}

// New builds a Service.
func New(o Options) *Service {
	s := &Service{
		store: o.Store, ringer: o.Ringer, executors: o.Executors, teller: o.Teller, now: o.Now, loc: o.Location, log: o.Logger, aliveFor: o.AliveFor,
		retentionDays: o.RetentionDays, system: o.System,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.loc == nil {
		s.loc = time.Local
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.aliveFor == 0 {
		s.aliveFor = 90 * time.Second
	}
	if s.teller == nil {
		s.teller = mute{}
	}
	s.throttle, s.gate = newThrottle(s.now), newGate()
	return s
}

// Now is the time in the center's zone.
func (s *Service) Now() time.Time { return s.now().In(s.loc) }

func (s *Service) aliveSince() time.Time { return s.now().Add(-s.aliveFor) }

func forbidden() error { return model.Errf(model.CodeForbidden, "error.forbidden") }
