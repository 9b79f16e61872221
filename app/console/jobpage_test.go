package console

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) JobDetail(ctx context.Context, a model.Actor, id int) (jobs.JobDetail, error) {
	j, err := f.Job(ctx, a, id)
	if err != nil {
		return jobs.JobDetail{}, err
	}
	d := jobs.JobDetail{Job: j}
	for _, g := range f.groups {
		if g.ID == j.GroupID {
			d.Group = g
		}
	}
	if j.NextMS > 0 {
		for i := range 5 {
			d.Fires = append(d.Fires, time.UnixMilli(j.NextMS).In(f.now.Location()).Add(time.Duration(i)*time.Hour))
		}
		d.FireZone = "Asia/Shanghai"
	}
	for _, r := range f.runs {
		switch {
		case r.JobID != id:
		case r.Phase == model.PhasePlanned:
			d.Waiting.Total++
			if r.PlannedMS <= f.now.UnixMilli() {
				d.Waiting.Due++
			}
			d.Waiting.Runs = append(d.Waiting.Runs, r)
		default:
			d.Recent = append(d.Recent, r)
			d.Last = append([]model.Run{r}, d.Last...)
			if r.Result() == model.ResultFailed {
				d.Streak.Fires++
				d.Streak.Last = r
				if d.Streak.SinceMS == 0 {
					d.Streak.SinceMS = max(r.FinishedMS, r.PlannedMS)
				}
			} else if r.Result() == model.ResultSucceeded {
				d.Streak = model.Failures{LastSuccess: r}
			}
		}
	}
	d.Last = d.Last[:min(8, len(d.Last))]
	d.Nodes, err = f.nodes(d.Group), nil
	return d, err
}

func (f *fake) nodes(g model.Group) (out []jobs.ExecutorNode) {
	at := newFake().now // beats do not move with the clock of the test
	for i, addr := range g.Addresses() {
		out = append(out, jobs.ExecutorNode{Address: addr, Beat: at.Add(-time.Duration(4+i*120) * time.Second), Alive: i == 0})
	}
	return out
}

func (f *fake) JobRelatives(ctx context.Context, a model.Actor, j model.Job) (rel jobs.Relatives, err error) {
	if j.ID == 1039 {
		p, err := f.Job(ctx, model.Actor{Admin: true}, 1042)
		if err != nil {
			return rel, err
		}
		rel.Parents, rel.Children = []model.Job{p}, []model.Job{{ID: 4711}}
	}
	return rel, nil
}

func (f *fake) JobEnd(ctx context.Context, a model.Actor, id int) (e jobs.JobEnd, err error) {
	if e.Job, err = f.Job(ctx, a, id); err != nil {
		return e, err
	}
	e.Relatives, err = f.JobRelatives(ctx, a, e.Job)
	e.Runs, e.Planned, e.RunsUntil = 129, 2, f.now.AddDate(0, 0, 31)
	return e, err
}

func (f *fake) RunChoices(ctx context.Context, a model.Actor, id int) (c jobs.RunChoices, err error) {
	d, err := f.JobDetail(ctx, a, id)
	c.Nodes = d.Nodes
	for _, r := range d.Last {
		if r.Param != "" {
			c.Params = append(c.Params, jobs.UsedParam{RunID: r.ID, At: r.TriggerTime, Param: r.Param})
		}
	}
	return c, err
}

