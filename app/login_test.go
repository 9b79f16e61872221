package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/app"
)

// visitor is a browser without a session that follows no redirect.
func visitor(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// login posts the form as if it came through a proxy that says where from.
func login(t *testing.T, browser *http.Client, c *app.Center, name, password, from string) int {
	form := url.Values{"name": {name}, "password": {password}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"login", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if from != "" {
		req.Header.Set("X-Forwarded-For", from)
	}
	return status(t, browser, req)
}

func status(t *testing.T, browser *http.Client, req *http.Request) int {
	resp, err := browser.Do(req)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func page(t *testing.T, browser *http.Client, c *app.Center, path string) int {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, nil)
	require.NoError(t, err)
	return status(t, browser, req)
}

// TestAResetEndsSessions: whoever took one is out.
func TestAResetEndsSessions(t *testing.T) {
	cfg := testConfig(t)
	c := start(t, cfg)
	browser := visitor(t)
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", "test-password", ""))
	require.Equal(t, http.StatusOK, page(t, browser, c, "help"))
	code, out, _ := run(t, t.Context(), "user", "reset-password", "admin", "--database="+cfg.Database)
	require.Zero(t, code)
	require.Equal(t, http.StatusSeeOther, page(t, browser, c, "help"))
	_, password, _ := strings.Cut(strings.TrimSpace(out), ": ")
	require.Equal(t, http.StatusSeeOther, login(t, browser, c, "admin", password, ""))
	require.Equal(t, http.StatusSeeOther, page(t, browser, c, "help"), "an own password first")
	code, answer := ask(t, browser, c, "jobgroup/pageList", url.Values{"start": {"0"}, "length": {"10"}})
	require.Equal(t, http.StatusOK, code, "the known calls go on")
	require.Contains(t, answer, "recordsTotal")
	ownPassword(t, browser, c, password, "my own password")
	require.Equal(t, http.StatusOK, page(t, browser, c, "help"))
}

// ownPassword replaces a password that somebody else chose.
func ownPassword(t *testing.T, browser *http.Client, c *app.Center, old, own string) {
	t.Helper()
	resp, _ := submit(t, browser, c.URL+"password", "old", old, "new", own, "repeat", own)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
}

// TestNobodyChoosesTheAddressOfAGuess: without a named proxy the header is
// nothing; with one it is that of the proxy.
func TestNobodyChoosesTheAddressOfAGuess(t *testing.T) {
	guess := func(c *app.Center, from string) (checked int) {
		for i := range 10 {
			if login(t, visitor(t), c, "admin", "guess", fmt.Sprintf(from, i)) == http.StatusUnprocessableEntity {
				checked++
			}
		}
		return checked
	}
	require.Equal(t, 5, guess(start(t, testConfig(t)), "203.0.113.%d"))
	cfg := testConfig(t)
	cfg.TrustProxy, cfg.NodeName = []string{"127.0.0.0/8"}, "proxied"
	c := start(t, cfg)
	require.Equal(t, 5, guess(c, "203.0.113.%d, 10.0.0.7"), "what a client invents stands before the proxy's word")
	require.Equal(t, 10, guess(c, "203.0.114.%d"))
}

// TestAFloodOfLoginsIsSentAway at once, and the center goes on.
func TestAFloodOfLoginsIsSentAway(t *testing.T) {
	c := start(t, testConfig(t))
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for i := range 200 {
		all.Go(func() {
			code := login(t, visitor(t), c, fmt.Sprint("user", i), "guess", "")
			mu.Lock()
			defer mu.Unlock()
			got[code]++
		})
	}
	all.Wait()
	require.LessOrEqual(t, got[http.StatusUnprocessableEntity], 30, "passwords that were checked: %v", got)
	require.Equal(t, 200, got[http.StatusUnprocessableEntity]+got[http.StatusTooManyRequests])
	require.Equal(t, http.StatusOK, page(t, visitor(t), c, "login"))
}

// TestAPIErrorsNameNoTypes of the program.
func TestAPIErrorsNameNoTypes(t *testing.T) {
	c := start(t, testConfig(t))
	reply := post(t, c, "/api/startJob", token, `{"id":"1"}`)
	require.Contains(t, reply.Msg, "id must be a whole number, not string")
	require.NotContains(t, reply.Msg, "Go ")
	require.Contains(t, post(t, c, "/api/callback", token, `[{"logId":1}] ]`).Msg, "JSON")
}
