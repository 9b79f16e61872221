package executor

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

func TestRegistrationAndCallback(t *testing.T) {
	c, second := newCenter(t), newCenter(t)
	o := options(t, c)
	o.Centers = append(o.Centers, second.URL)
	o.BeatEvery = time.Millisecond
	var got *Run
	e := start(t, o, func(e *Executor) {
		e.Handle("job", func(_ context.Context, r *Run) error {
			got = r
			r.SetResult("%d done", 3)
			return nil
		})
	})
	want := protocol.Registry{Group: "EXECUTOR", Key: "app", Value: "http://" + o.Listener.Addr().String() + "/"}
	plain := func(r protocol.Registry) protocol.Registry { r.Own = nil; return r }
	for range 2 { // at once and again
		require.Equal(t, want, plain(c.wait(t, "registry").registry))
		require.Equal(t, want, plain(second.wait(t, "registry").registry))
	}
	about := protocol.ReadAbout(c.wait(t, "registry").registry.Own)
	require.NotNil(t, about)
	require.Equal(t, []string{"job"}, about.Handlers)
	require.Contains(t, about.Types, "BEAN")
	require.Contains(t, about.Types, "GLUE_SHELL")
	require.NotContains(t, about.Types, "GLUE_PHP")
	require.Contains(t, about.Language, "go1.")
	beat := call(t, e, "beat", "")
	require.Equal(t, 200, beat.Code)
	require.Equal(t, []int{0, 0, 0}, []int{beat.About.Running, beat.About.Waiting, len(beat.About.Handlers)})

	tr := trigger(7, 91, "job")
	tr.Params, tr.BroadcastIndex, tr.BroadcastTotal = "a=1", 2, 5
	run(t, e, tr)
	res := c.results(t, 1)[91]
	require.Equal(t, protocol.Callback{LogID: 91, LogDateTime: res.LogDateTime, Echo: true, Code: 200, Msg: "3 done"}, res)
	require.Equal(t, "a=1", got.Param)
	require.Equal(t, [4]int64{7, 91, 2, 5}, [4]int64{got.JobID, got.LogID, int64(got.ShardIndex), int64(got.ShardTotal)})
	require.Equal(t, testTime, got.Time.UnixMilli())

	r := call(t, e, "run", tr)
	require.Equal(t, 500, r.Code)
	require.Contains(t, r.Msg, "already done")

	require.NoError(t, e.Stop(t.Context()))
	require.NoError(t, e.Stop(t.Context()), "twice")
	require.Equal(t, want, c.wait(t, "registryRemove").registry)
	require.Equal(t, want, second.wait(t, "registryRemove").registry)
}

// TestTheReportFollowsTheWork: what runs and waits is told, and scripts are not among the
// types where they are switched off.
func TestTheReportFollowsTheWork(t *testing.T) {
	c := newCenter(t)
	o := options(t, c)
	o.BeatEvery, o.NoScripts, o.Version = time.Millisecond, true, "7.1"
	release := make(chan struct{})
	e := start(t, o, func(e *Executor) {
		e.Handle("job", func(context.Context, *Run) error { <-release; return nil })
	})
	run(t, e, trigger(7, 91, "job"))
	run(t, e, trigger(7, 92, "job"))
	run(t, e, trigger(8, 93, "job"))
	require.Eventually(t, func() bool {
		a := call(t, e, "beat", "").About
		return a.Running == 2 && a.Waiting == 1
	}, 5*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		a := protocol.ReadAbout(c.wait(t, "registry").registry.Own)
		return a.Running == 2 && a.Waiting == 1 && a.Version == "7.1" && len(a.Types) == 1
	}, 5*time.Second, time.Millisecond)
	close(release)
}

func TestRegistrationGoesOnUntilACenterLives(t *testing.T) {
	c := newCenter(t)
	c.set(func() { c.dead = true })
	o := options(t, c)
	start(t, o, nil)
	for range 5 {
		require.Equal(t, "registry", <-c.tries)
	}
	c.set(func() { c.dead = false })
	c.wait(t, "registry")
}