func TestJobPage(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.get("/jobs/1039"))
	assert.Equal(t, "Exchange rates · Carillon", d.Find("head title").Text())
	assert.Contains(t, testid(d, "job-state").Text(), "running")
	assert.Equal(t, "every 5 min, 9–17 h, Mon–Fri", testid(d, "job-words").Text())
	assert.Equal(t, "Finance", testid(d, "job-executor").Text())
	assert.Equal(t, 4, testid(d, "job-fires").Find("li").Length(), "four after the first")
	assert.Equal(t, 1, testid(d, "stop-job").Length())
	assert.Zero(t, testid(d, "start-job").Length())

	bars := testid(d, "job-strip").Find("svg a")
	require.Equal(t, 22, bars.Length(), "each run that is not planned")
	assert.Equal(t, "/runs/88214871", bars.Eq(20).AttrOr("href", ""))
	assert.Contains(t, bars.Eq(20).Find("title").Text(), "failed")
	assert.Equal(t, "64.0", bars.Eq(20).Find("rect").Eq(1).AttrOr("height", ""), "a run that failed has the full height")
	assert.Contains(t, testid(d, "job-strip").Find("svg").AttrOr("aria-label", ""), "Last 22 runs:")

	assert.Contains(t, testid(d, "failing").Text(), "Failing for 2 runs, since 14:00:02")
	assert.Contains(t, testid(d, "failing").Text(), "IllegalStateException", "why the newest one failed, as text")
	assert.Contains(t, testid(d, "failing").Text(), "last success")
	assert.Equal(t, "/runs/88214000", testid(d, "last-failed").AttrOr("href", ""))

	waiting := testid(d, "job-waiting")
	assert.Contains(t, waiting.Text(), "in 12 s")
	assert.Equal(t, "/runs/88214910/takeback", waiting.Find(`[data-testid="take-back"]`).AttrOr("href", ""))
	assert.Equal(t, []string{"4 s ago", "not responding"}, []string{testid(d, "beat").Eq(0).Text(), testid(d, "beat").Eq(1).Text()})

	related := testid(d, "job-relatives")
	assert.Equal(t, "/jobs/1042", related.Find("a").AttrOr("href", ""))
	assert.Contains(t, related.Text(), "Job 4711: deleted, or of another executor")
	assert.Contains(t, testid(d, "job-settings").Find("summary").Text(), "BEAN fetchRates · Failover · Queue")

	live := s.doc(s.get("/jobs/1039", "HX-Request", "true"))
	assert.Zero(t, live.Find("head title").Length())
	assert.Equal(t, 1, live.Find("#job-head[data-live]").Length())
	assert.Equal(t, 2, live.Find(`[hx-swap-oob="morph"]`).Length())
	assert.Zero(t, testid(live, "job-settings").Length(), "what is folded open stays so")
	parts := s.get("/jobs/1039", "HX-Request", "true").Header.Get(partsHeader)
	s.fake.now = s.fake.now.Add(2 * time.Second)
	assert.Equal(t, http.StatusNoContent, s.get("/jobs/1039", "HX-Request", "true", haveHeader, parts).StatusCode, "a poll without news has no body")
}

func TestJobPagesOfAllKinds(t *testing.T) {
	s := newSite(t).login("admin")
	d := s.doc(s.get("/jobs/1024"))
	assert.Contains(t, testid(d, "job-state").Text(), "on demand")
	assert.Zero(t, testid(d, "start-job").Length(), "there is nothing to start")
	d = s.doc(s.get("/jobs/1015"))
	assert.Contains(t, testid(d, "job-state").Text(), "quarantined")
	assert.Contains(t, testid(d, "job-condition").Text(), "minute 99")
	assert.Contains(t, testid(d, "job-strip").Text(), "No runs yet")
	assert.Equal(t, 1, testid(d, "start-job").Length())
	d = s.doc(s.get("/jobs/1001"))
	assert.Equal(t, "<script>alert(1)</script><img src=x onerror=alert(2)>", testid(d, "job-name").Text())
	assert.Zero(t, d.Find("main script").Length())

	s = newSite(t).login("olga")
	for _, path := range []string{"/jobs/1031", "/jobs/4711", "/jobs/0", "/jobs/x", "/jobs/99999999999"} {
		res := s.get(path)
		assert.Equal(t, http.StatusNotFound, res.StatusCode, "%s: of another executor or gone", path)
		assert.Equal(t, 1, s.doc(res).Find("[data-testid=error]").Length())
	}
}

func TestDeleteSaysWhatHappens(t *testing.T) {
	s := newSite(t).login("olga")
	d := s.doc(s.get("/jobs/1039/delete?from=job"))
	facts := testid(d, "delete-facts").Text()
	for _, want := range []string{"It is running", "2 planned runs are cancelled", "Its 129 runs stay under its name, the last of them until 2026-12-21."} {
		assert.Contains(t, facts, want)
	}
	assert.Equal(t, "/jobs/1042", testid(d, "delete-parents").Find("a").AttrOr("href", ""), "who would start it")
	assert.Contains(t, testid(d, "delete-children").Text(), "Job 4711")
	assert.Equal(t, "Cancel", d.Find("[autofocus]").Text(), "Enter does not delete")
	assert.Equal(t, "/jobs/1039", d.Find("[autofocus]").AttrOr("href", ""))

	res := s.do(http.MethodPost, "/jobs/1039/delete", map[string][]string{"from": {"job"}}, "HX-Request", "true")
	assert.Equal(t, "/jobs", res.Header.Get("HX-Redirect"), "the page of the job is gone")
	res = s.do(http.MethodPost, "/jobs/1039/delete", map[string][]string{}, "HX-Request", "true")
	assert.Empty(t, res.Header.Get("HX-Redirect"), "the list stays where it is")
	assert.Equal(t, []string{"delete 1039", "delete 1039"}, s.fake.calls)
	assert.Equal(t, http.StatusNotFound, s.get("/jobs/1031/delete").StatusCode)
}

