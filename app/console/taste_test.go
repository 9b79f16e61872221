package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

func (w *town) jobForm(change func(*jobs.JobInput)) string {
	in := jobs.NewJobInput()
	in.GroupID, in.Name, in.Author, in.ScheduleConf, in.Handler = w.own.ID, "Invoices", "olga", "0 0 0 * * ?", "h"
	change(&in)
	q := url.Values{}
	for k, v := range formOf(in) {
		q.Set(k, v)
	}
	return q.Encode()
}

// TestTagsOfAJob: typed in the form with complaints at the field, shown as chips, filtered
// by, exported, copied, in the history.
func TestTagsOfAJob(t *testing.T) {
	w := newTown(t)
	storetest.Job(t, w.st, w.foreign.ID, func(j *model.Job) { j.Name, j.Tags = foreignName, "kept-from-others" })
	for tags, complaint := range map[string]string{
		strings.Repeat("x", 31):                      "At most 30 characters",
		"a,b,c,d,e,f,g,h,i,j,k":                      "At most 10 tags; these are 11",
		"good,ba\x07d":                               "Control",
		"a" + strings.Repeat("\u00e9\U0001F514", 40): "At most 30 characters",
	} {
		res := w.as("editor", http.MethodPost, "/jobs", w.jobForm(func(in *jobs.JobInput) { in.Tags = tags }))
		d := w.doc(res)
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, tags)
		require.Contains(t, testid(d, "error-tags").Text(), complaint, tags)
		require.Equal(t, "Invoices", d.Find("#name").AttrOr("value", ""), "what was typed stays")
	}
	res := w.as("editor", http.MethodPost, "/jobs", w.jobForm(func(in *jobs.JobInput) { in.Tags = "Nightly，财务, nightly <b>" }))
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	page := res.Header.Get("Location")
	d := w.doc(w.as("editor", http.MethodGet, page, ""))
	require.Equal(t, 3, testid(d, "tag").Length())
	require.Equal(t, "/jobs?tag=nightly", testid(d, "tag").First().AttrOr("href", ""))
	require.Equal(t, "nightly <b>", testid(d, "tag").Eq(1).Text())

	plain := storetest.Job(t, w.st, w.own.ID, nil)
	d = w.doc(w.as("editor", http.MethodGet, "/jobs?tag=nightly", ""))
	require.Equal(t, 1, testid(d, "job-row").Length())
	require.Equal(t, "nightly", d.Find("#tag option[selected]").Text())
	require.NotContains(t, d.Find("#tag").Text(), "kept-from-others", "tags of others are not offered")
	require.Equal(t, 1, testid(w.doc(w.as("editor", http.MethodGet, "/jobs?q=NIGHT", "")), "job-row").Length())
	require.Zero(t, testid(w.doc(w.as("editor", http.MethodGet, "/jobs?tag=kept-from-others", "")), "job-row").Length())
	require.Contains(t, text(t, w.as("editor", http.MethodGet, "/jobs/export?tag=nightly", "")), "tags: [nightly, nightly <b>, 财务]")

	edit := w.doc(w.as("editor", http.MethodGet, page+"/edit", ""))
	require.Equal(t, "nightly, nightly <b>, 财务", edit.Find("#tags").AttrOr("value", ""))
	other := w.doc(w.as("editor", http.MethodGet, "/jobs/"+strconv.Itoa(plain.ID)+"/edit", ""))
	require.Equal(t, 3, testid(other, "tag-offer").Length())
	id := strings.TrimPrefix(page, "/jobs/")
	copied := w.doc(w.as("editor", http.MethodGet, "/jobs/new?copy="+id, ""))
	require.Equal(t, "nightly, nightly <b>, 财务", copied.Find("#tags").AttrOr("value", ""))
	res = w.as("editor", http.MethodPost, page, w.jobForm(func(in *jobs.JobInput) { in.Tags, in.Version = "weekly", 1 }))
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	n, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	lines, err := w.st.Audit(t.Context(), model.AuditFilter{Kind: model.AuditJob, ObjectID: n, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []model.Change{{Field: "tags", Old: "nightly,nightly <b>,财务", New: "weekly"}}, lines[0].Changes)

	run := storetest.Run(t, w.st, model.Job{ID: int(n), GroupID: w.own.ID}, nil)
	storetest.Run(t, w.st, plain, nil)
	d = w.doc(w.as("editor", http.MethodGet, "/runs?tag=weekly&trigger=MANUAL", ""))
	require.Equal(t, 1, testid(d, "run-row").Length())
	require.Equal(t, "run-"+strconv.FormatInt(run.ID, 10), testid(d, "run-row").AttrOr("id", ""))
	require.Equal(t, "MANUAL", d.Find("#trigger option[selected]").AttrOr("value", ""))
	require.Zero(t, testid(w.doc(w.as("editor", http.MethodGet, "/runs?address=10.9.9.9", "")), "run-row").Length())
}

