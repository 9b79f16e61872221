package app

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// reportScenes put one report each into the outbox.
var reportScenes = map[string]func(p *press) model.Message{
	"report-day": func(p *press) model.Message {
		p.month("Settlement")
		p.told(model.StepOpened, incident("job:1", 1, 1, func(i *model.Incident) { i.Reason, i.Failed = model.ReasonError, 3 }))
		return p.report("day")
	},
	"report-hostile": func(p *press) model.Message { p.month(hostileName); return p.report("day") },
	"report-week":    func(p *press) model.Message { p.month("Settlement"); return p.report("week") },
	"report-month":   func(p *press) model.Message { p.month("Settlement"); return p.report("month") },
	"report-good": func(p *press) model.Message {
		g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
		p.fires(p.job(g.ID, "Settlement", ""), mailTime.AddDate(0, 0, -1), 30, 0, 0)
		return p.report("day")
	},
	"report-targets": func(p *press) model.Message {
		p.month("Settlement")
		for _, t := range []model.Target{
			{Name: "All of billing", TargetSettings: model.TargetSettings{Scope: model.ScopeExecutor, GroupID: 1, Goal: 99_500}},
			{Name: "Nothing is lost", TargetSettings: model.TargetSettings{Scope: model.ScopeJob, JobID: 1, Goal: 98_000, Off: true}},
			{Name: "Interest", TargetSettings: model.TargetSettings{Scope: model.ScopeJob, JobID: 2, Goal: model.GoalWhole}},
			{Name: "Settled by six", TargetSettings: model.TargetSettings{Scope: model.ScopeJob, JobID: 1, Goal: 95_000, By: "06:00"}},
		} {
			t.Judged = "2026-10-31"
			id, err := p.store.SaveTarget(p.t.Context(), t)
			require.NoError(p.t, err)
			if t.ID = id; t.Timed() {
				was, err := p.store.Target(p.t.Context(), id)
				require.NoError(p.t, err)
				for d := 1; d < 20; d++ {
					is := was
					is.Judged = model.Day(mailTime, d-20)
					require.NoError(p.t, p.store.JudgeTarget(p.t.Context(), was, is, is.Judged, []model.TargetDay{{JobID: 1, Counts: true, Met: d > 2}}))
					was = is
				}
			}
		}
		return p.report("day")
	},
	"report-nothing": func(p *press) model.Message { return p.report("day") },
}

// fires writes fires of a day; some fail, some are not sent.
func (p *press) fires(j model.Job, day time.Time, good, bad, missed int) {
	p.t.Helper()
	at := model.DayStart(day, 0).Add(2 * time.Hour)
	for n := range good + bad + missed {
		at = at.Add(10 * time.Minute)
		p.run(j, func(r *model.Run) {
			r.TriggerTime, r.PlannedMS, r.SentMS, r.FinishedMS = at, at.UnixMilli(), at.UnixMilli()+200, at.UnixMilli()+int64(61_000+1000*n)
			switch {
			case n < missed:
				r.Phase, r.TriggerCode, r.Reason, r.SentMS = model.PhaseMissed, model.CodeMissed, model.ReasonMisfire, 0
			case n < missed+bad:
				r.HandleCode, r.HandleMsg = 500, "ledger locked"
			default:
				r.HandleCode = 200
			}
		})
	}
}

// month is what two jobs did in the last 40 days.
func (p *press) month(name string) {
	p.t.Helper()
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	first, second := p.job(g.ID, name, ""), p.job(g.ID, "Interest of the day", "")
	for d := 40; d > 0; d-- {
		day := mailTime.AddDate(0, 0, -d)
		p.fires(first, day, 20, map[bool]int{true: 3}[d == 1], map[bool]int{true: 1}[d%7 == 1])
		p.fires(second, day, 10, 0, 0)
	}
}

// report counts what there is and posts a report.
func (p *press) report(kind string) model.Message {
	p.t.Helper()
	for more := true; more; {
		var err error
		more, err = p.store.FoldCounts(p.t.Context(), mailTime)
		require.NoError(p.t, err)
	}
	require.NoError(p.t, p.store.NoteCounted(p.t.Context(), "2026-01-01", ""))
	m := model.ReportMail{Name: "Every morning", NextMS: mailTime.UnixMilli(), ReportMailSettings: model.ReportMailSettings{Kind: kind, At: "08:00", To: []string{"boss@example.org"}}}
	var err error
	m.ID, err = p.store.SaveReportMail(p.t.Context(), m)
	require.NoError(p.t, err)
	first := map[string]string{"day": "2026-11-19", "week": "2026-11-09", "month": "2026-10-01"}[kind]
	for range 2 { // a second node, or a clock that was set back, adds nothing
		require.NoError(p.t, p.store.PostReport(p.t.Context(), m, first, m.To, mailTime.AddDate(0, 0, 1).UnixMilli(), mailTime.UnixMilli()))
		_, err = p.store.SaveReportMail(p.t.Context(), m)
		require.NoError(p.t, err)
	}
	due, err := p.store.DueMessages(p.t.Context(), model.ChannelMail, mailTime.UnixMilli(), 10)
	require.NoError(p.t, err)
	var reports []model.Message
	for _, x := range due {
		if x.Step == model.StepReport {
			reports = append(reports, x)
		}
	}
	require.Len(p.t, reports, 1)
	return reports[0]
}

