package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if code, ok := asNode(os.Args); ok { // a center of the short check
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// day is a small healthy record: job 1 each second, job 2 a broadcast to two
// addresses every two seconds, job 3 a parent whose child is 4, job 5 with one
// failure and its retry.
func day() (jobs []expect, rows []runRow, rings map[call]ring, w window) {
	jobs = []expect{
		{job: 1, name: "each second", step: 1000},
		{job: 2, name: "broadcast", step: 2000, shards: 2},
		{job: 3, name: "parent", step: 5000, child: 4},
		{job: 5, name: "flaky", step: 10000},
	}
	w = window{from: 10000, to: 20000}
	rings = map[call]ring{}
	add := func(r runRow) int64 {
		r.ID = int64(len(rows) + 1)
		if r.State == 0 {
			r.State, r.TriggerCode = stateFinished, 200
		}
		if r.Handled == 0 {
			r.Handled = 200
		}
		r.At = r.Planned / 1000
		rows = append(rows, r)
		rings[r.call()] = ring{first: r.Planned*1000 + 5000, times: 1}
		return r.ID
	}
	for at := int64(9000); at < 22000; at += 1000 {
		add(runRow{Job: 1, Planned: at, Trigger: "CRON"})
		if at%2000 == 0 {
			add(runRow{Job: 2, Planned: at, Trigger: "CRON", Shard: "0/2"})
			add(runRow{Job: 2, Planned: at, Trigger: "CRON", Shard: "1/2"})
		}
		if at%5000 == 0 {
			parent := add(runRow{Job: 3, Planned: at, Trigger: "CRON"})
			add(runRow{Job: 4, Planned: at + 30, Trigger: "PARENT", Parent: parent})
		}
		if at%10000 == 0 {
			failed := add(runRow{Job: 5, Planned: at, Trigger: "CRON", Handled: 500, RetryLeft: 1})
			add(runRow{Job: 5, Planned: at + 40, Trigger: "RETRY", First: failed})
		}
	}
	return jobs, rows, rings, w
}

func TestCheckAcceptsAHealthyDay(t *testing.T) {
	v := check(day())
	require.Empty(t, v.unexplained)
	require.Empty(t, v.extra)
	require.Equal(t, 10+5*2+2+1, v.targets)
	require.Equal(t, v.targets, v.made)
	require.Equal(t, 5*time.Millisecond, percentile([]time.Duration{v.late[0].by, v.late[3].by}, 100))
	require.Equal(t, 1, v.retries)
	require.Equal(t, 2, v.childRuns)
}

// find gives the first run of a job at an instant and shard.
func find(t *testing.T, rows []runRow, job int, trigger string, planned int64, shard string) *runRow {
	t.Helper()
	for i := range rows {
		if r := &rows[i]; r.Job == job && r.Trigger == trigger && r.Planned == planned && r.Shard == shard {
			return r
		}
	}
	t.Fatal("no such run")
	return nil
}

// TestCheckSeesWhatIsWrong breaks one thing at a time.
func TestCheckSeesWhatIsWrong(t *testing.T) {
	without := func(rows []runRow, gone *runRow) []runRow {
		var out []runRow
		for _, r := range rows {
			if r.ID != gone.ID {
				out = append(out, r)
			}
		}
		return out
	}
	type change func(t *testing.T, rows []runRow, rings map[call]ring) []runRow
	for name, c := range map[string]struct {
		change      change
		unexplained int
		extra       int
		untrue      int
		missed      string
	}{
		"row and ring lost": {unexplained: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 1, "CRON", 12000, "")
			delete(rings, r.call())
			return without(rows, r)
		}},
		"row lost, but rung": {unexplained: 1, extra: 1, change: func(t *testing.T, rows []runRow, _ map[call]ring) []runRow {
			return without(rows, find(t, rows, 1, "CRON", 12000, ""))
		}},
		"never rung, no reason": {unexplained: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 2, "CRON", 14000, "1/2")
			delete(rings, r.call())
			r.State, r.Handled = 1, 0
			return rows
		}},
		"never rung, and a success": {unexplained: 1, untrue: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			delete(rings, find(t, rows, 2, "CRON", 14000, "1/2").call())
			return rows
		}},
		"a success with the result of another job under the same id": {unexplained: 1, extra: 1, untrue: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 1, "CRON", 12000, "")
			rings[call{r.ID, 77, r.At}] = rings[r.call()]
			delete(rings, r.call())
			return rows
		}},
		"a success with the result of another instant under the same id": {unexplained: 1, extra: 1, untrue: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 1, "CRON", 12000, "")
			rings[call{r.ID, 1, r.At - 5}] = rings[r.call()]
			delete(rings, r.call())
			return rows
		}},
		"never rung, with a reason": {missed: "center_down", change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 1, "CRON", 14000, "")
			delete(rings, r.call())
			r.State, r.Reason = stateMissed, "center_down"
			return rows
		}},
		"rung twice": {extra: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			rings[find(t, rows, 1, "CRON", 12000, "").call()] = ring{times: 2, first: 12000000}
			return rows
		}},
		"missed by the table, rung in fact": {extra: 1, change: func(t *testing.T, rows []runRow, _ map[call]ring) []runRow {
			r := find(t, rows, 1, "CRON", 12000, "")
			r.State, r.Reason = stateMissed, "misfire"
			return rows
		}},
		"planned twice": {extra: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := *find(t, rows, 1, "CRON", 12000, "")
			r.ID = 9999
			rings[r.call()] = ring{times: 1}
			return append(rows, r)
		}},
		"an instant that is none": {extra: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := runRow{ID: 9999, Job: 1, Planned: 12500, Trigger: "CRON", State: stateFinished, Handled: 200, At: 12}
			rings[r.call()] = ring{times: 1}
			return append(rows, r)
		}},
		"rung, but in no table": {extra: 1, change: func(_ *testing.T, rows []runRow, rings map[call]ring) []runRow {
			rings[call{run: 9999}] = ring{times: 1}
			return rows
		}},
		"retry missing": {unexplained: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 5, "RETRY", 10040, "")
			delete(rings, r.call())
			return without(rows, r)
		}},
		"retried twice": {extra: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := *find(t, rows, 5, "RETRY", 10040, "")
			r.ID = 9999
			rings[r.call()] = ring{times: 1}
			return append(rows, r)
		}},
		"child missing": {unexplained: 1, change: func(t *testing.T, rows []runRow, rings map[call]ring) []runRow {
			r := find(t, rows, 4, "PARENT", 15030, "")
			delete(rings, r.call())
			return without(rows, r)
		}},
		"child of a failure": {extra: 1, change: func(t *testing.T, rows []runRow, _ map[call]ring) []runRow {
			find(t, rows, 3, "CRON", 15000, "").Handled = 500
			return rows
		}},
	} {
		t.Run(name, func(t *testing.T) {
			jobs, rows, rings, w := day()
			v := check(jobs, c.change(t, rows, rings), rings, w)
			require.Len(t, v.unexplained, c.unexplained, "%v", v.unexplained)
			require.Len(t, v.extra, c.extra, "%v", v.extra)
			require.Len(t, v.untrue, c.untrue, "%v", v.untrue)
			if c.missed != "" {
				require.Equal(t, map[string]int{c.missed: 1}, v.missed)
			}
		})
	}
}

