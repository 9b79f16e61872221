package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
)

type cell struct {
	V any
	T string // n number, s text, d date, f formula
	F string
}

// readBook opens a workbook with a library of another make.
func readBook(t *testing.T, raw []byte) map[string]struct {
	Rows   [][]cell
	Frozen string
} {
	t.Helper()
	tools, err := filepath.Abs("../.tools/python")
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(tools, "openpyxl"), `the tests need openpyxl: run "make setup"`)
	path := filepath.Join(t.TempDir(), "report.xlsx")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/read.py", path)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+tools, "PYTHONDONTWRITEBYTECODE=1")
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	require.NoError(t, err, words.String())
	var book map[string]struct {
		Rows   [][]cell
		Frozen string
	}
	require.NoError(t, json.Unmarshal(out, &book))
	return book
}

// counted is a counter of a day.
func counted(good, bad int64) *model.Counter {
	c := model.NewCounter(0, "", 0, 0)
	c.Expected, c.Succeeded, c.Failed = good+bad, good, bad
	return c
}

// TestABookIsReadByAForeignLibrary: numbers are numbers, days are days, durations are
// times, and what people typed stays text.
func TestABookIsReadByAForeignLibrary(t *testing.T) {
	c := model.NewCounter(0, "2026-11-20", 7, 1)
	c.Expected, c.Succeeded, c.Rescued, c.Failed, c.Missed, c.Excused, c.Late, c.TookRuns, c.TookMS = 1000, 980, 12, 15, 5, 2, 3, 980, 980*90_061_000
	c.Lines = map[string]int64{model.ReasonError: 15, model.ReasonMisfire: 5}
	c.Took = model.Took{model.TookBucket(90_061_000): 980}
	empty := model.NewCounter(0, "", 0, 0)
	usual, typical := model.UsualOf([]*model.Counter{counted(1000, 0), counted(100, 25), counted(490, 10), counted(600, 6)}, true)
	period := report.NewPeriod(report.Day, "2026-11-20", "", "", day(t, "2026-11-22"))
	r := &report.Report{Ask: report.Ask{Period: period}, Before: period.Before(), Now: c, Then: typical, Usual: usual, Trend: []*model.Counter{c}}
	names := []string{"=1+1", "@SUM(A1)", "+49 30", "-x", "\tTab", "https://example.org", strings.Repeat("余", 40_000), "<b>&amp;</b>"}
	for i := range names {
		r.Jobs = append(r.Jobs, report.Line{JobID: i + 1, Now: c, Then: empty})
	}
	r.Jobs[1].Usual, r.Jobs[1].Then = usual, typical
	var out bytes.Buffer
	require.NoError(t, report.WriteXLSX(&out, report.Book{
		Report: r, Title: "=Daily report", Sentence: "980 of 998", Zone: "UTC", Before: "a usual Friday", Month: report.NewPeriod(report.Month, "2026-11-20", "", "", day(t, "2026-11-22")),
		Targets: []model.TargetResult{
			{Target: model.Target{Name: "=HYPERLINK(1)", TargetSettings: model.TargetSettings{Goal: 99_500}}, TargetSum: model.TargetSum{Rated: 1000, Good: 992}},
			{Target: model.Target{Name: "Settled", TargetSettings: model.TargetSettings{Goal: model.GoalWhole, By: "06:00"}}, TargetSum: model.TargetSum{Rated: 20, Good: 19}},
			{Target: model.Target{Name: "New", TargetSettings: model.TargetSettings{Goal: 99_999}}},
		},
		About:  func(model.TargetResult) string { return "Job =x" },
		Job:    func(id int) (name, executor, owner string) { return names[id-1], "billing", "=cmd()" },
		Reason: func(code string) string { return code }, T: func(key string, _ ...any) string {
			return strings.ReplaceAll(strings.TrimPrefix(key, "report."), ".", " ")
		},
	}))
	book := readBook(t, out.Bytes())
	require.Len(t, book, 5)
	jobs := book["sheet jobs"]
	require.Equal(t, "A2", jobs.Frozen)
	require.Len(t, jobs.Rows, 1+len(names))
	for i, name := range names {
		row := jobs.Rows[i+1]
		require.Equal(t, "s", row[1].T, "text: %.20s", name)
		want := name
		if len([]rune(name)) > 32_767 {
			want = string([]rune(name)[:32_766]) + "…"
		}
		require.Equal(t, want, row[1].V)
		require.Equal(t, "=cmd()", row[3].V)
		require.Equal(t, "s", row[3].T)
		require.EqualValues(t, 1000, row[4].V)
		require.Equal(t, "n", row[4].T)
		require.InDelta(t, 980.0/998, row[12].V, 1e-9)
		require.Equal(t, "0.00%", row[12].F)
		require.InDelta(t, 90_061, row[14].V, 0.01, "25 hours, 1 minute and 1 second")
		require.Equal(t, "[h]:mm:ss.000", row[14].F)
	}
	days := book["sheet days"].Rows
	require.Equal(t, "2026-11-20T00:00:00", days[1][0].V)
	require.Equal(t, "d", days[1][0].T)
	summary := book["sheet summary"].Rows
	require.Equal(t, "=Daily report", summary[0][0].V)
	require.Equal(t, "s", summary[0][0].T)
	require.Equal(t, "a usual Friday", summary[3][2].V)
	for _, row := range summary {
		if row[0].V == "x rate" {
			require.InDelta(t, 0.985, row[2].V, 0.0001, "usual is the median of the rates")
		}
	}
	require.Nil(t, jobs.Rows[1][13].V, "nothing is usual")
	require.InDelta(t, 0.985, jobs.Rows[2][13].V, 0.0001)
	require.NotEmpty(t, book["sheet definitions"].Rows)
	targets := book["sheet targets"]
	require.Equal(t, "A2", targets.Frozen)
	require.Len(t, targets.Rows, 4)
	row := targets.Rows[1]
	for i, want := range []any{"=HYPERLINK(1)", "Job =x", "2026-11-01T00:00:00", 0.995, nil, 1000.0, 992.0, 8.0, 0.992, -3.0, 1.6} {
		switch {
		case i == 4:
			require.Contains(t, []any{nil, ""}, row[i].V)
		case i == 3 || i > 7:
			require.InDelta(t, want, row[i].V, 1e-9, i)
		default:
			require.Equal(t, want, row[i].V, i)
		}
	}
	require.Equal(t, "s", row[0].T)
	require.Equal(t, "d", row[2].T)
	require.Equal(t, "0.###%", row[3].F)
	require.Equal(t, "06:00", targets.Rows[2][4].V)
	require.EqualValues(t, -1, targets.Rows[2][9].V)
	require.Nil(t, targets.Rows[2][10].V, "endless")
	for _, empty := range []int{8, 9, 10} {
		require.Nil(t, targets.Rows[3][empty].V, "there was nothing")
	}
}
