package executorclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carillon-scheduler/carillon/executorclient"
	"github.com/carillon-scheduler/carillon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an executor that answers every call with the handler.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func client(t *testing.T, o executorclient.Options) *executorclient.Client {
	t.Helper()
	c := executorclient.New(o)
	t.Cleanup(c.Close)
	return c
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestRunAnswers(t *testing.T) {
	huge := `{"code":200,"msg":"` + strings.Repeat("x", 10<<20) + `"}`
	long := strings.Repeat("語", 1000)
	tests := []struct {
		name   string
		status int
		body   string
		state  executorclient.State
		code   int
		msg    string
	}{
		{"accepted", 200, `{"code":200,"msg":null,"content":null}`, executorclient.Accepted, 200, ""},
		{"accepted with 201", 201, `{"code":200}`, executorclient.Accepted, 200, ""},
		{"refused", 200, `{"code":500,"msg":"no such handler"}`, executorclient.Refused, 500, "no such handler"},
		{"refused with own code", 200, `{"code":406,"msg":"type"}`, executorclient.Refused, 406, "type"},
		{"array", 200, `[{"logId":1,"handleCode":500,"handleMsg":"busy"}]`, executorclient.Refused, 500, "busy"},
		{"status 500 with body", 500, `{"code":401,"msg":"token"}`, executorclient.Refused, 401, "token"},
		{"status 402 with body", 402, `{"code":402,"msg":"token"}`, executorclient.Refused, 402, "token"},
		{"not found page", 404, `<html>404</html>`, executorclient.Refused, 500, "HTTP 404"},
		{"redirect", 302, ``, executorclient.Refused, 500, "HTTP 302"},
		{"HTML", 200, `<html>welcome</html>`, executorclient.Unknown, 0, "<html>welcome"},
		{"empty", 200, ``, executorclient.Unknown, 0, "empty answer"},
		{"no code", 200, `{"msg":"?"}`, executorclient.Unknown, 0, "no code"},
		{"broken", 500, `oops`, executorclient.Unknown, 0, "HTTP 500"},
		{"gateway page", 502, `<html>bad gateway</html>`, executorclient.Unknown, 0, "HTTP 502"},
		{"gateway JSON", 504, `{"code":504,"msg":"upstream"}`, executorclient.Unknown, 0, "upstream"},
		{"contradiction", 500, `{"code":200}`, executorclient.Unknown, 0, "HTTP 500"},
		{"request time-out", 408, ``, executorclient.Unknown, 0, "HTTP 408"},
		{"10 MB", 200, huge, executorclient.Unknown, 0, "larger than"},
		{"long message", 200, `{"code":500,"msg":"` + long + `"}`, executorclient.Refused, 500, "語…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			addr := serve(t, answer(tt.status, tt.body))
			out := client(t, executorclient.Options{}).Run(t.Context(), addr, protocol.Trigger{LogID: 1})
			require.Equal(t, tt.state, out.State, "%s: %s", out.State, out.Msg)
			require.Equal(t, tt.code, out.Code)
			require.Contains(t, out.Msg, tt.msg)
			require.LessOrEqual(t, len(out.Msg), 1000)
			require.False(t, out.Unreachable)
		})
	}
}

func TestRequest(t *testing.T) {
	type seen struct {
		path, token, contentType, body string
		length                         int64
	}
	got := make(chan seen, 1)
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- seen{r.RequestURI, r.Header.Get(protocol.HeaderToken), r.Header.Get("Content-Type"), string(b), r.ContentLength}
		_, _ = io.WriteString(w, `{"code":200,"content":{"fromLineNum":1,"toLineNum":2,"logContent":"a\nb\n","isEnd":true}}`)
	})
	c := client(t, executorclient.Options{Token: "secret"})

	out := c.Run(t.Context(), addr+"/php-xxl-job//", protocol.Trigger{JobID: 7, LogID: 91, GlueUpdateTime: -62135596800000})
	require.Equal(t, executorclient.Accepted, out.State, out.Msg)
	s := <-got
	require.Equal(t, "/php-xxl-job/run", s.path)
	require.Equal(t, "secret", s.token)
	require.Equal(t, "application/json;charset=UTF-8", s.contentType)
	require.Equal(t, int64(len(s.body)), s.length)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.body), &body))
	require.Len(t, body, 12)
	require.EqualValues(t, 0, body["glueUpdatetime"])
	require.EqualValues(t, 1, body["broadcastTotal"])

	require.NoError(t, c.Beat(t.Context(), addr))
	s = <-got
	require.Equal(t, "/beat", s.path)
	require.Equal(t, "{}", s.body)

	res, err := c.Log(t.Context(), addr+"/", protocol.LogRequest{LogID: 91, LogDateTime: 1767225600000, FromLineNum: 1})
	require.NoError(t, err)
	require.Equal(t, protocol.LogResult{FromLineNum: 1, ToLineNum: 2, LogContent: "a\nb\n", IsEnd: true}, res)
	require.JSONEq(t, `{"logId":91,"logDateTim":1767225600000,"logDateTime":1767225600000,"fromLineNum":1}`, (<-got).body)
}

