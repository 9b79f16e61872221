package executor

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

func quick(e *Executor) {
	e.Handle("job", func(_ context.Context, r *Run) error { r.SetResult("ok"); return nil })
}

// reopen gives the options a new listener for another process.
func reopen(t *testing.T, o Options) Options {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o.Listener = ln
	return o
}

func TestResultsWaitForACenterAndSurviveRestart(t *testing.T) {
	c := newCenter(t)
	c.set(func() { c.dead = true })
	o := options(t, c)
	e := start(t, o, quick)
	run(t, e, trigger(7, 1, "job"))
	for n := 0; n < 3; { // tried again and again
		if <-c.tries == "callback" {
			n++
		}
	}
	require.NoError(t, e.Stop(t.Context()))

	o = reopen(t, o)
	e = start(t, o, quick)
	require.Contains(t, call(t, e, "run", trigger(7, 1, "job")).Msg, "already done")
	for <-c.tries != "callback" {
	}
	c.set(func() { c.dead = false })
	require.Equal(t, protocol.Callback{LogID: 1, LogDateTime: testTime, Echo: true, Code: 200, Msg: "ok"}, c.results(t, 1)[1])
	require.NoError(t, e.Stop(t.Context()))

	// What was taken is not sent again.
	e = start(t, reopen(t, o), quick)
	require.Zero(t, e.out.unsent())
}

func TestSecondCenterTakesResults(t *testing.T) {
	c, dead := newCenter(t), newCenter(t)
	dead.set(func() { dead.dead = true })
	o := options(t, c)
	o.Centers = []string{dead.URL, c.URL}
	e := start(t, o, quick)
	run(t, e, trigger(7, 1, "job"))
	require.Equal(t, 200, c.results(t, 1)[1].Code)
}

func TestRefusedResultDoesNotBlockOthers(t *testing.T) {
	c := newCenter(t)
	c.set(func() {
		c.refuse = func(cb protocol.Callback) bool { return cb.LogID%100 == 13 }
	})
	o := options(t, c)
	e := start(t, o, quick)
	for id := int64(1); id <= 120; id++ {
		run(t, e, trigger(id, id, "job"))
	}
	res := c.results(t, 118)
	require.NotContains(t, res, int64(13))
	c.set(func() { c.refuse = nil })
	require.Len(t, c.results(t, 2), 2)
}

// TestEverythingRefused has more refused results than fit into one round.
func TestEverythingRefused(t *testing.T) {
	c := newCenter(t)
	c.set(func() { c.refuse = func(protocol.Callback) bool { return true } })
	e := start(t, options(t, c), quick)
	const n = 2*batchSize + 1
	for id := int64(1); id <= n; id++ {
		run(t, e, trigger(id, id, "job"))
	}
	for range 3 * n {
		<-c.tries
	}
	c.set(func() { c.refuse = nil })
	require.Len(t, c.results(t, n), n)
}

func TestGiveUpAfterAWeek(t *testing.T) {
	c := newCenter(t)
	o := options(t, c)
	log, err := openJournal(filepath.Join(o.DataDir, "journal.jsonl"), slog.Default())
	require.NoError(t, err)
	now := time.Now()
	for id, age := range map[int64]time.Duration{1: keepFor + time.Hour, 2: keepFor - time.Hour} {
		require.NoError(t, log.add(entry{Done: &result{LogID: id, Code: 200, At: now.Add(-age).UnixMilli()}}))
	}
	require.NoError(t, log.close())
	for name, set := range map[string]func(){
		"refused":     func() { c.refuse = func(protocol.Callback) bool { return true } },
		"unreachable": func() { c.dead = true },
	} {
		t.Run(name, func(t *testing.T) {
			c.set(set)
			o := reopen(t, o)
			o.DataDir = t.TempDir()
			require.NoError(t, os.CopyFS(o.DataDir, os.DirFS(filepath.Dir(log.path))))
			e, err := New(o)
			require.NoError(t, err)
			require.NoError(t, e.Start(t.Context()))
			for n := 0; n < 6; {
				if <-c.tries == "callback" {
					n++
				}
			}
			require.NoError(t, e.Stop(t.Context()))
			require.Equal(t, 1, e.out.unsent())
		})
	}
}

