package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

// TestAPollBringsWhatIsNew: nothing when nothing is, the lines that changed alone, and the
// whole panel when lines come or go.
func TestAPollBringsWhatIsNew(t *testing.T) {
	s := newSite(t).login("admin")
	poll := func(have string) (*http.Response, string) {
		res := s.get("/jobs?all=1", "HX-Request", "true", haveHeader, have)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(body)
	}
	res, body := poll("")
	have := res.Header.Get(partsHeader)
	require.NotEmpty(t, have)
	require.Contains(t, body, "jobs-panel")

	s.clock.t = s.clock.t.Add(2 * time.Second) // how long ago things were goes on in the browser
	s.fake.now = s.fake.now.Add(2 * time.Second)
	res, body = poll(have)
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	require.Empty(t, body)
	head := 0
	for name, values := range res.Header {
		head += len(name) + len(strings.Join(values, "")) + 4
	}
	require.Less(t, head, 200, res.Header)

	s.fake.jobs[0].Name = "Renamed since"
	res, body = poll(have)
	require.Equal(t, "none", res.Header.Get("HX-Reswap"))
	require.Contains(t, body, "Renamed since")
	require.Equal(t, 1, strings.Count(body, "<tr "))
	require.Empty(t, res.Header.Get("Content-Security-Policy"), "of a page")
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	require.Contains(t, body, `<tr hx-swap-oob="morph" id="job-`)
	have = res.Header.Get(partsHeader)
	res, _ = poll(have)
	require.Equal(t, http.StatusNoContent, res.StatusCode)

	s.fake.jobs = s.fake.jobs[1:]
	res, body = poll(have)
	require.Empty(t, res.Header.Get("HX-Reswap"))
	require.Contains(t, body, "jobs-panel")
	for _, bad := range []string{"x", "1 2 3", strings.Repeat("f ", 5000)} {
		_, body = poll(bad)
		require.Contains(t, body, "jobs-panel")
	}
}

// TestPagesAreCompressed for browsers that take it.
func TestPagesAreCompressed(t *testing.T) {
	s := newSite(t).login("admin")
	plain, err := io.ReadAll(s.get("/jobs?all=1").Body)
	require.NoError(t, err)
	res := s.get("/jobs?all=1", "Accept-Encoding", "gzip, br")
	require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
	packed, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, 3*len(packed), len(plain))
	z, err := gzip.NewReader(strings.NewReader(string(packed)))
	require.NoError(t, err)
	open, err := io.ReadAll(z)
	require.NoError(t, err)
	assert.Contains(t, string(open), "jobs-panel")
}

// TestAClickIsAnsweredByItsLine, with the way back in the toast.
func TestAClickIsAnsweredByItsLine(t *testing.T) {
	s := newSite(t).login("admin")
	id := s.fake.jobs[0].ID
	for i := range s.fake.jobs {
		if s.fake.jobs[i].Status == model.JobRunning {
			id = s.fake.jobs[i].ID
			break
		}
	}
	path := "/jobs/" + strconv.Itoa(id)
	res := s.do(http.MethodPost, path+"/stop", map[string][]string{}, "HX-Request", "true", "HX-Target", "job-"+strconv.Itoa(id))
	require.Equal(t, http.StatusOK, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(body), `<tr id="job-`+strconv.Itoa(id)+`"`), string(body))
	require.Contains(t, string(body), path+"/start")
	require.Contains(t, res.Header.Get("HX-Trigger"), `"Undo":"`+path+`/start"`)
	res = s.do(http.MethodPost, path+"/start", map[string][]string{})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	d := s.doc(s.get("/jobs?all=1"))
	require.Equal(t, 1, testid(d, "toast").Find("form[action='"+path+"/stop']").Length(), "without scripts, too")
}
