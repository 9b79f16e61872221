package console

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/static"
)

// access says who may use a route. The zero value lets nobody in, so a route
// without a rule is closed.
type access int

const (
	nobody access = iota
	anybody
	users    // logged in; the service checks the executor
	editors  // may edit jobs of some executor, or of all
	managers // administers some executor, or all
	admins
)

// admits reports whether somebody may come to a route.
func (who access) admits(a model.Actor) bool {
	switch who {
	case anybody:
		return true
	case users:
		return a.UserID != 0
	case editors:
		return a.MaySomewhere(model.LevelEdit)
	case managers:
		return a.MaySomewhere(model.LevelAdminister)
	case admins:
		return a.Admin
	}
	return false
}

type handler func(*request) error

// logStreamPath is the one page that does not end by itself.
const logStreamPath = "/runs/:id/log/stream"

// passwordPath is all that somebody sees whose password was chosen by somebody else.
const passwordPath = "/password"

// route is one line of the table.
type route struct {
	method, path string
	who          access
	do           handler
}

// table is the whole site. What is not listed here does not exist, and what has no rule in
// access_test.go fails there.
func (c *Console) table() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/login", anybody, c.loginForm},
		{post, "/login", anybody, c.login},
		{post, keptLoginPath, anybody, c.login},
		{post, "/logout", anybody, c.logout},
		{post, "/preferences", anybody, c.preferences},
		{get, linkPath, anybody, c.alarmLink},
		{post, linkPath, anybody, c.alarmLinkFollow},
		{get, "/", users, c.dashboard},
		{get, "/help", users, c.help},
		{get, "/search", users, c.palette},
		{get, passwordPath, users, c.passwordForm},
		{post, passwordPath, users, c.password},
		{get, "/profile", users, c.profileForm},
		{post, "/profile", users, c.profile},
		{post, "/profile/sessions/end", users, c.sessionEnd},

		{get, "/jobs", users, c.jobList},
		{post, "/jobs", users, c.jobAdd},
		{get, "/jobs/new", users, c.jobNew},
		{post, "/jobs/batch", users, c.jobBatch},
		{get, previewPath, users, c.jobPreview},
		{get, handlersPath, users, c.jobHandlers},
		{get, pickPath, users, c.jobPick},
		{get, "/jobs/export", users, c.jobExport},
		{get, importPath, editors, c.jobImportForm},
		{post, importPath, editors, c.jobImport},
		{get, "/jobs/:id", users, c.jobPage},
		{post, "/jobs/:id", users, c.jobUpdate},
		{get, "/jobs/:id/edit", users, c.jobEdit},
		{get, scriptPath, users, c.script},
		{post, scriptPath, users, c.scriptSave},
		{get, scriptPath + "/diff", users, c.scriptDiff},
		{get, "/jobs/:id/note", users, c.jobNoteForm},
		{post, "/jobs/:id/note", users, c.jobNote},
		{post, "/jobs/:id/favourite", users, c.jobFavourite},
		{post, "/jobs/:id/start", users, c.jobStart},
		{post, "/jobs/:id/stop", users, c.jobStop},
		{get, "/jobs/:id/delete", users, c.jobDeleteForm},
		{post, "/jobs/:id/delete", users, c.jobDelete},
		{get, "/jobs/:id/run", users, c.runOnceForm},
		{post, "/jobs/:id/run", users, c.runOnce},

		{get, "/filters", users, c.filterList},
		{post, "/filters", users, c.filterSave},
		{post, "/filters/rename", users, c.filterRename},
		{post, "/filters/delete", users, c.filterDelete},
		{post, "/columns", users, c.columns},

		{get, "/runs", users, c.runList},
		{get, "/timeline", users, c.timeline},
		{get, "/timeline/load", users, c.load},
		{get, "/runs/export", users, c.runExport},
		{post, "/runs/batch", users, c.runBatch},
		{get, "/runs/clear", managers, c.runClearForm},
		{post, "/runs/clear", managers, c.runClear},
		{get, "/runs/:id", users, c.run},
		{get, "/runs/:id/log", users, c.runLog},
		{get, logStreamPath, users, c.runLogStream},
		{get, "/runs/:id/kill", users, c.runKillForm},
		{post, "/runs/:id/kill", users, c.runKill},
		{get, "/runs/:id/takeback", users, c.runTakeBackForm},
		{post, "/runs/:id/takeback", users, c.runTakeBack},

		{get, "/reports", users, c.report},
		{get, "/reports/csv", users, c.reportCSV},
		{get, "/reports/xlsx", users, c.reportXLSX},
		{get, "/reports/mails", managers, c.reportMails},
		{get, "/reports/mails/new", managers, c.reportMailNew},
		{post, "/reports/mails", managers, c.reportMailSave},
		{get, "/reports/mails/:id/edit", managers, c.reportMailEdit},
		{post, "/reports/mails/:id", managers, c.reportMailSave},
		{get, "/reports/mails/:id/delete", managers, c.reportMailDeleteForm},
		{post, "/reports/mails/:id/delete", managers, c.reportMailDelete},
		{get, "/reports/mails/:id/preview", managers, c.reportMailPreview},
		{post, "/reports/mails/:id/send", managers, c.reportMailSend},
		{get, "/reports/targets", admins, c.targets},
		{get, "/reports/targets/new", admins, c.targetNew},
		{post, "/reports/targets", admins, c.targetSave},
		{get, "/reports/targets/:id/edit", admins, c.targetEdit},
		{post, "/reports/targets/:id", admins, c.targetSave},
		{get, "/reports/targets/:id/delete", admins, c.targetDeleteForm},
		{post, "/reports/targets/:id/delete", admins, c.targetDelete},

		{get, "/incidents", users, c.incidentList},
		{get, "/incidents/:id", users, c.incident},
		{post, "/incidents/:id/ack", users, c.incidentAck},
		{post, "/incidents/:id/mute", users, c.incidentMute},
		{post, "/incidents/:id/comment", users, c.incidentComment},

		{get, "/alarms", managers, c.alarmSettings},
		{post, "/alarms/test", admins, c.alarmTest},
		{get, "/alarms/rules/new", managers, c.ruleNew},
		{post, "/alarms/rules", managers, c.ruleSave},
		{get, "/alarms/rules/:id/edit", managers, c.ruleEdit},
		{post, "/alarms/rules/:id", managers, c.ruleSave},
		{get, "/alarms/rules/:id/delete", managers, c.ruleDeleteForm},
		{post, "/alarms/rules/:id/delete", managers, c.ruleDelete},
		{get, "/alarms/channels/new", admins, c.channelNew},
		{post, "/alarms/channels", admins, c.channelSave},
		{get, "/alarms/channels/:id/edit", admins, c.channelEdit},
		{post, "/alarms/channels/:id", admins, c.channelSave},
		{get, "/alarms/channels/:id/delete", admins, c.channelDeleteForm},
		{post, "/alarms/channels/:id/delete", admins, c.channelDelete},

		{get, "/executors", managers, c.executorList},
		{post, "/executors", admins, c.executorAdd},
		{get, "/executors/new", admins, c.executorNew},
		{post, "/executors/adopt", admins, c.executorAdopt},
		{post, "/executors/:id", managers, c.executorUpdate},
		{get, "/executors/:id/edit", managers, c.executorEdit},
		{post, "/executors/:id/ping", managers, c.executorPing},
		{post, "/executors/:id/drain", managers, c.executorDrain},
		{post, "/executors/:id/take", managers, c.executorTake},
		{get, "/executors/:id/delete", admins, c.executorDeleteForm},
		{post, "/executors/:id/delete", admins, c.executorDelete},

		{get, "/users", admins, c.userList},
		{get, "/users/export", admins, c.userExport},
		{get, "/users/new", admins, c.userNew},
		{post, "/users", admins, c.userAdd},
		{get, "/users/sessions", admins, c.allSessions},
		{get, "/users/:id/edit", admins, c.userEdit},
		{post, "/users/:id", admins, c.userUpdate},
		{get, "/users/:id/delete", admins, c.userDeleteForm},
		{post, "/users/:id/delete", admins, c.userDelete},
		{get, "/users/:id/password", admins, c.userPasswordForm},
		{post, "/users/:id/password", admins, c.userPassword},
		{get, "/users/:id/sessions", admins, c.userSessions},
		{post, "/users/:id/sessions/end", admins, c.userSessionEnd},

		{get, "/system", admins, c.system},
		{get, "/retention", admins, c.retention},
		{post, "/retention", admins, c.retentionSave},
		{get, "/retention/run", admins, c.retentionRunForm},
		{post, "/retention/run", admins, c.retentionRun},
		{get, "/audit", admins, c.auditList},
		{get, "/audit/export", admins, c.auditExport},
		{get, "/*", users, c.notFound},
	}
}

func (c *Console) routes() {
	g := c.echo.Group(c.base)
	// What browsers and robots ask for by themselves needs no login.
	c.echo.GET("/favicon.ico", func(e echo.Context) error {
		return e.Redirect(http.StatusFound, c.base+c.files.URL("logo.svg"))
	})
	c.echo.GET("/robots.txt", func(e echo.Context) error { return e.String(http.StatusOK, "User-agent: *\nDisallow: /\n") })
	g.GET(static.Prefix+"*", echo.WrapHandler(c.files))
	g.HEAD(static.Prefix+"*", echo.WrapHandler(c.files))
	for _, r := range c.table() {
		g.Add(r.method, r.path, c.wrap(r.who, r.do))
		if r.method == http.MethodGet && r.path != logStreamPath { // for probes; the server sends no body
			g.Add(http.MethodHead, r.path, c.wrap(r.who, r.do))
		}
	}
	if c.base != "" {
		c.echo.GET(c.base, func(e echo.Context) error { return e.Redirect(http.StatusSeeOther, c.base+"/") })
	}
}

func (c *Console) notFound(*request) error {
	return model.Errf(model.CodeNotFound, "error.not_found")
}
