package console

import (
	"encoding/csv"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	csvPage = 1000
	// mostRows bounds a table: spreadsheets take about a million lines, people less.
	mostRows = 100_000
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// table writes lines of a spreadsheet as they are made.
type table struct {
	*csv.Writer
	r  *request
	rc *http.ResponseController
}

// startTable sends the head of a table. The mark before it tells spreadsheets that
// the text is UTF-8.
func (c *Console) startTable(r *request, name string, columns ...string) (*table, error) {
	h := r.Response().Header()
	h.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	h.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+"-"+r.now.Format("2006-01-02")+`.csv"`)
	r.Response().WriteHeader(http.StatusOK)
	if _, err := r.Response().Write([]byte("\xef\xbb\xbf")); err != nil {
		return nil, err
	}
	t := &table{csv.NewWriter(r.Response()), r, http.NewResponseController(r.Response())}
	t.UseCRLF = true
	return t, t.Write(columns)
}

// line writes cells, none of which a spreadsheet takes for a formula.
func (t *table) line(cells ...string) error {
	for i := range cells {
		cells[i] = defuse(cells[i])
	}
	return t.Write(cells)
}

// send puts what was written on its way. A reader that takes nothing is dropped.
func (t *table) send() error {
	_ = t.rc.SetWriteDeadline(t.r.c.clock.Now().Add(logWrite)) // recorders have none
	t.Flush()
	return t.Error()
}

func defuse(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// runExport gives the runs of the current filter as a table, newest first.
func (c *Console) runExport(r *request) error {
	f := bindRunFilter(r)
	f.Before, f.After = 0, 0
	mf := runFilter(r, f)
	mf.Limit, mf.DueByMS = csvPage, 0
	ctx := r.Request().Context()
	page, err := c.svc.ListRuns(ctx, r.actor(), mf)
	if err != nil {
		return err
	}
	apps := map[int]string{}
	for _, g := range page.Groups {
		apps[g.ID] = g.AppName
	}
	t, err := c.startTable(r, "runs", "run_id", "job_id", "job", "executor", "trigger_code", "trigger", "planned", "sent", "finished", "zone", "duration_ms",
		"result_code", "result", "reason_code", "reason", "address", "handler", "parameter", "shard", "first_attempt", "retries_left", "message")
	for n := 0; err == nil; {
		for _, run := range page.Rows {
			if err = t.line(c.runCells(r, run, apps)...); err != nil {
				break
			}
		}
		if n += len(page.Rows); err != nil || !page.Older || len(page.Rows) == 0 {
			break
		}
		if n >= mostRows {
			err = t.line(r.loc.T("export.cut", "Max", mostRows))
			break
		}
		if err = t.send(); err != nil {
			break
		}
		mf.Before = page.Rows[len(page.Rows)-1].ID
		var lost error
		if page, lost = c.svc.ListRuns(ctx, r.actor(), mf); lost != nil { // the head is sent already: say it in the table
			if ctx.Err() == nil {
				c.log.LogAttrs(ctx, slog.LevelError, "a table of runs was cut off", slog.String("request_id", r.id), slog.Any("error", lost))
			}
			err = t.line(r.loc.T("export.failed", "ID", r.id))
			break
		}
	}
	if err == nil {
		err = t.send()
	}
	if err != nil && ctx.Err() == nil {
		c.log.LogAttrs(ctx, slog.LevelInfo, "a table was not taken to its end", slog.String("request_id", r.id), slog.Any("error", err))
	}
	return nil
}

func (c *Console) runCells(r *request, run model.Run, apps map[int]string) []string {
	at := func(ms int64) string {
		if ms == 0 {
			return ""
		}
		return time.UnixMilli(ms).In(r.now.Location()).Format("2006-01-02 15:04:05.000")
	}
	duration := ""
	if ms := run.DurationMS(); ms >= 0 {
		duration = strconv.FormatInt(ms, 10)
	}
	reason := ""
	if run.Reason != "" {
		reason = views.ShortReason(r.loc, run.Reason)
	}
	return []string{
		strconv.FormatInt(run.ID, 10), strconv.Itoa(run.JobID), run.JobName, apps[run.GroupID], string(run.TriggerType), views.Enum(r.loc, run.TriggerType),
		views.PlannedAt(run).In(r.now.Location()).Format("2006-01-02 15:04:05.000"), at(run.SentMS), at(run.FinishedMS),
		views.ZoneName(r.now), duration, string(run.Result()), r.loc.T("result." + string(run.Result())), run.Reason, reason, run.Address, run.Handler, run.Param, run.Sharding,
		strconv.FormatInt(run.FirstAttempt(), 10), strconv.Itoa(run.RetryLeft), runMessage(r.loc, r.now.Location(), run),
	}
}

// userExport gives the accounts as a table.
func (c *Console) userExport(r *request) error {
	ctx := r.Request().Context()
	users, err := c.svc.Users(ctx, r.actor())
	if err != nil {
		return err
	}
	page, err := c.svc.Executors(ctx, r.actor())
	if err != nil {
		return err
	}
	t, err := c.startTable(r, "users", "user_id", "user", "role", "executors", "language", "disabled", "mail")
	for _, u := range users {
		if err != nil {
			break
		}
		role, apps := "user", []string{}
		if u.Role == model.RoleAdmin {
			role = "administrator"
		}
		who := u.Actor()
		for _, g := range page.Rows {
			if grant := who.Grant(g.ID); !who.Admin && grant.Level > model.LevelNone {
				text := g.AppName + ":" + grant.Level.String()
				if grant.Scripts {
					text += "+script"
				}
				apps = append(apps, text)
			}
		}
		err = t.line(strconv.Itoa(u.ID), u.Name, role, strings.Join(apps, " "), u.Language, strconv.FormatBool(u.Disabled), u.Mail)
	}
	if err == nil {
		_ = t.send() // whoever asked may be gone
	}
	return nil
}
