package interop

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const result = "h1 [data-testid=result]"

// TestNodeExecutor leads the executor through its life: it registers, is
// adopted, rung by the clock and by hand, calls back, shows its log, fails and
// is killed, and deregisters.
func TestNodeExecutor(t *testing.T) {
	w := newWorld(t)
	c := w.startClient()

	w.until("it waits to be added", func() bool {
		return strings.Contains(w.text("/executors", "[data-testid=unassigned]"), appName)
	})
	w.post("/executors/adopt", url.Values{"app_name": {appName}})
	w.until("its address is known", func() bool { return w.find("/executors", ".tbl-executors [data-testid=node].ok").Length() == 1 })

	every := w.addJob("greet", map[string]any{"scheduleType": "CRON", "scheduleConf": "* * * * * ?", "executorParam": "the clock"})
	w.api("startJob", map[string]any{"id": every})
	green := "[data-testid=run-row] [data-testid=result].ok"
	w.until("three runs of the clock are green", func() bool { return w.find("/runs", green).Length() >= 3 })
	w.api("stopJob", map[string]any{"id": every})
	require.Equal(t, "STOP", w.text("/jobs", "[data-testid=job-status]"))
	w.verifyLog("1", "greeting the clock for run 1\n")

	run := w.trigger(w.addJob("greet", nil), "a person")
	w.until("the run by hand is green", func() bool { return w.text("/runs/"+run, result) == "succeeded" })
	require.Contains(t, w.text("/runs/"+run, "[data-testid=run-message]"), `{"greeted":"a person"}`)
	w.verifyLog(run, "greeting a person for run "+run+"\n")

	run = w.trigger(w.addJob("fail", nil), "")
	w.until("the run has failed", func() bool { return w.text("/runs/"+run, result) == "failed" })
	require.Contains(t, w.text("/runs/"+run, "[data-testid=run-message]"), "out of paper")
	w.verifyLog(run, "about to fail")

	run = w.trigger(w.addJob("no such handler", nil), "")
	w.until("the executor refuses", func() bool { return w.text("/runs/"+run, result) == "failed" })
	require.Contains(t, w.text("/runs/"+run, "[data-testid=run-facts]"), "No matched jobHandler: no such handler")

	run = w.trigger(w.addJob("nap", nil), "")
	w.until("the run is in progress", func() bool { return w.text("/runs/"+run, result) == "running" })
	w.verifyLog(run, "napping")
	w.post("/runs/"+run+"/kill", nil)
	w.until("the run is over", func() bool { return w.text("/runs/"+run, result) != "running" })

	c.stop(t)
	w.until("its address is gone", func() bool { return w.find("/executors", "[data-testid=node]").Length() == 0 })
}

// addJob adds a job for the executor and returns its id.
func (w *world) addJob(handler string, change map[string]any) int {
	w.t.Helper()
	body := map[string]any{
		"jobGroup": 1, "name": handler, "author": "interop", "scheduleType": "NONE", "misfireStrategy": "DO_NOTHING",
		"executorRouteStrategy": "FAILOVER", "executorHandler": handler, "executorBlockStrategy": "SERIAL_EXECUTION", "glueType": "BEAN",
	}
	for key, value := range change {
		body[key] = value
	}
	id, err := strconv.Atoi(w.api("addJob", body))
	require.NoError(w.t, err)
	return id
}

// trigger runs a job by the API and returns the id of its run.
func (w *world) trigger(job int, param string) string {
	w.t.Helper()
	w.api("triggerJob", map[string]any{"id": job, "executorParam": param})
	list := "/runs?job=" + strconv.Itoa(job)
	var run string
	w.until("the run is listed", func() bool {
		run = strings.TrimPrefix(w.find(list, "[data-testid=run-row]").AttrOr("id", ""), "run-")
		return run != ""
	})
	return run
}

// verifyLog waits until the log of a run, read through the center, says
// something. The client gives the whole text whatever line is asked for, and
// claims that it is new: it must not be shown again and again.
func (w *world) verifyLog(run, text string) {
	w.t.Helper()
	var log string
	w.until("the log of run "+run+" says "+text, func() bool {
		log = w.get("/runs/" + run + "/log")
		return strings.Contains(log, text)
	})
	require.Equal(w.t, 1, strings.Count(log, text), "the log repeats itself:\n%.2000s", log)
}
