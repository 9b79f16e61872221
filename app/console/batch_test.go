package console

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestManyAtOnce: a result for each, one way back for exactly those that were changed, and
// a question before what cannot be taken back.
func TestManyAtOnce(t *testing.T) {
	s := newSite(t).login("admin")
	post := func(path string, form map[string][]string) *http.Response { return s.do(http.MethodPost, path, form) }
	var running, stopped int
	for _, j := range s.fake.jobs {
		if j.Status == model.JobRunning {
			running = j.ID
		} else {
			stopped = j.ID
		}
	}
	a, b := strconv.Itoa(running), strconv.Itoa(stopped)
	d := s.doc(post("/jobs/batch", map[string][]string{"id": {a, b, "999999"}, "do": {"stop"}}))
	require.Equal(t, 3, testid(d, "batch-line").Length())
	require.Contains(t, d.Find("#dialog-title").Text(), "1 done, 1 unchanged, 1 failed")
	undo := d.Find("form input[name=work]").AttrOr("value", "")
	require.Contains(t, undo, `"ids":"`+a+`"`, "what was changed can be taken back")
	require.NotContains(t, undo, b)
	require.Equal(t, "start", testid(d, "batch-undo").AttrOr("value", ""))

	s.fake.calls = nil
	d = s.doc(post("/jobs/batch", map[string][]string{"id": {a, b}, "do": {"delete"}}))
	require.Empty(t, s.fake.calls, "a question first")
	require.Equal(t, 2, testid(d, "batch-line").Length())
	post("/jobs/batch", map[string][]string{"id": {a, b}, "do": {"delete"}, "sure": {"1"}})
	require.Equal(t, []string{"delete [" + b + " " + a + "]"}, s.fake.calls)

	s.fake.calls = nil
	for _, form := range []map[string][]string{
		{"id": {a, "x"}, "do": {"stop"}}, {"id": {a}, "do": {"explode"}}, {"id": {"-1"}, "do": {"stop"}}, {"id": {"99999999999"}, "do": {"stop"}},
		{"all": {"1"}, "filter": {"%zz"}, "do": {"stop"}},
	} {
		res := post("/jobs/batch", form)
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, form)
	}
	require.Empty(t, s.fake.calls)
	d = s.doc(post("/jobs/batch", map[string][]string{"do": {"stop"}}))
	require.Contains(t, d.Find("#dialog-title").Text(), "Nothing is selected")
	d = s.doc(post("/jobs/batch", map[string][]string{"all": {"1"}, "filter": {"status=running"}, "do": {"stop"}}))
	require.Contains(t, d.Find("#dialog-title").Text(), "done")

	d = s.doc(post("/runs/batch", map[string][]string{"id": {"7", "8"}, "do": {"kill"}}))
	require.Equal(t, 1, testid(d, "batch-sure").Length())
	d = s.doc(post("/runs/batch", map[string][]string{"id": {"7", "8"}, "do": {"retry"}}))
	require.Equal(t, "/runs/77", testid(d, "batch-line").Find("a").AttrOr("href", ""))
}

func TestExportOfTicked(t *testing.T) {
	s := newSite(t).login("admin")
	res := s.do(http.MethodPost, "/jobs/batch", map[string][]string{"id": {"1001", "1002", "1003", "1019"}, "do": {"export"}}, "HX-Request", "true")
	to := res.Header.Get("HX-Redirect")
	require.Equal(t, "/jobs/export?ids=1001-1003%2C1019", to)
	require.Equal(t, http.StatusOK, s.get(to).StatusCode)
	require.Equal(t, []int{1001, 1002, 1003, 1019}, s.fake.exported.IDs)
	res = s.do(http.MethodPost, "/jobs/batch", map[string][]string{"all": {"1"}, "filter": {"q=nightly&status=running"}, "do": {"export"}})
	require.Equal(t, "/jobs/export?q=nightly&status=running", res.Header.Get("Location"))
	require.Equal(t, http.StatusNotFound, s.get("/jobs/export?ids=99999999999").StatusCode, "no job: not all of them")
	require.Equal(t, http.StatusUnprocessableEntity, s.get("/jobs/export?ids=x").StatusCode)
}
