package e2e

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

// scene is a dialog, a menu or a part that opens: what is on the screen after the path is
// open and the click is answered. It is looked at by TestEveryDialog and by TestPictures.
type scene struct {
	name, path string
	open       func(*person)
	seen       string // what is there then
}

// click opens a scene by a click.
func click(name, path, button, seen string) scene {
	return scene{name, path, func(p *person) { p.doClick(button) }, seen}
}

// press opens one by keys.
func press(name, path, seen string, keys ...string) scene {
	return scene{name, path, func(p *person) { p.doPress(keys...) }, seen}
}

// stage is a center with something of everything: a week of runs of every outcome, a living
// executor with a run in progress, a script with versions, a note, tags, users, a filter.
type stage struct {
	*world
	store                   *store.Store
	ledger, script, sleeper string // ids of jobs
	running, failed, waits  string // ids of runs
}

const stageScript = "#!/bin/sh\necho \"parameter: $1\"\nfor step in one two three; do\n  echo \"step $step\"\ndone\n"

func newStage(t *testing.T) stage {
	t.Helper()
	w, st := seededWorld(t)
	s := stage{world: w, store: st}
	w.adopt()
	w.startExecutor(slog.New(slog.DiscardHandler))
	here := map[string]any{"jobGroup": 3}
	with := func(change map[string]any) map[string]any {
		for k, v := range here {
			change[k] = v
		}
		return change
	}
	s.sleeper = w.addJob("Warehouse export with a name that is a good deal longer than its column", with(map[string]any{
		"executorHandler": "demo.sleep", "executorParam": "1h", "tags": "warehouse,a tag with a rather long name", "author": "Mei Lin",
	}))
	s.ledger = w.addJob("夜间对账 Nightly ledger close", with(map[string]any{
		"scheduleType": "CRON", "scheduleConf": "0 30 1 * * ?", "tags": "nightly,pay,财务", "author": "Li Wei", "childJobId": s.sleeper, "executorFailRetryCount": 2, "executorTimeout": 600,
	}))
	s.script = w.addJob("Greeting", with(map[string]any{"glueType": "GLUE_SHELL", "executorHandler": "", "glueSource": stageScript, "glueRemark": "first", "author": "olga"}))
	w.api("updateJob", map[string]any{"id": number(t, s.script), "glueSource": stageScript + "echo done\n", "glueRemark": "says that it is done"})
	w.api("startJob", map[string]any{"id": number(t, s.ledger)})
	w.api("triggerJob", map[string]any{"id": number(t, s.sleeper), "executorParam": "1h"})
	w.api("triggerJob", map[string]any{"id": number(t, s.script), "executorParam": "month=11"})
	w.post("/jobs/"+s.ledger+"/note", url.Values{"seen": {w.seen("/jobs/" + s.ledger + "/note")}, "note": {"## When it fails\n\n1. Look at the **ledger** of the day\n2. Call [Mei](tel:+8613800000000)\n"}})
	w.post("/jobs/"+s.ledger+"/favourite", url.Values{"on": {"1"}})
	w.post("/users", url.Values{"name": {"olga"}, "g": {"3"}, "level_3": {"operate"}})
	w.post("/filters", url.Values{"list": {"jobs"}, "query": {"tag=nightly"}, "name": {"Every night"}})

	w.until("a run is in progress", func() bool {
		list, err := st.Runs(t.Context(), model.RunFilter{JobID: number(t, s.sleeper), Limit: 1})
		require.NoError(t, err)
		if len(list) == 1 && list[0].Result() == model.ResultRunning {
			s.running = strconv.FormatInt(list[0].ID, 10)
		}
		return s.running != ""
	})
	t.Cleanup(func() { w.post("/runs/"+s.running+"/kill", nil) }) // or the executor waits for it
	failed, err := st.Runs(t.Context(), model.RunFilter{Reason: model.ReasonRefused, Limit: 1})
	require.NoError(t, err)
	s.failed = strconv.FormatInt(failed[0].ID, 10)
	open, err := st.Runs(t.Context(), model.RunFilter{Status: model.RunsOpen, Limit: 50})
	require.NoError(t, err)
	for _, r := range open {
		if r.Phase == model.PhasePlanned && r.TriggerType == model.TriggerRetry {
			s.waits = strconv.FormatInt(r.ID, 10)
		}
	}
	require.NotEmpty(t, s.waits)
	return s
}

// seen is the version of what a form shows.
func (w *world) seen(path string) string {
	w.t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.text(path)))
	require.NoError(w.t, err)
	return doc.Find("[name=seen]").AttrOr("value", "")
}

// post sends a form as the administrator.
func (w *world) post(path string, form url.Values) {
	w.t.Helper()
	resp, err := w.admin.http.PostForm(w.url+path, form)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	require.Equal(w.t, http.StatusOK, resp.StatusCode, path)
}