func TestSerialQueue(t *testing.T) {
	c, g := newCenter(t), newGate()
	o := options(t, c)
	o.QueueLimit = 3
	e := start(t, o, func(e *Executor) { e.Handle("job", g.handle) })
	for id := int64(1); id <= 4; id++ { // one runs, three wait
		run(t, e, trigger(7, id, "job"))
		if id == 1 {
			require.EqualValues(t, 1, <-g.begun)
		}
	}
	r := call(t, e, "run", trigger(7, 5, "job"))
	require.Equal(t, 500, r.Code, "full")
	require.Contains(t, r.Msg, "3 runs")
	for _, id := range []int64{1, 3} {
		r = call(t, e, "run", trigger(7, id, "job"))
		require.Equal(t, 500, r.Code)
		require.Contains(t, r.Msg, "already queued")
	}
	require.Equal(t, 500, call(t, e, "idleBeat", protocol.IdleBeat{JobID: 7}).Code)
	require.Equal(t, 200, call(t, e, "idleBeat", protocol.IdleBeat{JobID: 8}).Code)
	require.Equal(t, 500, call(t, e, "globalIdleBeat", nil).Code)

	run(t, e, trigger(8, 80, "job")) // another job does not wait
	require.EqualValues(t, 80, <-g.begun)
	close(g.open)
	for id := int64(2); id <= 4; id++ {
		require.Equal(t, id, <-g.begun, "in order")
	}
	require.Len(t, c.results(t, 5), 5)
}

func TestBlockStrategies(t *testing.T) {
	c, g := newCenter(t), newGate()
	e := start(t, options(t, c), func(e *Executor) { e.Handle("job", g.handle) })
	run(t, e, trigger(7, 1, "job"))
	<-g.begun
	run(t, e, trigger(7, 2, "job"))

	tr := trigger(7, 3, "job")
	tr.BlockStrategy = "DISCARD_LATER"
	r := call(t, e, "run", tr)
	require.Equal(t, 500, r.Code)
	require.Contains(t, r.Msg, "DISCARD_LATER")

	tr.BlockStrategy = "COVER_EARLY"
	run(t, e, tr)
	require.EqualValues(t, 3, <-g.begun)
	res := c.results(t, 2)
	for _, id := range []int64{1, 2} {
		require.Equal(t, 500, res[id].Code)
		require.Contains(t, res[id].Msg, "run 3 replaces it")
	}
	close(g.open)
	require.Equal(t, 200, c.results(t, 1)[3].Code)
	require.Equal(t, 200, call(t, e, "run", func() protocol.Trigger { tr.LogID, tr.BlockStrategy = 4, "DISCARD_LATER"; return tr }()).Code)
	c.results(t, 1)
}

func TestKill(t *testing.T) {
	c, g := newCenter(t), newGate()
	e := start(t, options(t, c), func(e *Executor) { e.Handle("job", g.handle) })
	require.Equal(t, 200, call(t, e, "kill", protocol.Kill{JobID: 7}).Code, "nothing runs")
	run(t, e, trigger(7, 1, "job"))
	run(t, e, trigger(7, 2, "job"))
	<-g.begun
	require.Equal(t, 200, call(t, e, "kill", protocol.Kill{JobID: 7}).Code)
	for _, r := range c.results(t, 2) {
		require.Equal(t, 500, r.Code)
		require.Contains(t, r.Msg, "killed by the scheduling center")
	}
}

func TestOutcomesOfHandlers(t *testing.T) {
	c := newCenter(t)
	o := options(t, c)
	o.KillGrace = time.Millisecond
	deaf := make(chan struct{})
	e := start(t, o, func(e *Executor) {
		e.Handle("error", func(context.Context, *Run) error { return errors.New("disk full") })
		e.Handle("panic", func(context.Context, *Run) error { panic("at the disco") })
		e.Handle("slow", func(ctx context.Context, _ *Run) error { <-ctx.Done(); return nil })
		e.Handle("deaf", func(context.Context, *Run) error { <-deaf; return nil })
		RegisterSamples(e)
	})
	run(t, e, trigger(1, 1, "error"))
	run(t, e, trigger(2, 2, "panic"))
	for i, name := range []string{"slow", "deaf"} {
		tr := trigger(int64(3+i), int64(3+i), name)
		tr.TimeoutSec = 2 // milliseconds here
		run(t, e, tr)
	}
	run(t, e, trigger(5, 5, "demo.fail"))
	tr := trigger(6, 6, "demo.sleep")
	tr.Params = "1ms"
	run(t, e, tr)
	run(t, e, trigger(7, 7, "demo.sleep"))
	run(t, e, trigger(8, 8, "demo.child"))
	run(t, e, trigger(9, 9, "demo.hello"))
	tr = trigger(10, 10, "demo.shard")
	tr.BroadcastIndex, tr.BroadcastTotal = 1, 12
	run(t, e, tr)

	res := c.results(t, 10)
	require.Equal(t, 500, res[1].Code)
	require.Equal(t, "disk full", res[1].Msg)
	require.Equal(t, "panic: at the disco", res[2].Msg)
	require.Equal(t, 502, res[3].Code)
	require.Equal(t, 502, res[4].Code)
	require.Contains(t, res[4].Msg, "time-out after 2ms")
	require.Contains(t, res[5].Msg, "line 17")
	require.Equal(t, "slept for 1ms", res[6].Msg)
	require.Contains(t, res[7].Msg, "must be a duration")
	require.Equal(t, 200, res[8].Code)
	require.Equal(t, "greeted world", res[9].Msg)
	require.Equal(t, "shard 1 of 12: 1 of 12 items", res[10].Msg)

	text, end := readLog(t, e, 2)
	require.True(t, end)
	require.Contains(t, text, "executor_test.go", "the stack")
	require.Equal(t, 500, call(t, e, "idleBeat", protocol.IdleBeat{JobID: 4}).Code, "the deaf one is still there")
	close(deaf)
}

