package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// letterbox keeps what is sent, and says no when told so.
type letterbox struct {
	mu   sync.Mutex
	got  []string // step, target and id of the message
	no   error
	then func() // after a message was taken, before the sender knows
}

func (l *letterbox) Send(_ context.Context, m model.Message) (int, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.no != nil {
		return 0, "", l.no
	}
	l.got = append(l.got, fmt.Sprintf("%s %s %d", m.Step, m.Target, m.ID))
	if l.then != nil {
		l.then()
	}
	return 250, "ok", nil
}

// office is one node with its loops.
type office struct {
	t    *testing.T
	st   *store.Store
	box  *letterbox
	now  time.Time
	desk *alarm.Engine
	post *alarm.Deliverer
}

func newOffice(t *testing.T, st *store.Store, box *letterbox, name string) *office {
	_, err := st.JoinNode(t.Context(), strings.TrimSuffix(name, "#1"), "test", "", 0)
	require.NoError(t, err)
	o := &office{t: t, st: st, box: box, now: t0}
	o.desk = &alarm.Engine{Store: st, Taken: store.ErrAlarmsTaken, Leads: func() bool { return true }}
	o.post = &alarm.Deliverer{Outbox: st, Sender: box, Owner: func() string { return name }, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return o.now }, Jitter: func(time.Duration) time.Duration { return 0 }}
	return o
}

func (o *office) work() []string {
	o.t.Helper()
	require.NoError(o.t, o.desk.Pass(o.t.Context(), o.now))
	require.NoError(o.t, o.post.Pass(o.t.Context(), o.now))
	return o.box.got
}

// end lets a run of the job end.
func end(t *testing.T, st *store.Store, j model.Job, code int, reason string, at time.Time) model.Run {
	t.Helper()
	r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhaseAccepted, at.UnixMilli() })
	_, err := st.StoreHandled(t.Context(), []model.Handled{{RunID: r.ID, Code: code, Reason: reason, AtMS: at.UnixMilli()}}, at, rule.Follower(at, "n#1"))
	require.NoError(t, err)
	return r
}

func status(t *testing.T, st *store.Store, r model.Run) int {
	t.Helper()
	r, err := st.Run(t.Context(), r.ID)
	require.NoError(t, err)
	return r.AlarmStatus
}

