package main

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// at is a moment of a small check, in seconds.
func at(sec int64) time.Time { return time.Unix(sec, 0) }

// during gives a check with one fault from 100 to 120.
func during(kind faultKind, change func(*fault)) *checked {
	f := fault{kind: kind, start: at(100), end: at(120)}
	if change != nil {
		change(&f)
	}
	return &checked{verdict: &verdict{made: 1}, faults: []fault{f}, nodes: 3, limit: 6 * time.Second}
}

// TestJudgeSeesWhatFaultsDoToOthers puts one run that is missed or late beside a fault.
func TestJudgeSeesWhatFaultsDoToOthers(t *testing.T) {
	hits := func(job int) func(*fault) { return func(f *fault) { f.job = job } }
	all := func(f *fault) { f.all, f.end = true, f.start }
	missed, tooLate := "missed though nothing", "later than"
	for name, c := range map[string]struct {
		kind   faultKind
		change func(*fault)
		job    int
		at     int64         // planned, in seconds
		late   time.Duration // 0 = missed with a reason
		says   string
	}{
		"missed far from any fault":                     {faultKill, nil, 1, 90, 0, missed},
		"missed while a node was away":                  {faultKill, nil, 1, 110, 0, ""},
		"missed long after":                             {faultKill, nil, 1, 127, 0, missed},
		"the job whose row is held is missed":           {faultRowLock, hits(1), 1, 110, 0, ""},
		"another job is missed":                         {faultRowLock, hits(1), 2, 110, 0, missed},
		"the job whose row is held is late":             {faultRowLock, hits(1), 1, 101, 19 * time.Second, ""},
		"another job is late":                           {faultRowLock, hits(1), 2, 101, 7 * time.Second, tooLate},
		"a node is deaf, others work":                   {faultBlackHole, nil, 1, 101, 7 * time.Second, tooLate},
		"all nodes are deaf":                            {faultBlackHole, all, 1, 101, 7 * time.Second, ""},
		"all nodes are deaf for too long":               {faultBlackHole, all, 1, 101, 29 * time.Second, tooLate},
		"and fires are missed after that":               {faultBlackHole, all, 1, 113, 0, missed},
		"a renamed node leaves its runs":                {faultRename, nil, 1, 101, 60 * time.Second, "a takeover lasted"},
		"no node was there":                             {faultOutage, nil, 1, 101, 20 * time.Second, ""},
		"the nodes are back, old work holds up the new": {faultOutage, nil, 1, 131, 0, missed},
		"and makes it late":                             {faultOutage, nil, 1, 125, 11 * time.Second, tooLate},
		"the database is away":                          {faultDBRestart, nil, 1, 101, 20 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := during(c.kind, c.change)
			if c.late == 0 {
				v.skips = []skip{{c.job, c.at * 1000, "center_down"}}
			} else {
				v.late = []late{{c.job, c.at * 1000, c.late}}
			}
			if c.says == "" {
				require.NoError(t, v.bad())
			} else {
				require.ErrorContains(t, v.bad(), c.says)
			}
		})
	}
	v := during(faultOutage, nil)
	v.leftBehind, v.untrue, v.asks = []string{"3 jobs wait"}, []string{"run 7"}, []string{"ask-1"}
	for _, what := range []string{"3 jobs wait", "run 7", "ask-1"} {
		require.ErrorContains(t, v.bad(), what)
	}
}

func TestAfterARestoreOnlyThePastIsExcused(t *testing.T) {
	jobs, rows, rings, w := day()
	w.since = 15000
	rings[call{9998, 1, 12}] = ring{first: 12000 * 1000, times: 1}
	twice := find(t, rows, 1, "CRON", 11000, "")
	rings[twice.call()] = ring{first: 11000 * 1000, times: 2}
	v := check(jobs, rows, rings, w)
	require.Empty(t, v.extra, "the table was put back")
	rings[call{9999, 1, 16}] = ring{first: 16000 * 1000, times: 1}
	require.Len(t, check(jobs, rows, rings, w).extra, 1)
}

// TestRunsByHand: who is told that nothing was changed tries again, who is told that
// nobody knows does not.
func TestRunsByHand(t *testing.T) {
	const nothing = "internal error, nothing was changed; try again"
	for name, c := range map[string]struct {
		answers []string // "" = yes, "cut" = no answer
		made    int
		wrong   bool
	}{
		"made":                              {[]string{""}, 1, false},
		"not made":                          {[]string{""}, 0, true},
		"made twice":                        {[]string{nothing, ""}, 2, true},
		"tried again, made once":            {[]string{nothing, ""}, 1, false},
		"made although nothing was changed": {[]string{nothing}, 1, true},
		"never made":                        {[]string{nothing, nothing}, 0, false},
		"nobody knows, made":                {[]string{"it is not known whether the run was written down"}, 1, false},
		"nobody knows, not made":            {[]string{"cut"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask{param: "ask-1"}
			for i, text := range c.answers {
				reply, err := protocol.Reply{Code: protocol.CodeFail, Msg: text}, error(nil)
				switch text {
				case "":
					reply.Code = protocol.CodeSuccess
				case "cut":
					err = io.EOF
				}
				require.Equal(t, text != nothing, a.heard(reply, err), i)
			}
			require.Equal(t, c.wrong, len(judgeAsks([]ask{a}, map[string]int{"ask-1": c.made})) > 0)
		})
	}
}

func TestAnOutageLeavesALongWalk(t *testing.T) {
	for day := range 7 {
		now := time.Date(2026, 3, 1+day, 12, 0, 0, 0, time.UTC)
		s, err := cron.Parse(longSilence(now))
		require.NoError(t, err)
		require.Greater(t, s.Next(now).Sub(now), 30*time.Hour, "it is silent while it is judged")
		require.Less(t, s.Next(now.Add(-backlogSince)).Sub(now), -20*24*time.Hour)
	}
}

// TestProxyHurts talks through a proxy to a server that echoes.
func TestProxyHurts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	heard := make(chan string, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 64)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					heard <- string(buf[:n])
					_, _ = c.Write(buf[:n])
				}
			}()
		}
	}()
	p, err := newProxy(l.Addr().String())
	require.NoError(t, err)
	defer p.close()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", p.addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	says := func(c net.Conn, text string) (string, error) {
		_, err := c.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		buf := make([]byte, 64)
		n, err := c.Read(buf)
		return string(buf[:n]), err
	}
	const commit = "\x07\x00\x00\x00\x03COMMIT"

	c := dial()
	p.loseCommits(2)
	for _, text := range []string{"\x07\x00\x00\x00\x03SELECT", commit} {
		got, err := says(c, text)
		require.NoError(t, err)
		require.Equal(t, text, got)
		<-heard
	}
	_, err = says(c, commit)
	require.ErrorIs(t, err, io.EOF, "the second commit has no answer")
	require.Equal(t, commit, <-heard, "and was done")
	p.loseCommits(0)

	old := dial()
	_, err = says(old, "x")
	require.NoError(t, err)
	<-heard
	p.silence()
	_, err = old.Write([]byte("lost"))
	require.NoError(t, err)
	fresh := dial()
	_, err = says(fresh, "y")
	require.NoError(t, err)
	require.Equal(t, "y", <-heard)
	require.NoError(t, old.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = old.Read(make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout(), "not even an end")
	require.Empty(t, heard)
}

func TestRenameChangesLettersOnly(t *testing.T) {
	n := node{args: []string{"serve", "--node-name", "n1"}}
	n.rename()
	require.Equal(t, "N1", n.args[2])
	n.rename()
	require.Equal(t, "n1", n.args[2])
}
