package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

func testPage(t *testing.T) Page {
	t.Helper()
	b, err := i18n.New("en")
	require.NoError(t, err)
	return Page{
		L: b.Localizer("en"), Base: "/base", Asset: func(s string) string { return "/static/" + s },
		Now: time.Date(2026, 11, 20, 14, 3, 27, 0, time.FixedZone("CST", 8*3600)),
	}
}

// TestRelations: what another run is to the one on the page.
func TestRelations(t *testing.T) {
	v := RunView{Page: testPage(t), Run: model.Run{ID: 10, ParentID: 1, FirstID: 8, ShardKey: "7:1"}}
	for want, other := range map[string]model.Run{
		"parent": {ID: 1}, "child": {ID: 12, ParentID: 10}, "first attempt": {ID: 8, ShardKey: "7:1"},
		"retry": {ID: 11, FirstID: 8, ShardKey: "7:1"}, "other shard": {ID: 9, ParentID: 1, ShardKey: "7:1"},
	} {
		require.Equal(t, want, v.relation(other))
	}
}

func TestURL(t *testing.T) {
	p := testPage(t)
	assert.Equal(t, "/base/jobs", p.URL("/jobs", "q", ""))
	assert.Equal(t, "/base/jobs?q=a%26b+c", p.URL("/jobs", "q", "a&b c"))
}

func TestZoneIsNamed(t *testing.T) {
	p := testPage(t)
	p.Now = p.Now.In(time.UTC)
	assert.Equal(t, "UTC", p.Zone())
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	p.Now = p.Now.In(tokyo)
	assert.Equal(t, "Asia/Tokyo", p.Zone())
}

func TestPageNumbers(t *testing.T) {
	v := Jobs{Total: 248, Filter: JobFilter{Page: 5, PageSize: 25}}
	assert.Equal(t, []int{1, 0, 4, 5, 6, 0, 10}, v.pageNumbers())
	v = Jobs{Total: 0, Filter: JobFilter{Page: 1, PageSize: 25}}
	assert.Equal(t, []int{1}, v.pageNumbers())
	assert.Zero(t, v.from())
}

func TestBarsStandAtTheRightEdge(t *testing.T) {
	runs := []model.Run{
		{HandleCode: 200, AcceptedMS: 1000, FinishedMS: 1100},
		{HandleCode: 500, AcceptedMS: 1000, FinishedMS: 11_000},
		{Phase: model.PhaseMissed},
	}
	got := bars(testPage(t), runs)
	require.Len(t, got, 3)
	assert.Equal(t, []string{"85", "90", "95"}, []string{got[0].X, got[1].X, got[2].X})
	assert.Equal(t, []string{"b-ok", "b-bad", "b-missed"}, []string{got[0].Class, got[1].Class, got[2].Class})
	assert.Equal(t, "18", got[1].H, "the longest fills the strip")
	assert.Len(t, bars(testPage(t), make([]model.Run, 30)), stripSlots)
}

func TestChartShowsRareFailures(t *testing.T) {
	v := Dashboard{Page: testPage(t), Days: []model.Ledger{{Day: "2026-11-20", Succeeded: 86_000, Failed: 1}}}
	c := v.chart()
	assert.Equal(t, "100 k", c.Upper[2].Label)
	assert.Equal(t, "2", c.Lower[1].Label, "failures have their own scale")
	assert.Equal(t, "24.0", c.Bars[0].Bad[0].H)
	assert.Contains(t, c.Bars[0].Bad[0].URL, "status=failed")
	assert.Contains(t, c.Bars[0].Bad[1].URL, "status=missed")
	assert.Contains(t, c.Bars[0].URL, "from=2026-11-20T00%3A00%3A00")
	assert.NotPanics(t, func() { Dashboard{Page: testPage(t)}.chart() })
}

func TestStatusOfAJob(t *testing.T) {
	for _, c := range []struct {
		status model.JobStatus
		cond   model.JobCondition
		want   string
	}{
		{model.JobRunning, model.JobNormal, "running"}, {model.JobStopped, model.JobNormal, "stopped"},
		{model.JobStopped, model.JobEnded, "ended"}, {model.JobStopped, model.JobQuarantined, "quarantined"},
		{model.JobRunning, model.JobQuarantined, "quarantined"},
	} {
		assert.Equal(t, c.want, JobRow{Job: model.Job{Status: c.status, Condition: c.cond}}.statusKey())
	}
}

func TestTimeline(t *testing.T) {
	p := testPage(t)
	planned := p.Now.Add(-10 * time.Second).UnixMilli()
	v := RunView{Page: p, Run: model.Run{Phase: model.PhaseAccepted, TriggerCode: 200, PlannedMS: planned, SentMS: planned + 2500, AcceptedMS: planned + 2600}}
	s := v.steps()
	require.Len(t, s, 4)
	assert.Equal(t, "2.5 s late", s[1].sub)
	assert.Equal(t, "open", s[1].class, "lateness is seen")
	assert.Equal(t, "7 s so far", s[3].sub)
	v.Run = model.Run{Phase: model.PhaseMissed, TriggerCode: model.CodeMissed, Reason: model.ReasonMisfire, PlannedMS: planned}
	assert.Equal(t, "not sent", v.steps()[1].time)
	v.Theirs, v.Ours = Cause(v.L, time.UTC, v.Run, func(s string) string { return s })
	assert.Contains(t, v.message(), "misfire rule")
	assert.False(t, v.HasLog())
}

// TestTheAuditHasWords: each action, kind and outcome that is noted has a text.
func TestTheAuditHasWords(t *testing.T) {
	p := testPage(t)
	for _, a := range model.AuditActions() {
		require.NotEqual(t, a, p.auditAction(a))
	}
	for _, k := range []model.AuditKind{model.AuditJob, model.AuditRun, model.AuditExecutor, model.AuditUser, model.AuditSession} {
		require.True(t, p.L.Has("audit.kind."+string(k)), k)
	}
	for _, l := range model.Levels() {
		require.True(t, p.L.Has("level."+l.String()) && p.L.Has("role."+l.String()), l)
	}
	require.Equal(t, "/base/jobs/7", p.auditURL(model.AuditEntry{Kind: model.AuditJob, ObjectID: 7, Action: "job.edit"}))
	require.Empty(t, p.auditURL(model.AuditEntry{Kind: model.AuditJob, ObjectID: 7, Action: "job.delete"}), "it is gone")
	require.Equal(t, "Firefox · Windows", agentName(p, "Mozilla/5.0 (Windows NT 10.0; rv:132.0) Gecko/20100101 Firefox/132.0"))
	require.Equal(t, "unknown program", agentName(p, "?"))
}
