package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/cron"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestTheLedgerIsWhatTheRowsAre sends some thousand runs of a month through everything
// that can become of them, in random order, and recounts. The zone has days without a
// midnight and days with two.
func TestTheLedgerIsWhatTheRowsAre(t *testing.T) {
	zone, err := time.LoadLocation("America/Havana")
	require.NoError(t, err)
	// A month with each change of the clock, one on each engine: they take long.
	for n, engine := range storetest.Engines() {
		began := []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, zone), time.Date(2026, 10, 15, 0, 0, 0, 0, zone)}[n]
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			newMonth(t, suite.Open(t, engine, zone), began, uint64(n+1)).live(60)
		})
	}
}

// month is a center whose clock jumps, and what is known of it.
type month struct {
	t     *testing.T
	st    *store.Store
	rng   *rand.Rand
	zone  *time.Location
	began time.Time
	now   time.Time
	owner string
	jobs  []int
	rows  []model.Run
	done  map[string]int // steps by name: each must have happened
}

func newMonth(t *testing.T, st *store.Store, began time.Time, seed uint64) *month {
	m := &month{t: t, st: st, rng: rand.New(rand.NewPCG(seed, 7)), zone: st.Location(), began: began, now: began, owner: "n#1", done: map[string]int{}}
	full := storetest.Group(t, st, "app-full", "http://127.0.0.1:1/,http://127.0.0.1:2/,http://127.0.0.1:3/")
	empty := storetest.Group(t, st, "app-empty", "")
	child := storetest.Job(t, st, full.ID, func(j *model.Job) { j.ScheduleType, j.RetryCount = model.ScheduleNone, 1 })
	for i, change := range []func(*model.Job){
		func(j *model.Job) { j.RetryCount, j.RetryDelaySec = 2, 3*3600 },
		func(j *model.Job) { j.Misfire, j.ChildIDs = model.MisfireFireOnce, strconv.Itoa(child.ID) },
		func(j *model.Job) {
			j.Route, j.RetryCount, j.ChildIDs, j.ScheduleConf = model.RouteBroadcast, 1, strconv.Itoa(child.ID), "0 40 */4 * * ?"
		},
		func(j *model.Job) { j.GroupID, j.ScheduleConf = empty.ID, "0 15 */6 * * ?" },
		func(j *model.Job) {
			j.Block, j.RetryCount, j.RetryGrowing, j.RetryDelaySec = model.BlockCover, 3, true, 7200
		},
	} {
		j := storetest.Job(t, st, full.ID, func(j *model.Job) {
			j.ScheduleConf = fmt.Sprintf("0 %d */2 * * ?", 10*i)
			change(j)
		})
		m.jobs = append(m.jobs, j.ID)
		m.start(j.ID)
	}
	m.jobs = append(m.jobs, child.ID)
	return m
}

func (m *month) ctx() context.Context { return m.t.Context() }

func (m *month) start(id int) {
	j := m.job(id)
	if j.ScheduleType == model.ScheduleCron {
		require.NoError(m.t, m.st.SetJobStatus(m.ctx(), id, j.Version, model.JobRunning, m.now.UnixMilli()+1, m.now))
	}
}

func (m *month) job(id int) model.Job {
	j, err := m.st.Job(m.ctx(), id)
	require.NoError(m.t, err)
	return j
}

// live makes so many rounds: time goes on, things happen, all is recounted.
func (m *month) live(rounds int) {
	end := m.began.AddDate(0, 1, 0)
	for i := range rounds {
		step := end.Sub(m.began) / time.Duration(rounds)
		switch m.rng.IntN(12) {
		case 0: // an outage
			m.now = m.now.Add(4 * step)
		default:
			m.now = m.now.Add(time.Duration(m.rng.Int64N(int64(step))))
		}
		if m.now.After(end) {
			m.now = end
		}
		m.plan(m.now.Add(-time.Duration(m.rng.IntN(36)) * time.Hour))
		for range 12 {
			m.read()
			m.something()
		}
		m.read()
		m.recount(i%20 == 19 || i == rounds-1)
	}
	require.Greater(m.t, len(m.rows), 900)
	m.t.Log(len(m.rows), "rows", m.done)
	for _, name := range steps() {
		require.Positive(m.t, m.done[name], "%s never happened", name)
	}
}