// TestAlarmFromRunToAnswer: what a run decides is told once, whoever of two nodes is faster,
// and the run says so.
func TestAlarmFromRunToAnswer(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		box := &letterbox{}
		one, two := newOffice(t, st, box, "one#1"), newOffice(t, st, box, "two#1")
		require.Empty(t, one.work())
		first := end(t, st, j, 500, "", t0)
		second := end(t, st, j, 500, "", t0.Add(time.Second))
		var wg sync.WaitGroup
		for _, o := range []*office{one, two} {
			wg.Go(func() {
				for range 5 {
					if err := errors.Join(o.desk.Pass(t.Context(), t0), o.post.Pass(t.Context(), t0)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, []string{"opened a@example.org 1"}, box.got)
		require.Equal(t, 2, status(t, st, first))
		require.Equal(t, 1, status(t, st, second))
		list, err := st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, 2, list[0].Failed)
		require.Equal(t, second.ID, list[0].LastRun)

		third := end(t, st, j, 500, "", t0.Add(1500*time.Millisecond))
		news, err := st.AlarmEvents(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, news, "they were told already")
		require.Equal(t, 1, status(t, st, third))
		end(t, st, j, 200, "", t0.Add(2*time.Second))
		require.Len(t, one.work(), 2)
		over, err := st.Incident(t.Context(), list[0].ID)
		require.NoError(t, err)
		require.Equal(t, 3, over.Failed)
		require.Contains(t, box.got[1], "ended")
		list, err = st.OpenIncidents(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, list)
		n, err := st.RemoveIncidents(t.Context(), t0.Add(time.Hour), 10)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// TestWhereverItIsKilled: a node that dies between deciding, claiming, sending and writing the
// answer down loses nothing, and doubles only what the server took without the node knowing:
// the same message with the same id.
func TestWhereverItIsKilled(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		box := &letterbox{}
		old, next := newOffice(t, st, box, "old#1"), newOffice(t, st, box, "next#1")
		end(t, st, j, 500, "", t0)

		// Decided, not committed.
		work, err := st.AlarmEvents(ctx, 10)
		require.NoError(t, err)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		d := alarm.Decide(alarm.Work{Now: t0, Events: work, Jobs: map[int]model.Job{j.ID: j}})
		require.Error(t, st.SaveAlarms(gone, d, t0))
		list, err := st.OpenIncidents(ctx, 10)
		require.NoError(t, err)
		require.Empty(t, list)

		// Decided; claimed, not sent.
		require.NoError(t, old.desk.Pass(ctx, t0))
		due, err := st.DueMessages(ctx, "", t0.UnixMilli(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		mine, err := st.ClaimMessage(ctx, &due[0], "old#1", t0.Add(2*time.Minute).UnixMilli())
		require.NoError(t, err)
		require.True(t, mine)
		require.Empty(t, next.work(), "somebody is at it")
		next.now = t0.Add(2 * time.Minute)

		// Sent by the next, which dies before it writes that down.
		dead, kill := context.WithCancel(ctx)
		box.then = kill
		_ = next.post.Pass(dead, next.now)
		require.Len(t, box.got, 1)
		box.then = nil
		last := newOffice(t, st, box, "last#1")
		last.now = next.now.Add(2 * time.Minute)
		require.Len(t, last.work(), 2)
		require.Equal(t, box.got[0], box.got[1], "the same message once more")
		require.Len(t, last.work(), 2)

		// Who lost the message writes nothing about it.
		due[0].State, due[0].Answer = model.OutboxFailed, "late"
		require.NoError(t, st.RecordMessage(ctx, due[0]))
		told, err := st.MessagesOf(ctx, due[0].IncidentID, 10)
		require.NoError(t, err)
		require.Equal(t, model.OutboxSent, told[0].State)
		require.Equal(t, "ok", told[0].Answer)
		require.Equal(t, 3, told[0].Attempts)
	})
}

// TestAnHourWithoutMail is summed up once, and the next alarm is a message of its own.
func TestAnHourWithoutMail(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{no: &alarm.Refused{Code: 421, Text: "try again later"}}
		o := newOffice(t, st, box, "one#1")
		for i := range 12 {
			j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
			end(t, st, j, 500, "", o.now)
			for range 30 {
				o.work()
				o.now = o.now.Add(10 * time.Second)
			}
			require.Empty(t, box.got, i)
		}
		box.no = nil
		for range 200 {
			o.work()
			o.now = o.now.Add(10 * time.Second)
		}
		require.Len(t, box.got, 1, "%v", box.got)
		require.Contains(t, box.got[0], "digest")
		in, err := st.MessagesIn(t.Context(), digestOf(t, box.got[0]), 100)
		require.NoError(t, err)
		require.Len(t, in, 12)
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		end(t, st, j, 500, "", o.now)
		require.Len(t, o.work(), 2)
		require.Contains(t, box.got[1], "opened")
		// What is refused for good is not tried again, and the run says so.
		box.no = &alarm.Refused{Code: 550, Text: "no such user", Permanent: true}
		j = running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "b@example.org" }), t0)
		r := end(t, st, j, 500, "", o.now)
		o.work()
		require.Equal(t, 3, status(t, st, r))
		box.no = nil
		o.now = o.now.Add(time.Hour)
		require.Len(t, o.work(), 2)
	})
}

// TestAStorm of failing jobs is fifteen messages and then one every ten minutes.
func TestAStorm(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		for range 12 { // five minutes each
			for range 5 {
				j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
				end(t, st, j, 500, "", o.now)
			}
			for range 30 {
				o.work()
				o.now = o.now.Add(10 * time.Second)
			}
		}
		require.LessOrEqual(t, len(box.got), 15+6)
		require.GreaterOrEqual(t, len(box.got), 15+3)
		require.Contains(t, box.got[len(box.got)-1], "digest")
	})
}

func digestOf(t *testing.T, line string) (id int64) {
	t.Helper()
	_, err := fmt.Sscanf(line, "digest a@example.org %d", &id)
	require.NoError(t, err)
	return id
}

