package alarm_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
)

var t0 = time.Date(2026, 11, 20, 2, 0, 0, 0, time.UTC)

// desk keeps what was decided, as the database does.
type desk struct {
	t     *testing.T
	now   time.Time
	jobs  map[int]model.Job
	rules alarm.Rules
	open  []model.Incident
	past  []model.Incident
	ids   int64
	told  []string // step, subject, target and jobs
	runs  map[int64]int
	once  map[string]bool // opened, told already

	addressed, ended []int
	wait             int64 // of the last telling: not before
}

func newDesk(t *testing.T, jobs ...model.Job) *desk {
	d := &desk{t: t, now: t0, jobs: map[int]model.Job{}, runs: map[int64]int{}, once: map[string]bool{}}
	for _, j := range jobs {
		d.jobs[j.ID] = j
	}
	return d
}

func job(id, group int, mail string) model.Job {
	return model.Job{ID: id, GroupID: group, Name: "Job " + strconv.Itoa(id), AlarmEmail: mail, Status: model.JobRunning}
}

// pass decides once and keeps the outcome; it gives what was told by it.
func (d *desk) pass(events ...model.AlarmEvent) []string {
	d.t.Helper()
	return d.watch(nil, events...)
}

func (d *desk) watch(wrong []alarm.Condition, events ...model.AlarmEvent) []string {
	d.t.Helper()
	for i := range events {
		events[i].ID = int64(i + 1)
		if events[i].AtMS == 0 {
			events[i].AtMS = d.now.UnixMilli()
		}
	}
	work := alarm.Work{Now: d.now, Events: events, Jobs: d.jobs, Open: d.open, Rules: d.rules, Watched: true, Conditions: wrong, Addressed: d.addressed, Ended: d.ended}
	dec := alarm.Decide(work)
	require.Len(d.t, dec.Events, len(events))
	for _, inc := range dec.Changed {
		if inc.ID == 0 {
			d.ids++
			inc.ID = d.ids
		}
	}
	kept := map[int64]model.Incident{}
	for _, inc := range d.open {
		kept[inc.ID] = inc
	}
	for _, inc := range dec.Changed {
		if p := dec.Parents[inc]; p != nil {
			inc.ParentID = p.ID
		}
		kept[inc.ID] = *inc
	}
	d.open = nil
	for id := int64(1); id <= d.ids; id++ {
		if inc, there := kept[id]; there && inc.Open() {
			d.open = append(d.open, inc)
		} else if there {
			d.past = append(d.past, inc)
		}
	}
	for id, status := range dec.Runs {
		d.runs[id] = status
	}
	var out []string
	for _, x := range dec.Told {
		d.wait = x.NotBeforeMS
		for _, to := range x.Targets {
			line := x.Step + " " + x.Incident.Subject + " " + to.Name
			if key := line + strconv.FormatInt(x.Incident.ID, 10); x.Step == model.StepOpened { // the outbox has it once
				if d.once[key] {
					continue
				}
				d.once[key] = true
			}
			if to.JobIDs != nil {
				line += " " + strconv.Itoa(len(to.JobIDs))
			}
			out = append(out, line)
		}
	}
	d.told = append(d.told, out...)
	return out
}

func (d *desk) after(wait time.Duration) *desk {
	d.now = d.now.Add(wait)
	return d
}

func failed(job int, run int64, reason string) model.AlarmEvent {
	return model.AlarmEvent{JobID: job, RunID: run, Reason: reason, Fires: 1}
}

func good(job int) model.AlarmEvent {
	return model.AlarmEvent{JobID: job, Reason: model.OutcomeSucceeded}
}