// TestReportsAsTheyArrive is TestMailsAsTheyArrive for reports, with their picture.
func TestReportsAsTheyArrive(t *testing.T) {
	for name, scene := range reportScenes {
		t.Run(name, func(t *testing.T) {
			p := newPress(t)
			m := scene(p)
			for _, lang := range languages {
				p.lang, p.tray.raw = lang, ""
				_, _, err := p.Send(t.Context(), m)
				require.NoError(t, err)
				compare(t, name+"."+lang, p.tray.raw)
				got := harmless(t, p.tray.raw)
				require.Len(t, got.Inlines, 1)
				assert.Equal(t, "trend@carillon", got.Inlines[0].ContentID)
				_, err = png.Decode(bytes.NewReader(got.Inlines[0].Content))
				require.NoError(t, err)
			}
		})
	}
}

// TestAReportThatEndedIsNotSent: who removes a report does not get what was due.
func TestAReportThatEndedIsNotSent(t *testing.T) {
	p := newPress(t)
	m := p.report("day")
	require.NoError(t, p.store.DeleteReportMail(t.Context(), 1))
	_, _, err := p.Send(t.Context(), m)
	require.ErrorContains(t, err, "does not go out any more")
}

// TestAReportNamesIncidentsOfItsOwn: one about an executor, an owner or a tag goes to people
// who may not be meant to know of the others.
func TestAReportNamesIncidentsOfItsOwn(t *testing.T) {
	p := newPress(t)
	mine, theirs := storetest.Group(t, p.store, "mine", ""), storetest.Group(t, p.store, "theirs", "")
	a, b := p.job(mine.ID, "Settlement", ""), p.job(theirs.ID, "Salaries", "")
	p.exec(`UPDATE xxl_job_info SET author = 'Wang' WHERE id = ?`, b.ID)
	p.exec(`INSERT INTO carillon_job_tag (job_id, tag) VALUES (?, 'pay')`, b.ID)
	p.decide(model.AlarmDecision{Changed: []*model.Incident{
		incident("job:1", a.ID, mine.ID, func(i *model.Incident) { i.Reason = model.ReasonError }),
		incident("job:2", b.ID, theirs.ID, func(i *model.Incident) { i.Reason = model.ReasonError }),
	}})
	day := report.LastOver(report.Day, mailTime)
	for name, x := range map[string]struct {
		of   model.ReportMailSettings
		open []string
	}{
		"all":             {model.ReportMailSettings{}, []string{"Salaries", "Settlement"}},
		"an executor":     {model.ReportMailSettings{GroupID: mine.ID}, []string{"Settlement"}},
		"an owner":        {model.ReportMailSettings{Owner: "Wang"}, []string{"Salaries"}},
		"a tag":           {model.ReportMailSettings{Tag: "pay"}, []string{"Salaries"}},
		"nobody's":        {model.ReportMailSettings{Owner: "nobody"}, nil},
		"both, and empty": {model.ReportMailSettings{GroupID: mine.ID, Tag: "pay"}, nil},
	} {
		m := model.ReportMail{ReportMailSettings: x.of}
		m.Kind = string(report.Day)
		got, err := p.reportMail(t.Context(), m, "", report.Day, day.First.Format(time.DateOnly))
		require.NoError(t, err, name)
		require.Len(t, got.Open, len(x.open), name)
		assert.Equal(t, len(x.open), got.OpenOf, name)
		assert.NotContains(t, got.Subject(), ".,", name)
		for i, of := range x.open {
			assert.Contains(t, got.Open[i].Name, of, name)
		}
		trouble, err := p.teller.trouble(t.Context(), m, day)
		require.NoError(t, err, name)
		assert.Equal(t, len(x.open) > 0, trouble, name)
	}
}

// TestAMonthThatLastsIsNotCompared: half a month is no whole one; the one before is compared.
func TestAMonthThatLastsIsNotCompared(t *testing.T) {
	p := newPress(t)
	p.month("Settlement")
	p.report("day")
	p.lang = "en"
	for first, lasts := range map[string]bool{"2026-11-01": true, "2026-10-01": false} {
		got, err := p.reportMail(t.Context(), model.ReportMail{ReportMailSettings: model.ReportMailSettings{Kind: "month", Language: "en"}}, "", report.Month, first)
		require.NoError(t, err)
		assert.Equal(t, lasts, strings.Contains(got.Text(), "Not over yet, so not compared with the month before."), first)
	}
}
