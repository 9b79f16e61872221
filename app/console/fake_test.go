package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// fake is the service of the tests: a small scheduling center in memory with
// enough in it to draw every page.
type fake struct {
	mu        sync.Mutex
	now       time.Time
	users     []model.User
	groups    []model.Group
	jobs      []model.Job
	days      model.DayRange // of the dashboard, as they were asked last
	exported  model.JobFilter
	askedRuns model.RunFilter    // of the run list, as it was asked last
	timeline  jobs.TimelineInput // as it was asked last
	report    jobs.ReportAsk
	runs      []model.Run
	notes     map[int]string
	logs      map[int64][]model.LogChunk // answers of ReadLog in order, the last for ever
	calls     []string
	err       error // answered by the next change
	loginErr  error // answered by Login and ChangePassword
	readLog   func(from int) (model.LogChunk, error)
	mayRead   bool // ReadLog looks at the permission first, as the service does
}

var _ Service = (*fake)(nil)

const password = "correct horse"

func newFake() *fake {
	zone := time.FixedZone("Asia/Shanghai", 8*3600)
	now := time.Date(2026, 11, 20, 14, 3, 27, 0, zone)
	f := &fake{now: now, logs: map[int64][]model.LogChunk{}}
	f.users = []model.User{
		{ID: 1, Name: "admin", Role: model.RoleAdmin, Language: "en"},
		{ID: 2, Name: "olga", Role: model.RoleUser, Permission: "1,2", Language: "en"},
		{ID: 3, Name: "chen", Role: model.RoleUser},
	}
	f.groups = []model.Group{
		{ID: 1, AppName: "finance-core", Title: "Finance", AddressList: "http://10.0.4.16:9999/,http://10.0.4.17:9999/"},
		{ID: 2, AppName: "search-service", Title: "Search", AddressList: "http://10.0.2.31:9999/"},
		{ID: 3, AppName: "bi-export", Title: "Business intelligence", AddressType: model.AddressManual, AddressList: "http://bi.example:9999/"},
	}
	type def struct {
		id, group                   int
		name, author, conf, handler string
		typ                         model.ScheduleType
		glue                        model.GlueType
		status                      model.JobStatus
		cond                        model.JobCondition
		reason                      string
		next                        time.Duration
		mean                        int64
	}
	const cron, rate, none = model.ScheduleCron, model.ScheduleFixRate, model.ScheduleNone
	for _, d := range []def{
		{1042, 1, "Nightly ledger close", "mei", "0 30 1 * * ?", "ledgerClose", cron, model.GlueBean, 1, "", "", 11*time.Hour + 26*time.Minute, 252_000},
		{1039, 1, "Exchange rates", "olga", "0 0/5 9-17 ? * MON-FRI", "fetchRates", cron, model.GlueBean, 1, "", "", 93 * time.Second, 840},
		{1037, 2, "Search index shards", "wei", "60", "reindexShard", rate, model.GlueBean, 1, "", "", 42 * time.Second, 31_000},
		{1031, 3, "Warehouse export with a name that is a good deal longer than the column", "data-platform-team", "0 0 6 L * ?", "", cron, model.GlueShell, 1, "", "", 9 * 24 * time.Hour, 760_000},
		{1030, 1, "Invoice mail run", "mei", "CRON_TZ=Europe/London 0 0 8 ? * 2#1", "sendInvoices", cron, model.GlueBean, 1, "", "", 16 * 24 * time.Hour, 122_000},
		{1024, 2, "Cache warmer", "wei", "", "", none, model.GluePython, 0, "", "", 0, 5200},
		{1019, 3, "Legacy price import", "bo", "0 0 12 1 1 ? 2025", "priceImport", cron, model.GlueBean, 0, model.JobEnded, "", 0, 18_000},
		{1015, 1, "Broken report", "bo", "0 99 * * * ?", "report", cron, model.GlueBean, 0, model.JobQuarantined, "minute 99 is out of range", 0, 0},
		{1012, 2, "Heartbeat to partner", "wei", "5", "", rate, model.GlueNodeJS, 1, "", "", 3 * time.Second, 46},
		{1001, 1, "<script>alert(1)</script><img src=x onerror=alert(2)>", "<b>evil</b>", "0 0 0 * * ?", "\"><svg onload=alert(3)>", cron, model.GlueBean, 0, "", "", 0, 100},
	} {
		j := model.Job{
			ID: d.id, GroupID: d.group, Name: d.name, Author: d.author, ScheduleType: d.typ, ScheduleConf: d.conf,
			Handler: d.handler, GlueType: d.glue, Status: d.status, Condition: d.cond, ConditionReason: d.reason,
			Misfire: model.MisfireSkip, Route: model.RouteFailover, Block: model.BlockSerial, TimeoutSec: 30, RetryCount: 2,
			Param: "source=ecb&base=EUR", Version: 3,
		}
		if d.glue.IsScript() {
			j.GlueSource = "#!/bin/sh\necho \"export $1\"\n"
		}
		if d.next > 0 {
			j.NextMS = now.Add(d.next).UnixMilli()
		}
		f.jobs = append(f.jobs, j)
		f.addRuns(j, d.mean)
	}
	f.logs[88214871] = []model.LogChunk{{From: 1, To: 10, End: true, Content: strings.Join([]string{
		"14:00:00.000 INFO fetching daily reference rates from ecb", "14:00:00.217 INFO 31 currencies, base EUR",
		"14:00:00.434 DEBUG GET https://rates.example/eurofxref-daily.xml", "14:00:00.651 WARN slow answer: 1.9 s, attempt 1",
		"14:00:01.868 INFO parsed 31 rates for 2026-11-20", "14:00:01.085 ERROR write rates: duplicate key (EUR, 2026-11-20)",
		"    rates.(*Store).Insert store.go:88", "    rates.Fetch fetch.go:41", "14:00:02.736 INFO rolled back",
		"14:00:02.953 ERROR handler failed: <script>alert('log')</script> write rates: duplicate key (EUR, 2026-11-20)",
	}, "\n") + "\n"}}
	f.logs[88214999] = []model.LogChunk{{From: 1, To: 2, Content: "14:03:00 INFO shard 7 of 12\n14:03:01 INFO 12000 documents\n"}, {From: 3, To: 2}}
	return f
}

