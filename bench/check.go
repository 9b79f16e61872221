package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// expect says when a job is to be made.
type expect struct {
	job    int
	name   string
	start  int64 // epoch ms of one of its instants
	step   int64 // ms
	shards int   // 0 = one run per instant, else a broadcast to so many
	child  int   // job that follows each success, 0 = none
}

// window is the time that is judged: instants in [from, to), epoch ms. What reached
// executors before since need not be in the table: the table was put back.
type window struct{ from, to, since int64 }

func (w window) holds(ms int64) bool { return ms >= w.from && ms < w.to }

// late is how late one planned run reached its executor.
type late struct {
	job     int
	planned int64 // epoch ms
	by      time.Duration
}

// skip is one instant that was missed with a reason.
type skip struct {
	job     int
	planned int64 // epoch ms
	reason  string
}

// verdict is what became of the targets: one per job, instant and shard.
type verdict struct {
	targets, made           int
	missed                  map[string]int // by reason
	skips                   []skip         // the same, one by one
	unexplained             []string       // not made and no reason given
	extra                   []string       // made or planned more often than it should
	untrue                  []string       // stands as a success and no executor made it
	late                    []late
	lateFollowers           []late // of retries and children
	retries                 int    // attempts after failures, all of them judged
	childRuns               int
	succeeded, failed, lost int // what became of what was rung
	withoutOutcome          int // nothing was heard of it
}

func (v *verdict) unexplain(format string, args ...any) {
	v.unexplained = append(v.unexplained, fmt.Sprintf(format, args...))
}

func (v *verdict) skipped(t target, reason string) {
	v.missed[reason]++
	v.skips = append(v.skips, skip{t.job, t.planned, reason})
}

func (v *verdict) tooMuch(format string, args ...any) {
	v.extra = append(v.extra, fmt.Sprintf(format, args...))
}

// target is what is to be made exactly once.
type target struct {
	job     int
	planned int64
	shard   string
}

// check compares what was to be made with the run table and with what reached
// the executors. It is a pure function.
func check(jobs []expect, rows []runRow, rings map[call]ring, w window) *verdict {
	v := &verdict{missed: map[string]int{}}
	known := make(map[int]*expect, len(jobs))
	for i := range jobs {
		known[jobs[i].job] = &jobs[i]
	}
	planned := map[target][]*runRow{}
	stored := make(map[call]bool, len(rows))
	stands := map[int][]*runRow{} // missed rows that stand for many instants, by job
	for i := range rows {
		r := &rows[i]
		stored[r.call()] = true
		if r.Trigger == "CRON" || r.Trigger == "MISFIRE" {
			if r.MissedFires > 1 {
				stands[r.Job] = append(stands[r.Job], r)
			}
			planned[target{r.Job, r.Planned, r.Shard}] = append(planned[target{r.Job, r.Planned, r.Shard}], r)
		}
		if r.Planned >= w.since {
			v.judgeRings(r, rings)
		}
		v.judgeSuccess(r, rings)
	}
	for c, r := range rings {
		if !stored[c] && r.first >= w.since*1000 {
			v.tooMuch("run %d of job %d was rung %d times and is not in the table", c.run, c.job, r.times)
		}
	}
	for _, e := range jobs {
		for _, t := range targetsOf(e, w) {
			v.targets++
			list := planned[t]
			if whole := planned[target{t.job, t.planned, ""}]; len(list) == 0 && len(whole) == 1 && whole[0].State == stateMissed {
				list = whole // a broadcast that was not made at all
			}
			v.judge(e, t, list, stands[e.job], rings)
			delete(planned, t)
		}
	}
	for t, list := range planned { // what is left was not asked for
		if e := known[t.job]; e != nil && w.holds(t.planned) && !(e.shards > 0 && t.shard == "" && list[0].State == stateMissed) {
			v.tooMuch("job %d (%s) has %d runs at %s, shard %q, which is none of its instants", t.job, e.name, len(list), stamp(t.planned), t.shard)
		}
	}
	v.followers(jobs, rows, rings, w)
	slices.Sort(v.unexplained)
	slices.Sort(v.extra)
	slices.Sort(v.untrue)
	return v
}

// judgeRings looks whether a run came more often than once, or though the table
// says that it was not made.
func (v *verdict) judgeRings(r *runRow, rings map[call]ring) {
	n := rings[r.call()].times
	if n > 1 {
		v.tooMuch("run %d of job %d at %s was rung %d times", r.ID, r.Job, stamp(r.Planned), n)
	}
	if n > 0 && r.State == stateMissed {
		v.tooMuch("run %d of job %d at %s was rung and stands as missed (%s)", r.ID, r.Job, stamp(r.Planned), r.Reason)
	}
}

// judgeSuccess looks whether an executor made what stands as a success: that run, of
// that job, for that instant. Ids may be used again when a database forgets.
func (v *verdict) judgeSuccess(r *runRow, rings map[call]ring) {
	if r.Handled == 200 && r.State == stateFinished && rings[r.call()].times == 0 {
		v.untrue = append(v.untrue, fmt.Sprintf("run %d of job %d at %s is a success that no executor made", r.ID, r.Job, stamp(r.Planned)))
	}
}