func TestRefusedRequests(t *testing.T) {
	c := newCenter(t)
	o := options(t, c)
	o.NoScripts = true
	e := start(t, o, nil)
	tests := []struct {
		name, method, path, token, body, msg string
	}{
		{"method before token", "GET", "run", "", "", "only POST"},
		{"token", "POST", "beat", "wrong", "", "token"},
		{"token before path", "POST", "nope", "", "", "token"},
		{"path", "POST", "nope", "token", "", "/nope"},
		{"malformed", "POST", "run", "token", `{"jobId":`, "not understood"},
		{"empty", "POST", "run", "token", ``, "not understood"},
		{"string for number", "POST", "kill", "token", `{"jobId":"x"}`, "not understood"},
		{"no ids", "POST", "run", "token", `{}`, "jobId 0"},
		{"unknown handler", "POST", "run", "token", `{"jobId":1,"logId":1,"glueType":"BEAN","executorHandler":"x"}`, `no handler "x"`},
		{"unknown type", "POST", "run", "token", `{"jobId":1,"logId":1,"glueType":"GLUE_GROOVY"}`, "GLUE_GROOVY"},
		{"scripts off", "POST", "run", "token", `{"jobId":1,"logId":1,"glueType":"GLUE_SHELL"}`, "switched off"},
		{"too large", "POST", "run", "token", `{"x":"` + strings.Repeat("x", protocol.MaxBody) + `"}`, "larger"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, e, tt.method, tt.path, tt.token, []byte(tt.body))
			require.Equal(t, 500, r.Code)
			require.Contains(t, r.Msg, tt.msg)
		})
	}
}

func TestStopWaitsThenCutsShort(t *testing.T) {
	c, g := newCenter(t), newGate()
	o := options(t, c)
	e := start(t, o, func(e *Executor) { e.Handle("job", g.handle) })
	run(t, e, trigger(7, 1, "job"))
	run(t, e, trigger(7, 2, "job"))
	<-g.begun
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(ctx) }()
	c.wait(t, "registryRemove")
	require.Contains(t, call(t, e, "run", trigger(7, 3, "job")).Msg, "stopping")
	require.Equal(t, 500, call(t, e, "beat", nil).Code)
	require.Equal(t, 500, call(t, e, "idleBeat", protocol.IdleBeat{JobID: 9}).Code)
	cancel()
	require.ErrorContains(t, <-stopped, "1 runs were cut short")
	res := c.results(t, 1)
	require.Equal(t, 500, res[1].Code)
	require.Contains(t, res[1].Msg, "stopped")

	// What waited is run by the next process.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o.Listener = ln
	close(g.open)
	start(t, o, func(e *Executor) { e.Handle("job", g.handle) })
	require.Equal(t, "let go", c.results(t, 1)[2].Msg)
}

func TestRunEndsWithItsContext(t *testing.T) {
	c := newCenter(t)
	e, err := New(options(t, c))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	c.wait(t, "registry")
	cancel()
	require.NoError(t, <-ended)
	require.Error(t, e.Start(t.Context()), "only once")
}

func TestWrongUse(t *testing.T) {
	_, err := New(Options{Address: "x", Centers: []string{"ftp://x"}, BeatEvery: -1, QueueLimit: -1})
	for _, part := range []string{"AppName", "center", "address", "BeatEvery", "QueueLimit"} {
		require.ErrorContains(t, err, part)
	}
	c := newCenter(t)
	o := options(t, c)
	e, err := New(o)
	require.NoError(t, err)
	e.Handle("a", func(context.Context, *Run) error { return nil })
	e.Handle("a", func(context.Context, *Run) error { return nil })
	require.ErrorContains(t, e.Start(t.Context()), "there twice")
	require.NoError(t, e.Stop(t.Context()), "before start")

	first := start(t, o, nil)
	o.Listener = nil
	other, err := New(o)
	require.NoError(t, err)
	require.ErrorContains(t, other.Start(t.Context()), "another process")
	require.True(t, bytes.HasPrefix([]byte(first.Address()), []byte("http://127.0.0.1:")))
	require.Contains(t, advertised(&net.TCPAddr{IP: net.IPv4zero, Port: 80}), ":80/")
	require.NotContains(t, advertised(&net.TCPAddr{Port: 80}), "0.0.0.0")
}