// TestOneIncident: told once when it opens, reminded of while it lasts, told when it is over,
// however often the job fails.
func TestOneIncident(t *testing.T) {
	d := newDesk(t, job(1, 1, "ann@example.org, bob@example.org"))
	require.Equal(t, []string{"opened job:1 ann@example.org", "opened job:1 bob@example.org"}, d.pass(failed(1, 10, model.ReasonError)))
	require.Equal(t, -1, d.runs[10])
	for i := range 30 {
		require.Empty(t, d.after(time.Minute).pass(failed(1, int64(11+i), model.ReasonTimeout)))
	}
	require.Equal(t, 1, d.runs[12])
	require.Equal(t, 31, d.open[0].Failed)
	require.Equal(t, int64(10), d.open[0].FirstRun)
	require.Equal(t, int64(40), d.open[0].LastRun)
	require.Len(t, d.after(4*time.Hour).pass(), 2)
	require.Equal(t, 1, d.open[0].Reminders)
	require.Empty(t, d.pass())
	require.Equal(t, []string{"ended job:1 ann@example.org", "ended job:1 bob@example.org"}, d.after(time.Minute).pass(good(1)))
	require.Empty(t, d.open)
	require.Equal(t, d.now.UnixMilli(), d.past[0].EndedMS)
	require.Empty(t, d.after(10*time.Hour).pass(good(1)))
	require.Len(t, d.pass(failed(1, 99, model.ReasonError)), 2, "a new one")
}

// TestNobodyToTell keeps the incident for the page; its runs are settled.
func TestNobodyToTell(t *testing.T) {
	d := newDesk(t, job(1, 1, ""))
	require.Empty(t, d.pass(failed(1, 10, model.ReasonError)))
	require.Len(t, d.open, 1)
	d.rules = alarm.Rules{{Scope: model.ScopeJob, JobID: 1, AlarmSettings: model.AlarmSettings{Off: true}}}
	require.Empty(t, d.pass(failed(1, 11, model.ReasonError), failed(7, 12, model.ReasonError)))
	require.Equal(t, map[int64]int{10: 1, 11: 1, 12: 1}, d.runs)
}

// TestAnExecutorGoesAway: a thousand jobs fail, each owner gets one message with the own
// jobs, and one when the executor answers again.
func TestAnExecutorGoesAway(t *testing.T) {
	var jobs []model.Job
	for i := range 1000 {
		jobs = append(jobs, job(i+1, 3, "ops@example.org"))
	}
	jobs[4].AlarmEmail = "five@example.org,ops@example.org"
	jobs = append(jobs, job(2000, 4, "else@example.org"))
	d := newDesk(t, jobs...)
	for i := range 1000 {
		if i%100 == 0 {
			d.after(time.Second)
		}
		require.Empty(t, d.pass(failed(i+1, int64(i+1), model.ReasonUnreached)))
	}
	require.Equal(t, []string{"opened job:2000 else@example.org"}, d.pass(failed(2000, 5000, model.ReasonError)))
	require.Equal(t, []string{"opened executor:3 ops@example.org 1000", "opened executor:3 five@example.org 1"}, d.after(25*time.Second).pass())
	require.Empty(t, d.after(time.Minute).pass(failed(1, 2001, model.ReasonUnreached)))
	require.Equal(t, []string{"ended executor:3 ops@example.org 1000", "ended executor:3 five@example.org 1"}, d.after(time.Minute).pass(good(5)))
	require.Empty(t, d.pass(good(6), good(7)))
	require.Equal(t, []string{"opened job:8 ops@example.org"}, d.pass(failed(8, 3000, model.ReasonError)), "it answers, and this one fails all the same")
}

// TestOneJobWithoutItsExecutor is told as that job, after the wait.
func TestOneJobWithoutItsExecutor(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"))
	require.Empty(t, d.pass(failed(1, 10, model.ReasonNoAddress)))
	require.Equal(t, []string{"opened job:1 a@example.org"}, d.after(alarm.GroupWait).pass())
	require.Equal(t, []string{"ended job:1 a@example.org"}, d.pass(good(1)))

	require.Empty(t, d.pass(failed(1, 11, model.ReasonNoAddress)))
	require.Empty(t, d.after(10*time.Second).pass(good(1)), "over before anybody was told: no end without a beginning")
	require.Empty(t, d.open)
}

// TestTheCenterWasAway is one message for all jobs, and one when it is calm.
func TestTheCenterWasAway(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"), job(2, 2, "a@example.org,b@example.org"))
	down := failed(1, 0, model.ReasonCenterDown)
	down.Fires = 60
	require.Empty(t, d.pass(down))
	require.Empty(t, d.after(2*time.Second).pass(failed(2, 0, model.ReasonCenterDown)))
	require.Equal(t, []string{"opened center a@example.org 2", "opened center b@example.org 1"}, d.after(3*time.Second).pass())
	for _, inc := range d.open {
		if inc.Subject == "center" {
			require.Equal(t, 61, inc.Missed)
		}
	}
	require.Len(t, d.open, 3)
	require.Equal(t, []string{"ended center a@example.org 2", "ended center b@example.org 1"}, d.after(3*time.Minute).pass())
}