// TestFailedAndWellAtOnce: both outcomes arrive in one transaction, in either order; two
// outcomes pass each other; nothing stays open.
func TestFailedAndWellAtOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		open := func() int {
			list, err := st.OpenIncidents(t.Context(), 10)
			require.NoError(t, err)
			return len(list)
		}
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		var list []model.Handled
		for n, code := range []int{500, 200} {
			r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhaseAccepted, t0.UnixMilli()+int64(n) })
			// The later run ends first.
			list = append(list, model.Handled{RunID: r.ID, Code: code, AtMS: t0.Add(time.Duration(-n) * time.Second).UnixMilli()})
		}
		_, err := st.StoreHandled(t.Context(), list, t0, rule.Follower(t0, "n#1"))
		require.NoError(t, err)
		o.work()
		require.Zero(t, open())

		// The event of the success was read before that of the failure.
		require.NoError(t, st.SaveAlarms(t.Context(), &model.AlarmDecision{Changed: []*model.Incident{{Subject: fmt.Sprint("job:", j.ID), JobID: j.ID, GroupID: g.ID,
			Severity: model.SeverityCritical, Reason: model.ReasonError, Failed: 1, OpenedMS: t0.UnixMilli(), LastMS: t0.UnixMilli(), ToldMS: 1}}}, t0))
		require.Equal(t, 1, open())
		o.now = t0.Add(time.Minute)
		o.work()
		require.Zero(t, open())
	})
}

// TestWhoWasToldHearsOfTheEnd: whatever the job says by then, and with all jobs that the
// address heard of; who was not told hears nothing.
func TestWhoWasToldHearsOfTheEnd(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		end(t, st, j, 500, "", t0)
		require.Len(t, o.work(), 1)
		j.AlarmEmail = "new@example.org"
		require.NoError(t, st.UpdateJob(t.Context(), &j, false, false, t0))
		end(t, st, j, 200, "", t0.Add(time.Second))
		require.Equal(t, []string{"opened a@example.org 1", "ended a@example.org 2"}, o.work())

		inc := &model.Incident{Subject: "executor:1", GroupID: g.ID, Severity: model.SeverityCritical, Reason: model.ReasonUnreached, OpenedMS: 1, LastMS: 1, ToldMS: 1}
		tell := func(step string, n int, jobs ...int) {
			require.NoError(t, st.SaveAlarms(t.Context(), &model.AlarmDecision{Changed: []*model.Incident{inc}, Told: []model.Telling{{Incident: inc, Step: step, N: n,
				Targets: []model.TellTarget{{Channel: model.ChannelMail, Name: "b@example.org", JobIDs: jobs}}}}}, t0))
		}
		tell(model.StepOpened, 0, 1, 2)
		tell(model.StepReminder, 1, 2, 3)
		inc.Version++
		tell(model.StepEnded, 0, 9)
		list, err := st.MessagesOf(t.Context(), inc.ID, 10)
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, list[len(list)-1].JobIDs)
	})
}

// TestFailsAgainBeforeAnybodyLooked: a success and a new failure follow a trouble that was
// told, before the success is decided about: the new trouble is told as well.
func TestFailsAgainBeforeAnybodyLooked(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		j := running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		end(t, st, j, 500, "", t0)
		require.Len(t, o.work(), 1)
		end(t, st, j, 200, "", t0.Add(time.Second))
		last := end(t, st, j, 500, "", t0.Add(2*time.Second))
		require.Len(t, o.work(), 3, "%v", box.got)
		require.Contains(t, box.got[1]+box.got[2], "opened")
		require.Equal(t, 2, status(t, st, last))
	})
}