// scenes are all dialogs, menus and parts that open. What they do is not done: each can be
// opened again.
func (s stage) scenes() []scene {
	list, runs := "/jobs?all=1&sort=id", "/runs?status=failed"
	row := func(id string) string { return "#job-" + id + " " }
	const dialog = "#dialog[open] #dialog-title"
	picked := func(button string) func(*person) {
		return func(p *person) {
			p.doClick("[data-testid=pick] >> nth=0")
			p.doClick("[data-testid=pick] >> nth=1")
			if button != "" {
				p.doClick(button)
			}
		}
	}
	return []scene{
		click("run-once", list, row(s.ledger)+"[data-testid=run-once]", dialog),
		{"run-once-elsewhere", list, func(p *person) {
			p.doClick(row(s.ledger) + "[data-testid=run-once]")
			p.doClick("#where-other")
		}, "#addresses:visible"},
		click("delete-job", "/jobs/"+s.ledger, ".btn-outline-danger", dialog),
		click("run-again", "/runs/"+s.failed, "[data-testid=run-again]", dialog),
		click("kill", "/runs/"+s.running, "[data-testid=kill]", dialog),
		click("take-back", "/runs/"+s.waits, "[data-testid=take-back]", dialog),
		click("retention-run", "/retention", "[data-testid=retention-run]", dialog),
		click("clear-runs", "/runs", "[data-testid=clear-runs-link]", dialog),
		press("palette", "/runs", "#dialog[open] [data-palette]", "Control+k"),
		{"palette-found", "/runs", func(p *person) {
			p.doPress("Control+k")
			p.doType("#dialog [data-palette]", "ledger")
		}, "[data-testid=palette-item]:has-text('Nightly')"},
		click("delete-executor", "/executors", "#executor-1 .act.danger", dialog),
		click("handlers", "/executors", "[data-testid=handlers]", ".menu.can:popover-open"),
		click("delete-user", "/users", "#user-2 .act.danger", dialog),
		click("columns", list, "[data-testid=columns-button]", "#columns-menu:popover-open"),
		click("run-columns", "/runs", "[data-testid=columns-button]", "#columns-menu:popover-open"),
		click("filters", list, "[data-testid=filters-button]", "#filters-menu:popover-open"),
		{"filters-managed", list, func(p *person) {
			p.doClick("[data-testid=filters-button]")
			p.doClick("[data-testid=manage-filters]")
		}, dialog},
		click("row-menu", list, fmt.Sprintf("[popovertarget=more-%s]", s.ledger), fmt.Sprintf("#more-%s:popover-open", s.ledger)),
		click("language", "/help", "[popovertarget=language-menu]", "#language-menu:popover-open"),
		click("user-menu", "/help", "[data-testid=user-menu]", "#user-menu:popover-open"),
		{"bar", list, picked(""), "[data-testid=batch-bar]:visible"},
		{"bar-change", list, picked("[data-testid=batch-change]"), dialog},
		{"bar-delete", list, picked("[data-testid=batch-delete]"), dialog},
		{"bar-runs", runs, picked(""), "[data-testid=batch-bar]:visible"},
		{"bar-kill", "/runs?status=running", func(p *person) {
			p.doClick("[data-testid=pick] >> nth=0")
			p.doClick("[data-testid=batch-kill]")
		}, dialog},
		{"cron-helper", "/jobs/" + s.ledger + "/edit", func(p *person) {
			p.doClick("[data-testid=cron-tabs] summary")
			p.doClick("#cron-tab-hour")
		}, "#cron-unit-hour:visible"},
		{"folds", "/jobs/" + s.ledger + "/edit", func(p *person) {
			_, err := p.page.Evaluate(`() => document.querySelectorAll("main details").forEach((d) => { d.open = true; })`)
			require.NoError(p.t, err)
		}, "[data-testid=fold-children][open]"},
		{"settings", "/jobs/" + s.ledger, func(p *person) { p.doClick("[data-testid=job-settings] summary") }, "[data-testid=job-settings][open]"},
		{"compare", "/jobs/" + s.script + "/code", func(p *person) { p.doClick("[data-testid=compare] >> nth=0") }, "[data-testid=diff], [data-testid=no-difference]"},
		{"refused-form", "/jobs/new", func(p *person) {
			p.expectProblem("422")
			p.doClick(".form-actions button")
		}, ".is-invalid >> nth=0"},
		{"refused-user", "/users/new", func(p *person) {
			p.expectProblem("422")
			p.doClick(".form-actions button")
		}, ".is-invalid >> nth=0"},
		{"refused-executor", "/executors/new", func(p *person) {
			p.expectProblem("422")
			p.doClick(".form-actions button")
		}, ".is-invalid >> nth=0"},
		{"reset", "/users/2/password", func(*person) {}, "main h1"},
		{"user-sessions", "/users/2/sessions", func(*person) {}, "main h1"},
		{"forbidden-delete", "/executors/3/delete", func(*person) {}, "main h1, .plain-main h1"},
	}
}

// play opens a scene on a page of its own.
func (p *person) play(s scene) {
	p.t.Helper()
	p.doOpen(s.path)
	require.NoError(p.t, p.page.WaitForLoadState()) // scripts listen from then on
	s.open(p)
	p.verifyVisible(strings.TrimSpace(s.seen))
}

// doPress presses keys one after the other.
func (p *person) doPress(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		require.NoError(p.t, p.page.Keyboard().Press(k), k)
	}
}
