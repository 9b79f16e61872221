package app_test

import (
	"database/sql"
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// submit posts a form as a browser does.
func submit(t *testing.T, browser *http.Client, address string, kv ...string) (*http.Response, *goquery.Document) {
	t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		form.Add(kv[i], kv[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept-Language", "en")
	resp, err := browser.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	require.NoError(t, err)
	return resp, doc
}

// TestPeople: accounts are made and changed by forms, on the tables that a Java admin knows;
// logins end one by one; the audit has it all, as a table whose cells are no formulas.
func TestPeople(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	group, _ := addJob(t, c)
	boss := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, boss, c, "admin", "test-password", ""))

	resp, doc := submit(t, boss, c.URL+"users", "name", "ad min", "password", "short", "g", "999", "level_999", "edit")
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, find(doc, "error-name").Text(), "no spaces")
	require.Equal(t, "ad min", doc.Find("#name").AttrOr("value", ""), "what was typed is kept")
	for _, f := range []string{"error-password", "error-groups"} {
		require.Equal(t, 1, find(doc, f).Length(), f)
	}
	resp, doc = submit(t, boss, c.URL+"users", "name", "ADMIN")
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, find(doc, "error-name").Text(), "already in use")

	id := strconv.Itoa(group)
	resp, doc = submit(t, boss, c.URL+"users", "name", "olga", "g", id, "level_"+id, "edit", "scripts", "1", "start_page", "/runs")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	secret := find(doc, "password").Text()
	require.Len(t, secret, 16)
	_, again := get(t, boss, c.URL+"users")
	require.NotContains(t, again, secret, "shown once")

	db, err := sql.Open("sqlite", strings.TrimPrefix(cfg.Database, "sqlite:"))
	require.NoError(t, err)
	defer db.Close()
	java := func() (role int, permission string) {
		require.NoError(t, db.QueryRow(`SELECT role, COALESCE(permission, '') FROM xxl_job_user WHERE username = 'olga'`).Scan(&role, &permission))
		return role, permission
	}
	role, permission := java()
	require.Equal(t, []any{0, id}, []any{role, permission}, "what a Java admin reads")
	// It takes the right away, and gives it again.
	_, err = db.Exec(`UPDATE xxl_job_user SET permission = NULL WHERE username = 'olga'`)
	require.NoError(t, err)
	olga := visitor(t)
	resp, _ = submit(t, olga, c.URL+"login", "name", "olga", "password", secret)
	require.Equal(t, "/runs", resp.Header.Get("Location"), "where she wants to begin")
	require.Equal(t, http.StatusSeeOther, page(t, olga, c, "runs"), "an own password first")
	ownPassword(t, olga, c, secret, "olga's own password")
	given := secret
	secret = "olga's own password"
	_, body := get(t, olga, c.URL+"jobs")
	require.NotContains(t, body, "job-row")
	_, err = db.Exec(`UPDATE xxl_job_user SET permission = ? WHERE username = 'olga'`, id)
	require.NoError(t, err)
	_, body = get(t, olga, c.URL+"jobs")
	require.Contains(t, body, "job-row")

	phone := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, phone, c, "olga", secret, ""))
	_, body = get(t, olga, c.URL+"profile")
	sessions, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(t, err)
	require.Equal(t, 2, find(sessions, "session-row").Length())
	require.Equal(t, 1, find(sessions, "current").Length())
	other := sessions.Find("input[name=session]").AttrOr("value", "")
	resp, _ = submit(t, phone, c.URL+"profile/sessions/end", "session", strings.Repeat("x", 16))
	require.Equal(t, http.StatusSeeOther, resp.StatusCode, "none of that name: as good")
	submit(t, olga, c.URL+"profile/sessions/end", "session", other)
	require.Equal(t, http.StatusSeeOther, page(t, phone, c, "help"), "ended")
	require.Equal(t, http.StatusOK, page(t, olga, c, "help"))

	_, body = get(t, boss, c.URL+"users/2/edit")
	form, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(t, err)
	seen := form.Find("input[name=seen]").AttrOr("value", "")
	resp, _ = submit(t, boss, c.URL+"users/2", "seen", seen, "role", "", "g", id, "level_"+id, "view")
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	_, permission = java()
	require.Empty(t, permission, "a Java admin would let her edit")
	require.Equal(t, http.StatusForbidden, page(t, olga, c, "jobs/1/edit"), "at once")
	resp, doc = submit(t, boss, c.URL+"users/2", "seen", seen, "role", "administer")
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Equal(t, 1, find(doc, "form-error").Length())
	_, body = get(t, boss, c.URL+"users/1/edit")
	form, err = goquery.NewDocumentFromReader(strings.NewReader(body))
	require.NoError(t, err)
	resp, doc = submit(t, boss, c.URL+"users/1", "seen", form.Find("input[name=seen]").AttrOr("value", ""), "role", "view")
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, find(doc, "error-role").Text(), "last administrator")
	submit(t, boss, c.URL+"users/2/password", "password", "another-password")
	require.Equal(t, http.StatusSeeOther, page(t, olga, c, "help"), "a reset ends sessions")

	require.Equal(t, http.StatusUnprocessableEntity, login(t, visitor(t), c, "=HYPERLINK(1)", "x", ""))
	resp, body = get(t, boss, c.URL+"audit/export")
	require.Contains(t, resp.Header.Get("Content-Type"), "text/csv")
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"at", "user", "from", "action", "kind", "object_id", "object", "outcome", "changes"}, lines[0])
	require.Equal(t, []string{"'=HYPERLINK(1)", "127.0.0.1", "login", "user", "0", "'=HYPERLINK(1)", "refused", ""}, lines[1][1:])
	require.NotContains(t, body, secret)
	require.NotContains(t, body, given)
	require.NotContains(t, body, "another-password")
	post(t, c, "/api/startJob", token, `{"id":1}`) // has no schedule: nothing is done, nothing is noted
	post(t, c, "/api/removeJob", token, `{"id":1}`)
	_, body = get(t, boss, c.URL+"audit/export?user=api")
	require.Contains(t, body, ",api,127.0.0.1,job.delete,job,1,job,done,")
	require.NotContains(t, body, "job.start")
	resp, body = get(t, boss, c.URL+"audit/export?action=user.add")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, 1, strings.Count(body, ",user.add,"))
	require.NotContains(t, body, ",login,")
	_, body = get(t, boss, c.URL+"audit?user=olga&from="+url.QueryEscape(time.Now().Add(-time.Hour).Format("2006-01-02T15:04")))
	require.Contains(t, body, "audit-row")
	_, body = get(t, boss, c.URL+"audit?user=olga&to=2020-01-01T00:00")
	require.NotContains(t, body, "audit-row")
}