// TestRestore plays what the journal of a process that died may hold.
func TestRestore(t *testing.T) {
	c := newCenter(t)
	o := options(t, c)
	path := filepath.Join(o.DataDir, "journal.jsonl")
	log, err := openJournal(path, slog.Default())
	require.NoError(t, err)
	now := time.Now()
	add := func(e entry) { require.NoError(t, log.add(e)) }
	accept := func(id int64, at time.Time) {
		tr := trigger(id, id, "job")
		add(entry{Accept: &tr, At: at.UnixMilli()})
	}
	accept(1, now)
	add(entry{Start: 1})
	accept(2, now)
	accept(3, now.Add(-time.Hour))
	accept(4, now)
	add(entry{Done: &result{LogID: 4, Code: 502, Msg: "late", At: now.UnixMilli()}})
	accept(5, now)
	add(entry{Done: &result{LogID: 5, Code: 200, At: now.UnixMilli()}})
	add(entry{Sent: []int64{5}})
	require.NoError(t, log.close())
	require.ErrorIs(t, log.add(entry{}), errClosed)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"accept":{"jobId":7,"lo`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	start(t, o, quick)
	res := c.results(t, 4)
	require.Contains(t, res[1].Msg, "while this run was under way")
	require.Equal(t, 500, res[1].Code)
	require.Equal(t, 200, res[2].Code)
	require.Contains(t, res[3].Msg, "came back too late")
	require.Equal(t, 502, res[4].Code)
}

func TestJournalForgetsHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := openJournal(path, slog.Default())
	require.NoError(t, err)
	big := script(1, 1, "GLUE_SHELL", strings.Repeat("x", 1<<20))
	for id := int64(1); id <= 20; id++ {
		big.LogID = id
		tr := big
		require.NoError(t, j.add(entry{Accept: &tr, At: 1}))
		require.NoError(t, j.add(entry{Start: id}))
		require.NoError(t, j.add(entry{Done: &result{LogID: id, Code: 200}}))
		if id%2 == 0 {
			require.NoError(t, j.add(entry{Sent: []int64{id}}))
		}
	}
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, st.Size(), int64(10<<20))
	require.NoError(t, j.close())
	j, err = openJournal(path, slog.Default())
	require.NoError(t, err)
	defer j.close()
	list := j.ordered()
	require.Len(t, list, 10)
	require.EqualValues(t, 1, list[0].Done.LogID)
	require.EqualValues(t, 19, list[9].Done.LogID)
}

func TestBounds(t *testing.T) {
	r := newRecent(3)
	for id := int64(1); id <= 5; id++ {
		r.add(id)
		r.add(id)
	}
	require.False(t, r.has(2))
	require.True(t, r.has(3))
	require.Len(t, r.set, 3)

	long := cutMsg(strings.Repeat("語", 10_000))
	require.LessOrEqual(t, len(long), maxMsg)
	require.True(t, strings.HasSuffix(long, "語…"))
	require.Equal(t, "a?", cutMsg("a\xff"))
}

// TestVersionOfTheSDK is that of our module in what the program was built from.
func TestVersionOfTheSDK(t *testing.T) {
	of := func(main debug.Module, deps ...*debug.Module) string {
		return sdkVersion(&debug.BuildInfo{Main: main, Deps: deps}, true)
	}
	other, ours := debug.Module{Path: "example.com/app", Version: "v9.0.0"}, debug.Module{Path: module, Version: "v1.2.3"}
	require.Equal(t, "v1.2.3", of(other, &ours))
	require.Equal(t, "v1.2.3", of(ours))
	require.Equal(t, "v1.2.4", of(other, &debug.Module{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "../fork", Version: "v1.2.4"}}))
	require.Empty(t, of(debug.Module{Path: module, Version: "(devel)"}), "a working copy")
	require.Empty(t, of(other))
	require.Empty(t, sdkVersion(nil, false))
}