// judge decides about one target.
func (v *verdict) judge(e expect, t target, list, stands []*runRow, rings map[call]ring) {
	if len(list) == 0 {
		for _, s := range stands {
			if t.planned <= s.Planned && t.planned > s.Planned-int64(s.MissedFires)*e.step {
				v.skipped(t, s.Reason)
				return
			}
		}
		v.unexplain("job %d (%s) has no run at %s, shard %q", t.job, e.name, stamp(t.planned), t.shard)
		return
	}
	if len(list) > 1 {
		v.tooMuch("job %d (%s) has %d runs at %s, shard %q", t.job, e.name, len(list), stamp(t.planned), t.shard)
	}
	r := list[0]
	rung := rings[r.call()]
	if rung.times == 0 && r.Reason != "" {
		v.skipped(t, r.Reason)
		return
	}
	if rung.times == 0 {
		v.unexplain("run %d of job %d (%s) at %s never reached an executor: state %d, codes %d and %d",
			r.ID, r.Job, e.name, stamp(t.planned), r.State, r.TriggerCode, r.Handled)
		return
	}
	v.made++
	switch {
	case r.Reason == "lost":
		v.lost++
	case r.Handled == 200:
		v.succeeded++
	case r.Handled != 0:
		v.failed++
	default:
		v.withoutOutcome++
	}
	v.late = append(v.late, lateOf(t.job, t.planned, rung))
}

func lateOf(job int, planned int64, rung ring) late {
	return late{job, planned, time.Duration(rung.first-planned*1000) * time.Microsecond}
}

func targetsOf(e expect, w window) []target {
	at := e.start + (w.from-e.start)/e.step*e.step
	for at < w.from {
		at += e.step
	}
	var out []target
	for ; at < w.to; at += e.step {
		if e.shards == 0 {
			out = append(out, target{job: e.job, planned: at})
		}
		for i := range e.shards {
			out = append(out, target{e.job, at, fmt.Sprintf("%d/%d", i, e.shards)})
		}
	}
	return out
}

// notRetried are ends after which no retry is due.
func notRetried() []string { return []string{"killed", "covered", "discarded", "cycle"} }

// followers judges retries and children: each failure with attempts left is
// followed by exactly one attempt, each success of a parent by exactly one child.
func (v *verdict) followers(jobs []expect, rows []runRow, rings map[call]ring, w window) {
	type chain struct{ due, retries, successes, children int }
	chains := map[int64]*chain{}
	at := func(id int64) *chain {
		if chains[id] == nil {
			chains[id] = &chain{}
		}
		return chains[id]
	}
	first := make(map[int64]int64, len(rows)) // of each run, the first attempt
	jobOf := map[int64]*runRow{}
	for i := range rows {
		r := &rows[i]
		first[r.ID] = r.ID
		if r.Trigger == "RETRY" && r.First != 0 {
			first[r.ID] = r.First
		}
		jobOf[r.ID] = r
	}
	for i := range rows {
		r := &rows[i]
		c := at(first[r.ID])
		failed := r.Handled != 0 && r.Handled != 200 || r.Handled == 0 && r.TriggerCode != 0 && r.TriggerCode != 200
		switch {
		case r.State == stateFinished && r.Handled == 200:
			c.successes++
		case r.State == stateFinished && failed && r.RetryLeft > 0 && !slices.Contains(notRetried(), r.Reason):
			c.due++
		}
		switch r.Trigger {
		case "RETRY":
			c.retries++
		case "PARENT":
			at(first[r.Parent]).children++
		default:
			continue
		}
		rung := rings[r.call()]
		if rung.times > 0 && w.holds(r.Planned) {
			v.lateFollowers = append(v.lateFollowers, lateOf(r.Job, r.Planned, rung))
		}
		if rung.times == 0 && r.Reason == "" && w.holds(r.Planned) {
			v.unexplain("%s run %d of job %d never reached an executor: state %d", strings.ToLower(r.Trigger), r.ID, r.Job, r.State)
		}
	}
	child := map[int]bool{}
	for _, e := range jobs {
		child[e.job] = e.child != 0
	}
	for _, id := range slices.Sorted(maps.Keys(chains)) {
		c, r := chains[id], jobOf[id]
		if r == nil || !w.holds(r.Planned) {
			continue
		}
		v.retries += c.retries
		v.childRuns += c.children
		if c.retries < c.due {
			v.unexplain("job %d: %d failures with attempts left after run %d and %d retries", r.Job, c.due, id, c.retries)
		} else if c.retries > c.due {
			v.tooMuch("job %d: %d failures with attempts left after run %d and %d retries", r.Job, c.due, id, c.retries)
		}
		want := 0
		if child[r.Job] && c.successes > 0 {
			want = 1
		}
		if c.children < want {
			v.unexplain("job %d: run %d succeeded and its child was not started", r.Job, id)
		} else if c.children > want {
			v.tooMuch("job %d: run %d has %d children instead of %d", r.Job, id, c.children, want)
		}
	}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05.000") }