// TestFavourites belong to one person: marked by a form, answered by the line, first in the palette.
func TestFavourites(t *testing.T) {
	w := newTown(t)
	j := storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name = "Payroll" })
	storetest.Job(t, w.st, w.own.ID, func(j *model.Job) { j.Name = "Payroll mails" })
	foreign := storetest.Job(t, w.st, w.foreign.ID, nil)
	path := "/jobs/" + strconv.Itoa(j.ID) + "/favourite"
	require.Equal(t, "/jobs", w.as("viewer", http.MethodPost, path, "on=1").Header.Get("Location"))
	require.Equal(t, http.StatusNotFound, w.as("viewer", http.MethodPost, "/jobs/"+strconv.Itoa(foreign.ID)+"/favourite", "on=1").StatusCode)
	d := w.doc(w.as("viewer", http.MethodGet, "/jobs?fav=1", ""))
	require.Equal(t, 1, testid(d, "job-row").Length())
	require.Equal(t, "true", testid(d, "star").AttrOr("aria-pressed", ""))
	require.Equal(t, 2, testid(w.doc(w.as("viewer", http.MethodGet, "/jobs?all=1", "")), "job-row").Length())
	require.Zero(t, testid(w.doc(w.as("operator", http.MethodGet, "/jobs?fav=1", "")), "job-row").Length(), "of others")
	d = w.doc(w.as("viewer", http.MethodGet, "/search", ""))
	require.Equal(t, "Payroll", testid(d, "palette-item").First().Find(".ellipsis").Text())
	d = w.doc(w.as("viewer", http.MethodGet, "/search?q=payroll", ""))
	require.Equal(t, "Payroll", testid(d, "palette-item").First().Find(".ellipsis").Text())
	require.Equal(t, 1, strings.Count(d.Text(), "Payroll mails"))
	require.Equal(t, "true", testid(w.doc(w.as("viewer", http.MethodGet, "/jobs/"+strconv.Itoa(j.ID), "")), "star").AttrOr("aria-pressed", ""))

	res := w.as("viewer", http.MethodPost, path, "on=0&from=job")
	require.Equal(t, "/jobs/"+strconv.Itoa(j.ID), res.Header.Get("Location"))
	d = w.doc(w.as("viewer", http.MethodGet, "/jobs?fav=1", ""))
	require.Equal(t, 1, testid(d, "empty").Length())
	require.Equal(t, http.StatusSeeOther, w.as("nobody", http.MethodPost, path, "on=1").StatusCode)
}