// addRuns makes the recent runs of a job, oldest first.
func (f *fake) addRuns(j model.Job, mean int64) {
	if mean == 0 {
		return
	}
	base := int64(j.ID) * 1000
	for i := range 20 {
		at := f.now.Add(-time.Duration(20-i) * 5 * time.Minute)
		r := model.Run{
			ID: base + int64(i), GroupID: j.GroupID, JobID: j.ID, JobName: j.Name, Address: "http://10.0.4.16:9999/",
			Handler: j.Handler, TriggerTime: at, TriggerCode: 200, HandleCode: 200, Phase: model.PhaseFinished,
			PlannedMS: at.UnixMilli(), SentMS: at.UnixMilli() + 6, AcceptedMS: at.UnixMilli() + 9, TriggerType: model.TriggerCron,
			FinishedMS: at.UnixMilli() + 9 + mean*int64(60+(i*37+j.ID)%90)/100, Owner: "carillon-1",
		}
		r.HandleTime = time.UnixMilli(r.FinishedMS)
		switch {
		case (i+j.ID)%13 == 4:
			r.HandleCode, r.HandleMsg = 500, "write rates: duplicate key (EUR, 2026-11-20)"
		case (i+j.ID)%11 == 3:
			r.Phase, r.HandleCode, r.TriggerCode, r.Reason = model.PhaseMissed, 0, model.CodeMissed, model.ReasonMisfire
			r.SentMS, r.AcceptedMS, r.FinishedMS, r.Address = 0, 0, 0, ""
			r.HandleTime = time.Time{}
		}
		f.runs = append(f.runs, r)
	}
	at := f.now.Add(-207 * time.Second)
	switch j.ID {
	case 1039:
		f.runs = append(f.runs, model.Run{
			ID: 88214871, GroupID: 1, JobID: 1039, JobName: j.Name, Address: "http://10.0.4.17:9999/", Handler: "fetchRates",
			Param: "source=ecb&base=EUR", RetryLeft: 2, TriggerTime: at, TriggerCode: 200, HandleCode: 500,
			HandleMsg: "write rates: duplicate key (EUR, 2026-11-20)", Phase: model.PhaseFinished, PlannedMS: at.UnixMilli(),
			TriggerMsg: "FAILOVER: 10.0.4.16 refused (connection refused, 2 ms), 10.0.4.17 answered",
			SentMS:     at.UnixMilli() + 6, AcceptedMS: at.UnixMilli() + 9, FinishedMS: at.UnixMilli() + 2871, TriggerType: model.TriggerCron,
			Owner: "carillon-1", HandleTime: at.Add(3 * time.Second),
		}, model.Run{
			ID: 88214910, GroupID: 1, JobID: 1039, JobName: j.Name, TriggerTime: at, Phase: model.PhasePlanned, RetryLeft: 1,
			PlannedMS: f.now.Add(12 * time.Second).UnixMilli(), TriggerType: model.TriggerRetry, FirstID: 88214871, Owner: "carillon-1",
		}, model.Run{
			ID: 88214000, GroupID: 1, JobID: 1039, JobName: j.Name, TriggerTime: at, TriggerCode: 200, HandleCode: 500,
			TriggerMsg: "Job trigger：CRON<br>Address：10.0.0.1<br><br><span style=\"color:#00c0ef;\" > &gt;&gt;&gt;trigger&lt;&lt;&lt; </span><br><script>alert(9)</script>",
			HandleMsg:  "<b>java.lang.IllegalStateException</b><br/>at Rates.run", HandleTime: at, Address: "http://10.0.0.1:9999/",
		})
	case 1037:
		f.runs = append(f.runs, model.Run{
			ID: 88214999, GroupID: 2, JobID: 1037, JobName: j.Name, Address: "http://10.0.2.31:9999/", Handler: j.Handler,
			Sharding: "7/12", TriggerTime: f.now.Add(-27 * time.Second), TriggerCode: 200, Phase: model.PhaseAccepted,
			PlannedMS: f.now.Add(-27 * time.Second).UnixMilli(), SentMS: f.now.Add(-25 * time.Second).UnixMilli(),
			AcceptedMS: f.now.Add(-25*time.Second).UnixMilli() + 3, TriggerType: model.TriggerCron, Owner: "carillon-2",
		})
	}
}