// TestOutcomesAndDecisionsAtOnce lets jobs fail and succeed on four connections while two
// nodes decide: no deadlock comes through, and in the end the incidents that are open are
// those of the jobs that fail.
func TestOutcomesAndDecisionsAtOnce(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		box := &letterbox{}
		var jobs []model.Job
		for range 8 {
			jobs = append(jobs, running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0))
		}
		one, two := newOffice(t, st, box, "one#1"), newOffice(t, st, box, "two#1")
		ctx, stop := context.WithCancel(t.Context())
		var work, desks sync.WaitGroup
		for _, o := range []*office{one, two} {
			desks.Go(func() {
				for ctx.Err() == nil {
					if err := errors.Join(o.desk.Pass(t.Context(), t0), o.post.Pass(t.Context(), t0)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for n := range 4 {
			work.Go(func() {
				for round := range 12 {
					var list []model.Handled
					for i, j := range jobs {
						r := storetest.Run(t, st, j, func(r *model.Run) { r.Phase, r.PlannedMS = model.PhaseAccepted, t0.UnixMilli() })
						list = append(list, model.Handled{RunID: r.ID, Code: 200 + 300*((n+round+i)%2), AtMS: t0.Add(time.Duration(round) * time.Millisecond).UnixMilli()})
					}
					if _, err := st.StoreHandled(t.Context(), list, t0, rule.Follower(t0, "n#1")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		stop()
		desks.Wait()
		for range 3 { // what passed each other is found out
			one.now = one.now.Add(time.Minute)
			one.work()
		}
		list, err := st.OpenIncidents(t.Context(), 100)
		require.NoError(t, err)
		open := map[int]bool{}
		for _, i := range list {
			open[i.JobID] = true
		}
		for _, j := range jobs {
			failing, err := st.Streaks(t.Context(), []int{j.ID})
			require.NoError(t, err)
			_, fails := failing[j.ID]
			require.Equal(t, fails, open[j.ID], "job %d", j.ID)
		}
	})
}

// TestARuleOfATag holds for the jobs that have the tag: for what becomes of their runs, and for
// what is watched.
func TestARuleOfATag(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		g := storetest.Group(t, st, "app-one", "http://10.0.0.1:9999/")
		_, err := st.SaveAlarmRule(t.Context(), model.AlarmRule{Name: "r", Scope: model.ScopeTag, Tag: "pay", AlarmSettings: model.AlarmSettings{Mails: []string{"pay@example.org"}, OverrunMinutes: 1, DoneBy: "01:00"}})
		require.NoError(t, err)
		box := &letterbox{}
		o := newOffice(t, st, box, "one#1")
		o.desk.Next = func(*model.Job, time.Time) (time.Time, bool) { return t0.Add(time.Minute), true }
		for _, tags := range []string{"nightly,pay", "nightly"} {
			add := func() model.Job {
				return running(t, st, storetest.Job(t, st, g.ID, func(j *model.Job) {
					j.Tags, j.ScheduleType, j.ScheduleConf, j.UpdateTime = tags, model.ScheduleCron, "0 1 0 * * ?", t0.Add(-time.Hour)
				}), t0.Add(100*time.Hour))
			}
			end(t, st, add(), 500, "", t0)
			storetest.Run(t, st, add(), func(r *model.Run) { r.Phase, r.PlannedMS = model.PhaseAccepted, t0.UnixMilli() })
		}
		write(t, st, `UPDATE xxl_job_info SET trigger_last_time = ?, update_time = ?`, t0.UnixMilli(), t0.Add(-time.Hour).Format("2006-01-02 15:04:05"))
		o.tick(2 * time.Minute)
		require.Equal(t, []string{"pay@example.org", "pay@example.org"}, openedTo(box), "one failed, one takes too long")
		o.tick(time.Hour)
		require.Len(t, openedTo(box), 4, "and neither was done by one o'clock")
	})
}

// TestQuietHoursOfTheCenter: a rule that names no zone has that of the center, and what is over
// in quiet hours is told after them.
func TestQuietHoursOfTheCenter(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		box := &letterbox{}
		o := newOffice(t, st, box, "n#1")
		o.desk.Zone = time.FixedZone("", 8*3600) // 08:00 at t0
		_, err := st.SaveAlarmRule(t.Context(), model.AlarmRule{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Severity: model.SeverityWarning, QuietFrom: "07:30", QuietTo: "09:00"}})
		require.NoError(t, err)
		j := running(t, st, storetest.Job(t, st, storetest.Group(t, st, "app", "").ID, func(j *model.Job) { j.AlarmEmail = "a@example.org" }), t0)
		end(t, st, j, 500, "", o.now)
		require.Empty(t, o.work())
		o.now = t0.Add(time.Hour)
		require.Len(t, o.work(), 1, "at 09:00")
		o.now = t0.Add(23*time.Hour + 45*time.Minute)
		end(t, st, j, 200, "", o.now)
		require.Len(t, o.work(), 1, "at 07:45")
		o.now = t0.Add(25 * time.Hour)
		got := o.work()
		require.Len(t, got, 2, "at 09:00 of the next day")
		require.Contains(t, got[1], "ended a@example.org")
	})
}
