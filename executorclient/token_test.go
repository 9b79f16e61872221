package executorclient_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/executorclient"
	"github.com/carillon-scheduler/carillon/protocol"
)

// tokenExecutor takes one token, as Java executors do: HTTP 200 whatever comes.
type tokenExecutor struct {
	token        atomic.Value
	calls, taken atomic.Int64
}

func (e *tokenExecutor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.calls.Add(1)
	if r.Header.Get(protocol.HeaderToken) != e.token.Load() {
		_, _ = io.WriteString(w, `{"code":500,"msg":"The access token is wrong."}`)
		return
	}
	e.taken.Add(1)
	_, _ = io.WriteString(w, `{"code":200}`)
}

// TestTokenIsChanged: an executor that knows the previous token only is asked with it, one
// that has changed over with the current one, and each run arrives once.
func TestTokenIsChanged(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	until := now.Add(time.Hour)
	ex := &tokenExecutor{}
	ex.token.Store("old")
	at := serve(t, ex.ServeHTTP)
	c := client(t, executorclient.Options{Token: "new", Previous: "old", Until: until, Now: func() time.Time { return now }})
	run := func(state executorclient.State, calls int64) {
		t.Helper()
		before := ex.calls.Load()
		require.Equal(t, state, c.Run(t.Context(), at, protocol.Trigger{JobID: 1, LogID: 2}).State)
		require.Equal(t, calls, ex.calls.Load()-before)
	}
	run(executorclient.Accepted, 2)
	require.Equal(t, []string{at}, c.WantOldToken())
	run(executorclient.Accepted, 1) // it is remembered
	require.NoError(t, c.Beat(t.Context(), at))
	ex.token.Store("new")
	run(executorclient.Accepted, 2)
	require.Empty(t, c.WantOldToken(), "it has changed over")
	run(executorclient.Accepted, 1)
	ex.token.Store("another")
	run(executorclient.Refused, 2)
	ex.token.Store("old")
	now = until
	run(executorclient.Refused, 1) // the time of the old one is over
	require.Equal(t, int64(5), ex.taken.Load(), "nothing was taken twice")
}

// TestOnlyARefusedTokenIsTriedAgain: whatever may have arrived is not sent again.
func TestOnlyARefusedTokenIsTriedAgain(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"refused for another reason": answer(200, `{"code":500,"msg":"no such handler"}`),
		"no answer of the protocol":  answer(200, `access token`),
		"a gateway speaks":           answer(502, `{"code":500,"msg":"access token"}`),
		"accepted":                   answer(200, `{"code":200,"msg":"access token"}`),
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			at := serve(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); h(w, r) })
			c := client(t, executorclient.Options{Token: "new", Previous: "old", Until: time.Now().Add(time.Hour)})
			c.Run(t.Context(), at, protocol.Trigger{JobID: 1, LogID: 2})
			require.Equal(t, int64(1), calls.Load())
		})
	}
}

// TestPing: our SDK says what it does, others say nothing, and both live.
func TestPing(t *testing.T) {
	c := client(t, executorclient.Options{})
	about, err := c.Ping(t.Context(), serve(t, answer(200, `{"code":200,"carillon":{"about":{"version":"3","running":2,"waiting":1}}}`)))
	require.NoError(t, err)
	require.Equal(t, &protocol.About{Version: "3", Running: 2, Waiting: 1}, about)
	about, err = c.Ping(t.Context(), serve(t, answer(200, `{"code":200,"msg":null}`)))
	require.NoError(t, err)
	require.Nil(t, about)
}