func (f *fake) note(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	err := f.err
	f.err = nil
	return err
}

func notFound() error { return model.Errf(model.CodeNotFound, "error.not_found") }

func (f *fake) Now() time.Time { return f.now }

func (f *fake) Login(_ context.Context, name, pw, _ string) (model.User, error) {
	if f.loginErr != nil {
		return model.User{}, f.loginErr
	}
	for _, u := range f.users {
		if u.Name == name && pw == password {
			return u, nil
		}
	}
	return model.User{}, model.Errf(model.CodeInvalid, "error.login")
}

func (f *fake) User(_ context.Context, id int) (model.User, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.users {
		if u.ID == id {
			return u, nil
		}
	}
	return model.User{}, notFound()
}

func (f *fake) SetPreferences(_ context.Context, id int, lang, theme string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.users {
		if f.users[i].ID == id {
			f.users[i].Language, f.users[i].Theme = lang, theme
		}
	}
	return nil
}

func (f *fake) ChangePassword(_ context.Context, id int, old, next, _ string) (model.User, error) {
	if f.loginErr != nil {
		return model.User{}, f.loginErr
	}
	e := model.Errf(model.CodeInvalid, "error.invalid")
	if old != password {
		e.AddField("old", "field.wrong_password")
		return model.User{}, e
	}
	if len(next) < 8 {
		e.AddField("new", "field.too_short", "Min", 8)
		return model.User{}, e
	}
	for i := range f.users {
		if f.users[i].ID == id {
			f.users[i].MustChange = false
			f.users[i].SessionGeneration++
			return f.users[i], f.note("password")
		}
	}
	return model.User{}, notFound()
}

func (f *fake) Users(context.Context, model.Actor) ([]model.User, error) { return f.users, nil }

func (f *fake) seen(a model.Actor) (out []model.Group) {
	for _, g := range f.groups {
		if a.Sees(g.ID) {
			out = append(out, g)
		}
	}
	return out
}