// TestKeptFilters: saved under a name, used, renamed, deleted; each sees the own only.
func TestKeptFilters(t *testing.T) {
	w := newTown(t)
	save := func(name, query string) *http.Response {
		return w.as("viewer", http.MethodPost, "/filters", url.Values{"list": {"jobs"}, "name": {name}, "query": {query}}.Encode())
	}
	res := save(" Failing  ones ", "status=failing&evil=1&page=7&sort=name")
	require.Equal(t, "/jobs?sort=name&status=failing", res.Header.Get("Location"), "what the list does not know is not kept")
	d := w.doc(w.as("viewer", http.MethodGet, "/jobs?sort=name&status=failing", ""))
	require.Equal(t, "Failing ones", testid(d, "saved-filter").Text())
	require.Equal(t, "true", testid(d, "saved-filter").AttrOr("aria-current", ""))
	require.Equal(t, "/jobs?sort=name&status=failing", testid(d, "saved-filter").AttrOr("href", ""))
	require.Zero(t, testid(w.doc(w.as("viewer", http.MethodGet, "/runs", "")), "saved-filter").Length())
	require.Zero(t, testid(w.doc(w.as("root", http.MethodGet, "/jobs?all=1", "")), "saved-filter").Length())
	require.Equal(t, http.StatusSeeOther, save("<b>夜</b>", "q=夜").StatusCode)

	for name, complaint := range map[string]string{"": "fill this in", strings.Repeat("n", 41): "At most 40", "a\x00b": "Control"} {
		res := save(name, "q=1")
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		require.Contains(t, testid(w.doc(res), "filter-error").Text(), complaint, name)
	}
	post := func(path string, form url.Values) *http.Response {
		form.Set("list", "jobs")
		return w.as("viewer", http.MethodPost, path, form.Encode())
	}
	res = post("/filters/rename", url.Values{"old": {"Failing ones"}, "name": {"<b>夜</b>"}})
	require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	require.Contains(t, testid(w.doc(res), "filter-error").Text(), "already")
	require.Equal(t, http.StatusSeeOther, post("/filters/rename", url.Values{"old": {"Failing ones"}, "name": {"Trouble"}}).StatusCode)
	require.Equal(t, http.StatusSeeOther, post("/filters/delete", url.Values{"old": {"<b>夜</b>"}}).StatusCode)
	d = w.doc(w.as("viewer", http.MethodGet, "/filters?list=jobs", ""))
	require.Equal(t, 1, testid(d, "filter-line").Length())
	require.Equal(t, "Trouble", d.Find("[data-testid=filter-line] input[name=name]").AttrOr("value", ""))
	require.Equal(t, http.StatusUnprocessableEntity, w.as("viewer", http.MethodPost, "/filters", "list=users&name=x&query=").StatusCode)
	require.Equal(t, "/runs?status=failed&trigger=API", w.as("viewer", http.MethodPost, "/filters", "list=runs&name=x&query="+url.QueryEscape("status=failed&trigger=API&before=99")).Header.Get("Location"))
}

// TestColumns: each person chooses them, the server keeps them.
func TestColumns(t *testing.T) {
	w := newTown(t)
	j := storetest.Job(t, w.st, w.own.ID, nil)
	storetest.Run(t, w.st, j, func(r *model.Run) { r.Param = "month=11" })
	res := w.as("viewer", http.MethodPost, "/columns", "list=jobs&column=schedule&column=duration&column=evil&next=%2Fjobs%3Fq%3Djob")
	require.Equal(t, "/jobs?q=job", res.Header.Get("Location"))
	require.Equal(t, "/jobs", w.as("viewer", http.MethodPost, "/columns", "list=jobs&column=schedule&column=duration&next=https://evil.example/").Header.Get("Location"))
	d := w.doc(w.as("viewer", http.MethodGet, "/jobs?q=job", ""))
	require.Equal(t, 1, d.Find("td.c-average").Length())
	require.Equal(t, 1, d.Find("td.c-schedule").Length())
	require.Zero(t, d.Find("td.c-mode, td.c-id, td.c-next").Length())
	require.Equal(t, d.Find("thead th").Length(), d.Find("tbody tr").First().Find("td").Length())
	require.Equal(t, 1, d.Find("td.c-status").Length(), "the state is never hidden")
	_, checked := testid(d, "column-duration").Attr("checked")
	require.True(t, checked)
	require.Equal(t, 1, w.doc(w.as("operator", http.MethodGet, "/jobs?q=job", "")).Find("td.c-mode").Length(), "others see what they see")

	w.as("viewer", http.MethodPost, "/columns", "list=runs&column=param")
	d = w.doc(w.as("viewer", http.MethodGet, "/runs", ""))
	require.Equal(t, "month=11", strings.TrimSpace(d.Find("td.c-param").Text()))
	require.Zero(t, d.Find("td.c-late, td.c-address").Length())
	require.Equal(t, d.Find("thead th").Length(), d.Find("tbody tr").First().Find("td").Length())
	require.Zero(t, w.doc(w.as("viewer", http.MethodGet, "/jobs?q=job", "")).Find("td.c-mode").Length(), "one list does not change the other")
}