// TestWhoComesLater: a job of which other people hear fails after the cause was told.
func TestWhoComesLater(t *testing.T) {
	d := newDesk(t, job(1, 3, "a@example.org"), job(2, 3, "a@example.org"), job(3, 3, "late@example.org"), job(4, 3, "late@example.org"))
	require.Empty(t, d.pass(failed(1, 11, model.ReasonUnreached), failed(2, 12, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:3 a@example.org 2"}, d.after(alarm.GroupWait).pass())
	require.Empty(t, d.after(time.Hour).pass(failed(3, 13, model.ReasonUnreached)))
	require.Equal(t, []string{"opened executor:3 late@example.org 1"}, d.after(alarm.GroupWait).pass())
	require.Equal(t, 1, d.runs[13], "part of what is told")
	require.Empty(t, d.after(time.Minute).pass(failed(3, 14, model.ReasonUnreached)))
	d.open[0].MutedMS, d.open[1].MutedMS = 0, 0
	for i := range d.open {
		if d.open[i].GroupID == 3 && d.open[i].JobID == 0 {
			d.open[i].MutedMS = model.MutedForGood
		}
	}
	require.Empty(t, d.pass(failed(4, 15, model.ReasonUnreached)))
	require.Empty(t, d.after(alarm.GroupWait).pass(), "muted")
	require.Len(t, d.pass(good(4)), 2)
}

// TestNothingHangs: what nobody is told of, and what is over before it is told, is settled on
// its run; a rule that is switched off ends reminders; a clock set back ends an incident all
// the same.
func TestNothingHangs(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"))
	require.Empty(t, d.pass(failed(1, 10, model.ReasonUnreached)))
	require.Equal(t, -1, d.runs[10])
	require.Empty(t, d.after(time.Second).pass(good(1)))
	require.Equal(t, 1, d.runs[10])

	require.Len(t, d.pass(failed(1, 20, model.ReasonError)), 1)
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Off: true}}}
	require.Empty(t, d.after(5*time.Hour).pass())
	d.rules = nil
	d.now = d.now.Add(-24 * time.Hour)
	well := good(1)
	well.RunID = 21
	require.Len(t, d.pass(well), 1)
	require.Empty(t, d.open)
	require.GreaterOrEqual(t, d.past[len(d.past)-1].EndedMS, d.past[len(d.past)-1].OpenedMS)
}

// TestManyJobsInOneMessage are cut: the column for their numbers has an end.
func TestManyJobsInOneMessage(t *testing.T) {
	var jobs []model.Job
	var events []model.AlarmEvent
	for i := range 12_000 {
		jobs = append(jobs, job(i+1, 1, "a@example.org"))
		events = append(events, failed(i+1, 0, model.ReasonCenterDown))
	}
	d := newDesk(t, jobs...)
	d.pass(events...)
	require.Equal(t, []string{"opened center a@example.org 5000"}, d.after(time.Minute).pass())
}

// TestAcknowledged: no reminders, no escalation, but the end is told. Muted: nothing but the end.
func TestAcknowledged(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"))
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{RemindMinutes: 30, EscalateMinutes: 10, EscalateTo: []string{"boss@example.org"}}}}
	d.pass(failed(1, 10, model.ReasonError))
	require.Equal(t, []string{"escalated job:1 boss@example.org"}, d.after(10*time.Minute).pass())
	require.Equal(t, []string{"reminder job:1 a@example.org"}, d.after(30*time.Minute).pass())
	d.open[0].AckedMS = d.now.UnixMilli()
	require.Empty(t, d.after(24*time.Hour).pass())
	require.Equal(t, []string{"ended job:1 a@example.org"}, d.pass(good(1)))

	d.pass(failed(1, 11, model.ReasonError))
	d.open[0].AckedMS = 1
	require.Empty(t, d.after(time.Hour).pass(), "acknowledged before the escalation")
	d.open[0].MutedMS = model.MutedForGood
	require.Len(t, d.pass(good(1)), 1)

	d.rules[0].InARow = 3
	require.Empty(t, d.pass(failed(1, 12, model.ReasonError), failed(1, 13, model.ReasonError)))
	require.Empty(t, d.pass(good(1)), "nobody was told")
	require.Empty(t, d.pass(failed(1, 14, model.ReasonError), failed(1, 15, model.ReasonError)))
	require.Len(t, d.pass(failed(1, 16, model.ReasonError)), 1)
}