func (f *fake) title(id int) string {
	for _, g := range f.groups {
		if g.ID == id {
			return g.Title
		}
	}
	return ""
}

func (f *fake) Search(ctx context.Context, a model.Actor, text string) (jobs.Found, error) {
	page, err := f.ListJobs(ctx, a, model.JobFilter{Text: text, Limit: 7})
	var out jobs.Found
	for _, row := range page.Rows {
		out.Jobs = append(out.Jobs, row.Job)
	}
	return out, err
}

func (f *fake) JobRow(ctx context.Context, a model.Actor, id int) (jobs.JobRow, error) {
	page, err := f.ListJobs(ctx, a, model.JobFilter{Limit: 1000})
	for _, row := range page.Rows {
		if row.ID == id {
			return row, err
		}
	}
	return jobs.JobRow{}, model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)
}

func (f *fake) Groups(_ context.Context, a model.Actor) ([]model.Group, error) { return f.seen(a), nil }

func (f *fake) ListJobs(_ context.Context, a model.Actor, m model.JobFilter) (jobs.JobPage, error) {
	p := jobs.JobPage{Groups: f.seen(a)}
	var rows []jobs.JobRow
	for _, j := range f.jobs {
		if !a.Sees(j.GroupID) || m.GroupID > 0 && j.GroupID != m.GroupID ||
			!strings.Contains(strings.ToLower(j.Name+j.Handler+j.Author), strings.ToLower(m.Text)) {
			continue
		}
		p.Counts.All++
		if j.Status == model.JobRunning {
			p.Counts.Running++
		} else {
			p.Counts.Stopped++
		}
		if m.Status != nil && j.Status != *m.Status {
			continue
		}
		row := jobs.JobRow{Job: j, GroupTitle: f.title(j.GroupID)}
		for _, r := range f.runs {
			if r.JobID == j.ID && r.Phase != model.PhaseForeign && r.Phase != model.PhasePlanned {
				row.Recent = append(row.Recent, r)
			}
		}
		rows = append(rows, row)
	}
	p.Total = len(rows)
	p.Rows = rows[min(m.Offset, len(rows)):min(m.Offset+m.Limit, len(rows))]
	return p, nil
}

func (f *fake) Job(_ context.Context, a model.Actor, id int) (model.Job, error) {
	for _, j := range f.jobs {
		if j.ID == id && a.Sees(j.GroupID) {
			return j, nil
		}
	}
	return model.Job{}, notFound()
}

func (f *fake) AddJob(_ context.Context, a model.Actor, in jobs.JobInput) (int, error) {
	return 2000, f.note("add %+v", in)
}

func (f *fake) UpdateJob(_ context.Context, _ model.Actor, id int, in jobs.JobInput) error {
	return f.note("update %d %+v", id, in)
}

func (f *fake) DeleteJob(_ context.Context, _ model.Actor, id int) error {
	return f.note("delete %d", id)
}

func (f *fake) StartJob(_ context.Context, _ model.Actor, id int) error {
	return f.switched(id, model.JobRunning, f.note("start %d", id))
}

func (f *fake) StopJob(_ context.Context, _ model.Actor, id int) error {
	return f.switched(id, model.JobStopped, f.note("stop %d", id))
}

func (f *fake) switched(id int, status model.JobStatus, err error) error {
	for i := range f.jobs {
		if f.jobs[i].ID == id && err == nil {
			f.jobs[i].Status = status
		}
	}
	return err
}

func (f *fake) RunNow(_ context.Context, _ model.Actor, id int, in jobs.RunInput) (int64, error) {
	return 88214999, f.note("run %d %s %s", id, *in.Param, in.Addresses)
}

