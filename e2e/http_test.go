package e2e

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// session is an HTTP client that is logged in as the administrator. Its cookie
// lets browsers in too, so that only the tests of the login fill in the form.
type session struct {
	http   *http.Client
	cookie string
}

func (w *world) logIn() session {
	w.t.Helper()
	return w.logInAs("admin", password)
}

func (w *world) logInAs(name, secret string) session {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	s := session{http: &http.Client{Jar: jar}}
	resp, err := s.http.PostForm(w.url+"/login", url.Values{"name": {name}, "password": {secret}})
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	at, err := url.Parse(w.url)
	require.NoError(w.t, err)
	for _, c := range jar.Cookies(at) {
		if c.Name == "carillon_session" {
			s.cookie = c.Value
		}
	}
	require.NotEmpty(w.t, s.cookie, "no session after the login")
	return s
}

// text gets a page as the administrator sees it.
func (w *world) text(path string) string {
	w.t.Helper()
	resp, err := w.admin.http.Get(w.url + path)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, resp.StatusCode, "GET %s", path)
	return string(body)
}

// adopt makes the executor entry.
func (w *world) adopt() {
	w.t.Helper()
	resp, err := w.admin.http.PostForm(w.url+"/executors/adopt", url.Values{"app_name": {appName}})
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	require.Equal(w.t, http.StatusOK, resp.StatusCode)
}

// job is the body of addJob with what most tests want.
func job(name string, change map[string]any) map[string]any {
	body := map[string]any{
		"jobGroup": 1, "name": name, "author": "e2e", "scheduleType": "NONE", "misfireStrategy": "DO_NOTHING",
		"executorRouteStrategy": "FIRST", "executorHandler": "demo.hello", "executorBlockStrategy": "SERIAL_EXECUTION", "glueType": "BEAN",
	}
	for key, value := range change {
		body[key] = value
	}
	return body
}

// addJob adds a job by the API and returns its id.
func (w *world) addJob(name string, change map[string]any) string {
	w.t.Helper()
	id := w.api("addJob", job(name, change))
	require.NotEmpty(w.t, strings.TrimSpace(id))
	return id
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