// TestQuietHours hold back what is not critical, over midnight and in the zone of the rule.
func TestQuietHours(t *testing.T) {
	d := newDesk(t, job(1, 1, "a@example.org"))
	quiet := model.AlarmSettings{QuietFrom: "22:00", QuietTo: "07:00", Zone: "Europe/Berlin", Severity: model.SeverityWarning}
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: quiet}}
	require.Empty(t, d.pass(failed(1, 10, model.ReasonError))) // 03:00 in Berlin
	require.Empty(t, d.after(4*time.Hour-time.Minute).pass())
	require.Len(t, d.after(time.Minute).pass(), 1)
	require.Len(t, d.pass(good(1)), 1)
	require.Zero(t, d.wait)
	// What was told in the day and is over in the night waits for the morning.
	require.Len(t, d.pass(failed(1, 12, model.ReasonError)), 1)
	d.now = time.Date(2026, 11, 21, 22, 30, 0, 0, time.UTC) // 23:30 in Berlin
	require.Len(t, d.pass(good(1)), 1)
	require.Equal(t, time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC).UnixMilli(), d.wait)
	d.rules[0].Severity = model.SeverityCritical
	d.now = t0
	require.Len(t, d.pass(failed(1, 11, model.ReasonError)), 1)
}

// TestOneSpellingOfADomain: what an address got is counted by its text.
func TestOneSpellingOfADomain(t *testing.T) {
	d := newDesk(t, job(1, 1, "Ops@Example.ORG, nonsense"))
	require.Equal(t, []string{"opened job:1 Ops@example.org", "opened job:1 nonsense"}, d.pass(failed(1, 10, model.ReasonError)))
}

// TestWhichRule: the narrowest that fits.
func TestWhichRule(t *testing.T) {
	j := job(1, 2, "")
	j.Tags = "nightly,pay"
	rules := alarm.Rules{{ID: 1, Scope: model.ScopeDefault}, {ID: 2, Scope: model.ScopeExecutor, GroupID: 2}, {ID: 3, Scope: model.ScopeTag, Tag: "pay"}, {ID: 4, Scope: model.ScopeJob, JobID: 1}}
	for n := 4; n > 0; n-- {
		require.Equal(t, n, rules[:n].For(&j).ID)
	}
	require.Equal(t, 240, alarm.Rules{}.For(&j).RemindMinutes)
	require.Equal(t, []string{"a@b.c", "d@e.f"}, alarm.Mails(" a@b.c，Dan <d@e.f>; A@B.c"))
}

// TestWhatIsWatched: told once while it lasts, and when it is over. The jobs of an executor
// without an address belong to it, and it lasts until it has one.
func TestWhatIsWatched(t *testing.T) {
	d := newDesk(t, job(1, 3, "a@example.org"))
	d.rules = alarm.Rules{{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Mails: []string{"ops@example.org"}}}}
	gone := alarm.Condition{Subject: "node:b", Reason: model.AlarmNodeGone}
	silent := alarm.Condition{Subject: "executor:3", GroupID: 3, Reason: model.ReasonNoAddress}
	require.Equal(t, []string{"opened executor:3 ops@example.org", "opened node:b ops@example.org"}, d.watch([]alarm.Condition{gone, silent}))
	require.Empty(t, d.after(time.Minute).watch([]alarm.Condition{gone, silent}, failed(1, 10, model.ReasonNoAddress)))
	require.Equal(t, []string{"ended node:b ops@example.org", "opened executor:3 a@example.org 1"}, d.after(time.Minute).watch([]alarm.Condition{silent}))
	require.Empty(t, d.watch([]alarm.Condition{silent}, good(1)), "one address that was typed; the executor is still away")
	d.addressed = []int{3}
	require.Equal(t, []string{"ended executor:3 ops@example.org"}, d.after(time.Minute).pass())
	require.Empty(t, d.open)
}