func (f *fake) Preview(t model.ScheduleType, conf, lang string, n int) (jobs.Preview, error) {
	if strings.Contains(conf, "99") {
		return jobs.Preview{}, model.Errf(model.CodeInvalid, "field.cron", "Reason", "cron.err.no_such")
	}
	words := map[string][2]string{
		"0 30 1 * * ?": {"every day at 01:30", "每天 01:30"}, "0 0/5 9-17 ? * MON-FRI": {"every 5 min, 9–17 h, Mon–Fri", "周一至周五 9–17 时，每 5 分钟"},
		"60": {"every 60 s", "每 60 秒"}, "5": {"every 5 s", "每 5 秒"}, "0 0 6 L * ?": {"last day of the month at 06:00", "每月最后一天 06:00"},
	}[conf]
	p := jobs.Preview{InWords: words[0], Zone: "Asia/Shanghai"}
	if lang != "en" {
		p.InWords = words[1]
	}
	if p.InWords == "" {
		p.InWords = "at set times"
	}
	for i := range n {
		p.Next = append(p.Next, f.now.Truncate(24*time.Hour).Add(time.Duration(i+1)*24*time.Hour))
	}
	return p, nil
}

func (f *fake) Handlers(_ context.Context, a model.Actor, group int) (out []string, _ error) {
	for _, j := range f.jobs {
		if j.GroupID == group && a.Sees(group) && j.Handler != "" {
			out = append(out, j.Handler)
		}
	}
	return out, nil
}

func (f *fake) Script(ctx context.Context, a model.Actor, id int) (model.Job, []model.ScriptVersion, error) {
	j, err := f.Job(ctx, a, id)
	if err == nil && !j.GlueType.IsScript() {
		err = model.Errf(model.CodeNotFound, "error.no_script")
	}
	return j, []model.ScriptVersion{
		{ID: 2, JobID: id, Author: "olga", Remark: "<b>now</b>", AddTime: f.now}, {ID: 1, JobID: id, Remark: "first", AddTime: f.now.Add(-time.Hour)},
	}, err
}

func (f *fake) ScriptVersion(ctx context.Context, a model.Actor, id, version int) (model.ScriptVersion, error) {
	j, list, err := f.Script(ctx, a, id)
	for _, v := range list {
		if v.ID == version && err == nil {
			v.Source = fmt.Sprintf("echo %d\n</textarea>\n", version)
			return v, nil
		}
	}
	if err == nil && version != 0 {
		err = model.Errf(model.CodeNotFound, "error.version_not_found")
	}
	return model.ScriptVersion{JobID: id, Source: j.GlueSource}, err
}

func (f *fake) SaveScript(_ context.Context, _ model.Actor, id int, in jobs.ScriptInput) (bool, error) {
	return true, f.note("script %d %q %q", id, in.Source, in.Remark)
}

func (f *fake) Forecast(t model.ScheduleType, conf, lang string) (jobs.Forecast, error) {
	p, err := f.Preview(t, conf, lang, 5)
	if strings.HasPrefix(conf, "99 *") {
		return jobs.Forecast{Preview: p, Instead: "0 9 * * * ?"}, err
	}
	return jobs.Forecast{Preview: p, Week: &jobs.Week{First: f.now, Fires: [7][24]uint8{3: {9: 1, 10: 1, 12: jobs.ManyFires}}}}, err
}

func (f *fake) ListRuns(_ context.Context, a model.Actor, m model.RunFilter) (jobs.RunPage, error) {
	f.askedRuns = m
	p := jobs.RunPage{Groups: f.seen(a)}
	for _, j := range f.jobs {
		if j.ID == m.JobID && a.Sees(j.GroupID) {
			p.JobName, p.JobGroup = j.Name, j.GroupID
		}
	}
	all := slices.Clone(f.runs)
	slices.SortFunc(all, func(x, y model.Run) int { return y.TriggerTime.Compare(x.TriggerTime) })
	for _, r := range all {
		class := map[model.RunResult]model.RunStatus{
			model.ResultSucceeded: model.RunsSucceeded, model.ResultFailed: model.RunsFailed, model.ResultMissed: model.RunsMissed,
			model.ResultRunning: model.RunsOpen, model.ResultPlanned: model.RunsOpen,
		}[r.Result()]
		if !a.Sees(r.GroupID) || m.GroupID > 0 && r.GroupID != m.GroupID || m.JobID > 0 && r.JobID != m.JobID ||
			m.Status != "" && m.Status != class || !m.From.IsZero() && r.TriggerTime.Before(m.From) {
			continue
		}
		p.Rows = append(p.Rows, r)
	}
	p.Older = len(p.Rows) > m.Limit
	p.Rows = p.Rows[:min(m.Limit, len(p.Rows))]
	return p, nil
}