func TestOtherCalls(t *testing.T) {
	c := client(t, executorclient.Options{})
	ok := serve(t, answer(200, `{"code":200,"msg":"stopped 2"}`))
	busy := serve(t, answer(200, `{"code":500,"msg":"busy"}`))
	denied := serve(t, answer(200, `{"code":401,"msg":"token"}`))

	idle, _, err := c.IdleBeat(t.Context(), ok, 1)
	require.NoError(t, err)
	require.True(t, idle)
	idle, _, err = c.IdleBeat(t.Context(), busy, 1)
	require.NoError(t, err)
	require.False(t, idle)
	idle, _, err = c.IdleBeat(t.Context(), denied, 1)
	require.ErrorContains(t, err, "401")
	require.False(t, idle)

	for addr, want := range map[string]bool{ok: true, busy: false} {
		idle, _, err = c.GlobalIdleBeat(t.Context(), addr)
		require.NoError(t, err)
		require.Equal(t, want, idle)
	}
	other := serve(t, answer(200, `{"code":500,"msg":"invalid request, uri-mapping(/globalIdleBeat) not found."}`))
	_, _, err = c.GlobalIdleBeat(t.Context(), other)
	require.ErrorContains(t, err, "does not know globalIdleBeat")

	msg, err := c.Kill(t.Context(), ok, 1)
	require.NoError(t, err)
	require.Equal(t, "stopped 2", msg)
	_, err = c.Kill(t.Context(), busy, 1)
	var refused *executorclient.AnswerError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "busy", refused.Msg)

	require.Error(t, c.Beat(t.Context(), busy))
	_, err = c.Log(t.Context(), ok, protocol.LogRequest{LogID: 1})
	require.ErrorContains(t, err, "without a log")
}

func TestNothingSent(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := "http://" + ln.Addr().String()
	require.NoError(t, ln.Close())

	hang := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name, addr string
		ctx        context.Context
		o          executorclient.Options
	}{
		{"refused port", closed, t.Context(), executorclient.Options{}},
		{"dial time-out", "http://10.0.0.1:9999/", t.Context(), executorclient.Options{HTTP: hang, Timeout: time.Millisecond}},
		{"cancelled before", closed, cancelled, executorclient.Options{}},
		{"no scheme", "10.0.0.1:9999", t.Context(), executorclient.Options{}},
		{"other scheme", "ftp://10.0.0.1/", t.Context(), executorclient.Options{}},
		{"no host", "http:///x", t.Context(), executorclient.Options{}},
		{"port only", "http://:9999/", t.Context(), executorclient.Options{}},
		{"query", "http://10.0.0.1/?a=b", t.Context(), executorclient.Options{}},
		{"control character", "http://10.0.0.1/\n", t.Context(), executorclient.Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := client(t, tt.o).Run(tt.ctx, tt.addr, protocol.Trigger{})
			require.Equal(t, executorclient.Refused, out.State, out.Msg)
			require.True(t, out.Unreachable)
			require.Equal(t, 500, out.Code)
			require.Error(t, out.Err)
		})
	}
}

func TestTimeoutAfterWriteIsUnknown(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{})
	addr := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-release
	})
	defer close(release)
	out := client(t, executorclient.Options{Timeout: 500 * time.Millisecond}).Run(t.Context(), addr, protocol.Trigger{})
	<-arrived
	require.Equal(t, executorclient.Unknown, out.State)
	require.Contains(t, out.Msg, "no answer within 500ms")
	require.ErrorIs(t, out.Err, context.DeadlineExceeded)
}

// TestCutConnections has the executor hang up after the first, then after a
// reused connection has carried a request, and in the middle of the answer.
func TestCutConnections(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	const accepted = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"code\":200}"
	scripts := [][]string{
		{""},
		{accepted, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"code\":200"},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, answers := range scripts {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			for _, a := range answers {
				req, err := http.ReadRequest(in)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(conn, a)
			}
			_ = conn.Close()
		}
	}()
	defer func() { _ = ln.Close(); <-done }()

	c := client(t, executorclient.Options{})
	want := []executorclient.State{
		executorclient.Unknown, executorclient.Accepted, executorclient.Unknown, executorclient.Unknown,
	}
	for i, state := range want {
		out := c.Run(t.Context(), "http://"+ln.Addr().String(), protocol.Trigger{})
		require.Equal(t, state, out.State, "call %d: %s", i, out.Msg)
	}
}

func TestInsecureTLSIsAnOption(t *testing.T) {
	srv := httptest.NewUnstartedServer(answer(200, `{"code":200}`))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	out := client(t, executorclient.Options{}).Run(t.Context(), srv.URL, protocol.Trigger{})
	require.True(t, out.Unreachable, out.Msg)
	out = client(t, executorclient.Options{InsecureTLS: true}).Run(t.Context(), srv.URL, protocol.Trigger{})
	require.Equal(t, executorclient.Accepted, out.State, out.Msg)
}