func TestSwitchingOnTheJobPageLeadsBack(t *testing.T) {
	s := newSite(t).login("olga")
	assert.Equal(t, "/jobs/1039", s.post("/jobs/1039/stop", "from", "job").Header.Get("Location"))
	assert.Equal(t, "/jobs", s.post("/jobs/1039/stop").Header.Get("Location"))
	assert.Equal(t, "/jobs/1039", s.post("/jobs/1039", goodJob...).Header.Get("Location"), "so does saving")
	assert.Equal(t, "/jobs/2000", s.post("/jobs", goodJob...).Header.Get("Location"))
}

// TestRunsOfADeletedJobKeepItsName leads nowhere, as there is no page any more.
func TestRunsOfADeletedJobKeepItsName(t *testing.T) {
	s := newSite(t).login("olga")
	for i := range s.fake.runs {
		if s.fake.runs[i].JobID == 1039 {
			s.fake.runs[i].JobGone = true
		}
	}
	row := s.doc(s.get("/runs?executor=1&job=1039")).Find("#run-88214871")
	assert.Contains(t, row.Find(".c-job").Text(), "Exchange rates")
	assert.Contains(t, row.Find(".c-job").Text(), "deleted")
	assert.Zero(t, row.Find(".c-job a").Length())
	row = s.doc(s.get("/runs?executor=2&job=1037")).Find("#run-88214999")
	assert.Equal(t, "/jobs/1037", row.Find(".c-job a").AttrOr("href", ""))
}

// TestWaitingIsNotFine: runs that should have been sent stand at the top, with why.
func TestWaitingIsNotFine(t *testing.T) {
	s := newSite(t).login("olga")
	assert.Zero(t, testid(s.doc(s.get("/jobs/1039")), "stuck").Length(), "a retry of the next seconds is no news")
	at := s.fake.now.Add(-14 * time.Minute)
	for i := range 3 {
		s.fake.runs = append(s.fake.runs, model.Run{
			ID: 99_000_000 + int64(i), GroupID: 2, JobID: 1037, TriggerTime: at, PlannedMS: at.UnixMilli(), Phase: model.PhasePlanned,
			TriggerType: model.TriggerCron, Note: model.Note{Said: []model.Said{model.Say("waits_for_idle")}},
		})
	}
	d := s.doc(s.get("/jobs/1037"))
	assert.Contains(t, testid(d, "stuck").Text(), "3 waiting, the first since 13:49:27")
	assert.Contains(t, testid(d, "stuck").Text(), "Waits until an address of the executor runs nothing.")
	assert.Contains(t, testid(d, "job-waiting").Text(), "14 m ago")
	assert.Equal(t, 3, testid(d, "take-back").Length())
}

func TestForeignJobsAreMissing(t *testing.T) {
	s := newSite(t).login("olga")
	for _, path := range []string{"/jobs/1031", "/jobs/1031/run", "/jobs/1031/edit", "/jobs/1031/delete", "/jobs/1031/note"} {
		assert.Equal(t, http.StatusNotFound, s.get(path).StatusCode, path)
	}
	for _, path := range []string{"/jobs/1031/run", "/jobs/1031/delete", "/jobs/1031/note", "/jobs/1031/start", "/jobs/1031/stop"} {
		assert.Equal(t, http.StatusNotFound, s.post(path, "use", "1031001").StatusCode, path)
	}
	assert.Empty(t, s.fake.calls)
}

func (f *fake) RestoreJob(ctx context.Context, a model.Actor, id int, line int64) (jobs.Restored, error) {
	j, err := f.Job(ctx, a, id)
	if err != nil || line != 7 {
		return jobs.Restored{}, model.Errf(model.CodeNotFound, "error.not_found")
	}
	in := jobs.InputOf(&j)
	in.Name = "As it was"
	return jobs.Restored{Input: in, Back: []string{"name"}, Left: []string{"param"}, Entry: model.AuditEntry{User: "olga", At: f.now}}, nil
}

func TestOldValuesInTheForm(t *testing.T) {
	s := newSite(t).login("admin")
	d := page(s, "/jobs/1001/edit?restore=7")
	require.Contains(t, testid(d, "restored").Text(), "olga")
	require.Contains(t, testid(d, "restored").Text(), "Not restored: Parameter")
	require.Equal(t, "As it was", d.Find("#name").AttrOr("value", ""))
	require.Equal(t, http.StatusNotFound, s.get("/jobs/1001/edit?restore=8").StatusCode)
	require.Equal(t, http.StatusOK, s.get("/jobs/1001/edit?restore=x").StatusCode, "the form as it is")
}