func (f *fake) Run(_ context.Context, a model.Actor, id int64) (jobs.RunDetail, error) {
	d := jobs.RunDetail{AverageMS: 840}
	for _, r := range f.runs {
		if r.ID == id && a.Sees(r.GroupID) {
			d.Run, d.GroupTitle = r, f.title(r.GroupID)
		}
	}
	if d.Run.ID == 0 {
		return d, notFound()
	}
	if j, err := f.Job(context.Background(), a, d.Run.JobID); err == nil {
		d.Job = &j
	}
	if id == 88214871 || id == 88214910 {
		for _, r := range f.runs {
			if r.ID == 88214871 || r.ID == 88214910 {
				d.Linked = append(d.Linked, r)
			}
		}
	}
	return d, nil
}

func (f *fake) ReadLog(ctx context.Context, a model.Actor, id int64, from int) (model.LogChunk, error) {
	if f.mayRead {
		if _, err := f.Run(ctx, a, id); err != nil {
			return model.LogChunk{}, err
		}
	}
	if f.readLog != nil {
		return f.readLog(from)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.logs[id] {
		if c.From >= from || c.To < c.From {
			return c, nil
		}
	}
	return model.LogChunk{From: from, To: from - 1, End: true}, nil
}

func (f *fake) KillRun(_ context.Context, _ model.Actor, id int64) error {
	return f.note("kill %d", id)
}

func (f *fake) TakeBackRun(_ context.Context, _ model.Actor, id int64) error {
	return f.note("take back %d", id)
}

func (f *fake) Executors(context.Context, model.Actor) (jobs.ExecutorPage, error) {
	p := jobs.ExecutorPage{}
	for _, g := range f.groups {
		row := jobs.ExecutorRow{Group: g, JobCount: 3}
		for i, addr := range g.Addresses() {
			n := jobs.ExecutorNode{Address: addr}
			if g.AddressType == model.AddressAuto {
				n.Beat, n.Alive = f.now.Add(-time.Duration(4+i*120)*time.Second), i == 0
			}
			row.Nodes = append(row.Nodes, n)
		}
		p.Rows = append(p.Rows, row)
	}
	if len(f.groups) > 0 {
		p.Unassigned = []jobs.ExecutorRow{{Group: model.Group{AppName: "mail-worker"}, Nodes: []jobs.ExecutorNode{
			{Address: "http://10.0.9.3:9999/", Beat: f.now.Add(-12 * time.Second), Alive: true}}}}
	}
	return p, nil
}

func (f *fake) Executor(_ context.Context, _ model.Actor, id int) (model.Group, error) {
	for _, g := range f.groups {
		if g.ID == id {
			return g, nil
		}
	}
	return model.Group{}, notFound()
}

func (f *fake) AddExecutor(_ context.Context, _ model.Actor, in jobs.ExecutorInput) (int, error) {
	return 9, f.note("executor %+v", in)
}

func (f *fake) UpdateExecutor(_ context.Context, _ model.Actor, id int, in jobs.ExecutorInput) error {
	return f.note("executor %d %+v", id, in)
}

func (f *fake) DeleteExecutor(_ context.Context, _ model.Actor, id int) error {
	return f.note("delete executor %d", id)
}

func (f *fake) Dashboard(_ context.Context, a model.Actor, days model.DayRange) (jobs.Dashboard, error) {
	f.days = days
	d := jobs.Dashboard{
		Jobs: model.JobCounts{All: 248, Running: 221, Stopped: 27}, RunsTotal: 1204881, NodesAlive: 37, NodesKnown: 38,
		Centers: []model.Node{{Name: "carillon-1", Version: "1.0.0", StartedMS: f.now.Add(-76 * time.Hour).UnixMilli(), BeatMS: f.now.UnixMilli()}, {Name: "carillon-2", Version: "1.0.0", StartedMS: f.now.Add(-3 * time.Hour).UnixMilli(), BeatMS: f.now.Add(-time.Second).UnixMilli(), SilentMS: 1000}, {Name: "carillon-3", Version: "1.0.0", StartedMS: f.now.Add(-3 * time.Hour).UnixMilli(), SilentMS: 41_000}},
	}
	d.Today = model.NewLedger("2026-11-20", []model.Fires{
		{Reason: model.LedgerExpected, Count: 86153}, {Reason: model.OutcomeSucceeded, Count: 86112}, {Reason: model.ReasonCenterDown, Count: 2},
		{Reason: model.ReasonPaused, Count: 1}, {Reason: model.ReasonError, Count: 24}, {Reason: "new", Count: 2},
	})
	for i, n := range []int{83000, 71000, 70800, 84200, 85100, 84900, 86112} {
		d.Days = append(d.Days, model.Ledger{Day: fmt.Sprintf("2026-11-%d", 14+i), Succeeded: int64(n), Failed: int64(20 + (i*97)%310), NotSent: int64((i * 31) % 90), Open: int64(i / 6 * 12)})
	}
	for _, r := range f.runs {
		if r.Result() == model.ResultFailed && len(d.Troubles) < 6 && a.Sees(r.GroupID) {
			d.Troubles = append(d.Troubles, jobs.Trouble{
				FailingJob: model.FailingJob{ID: r.JobID, GroupID: r.GroupID, Name: r.JobName, Author: "olga", Streak: model.Streak{SinceMS: r.PlannedMS}}, Count: 14, Last: &r,
			})
			d.Jobs.Failing++
		}
	}
	for _, j := range f.jobs {
		if j.NextMS > 0 {
			d.Next = append(d.Next, j)
		}
	}
	slices.SortFunc(d.Next, func(x, y model.Job) int { return int(x.NextMS - y.NextMS) })
	return d, nil
}

func (f *fake) CountClear(context.Context, model.Actor, jobs.ClearInput) (jobs.Clearing, error) {
	return jobs.Clearing{Runs: 12}, nil
}

func (f *fake) ClearRuns(_ context.Context, _ model.Actor, in jobs.ClearInput) (jobs.Clearing, error) {
	return jobs.Clearing{Runs: 12}, f.note("clear %d", in.Kind)
}

func (f *fake) FindJobs(ctx context.Context, a model.Actor, m model.JobFilter) ([]model.Job, int, error) {
	page, err := f.ListJobs(ctx, a, model.JobFilter{Groups: m.Groups, GroupID: m.GroupID, Status: m.Status, Text: m.Text, Limit: 1000})
	var out []model.Job
	for _, row := range page.Rows {
		if len(m.IDs) == 0 || slices.Contains(m.IDs, row.ID) {
			out = append(out, row.Job)
		}
	}
	return out, len(out), err
}

func (f *fake) SwitchMany(_ context.Context, a model.Actor, ids []int, status model.JobStatus) ([]jobs.BatchItem, error) {
	var out []jobs.BatchItem
	for _, id := range ids {
		item := jobs.BatchItem{ID: int64(id), Err: model.Errf(model.CodeNotFound, "error.job_not_found", "ID", id)}
		for i := range f.jobs {
			if j := &f.jobs[i]; j.ID == id && a.Sees(j.GroupID) {
				item.Name, item.Changed, item.Err = j.Name, j.Status != status, nil
				j.Status = status
			}
		}
		out = append(out, item)
	}
	return out, f.note("switch %v %d", ids, status)
}

func (f *fake) RunMany(_ context.Context, _ model.Actor, ids []int) ([]jobs.BatchItem, error) {
	return nil, f.note("run %v", ids)
}

func (f *fake) DeleteMany(_ context.Context, _ model.Actor, ids []int) ([]jobs.BatchItem, error) {
	return []jobs.BatchItem{{ID: int64(ids[0]), Name: "x", Changed: true}}, f.note("delete %v", ids)
}

func (f *fake) EachRun(_ context.Context, _ model.Actor, ids []int64, op jobs.RunsOp) ([]jobs.BatchItem, error) {
	return []jobs.BatchItem{{ID: ids[0], Name: "x", Changed: true, NewID: 77}}, f.note("%s %v", op, ids)
}

func (f *fake) JobNamed(_ context.Context, _ model.Actor, text string) (int, error) {
	head, _, _ := strings.Cut(text, " · ")
	if id, err := strconv.Atoi(head); text == "" || err == nil {
		return id, nil
	}
	return 0, model.Errf(model.CodeNotFound, "field.job_none")
}