// plan lets the center plan what became due; lastPlan is when it last did so.
func (m *month) plan(lastPlan time.Time) {
	rules := rule.PlanRules{
		Horizon: time.Duration(m.rng.IntN(12)) * time.Hour, MisfireAfter: time.Duration(1+m.rng.IntN(20)) * time.Hour, MaxMissedRows: m.rng.IntN(4),
		Location: m.zone, LastPlanMS: lastPlan.UnixMilli(),
		Unplanned: pick(m.rng, "", model.ReasonStarved, model.ReasonNoDatabase),
	}
	if m.rng.IntN(4) == 0 {
		rules.LockedMS = lastPlan.Add(5 * time.Hour).UnixMilli()
	}
	_, _, err := m.st.PlanDue(m.ctx(), m.now.Add(rules.Horizon).UnixMilli(), 100, m.now, func(due []model.Job, groups map[int]model.Group) []model.JobPlan {
		var out []model.JobPlan
		for _, j := range due {
			sched, err := cron.ParseLenient(j.ScheduleConf)
			require.NoError(m.t, err)
			out = append(out, rule.Plan(m.now, j, groups[j.GroupID], sched, m.owner, rules))
		}
		return out
	})
	require.NoError(m.t, err)
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// read loads all rows.
func (m *month) read() {
	m.rows = m.rows[:0]
	for before := int64(0); ; {
		part, err := m.st.Runs(m.ctx(), model.RunFilter{Before: before, Limit: 900})
		require.NoError(m.t, err)
		more := len(part) > 900
		part = part[:min(900, len(part))]
		m.rows = append(m.rows, part...)
		if !more {
			break
		}
		before = part[len(part)-1].ID
	}
	slices.Reverse(m.rows)
}

// some gives up to n rows for which ok is true, at random.
func (m *month) some(n int, ok func(*model.Run) bool) (out []model.Run) {
	for i := range m.rows {
		if ok(&m.rows[i]) {
			out = append(out, m.rows[i])
		}
	}
	m.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

func in(phase model.RunPhase) func(*model.Run) bool {
	return func(r *model.Run) bool { return r.Phase == phase && r.HandleCode == 0 }
}

// due is what is planned and to be sent by now.
func (m *month) due(r *model.Run) bool {
	return in(model.PhasePlanned)(r) && r.PlannedMS <= m.now.UnixMilli()
}

func steps() []string {
	return []string{
		"claim", "accept", "unknown", "refuse", "give up", "report", "late truth", "kill", "take back", "switch", "edit", "elsewhere",
		"put back", "adopt", "shards", "by hand", "faster than the answer", "was refused and reports",
	}
}

// something happens to some of the runs.
func (m *month) something() {
	follow := rule.Follower(m.now, m.owner)
	name := pick(m.rng, append(steps(), "claim", "claim", "report", "report", "accept", "refuse")...)
	ids := func(list []model.Run) (out []int64) {
		for _, r := range list {
			out = append(out, r.ID)
		}
		return out
	}
	at := m.now.UnixMilli()
	record := func(list []model.Run, phase model.RunPhase, code int, reasons ...string) int {
		byOwner := map[string][]model.Dispatch{}
		for _, r := range list {
			byOwner[r.Owner] = append(byOwner[r.Owner], model.Dispatch{RunID: r.ID, Phase: phase, Code: code, Reason: pick(m.rng, reasons...), AtMS: at, SentMS: at - 50})
		}
		for owner, list := range byOwner {
			require.NoError(m.t, m.st.RecordDispatches(m.ctx(), owner, list, m.now, follow))
		}
		return len(list)
	}
	handled := func(list []model.Run, h ...model.Handled) int {
		var all []model.Handled
		for _, r := range list {
			x := pick(m.rng, h...)
			x.RunID, x.AtMS = r.ID, at
			all = append(all, x)
			if m.rng.IntN(10) == 0 {
				all = append(all, x) // again
			}
		}
		if len(all) == 0 {
			return 0
		}
		_, err := m.st.StoreHandled(m.ctx(), all, m.now, follow)
		require.NoError(m.t, err)
		return len(list)
	}
	ended := []model.Handled{{Code: 200}, {Code: 200}, {Code: 500, Msg: "no"}, {Code: 502}, {Code: 407}, {Code: 408}, {Code: 13}}
	n := 0
	switch name {
	case "claim":
		for _, r := range m.some(25, m.due) {
			got, err := m.st.ClaimRuns(m.ctx(), r.Owner, []model.Claim{{RunID: r.ID, Address: pick(m.rng, "http://127.0.0.1:1/", "http://127.0.0.1:2/")}}, at)
			require.NoError(m.t, err)
			n += len(got)
		}
	case "accept":
		n = record(m.some(15, in(model.PhaseSending)), model.PhaseAccepted, 200, "")
	case "unknown":
		n = record(m.some(8, in(model.PhaseSending)), model.PhaseUnknown, 0, "")
	case "refuse":
		n = record(m.some(8, in(model.PhaseSending)), model.PhaseFinished, 500, model.ReasonRefused, model.ReasonUnreached, model.ReasonNoAddress, model.ReasonAllBusy, model.ReasonWrongToken)
		n += record(m.some(2, in(model.PhaseSending)), model.PhaseMissed, model.CodeMissed, model.ReasonDiscarded)
		n += record(m.some(2, m.due), model.PhaseMissed, model.CodeMissed, model.ReasonTakeover)
	case "give up":
		n = record(m.some(5, in(model.PhaseUnknown)), model.PhaseFinished, 500, model.ReasonLost)
		n += handled(m.some(5, in(model.PhaseAccepted)), model.Handled{Code: 500, Reason: model.ReasonLost})
	case "report":
		n = handled(m.some(20, in(model.PhaseAccepted)), ended...) + handled(m.some(3, in(model.PhaseUnknown)), ended...)
	case "faster than the answer":
		list := m.some(5, in(model.PhaseSending))
		n = handled(list, ended...)
		record(list, model.PhaseAccepted, 200, "")
	case "was refused and reports":
		n = handled(m.some(2, func(r *model.Run) bool { return r.Phase == model.PhaseFinished && r.HandleCode == 0 && r.SentMS != 0 }), ended...)
	case "late truth":
		n = handled(m.some(4, func(r *model.Run) bool { return r.Phase == model.PhaseFinished && r.Reason == model.ReasonLost }), ended...)
	case "kill":
		for _, r := range m.some(2, func(r *model.Run) bool { return r.Result() == model.ResultRunning || r.Result() == model.ResultUnknown }) {
			_, err := m.st.MarkKill(m.ctx(), &r)
			require.NoError(m.t, err)
			n += handled([]model.Run{r}, model.Handled{Code: 500, Reason: model.ReasonKilled}, model.Handled{Code: 500, Msg: "interrupted"}, model.Handled{Code: 200})
			// The answer to the order may come after the result, and say that it was not taken.
			n += handled([]model.Run{r}, model.Handled{Code: 500, Reason: model.ReasonKilled}, model.Handled{Reason: model.ReasonKillUntaken})
		}
	case "take back":
		for _, r := range m.some(2, in(model.PhasePlanned)) {
			require.NoError(m.t, m.st.TakeBack(m.ctx(), r.ID, "olga", m.now))
			n++
		}
	case "switch":
		j := m.job(pick(m.rng, m.jobs...))
		if j.ScheduleType == model.ScheduleCron && m.rng.IntN(3) == 0 {
			require.NoError(m.t, m.st.SetJobStatus(m.ctx(), j.ID, j.Version, model.JobStopped, 0, m.now))
			m.start(j.ID)
			n++
		}
	case "edit":
		j := m.job(pick(m.rng, m.jobs...))
		if j.ScheduleType == model.ScheduleCron && m.rng.IntN(3) == 0 {
			j.NextMS = m.now.UnixMilli() + 1
			require.NoError(m.t, m.st.UpdateJob(m.ctx(), &j, true, false, m.now))
			n++
		}
	case "elsewhere": // another center on this database takes the result
		list := m.some(3, func(r *model.Run) bool { return r.Phase == model.PhaseAccepted || r.Phase == model.PhaseUnknown })
		for _, r := range list {
			write(m.t, m.st, `UPDATE xxl_job_log SET handle_code = ?, handle_time = ? WHERE id = ?`, pick(m.rng, 200, 500), m.now.Format(time.DateTime), r.ID)
		}
		require.NoError(m.t, m.st.CloseElsewhere(m.ctx(), ids(list), m.now))
		n = len(list)
	case "put back":
		for _, r := range m.some(3, in(model.PhaseUnknown)) {
			_, err := m.st.Replan(m.ctx(), r.Owner, r.ID, m.now)
			require.NoError(m.t, err)
			n++
		}
		for _, r := range m.some(2, in(model.PhaseSending)) {
			_, err := m.st.Unclaim(m.ctx(), r.Owner, r.ID, "", at+1, m.now)
			require.NoError(m.t, err)
			n++
		}
	case "adopt":
		if m.rng.IntN(4) == 0 {
			m.owner = fmt.Sprintf("n#%d", m.rng.IntN(5))
			_, _, err := m.st.AdoptRuns(m.ctx(), []string{m.owner}, []string{m.owner}, 50)
			require.NoError(m.t, err)
			n++
		}
	case "shards":
		for _, r := range m.some(1, func(r *model.Run) bool {
			return r.Phase == model.PhasePlanned && r.Sharding == "" && r.FirstID == 0
		}) {
			_, err := m.st.AddShards(m.ctx(), &r, 3, m.now)
			require.NoError(m.t, err)
			n++
		}
	case "by hand":
		j := m.job(pick(m.rng, m.jobs...))
		r := model.Run{
			GroupID: j.GroupID, JobID: j.ID, RetryLeft: j.RetryCount, TriggerTime: m.now.Truncate(time.Second), PlannedMS: at,
			Phase: model.PhasePlanned, TriggerType: model.TriggerManual, Owner: m.owner,
		}
		_, err := m.st.InsertRun(m.ctx(), &r, m.now)
		require.NoError(m.t, err)
		n++
	}
	m.done[name] += n
}