func TestOneRowMayStandForManyFires(t *testing.T) {
	jobs := []expect{{job: 1, step: 1000}}
	rows := []runRow{{ID: 1, Job: 1, Planned: 14000, Trigger: "MISFIRE", State: stateMissed, Reason: "center_down", MissedFires: 5}}
	v := check(jobs, rows, nil, window{from: 10000, to: 16000})
	require.Equal(t, map[string]int{"center_down": 5}, v.missed)
	require.Len(t, v.unexplained, 1, "15000 is not among them")
}

func TestForeignRowsGetTheirInstants(t *testing.T) {
	jobs := []expect{{job: 1, start: 10000, step: 2000}}
	rows := []runRow{{ID: 1, Job: 1, Planned: 10000}, {ID: 2, Job: 1, Planned: 13000}, {ID: 3, Job: 1, Planned: 13000}, {ID: 4, Job: 1, Planned: 16000}}
	attribute(jobs, rows)
	var got []int64
	for _, r := range rows {
		got = append(got, r.Planned)
	}
	require.Equal(t, []int64{10000, 12000, 13000, 16000}, got, "the third has no instant left, 14000 has no run")
}

func TestFaultsComeFromTheSeed(t *testing.T) {
	a, b := scheduleFaults(3, allFaults(), 10*time.Minute), scheduleFaults(3, allFaults(), 10*time.Minute)
	require.Equal(t, a, b)
	require.NotEqual(t, a, scheduleFaults(4, allFaults(), 10*time.Minute))
	seen := map[faultKind]int{}
	for _, f := range a {
		seen[f.kind]++
	}
	for _, k := range allFaults() {
		require.GreaterOrEqual(t, seen[k], 3, k)
	}
	_, err := parseFaults("kill,flood")
	require.ErrorContains(t, err, "flood")
	_, err = parseFaults("kill,restore")
	require.ErrorContains(t, err, "alone")
	alone, err := parseFaults("outage")
	require.NoError(t, err)
	require.Equal(t, []faultKind{faultOutage}, alone)
	require.NotContains(t, allFaults(), faultOutage, "nothing could be judged beside it")
}

// TestShortCheck is the checker itself, small: two nodes, every fault that fits.
func TestShortCheck(t *testing.T) {
	for _, c := range []struct {
		engine string
		nodes  int
		faults string
		time   time.Duration
	}{
		{"mariadb", 2, "kill,execkill,dbcut", 55 * time.Second},
		{"sqlite", 1, "kill", 30 * time.Second},
	} {
		t.Run(c.engine, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			flags := &SiteFlags{Engine: c.engine, Durable: true, Nodes: c.nodes, Executors: 3}
			cmd := &CheckerCmd{Jobs: 40, Duration: c.time, Seed: 11, Faults: c.faults, Takeover: 6 * time.Second}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			err := cmd.Run(ctx, flags, &Report{out: &out, command: fmt.Sprintf("the short check on %s", c.engine)})
			t.Log(out.String())
			require.NoError(t, err)
		})
	}
}
