package app_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

// get reads a page or a file.
func get(t *testing.T, browser *http.Client, address string) (*http.Response, string) {
	t.Helper()
	resp, err := browser.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(raw)
}

// send posts the form of the import page.
func send(t *testing.T, browser *http.Client, c *app.Center, file string, fields ...string) (*http.Response, *goquery.Document) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, w.WriteField(fields[i], fields[i+1]))
	}
	part, err := w.CreateFormFile("file", "jobs.yaml")
	require.NoError(t, err)
	_, err = io.WriteString(part, file)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	resp, err := browser.Post(c.URL+"jobs/import", w.FormDataContentType(), &b)
	require.NoError(t, err)
	defer resp.Body.Close()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	require.NoError(t, err)
	return resp, doc
}

func find(doc *goquery.Document, id string) *goquery.Selection {
	return doc.Find(`[data-testid="` + id + `"]`)
}

// TestImportPage: first what changes, then the change, and the second time nothing.
func TestImportPage(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, _ := addJob(t, c)
	addUser(t, cfg, "normal", "normal-password", fmt.Sprint(group))
	browser := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "normal", "normal-password", ""))
	resp, yaml := get(t, browser, c.URL+"jobs/export?q=job")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Content-Disposition"), ".yaml")
	require.Contains(t, yaml, "executor: test-app")
	_, none := get(t, browser, c.URL+"jobs/export?q=nothing")
	require.Contains(t, none, "jobs: []")

	file := strings.Replace(yaml, "author: ops", "author: <script>alert(1)</script>", 1) +
		"  - {executor: test-app, name: second, author: ops, glue_type: GLUE_SHELL, glue_source: \"echo 1\\necho 2\\n\", schedule_type: NONE, children: [test-app/job]}\n"
	before := dump(t, cfg)
	resp, doc := send(t, browser, c, file, "do", "plan")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, 2, find(doc, "import-item").Length())
	require.Contains(t, find(doc, "import-plan").Text(), "1 new, 1 changed, 0 the same, 0 not possible")
	require.Contains(t, find(doc, "import-plan").Text(), "<script>alert(1)</script>")
	require.Equal(t, "Import 2 jobs", strings.TrimSpace(find(doc, "import-apply").Text()))
	require.Equal(t, file, doc.Find("#text").Text(), "the file comes back for the second step")
	require.Equal(t, before, dump(t, cfg), "looking changes nothing")
	digest, _ := doc.Find("input[name=digest]").Attr("value")

	resp, doc = send(t, browser, c, "", "text", file, "do", "apply", "digest", "of another plan")
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Contains(t, find(doc, "import-error").Text(), "changed since you looked")
	require.Equal(t, before, dump(t, cfg))
	// What a browser does to a pasted text.
	resp, _ = send(t, browser, c, "", "text", strings.ReplaceAll(file, "\n", "\r\n"), "do", "apply", "digest", digest)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	page, err := c.Jobs.ListJobs(t.Context(), admin(), model.JobFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Rows, 2)
	resp, doc = send(t, browser, c, file, "do", "plan")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, find(doc, "import-plan").Text(), "0 new, 0 changed, 2 the same")
	require.Zero(t, find(doc, "import-apply").Length())

	_, err = c.Jobs.AddExecutor(t.Context(), admin(), jobs.ExecutorInput{AppName: "foreign-app", Title: "Foreign"})
	require.NoError(t, err)
	before = dump(t, cfg)
	for name, tc := range map[string]struct{ file, says string }{
		"executor of others": {strings.Replace(file, "executor: test-app", "executor: foreign-app", 1), "no executor with the app name foreign-app"},
		"unknown key":        {"jobs:\n- executor: test-app\n  nme: x\n", "Line 3: The key nme is not known."},
		"bomb":               {"a: &a [x]\njobs: [*a]\n", "Line 1: Anchors"},
		"50 MB":              {strings.Repeat("# nothing\n", 5<<20), "more than 10 MB"},
		"not UTF-8":          {"jobs:\n- name: \xff\n", "Line 2: This is not UTF-8"},
		"nothing":            {"", "The file is empty"},
		"field":              {"jobs:\n- {executor: test-app, name: job, author: '', schedule_type: WEEKLY}\n", "author: Please fill this in."},
		"JSON of others":     {`[{"glueType":"BEAN","jobGroup":9,"jobDesc":"x"}]`, "9=my-app"},
	} {
		resp, doc := send(t, browser, c, tc.file, "do", "apply", "digest", digest)
		require.Contains(t, doc.Find("main").Text(), tc.says, name)
		require.NotEqual(t, http.StatusSeeOther, resp.StatusCode, name)
		require.Equal(t, before, dump(t, cfg), name)
	}
	resp, doc = send(t, browser, c, `[{"glueType":"BEAN","jobGroup":9,"jobDesc":"from JSON","author":"a","scheduleType":"NONE","executorHandler":"h"}]`, "do", "plan", "executors", "9 = test-app")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, find(doc, "import-plan").Text(), "1 new")
	resp, _ = send(t, browser, c, file, "do", "plan", "executors", "nine")
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
}

