package console

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// Service is what the pages need from the use cases; jobs.Service has it.
// Errors that people may see are *model.Error.
type Service interface {
	Login(ctx context.Context, name, password, from string) (model.User, error)
	User(ctx context.Context, id int) (model.User, error)
	SetPreferences(ctx context.Context, userID int, language, theme string) error
	ChangePassword(ctx context.Context, userID int, old, new, from string) (model.User, error)
	Users(ctx context.Context, actor model.Actor) ([]model.User, error)

	Account(ctx context.Context, actor model.Actor, id int) (model.User, error)
	AddUser(ctx context.Context, actor model.Actor, in jobs.UserInput) (id int, madeUp string, err error)
	UpdateUser(ctx context.Context, actor model.Actor, id int, in jobs.UserInput) error
	DeleteUser(ctx context.Context, actor model.Actor, id int) error
	ResetPasswordOf(ctx context.Context, actor model.Actor, id int, password string) (madeUp string, err error)
	SetProfile(ctx context.Context, userID int, p model.Profile) error
	UserSessions(ctx context.Context, actor model.Actor, userID int) ([]model.Session, error)
	EndSession(ctx context.Context, actor model.Actor, userID int, id string) error

	RestoreJob(ctx context.Context, actor model.Actor, id int, line int64) (jobs.Restored, error)
	Timeline(ctx context.Context, actor model.Actor, in jobs.TimelineInput) (jobs.Timeline, error)
	Load(ctx context.Context, actor model.Actor) (jobs.Load, error)
	Report(ctx context.Context, actor model.Actor, in jobs.ReportAsk) (jobs.ReportPage, error)
	ReportMails(ctx context.Context, actor model.Actor) ([]model.ReportMail, error)
	ReportMail(ctx context.Context, actor model.Actor, id int) (model.ReportMail, error)
	SaveReportMail(ctx context.Context, actor model.Actor, m model.ReportMail) error
	DeleteReportMail(ctx context.Context, actor model.Actor, id int) error
	Targets(ctx context.Context, actor model.Actor) (jobs.TargetPage, error)
	Target(ctx context.Context, actor model.Actor, id int) (model.Target, error)
	SaveTarget(ctx context.Context, actor model.Actor, t model.Target) error
	DeleteTarget(ctx context.Context, actor model.Actor, id int) error
	SendReport(ctx context.Context, actor model.Actor, id int, address string) (string, error)
	PreviewReport(ctx context.Context, actor model.Actor, id int) (subject, html string, picture []byte, err error)

	Audit(ctx context.Context, actor model.Actor, f model.AuditFilter) (jobs.AuditPage, error)
	AuditOf(ctx context.Context, actor model.Actor, kind model.AuditKind, id int64) ([]model.AuditEntry, error)
	NoteLogout(ctx context.Context, actor model.Actor)

	ListJobs(ctx context.Context, actor model.Actor, f model.JobFilter) (jobs.JobPage, error)
	Groups(ctx context.Context, actor model.Actor) ([]model.Group, error)
	FindJobs(ctx context.Context, actor model.Actor, f model.JobFilter) ([]model.Job, int, error)
	CountClear(ctx context.Context, actor model.Actor, in jobs.ClearInput) (jobs.Clearing, error)
	Retention(ctx context.Context, actor model.Actor) (jobs.RetentionPage, error)
	CountRetention(ctx context.Context, actor model.Actor, own model.Keep) (jobs.RetentionLoss, error)
	SaveRetention(ctx context.Context, actor model.Actor, own model.Keep) error
	StartRetention(ctx context.Context, actor model.Actor) error
	ClearRuns(ctx context.Context, actor model.Actor, in jobs.ClearInput) (jobs.Clearing, error)
	SwitchMany(ctx context.Context, actor model.Actor, ids []int, status model.JobStatus) ([]jobs.BatchItem, error)
	CheckChange(ctx context.Context, actor model.Actor, c jobs.JobChange) (jobs.JobChange, error)
	ChangeMany(ctx context.Context, actor model.Actor, ids []int, c jobs.JobChange) ([]jobs.BatchItem, error)
	RunMany(ctx context.Context, actor model.Actor, ids []int) ([]jobs.BatchItem, error)
	DeleteMany(ctx context.Context, actor model.Actor, ids []int) ([]jobs.BatchItem, error)
	EachRun(ctx context.Context, actor model.Actor, ids []int64, op jobs.RunsOp) ([]jobs.BatchItem, error)
	Tags(ctx context.Context, actor model.Actor) ([]string, error)
	SetFavourite(ctx context.Context, actor model.Actor, id int, on bool) error
	IsFavourite(ctx context.Context, actor model.Actor, id int) (bool, error)
	Filters(ctx context.Context, actor model.Actor, list string) ([]model.SavedFilter, error)
	SaveFilter(ctx context.Context, actor model.Actor, f model.SavedFilter) error
	RenameFilter(ctx context.Context, actor model.Actor, list, old, name string) error
	DeleteFilter(ctx context.Context, actor model.Actor, list, name string) error
	SetColumns(ctx context.Context, user model.User, list string, shown []string) error
	JobRow(ctx context.Context, actor model.Actor, id int) (jobs.JobRow, error)
	Job(ctx context.Context, actor model.Actor, id int) (model.Job, error)
	JobDetail(ctx context.Context, actor model.Actor, id int) (jobs.JobDetail, error)
	Handlers(ctx context.Context, actor model.Actor, groupID int) ([]string, error)
	JobRelatives(ctx context.Context, actor model.Actor, j model.Job) (jobs.Relatives, error)
	JobNote(ctx context.Context, actor model.Actor, id int) (jobs.JobNote, error)
	SetJobNote(ctx context.Context, actor model.Actor, id int, text, seen string) error
	JobEnd(ctx context.Context, actor model.Actor, id int) (jobs.JobEnd, error)
	RunChoices(ctx context.Context, actor model.Actor, id int) (jobs.RunChoices, error)
	JobTo(ctx context.Context, actor model.Actor, id int, level model.Level, action string) (model.Job, error)
	AddJob(ctx context.Context, actor model.Actor, in jobs.JobInput) (int, error)
	UpdateJob(ctx context.Context, actor model.Actor, id int, in jobs.JobInput) error
	DeleteJob(ctx context.Context, actor model.Actor, id int) error
	StartJob(ctx context.Context, actor model.Actor, id int) error
	StopJob(ctx context.Context, actor model.Actor, id int) error
	RunNow(ctx context.Context, actor model.Actor, id int, in jobs.RunInput) (int64, error)
	Script(ctx context.Context, actor model.Actor, id int) (model.Job, []model.ScriptVersion, error)
	ScriptVersion(ctx context.Context, actor model.Actor, id, version int) (model.ScriptVersion, error)
	SaveScript(ctx context.Context, actor model.Actor, id int, in jobs.ScriptInput) (saved bool, err error)
	Preview(scheduleType model.ScheduleType, conf, lang string, n int) (jobs.Preview, error)
	Forecast(scheduleType model.ScheduleType, conf, lang string) (jobs.Forecast, error)

	ExportJobs(ctx context.Context, actor model.Actor, f model.JobFilter) ([]model.JobDoc, error)
	PlanImport(ctx context.Context, actor model.Actor, docs []model.JobDoc, o jobs.ImportOptions) (jobs.ImportPlan, error)
	ImportJobs(ctx context.Context, actor model.Actor, docs []model.JobDoc, o jobs.ImportOptions, digest string) (jobs.ImportPlan, error)

	ListRuns(ctx context.Context, actor model.Actor, f model.RunFilter) (jobs.RunPage, error)
	ListIncidents(ctx context.Context, actor model.Actor, before int64) (jobs.IncidentPage, error)
	AlarmRule(ctx context.Context, actor model.Actor, id int) (model.AlarmRule, error)
	AlarmSettings(ctx context.Context, actor model.Actor) (jobs.AlarmSettings, error)
	SaveAlarmRule(ctx context.Context, actor model.Actor, r model.AlarmRule) error
	DeleteAlarmRule(ctx context.Context, actor model.Actor, id int) error
	SaveChannel(ctx context.Context, actor model.Actor, c model.Channel, forgetSecret bool) error
	DeleteChannel(ctx context.Context, actor model.Actor, id int) error
	TestAlarm(ctx context.Context, actor model.Actor, address string, channelID int, lang string) (string, error)
	CountIncidents(ctx context.Context, actor model.Actor) (int, error)
	Incident(ctx context.Context, actor model.Actor, id int64) (jobs.IncidentDetail, error)
	AlarmLink(ctx context.Context, text string) (jobs.AlarmLink, error)
	FollowAlarmLink(ctx context.Context, text string) (jobs.AlarmLink, error)
	AckIncident(ctx context.Context, actor model.Actor, id int64) error
	MuteIncident(ctx context.Context, actor model.Actor, id int64, long time.Duration, forGood bool) error
	CommentIncident(ctx context.Context, actor model.Actor, id int64, text string) error
	Run(ctx context.Context, actor model.Actor, id int64) (jobs.RunDetail, error)
	ReadLog(ctx context.Context, actor model.Actor, runID int64, fromLine int) (model.LogChunk, error)
	KillRun(ctx context.Context, actor model.Actor, id int64) error
	TakeBackRun(ctx context.Context, actor model.Actor, id int64) error

	Executors(ctx context.Context, actor model.Actor) (jobs.ExecutorPage, error)
	Executor(ctx context.Context, actor model.Actor, id int) (model.Group, error)
	AddExecutor(ctx context.Context, actor model.Actor, in jobs.ExecutorInput) (int, error)
	UpdateExecutor(ctx context.Context, actor model.Actor, id int, in jobs.ExecutorInput) error
	DeleteExecutor(ctx context.Context, actor model.Actor, id int) error
	Ping(ctx context.Context, actor model.Actor, id int, address string) (model.LastCall, *model.Report, error)
	Drain(ctx context.Context, actor model.Actor, id int, address string, on bool) error
	Lacking(ctx context.Context, actor model.Actor) (map[int][]model.GlueType, error)
	System(ctx context.Context, actor model.Actor) (model.System, error)

	Search(ctx context.Context, actor model.Actor, text string) (jobs.Found, error)
	JobNamed(ctx context.Context, actor model.Actor, text string) (int, error)
	Dashboard(ctx context.Context, actor model.Actor, days model.DayRange) (jobs.Dashboard, error)
	Now() time.Time // in the center's zone
}