// TestTables: runs and users as CSV, of the filter, for who may see them, and harmless.
func TestTables(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, job := addJob(t, c)
	addUser(t, cfg, "normal", "normal-password", "")
	for _, param := range []string{"=HYPERLINK(\"http://evil.example\")", "+1", "-1", "@SUM(A1)", "\tx", "plain, \"quoted\"\nline"} {
		_, err := c.Jobs.RunNow(t.Context(), admin(), job, jobs.RunInput{Param: &param})
		require.NoError(t, err)
	}
	browser := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", "test-password", ""))
	rows := func(browser *http.Client, path string) [][]string {
		resp, text := get(t, browser, c.URL+path)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "text/csv; charset=utf-8", resp.Header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(text, "\ufeff"))
		list, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
		require.NoError(t, err)
		return list
	}
	list := rows(browser, "runs/export?"+url.Values{"executor": {fmt.Sprint(group)}}.Encode())
	require.Len(t, list, 7)
	doc, err := os.ReadFile("../docs/files.md")
	require.NoError(t, err)
	for _, column := range list[0] {
		require.Contains(t, string(doc), "`"+column+"`", "the head of the table is documented")
	}
	column := func(name string) int {
		require.Contains(t, list[0], name)
		return slices.Index(list[0], name)
	}
	codes := func(row []string) []string {
		return []string{row[column("trigger_code")], row[column("result_code")], row[column("reason_code")], row[column("zone")]}
	}
	require.Equal(t, []string{"MANUAL", "failed", "no_address", "UTC"}, codes(list[1]))
	require.Contains(t, strings.Join(list[1], " "), "no address", "the words beside the codes")
	var params []string
	for _, row := range list[1:] {
		require.Equal(t, "job", row[2])
		require.Equal(t, "test-app", row[3])
		params = append(params, row[column("parameter")])
	}
	require.ElementsMatch(t, []string{"'=HYPERLINK(\"http://evil.example\")", "'+1", "'-1", "'@SUM(A1)", "'\tx", "plain, \"quoted\"\nline"}, params)
	require.Len(t, rows(browser, "runs/export?status=succeeded"), 1)
	users := rows(browser, "users/export")
	require.Len(t, users, 3)
	require.Equal(t, []string{"1", "admin", "administrator", "", "", "false", ""}, users[1])

	normal := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, normal, c, "normal", "normal-password", ""))
	require.Len(t, rows(normal, "runs/export"), 1, "runs of others")
	resp, _ := get(t, normal, c.URL+"users/export")
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}

// TestALongTable: a table of many pages has each run once, also of a period, where
// the order is that of the times.
func TestALongTable(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, job := addJob(t, c)
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(cfg.Database, "sqlite:")+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	const rows = 2500
	// Times that do not follow the ids, many of them the same.
	_, err = db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code, alarm_status, executor_fail_retry_count)
		SELECT ?, ?, datetime('2026-01-01', ((i * 7) % 90) || ' seconds'), 200, 200, 0, 0 FROM n`, rows, group, job)
	require.NoError(t, err)
	browser := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", "test-password", ""))
	for _, query := range []string{"", "?preset=custom&from=2026-01-01T00:00:00&to=2026-01-02T00:00:00", fmt.Sprintf("?job=%d&status=succeeded", job)} {
		_, text := get(t, browser, c.URL+"runs/export"+query)
		list, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, row := range list[1:] {
			seen[row[0]] = true
		}
		require.Len(t, list[1:], rows, query)
		require.Len(t, seen, rows, query)
	}
}
