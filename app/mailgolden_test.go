package app

import (
	"context"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jhillyerd/enmime/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/mail"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

var update = flag.Bool("update", false, "write testdata/mails again")

var languages = []string{"zh-Hans", "zh-Hant", "en"}

// mailTime is when all mails of the tests are written.
var mailTime = time.Date(2026, 11, 20, 3, 4, 5, 0, time.UTC)

// hostileName and hostileLog are what somebody could write who means ill, or knows no better.
const (
	hostileName = "Nightly\r\nBcc: eve@example.org\r\n\r\n\u202egolb\u202c 🧾 =?utf-8?B?PGI+?= <b>\"é\"</b>"
	hostileNote = "# On call\n\n**Ring** the bank, see [wiki](https://wiki.example.org/ledger) or [this](javascript:alert(1)).\n\n<script>alert(2)</script><img src=x onerror=alert(3)>\n\n- `systemctl restart ledger`\n- \u202eetirw\u202c\n"
)

const (
	plainNote = "**Before 06:00** ring the treasury desk, ext. 4711.\n\n1. Is the ledger locked? See the [runbook](https://wiki.example.org/settlement).\n2. Free it with `ledger unlock`, then run the job again."
	plainLog  = "2026-11-20 11:00:05 Settlement of 2026-11-19 begins\n2026-11-20 11:00:06 1,284 accounts\n2026-11-20 11:01:05 account 4711: the ledger is locked by batch 77\n2026-11-20 11:01:06 java.lang.IllegalStateException: ledger locked\n\tat Ledger.book(Ledger.java:42)\n"
)

var hostileLog = "2026-11-20 03:00:00 <script>alert('log')</script> & </pre></table>\n" +
	"\x1b[31mred\x1b[0m bell\a null\x00 back\b \u202eesrever\u202c broken \xff\xfe tail\r\n" +
	strings.Repeat("x", 1<<20) + "\n.\n..\nFrom nobody\njava.lang.IllegalStateException: 余额不足"

// logs are executors that have only a log.
type logs struct {
	jobs.Executors
	text string
}

func (l *logs) ReadLog(_ context.Context, _ string, _ int64, _ time.Time, line int) (model.LogChunk, error) {
	lines := strings.SplitAfter(l.text, "\n")
	return model.LogChunk{From: line, To: len(lines), Content: strings.Join(lines[line-1:], ""), End: true}, nil
}

// tray is an SMTP server that keeps the last mail.
type tray struct{ raw string }

func (y *tray) NewSession(*smtp.Conn) (smtp.Session, error) { return y, nil }
func (y *tray) Mail(string, *smtp.MailOptions) error        { return nil }
func (y *tray) Rcpt(string, *smtp.RcptOptions) error        { return nil }
func (y *tray) Reset()                                      {}
func (y *tray) Logout() error                               { return nil }
func (y *tray) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	y.raw = string(b)
	return err
}

func openTray(t *testing.T) (*tray, *mail.Sender) {
	t.Helper()
	y := &tray{}
	s := smtp.NewServer(y)
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	c, err := mail.ParseURL("smtp://" + l.Addr().String() + "?tls=none")
	require.NoError(t, err)
	c.From = "Carillon <carillon@example.org>"
	out, err := mail.New(c)
	require.NoError(t, err)
	return y, out
}

// press is a center that writes mails about what the tests put into its tables.
type press struct {
	*teller
	t    *testing.T
	tray *tray
	logs *logs
}

func newPress(t *testing.T) *press {
	st := storetest.OpenURL(t, "sqlite:"+filepath.Join(t.TempDir(), "mails.db"), time.UTC)
	texts, err := i18n.New("en")
	require.NoError(t, err)
	zone, err := time.LoadLocation("Asia/Taipei")
	require.NoError(t, err)
	now := func() time.Time { return mailTime }
	y, out := openTray(t)
	_, err = st.Secret(t.Context(), "alarm_links", strings.Repeat("5e", 32)) // so that the links are the same each time
	require.NoError(t, err)
	log := &logs{text: plainLog}
	svc := jobs.New(jobs.Options{Store: st, Executors: log, Now: now, Location: time.UTC})
	return &press{t: t, tray: y, logs: log, teller: &teller{jobs: svc, store: st, texts: texts, lang: "en", zone: zone, base: "https://carillon.example.org", mail: out, now: now}}
}

// decide writes what a pass would have decided.
func (p *press) decide(d model.AlarmDecision) {
	p.t.Helper()
	require.NoError(p.t, p.store.SaveAlarms(p.t.Context(), &d, mailTime.Add(-time.Minute)))
}

func (p *press) job(group int, name, note string) model.Job {
	p.t.Helper()
	j := storetest.Job(p.t, p.store, group, func(j *model.Job) {
		j.Name, j.Author, j.AlarmEmail = name, "Li Lei", "oncall@example.org"
	})
	require.NoError(p.t, p.store.SetJobStatus(p.t.Context(), j.ID, j.Version, model.JobRunning, mailTime.Add(90*time.Minute).UnixMilli(), mailTime))
	if note != "" {
		require.NoError(p.t, p.store.SetJobNote(p.t.Context(), j.ID, "", note))
	}
	return j
}

// run writes a run that has ended.
func (p *press) run(j model.Job, change func(*model.Run)) model.Run {
	p.t.Helper()
	at := mailTime.Add(-4 * time.Minute)
	var end model.Handled
	r := storetest.Run(p.t, p.store, j, func(r *model.Run) {
		r.Phase, r.TriggerTime, r.PlannedMS, r.SentMS, r.FinishedMS = model.PhaseFinished, at, at.UnixMilli(), at.UnixMilli()+200, at.UnixMilli()+61_000
		r.Address, r.TriggerCode, r.TriggerType = "http://10.1.2.3:9999/", 200, model.TriggerCron
		change(r)
		if r.HandleCode != 0 { // its texts are written with its end
			end = model.Handled{Code: r.HandleCode, Msg: r.HandleMsg, AtMS: r.FinishedMS}
			r.Phase, r.HandleCode, r.HandleMsg, r.FinishedMS = model.PhaseAccepted, 0, "", 0
		}
	})
	if end.Code != 0 {
		end.RunID = r.ID
		_, err := p.store.StoreHandled(p.t.Context(), []model.Handled{end}, mailTime, func(model.Run, map[int]model.Job) []model.Run { return nil })
		require.NoError(p.t, err)
	}
	return r
}

// incident gives one that lasts since five minutes.
func incident(subject string, job, group int, change func(*model.Incident)) *model.Incident {
	i := &model.Incident{Subject: subject, JobID: job, GroupID: group, Severity: model.SeverityCritical,
		OpenedMS: mailTime.Add(-5 * time.Minute).UnixMilli(), LastMS: mailTime.Add(-3 * time.Minute).UnixMilli()}
	change(i)
	return i
}

var executors = []string{"Settlement", "Interest of the day", "對帳"}

// scenes put one message each into the outbox.
var scenes = map[string]func(p *press) model.Message{
	"opened-failed": (*press).hostile,
	"opened-plain":  func(p *press) model.Message { return p.failed(model.StepOpened, "Settlement", plainNote, 0) },
	"opened-node":   func(p *press) model.Message { return p.center("node:b", model.AlarmNodeGone) },
	"opened-loop":   func(p *press) model.Message { return p.center("loop:a/plan", model.AlarmLoopSick) },
	"reminder":      func(p *press) model.Message { return p.failed(model.StepReminder, "Settlement", "Ring the bank.", 0) },
	"escalated":     func(p *press) model.Message { return p.failed(model.StepEscalated, "Settlement", "Ring the bank.", 0) },
	"ended-job": func(p *press) model.Message {
		return p.failed(model.StepEnded, "Settlement", "Ring the bank.", 47*time.Minute)
	},
	"opened-missed":   (*press).missed,
	"opened-executor": func(p *press) model.Message { return p.many(model.StepOpened, "executor", model.ReasonUnreached, 0) },
	"reminder-many":   func(p *press) model.Message { return p.many(model.StepReminder, "executor", model.ReasonUnreached, 0) },
	"escalated-many": func(p *press) model.Message {
		return p.many(model.StepEscalated, "database", model.ReasonNoDatabase, 0)
	},
	"opened-center":   func(p *press) model.Message { return p.many(model.StepOpened, "center", model.ReasonCenterDown, 0) },
	"opened-database": func(p *press) model.Message { return p.many(model.StepOpened, "database", model.ReasonNoDatabase, 0) },
	"ended-many": func(p *press) model.Message {
		return p.many(model.StepEnded, "executor", model.ReasonUnreached, 4*time.Minute)
	},
	"ended-center": func(p *press) model.Message {
		return p.many(model.StepEnded, "center", model.ReasonCenterDown, 4*time.Minute)
	},
	"digest": (*press).summed,
	"opened-overrun": func(p *press) model.Message {
		return p.overrun(model.StepOpened, model.AlarmOverrun, model.AlarmDetail{LimitMS: 45 * 60_000})
	},
	"opened-unusual": func(p *press) model.Message {
		return p.overrun(model.StepOpened, model.AlarmUnusual, model.AlarmDetail{LimitMS: 36 * 60_000, UsualMS: 12 * 60_000})
	},
	"reminder-overrun": func(p *press) model.Message {
		return p.overrun(model.StepReminder, model.AlarmOverrun, model.AlarmDetail{LimitMS: 45 * 60_000})
	},
	"escalated-overrun": func(p *press) model.Message {
		return p.overrun(model.StepEscalated, model.AlarmOverrun, model.AlarmDetail{LimitMS: 45 * 60_000})
	},
	"opened-broken":    func(p *press) model.Message { return p.broken(model.StepOpened) },
	"reminder-broken":  func(p *press) model.Message { return p.broken(model.StepReminder) },
	"escalated-broken": func(p *press) model.Message { return p.broken(model.StepEscalated) },
	"ended-broken":     func(p *press) model.Message { return p.broken(model.StepEnded) },
	"opened-late":      func(p *press) model.Message { return p.late(model.StepOpened) },
	"reminder-late":    func(p *press) model.Message { return p.late(model.StepReminder) },
	"escalated-late":   func(p *press) model.Message { return p.late(model.StepEscalated) },
	"ended-late":       func(p *press) model.Message { return p.late(model.StepEnded) },
	"opened-lates":     func(p *press) model.Message { return p.lates(model.StepOpened) },
	"reminder-lates":   func(p *press) model.Message { return p.lates(model.StepReminder) },
	"escalated-lates":  func(p *press) model.Message { return p.lates(model.StepEscalated) },
	"ended-lates":      func(p *press) model.Message { return p.lates(model.StepEnded) },
	"opened-disk":      func(p *press) model.Message { return p.trouble("disk:a /var/lib/carillon", model.AlarmDiskFull, 93) },
	"opened-slowdb":    func(p *press) model.Message { return p.trouble("slowdb", model.AlarmDatabaseSlow, 420) },
	"opened-capacity":  func(p *press) model.Message { return p.trouble("capacity:a", model.AlarmOverCapacity, 12_345) },
	"opened-retention": func(p *press) model.Message {
		return p.told(model.StepOpened, incident("retention", 0, 0, func(i *model.Incident) {
			i.Reason, i.Detail = model.AlarmRetention, model.AlarmDetail{DueMS: mailTime.Add(-50 * time.Hour).UnixMilli()}.Text()
		}))
	},
	"opened-attempt":     func(p *press) model.Message { return p.attempt() },
	"opened-deadline":    func(p *press) model.Message { return p.deadline(model.StepOpened) },
	"reminder-deadline":  func(p *press) model.Message { return p.deadline(model.StepReminder) },
	"escalated-deadline": func(p *press) model.Message { return p.deadline(model.StepEscalated) },
	"ended-deadline":     func(p *press) model.Message { return p.deadline(model.StepEnded) },
	"ended-overrun": func(p *press) model.Message {
		return p.overrun(model.StepEnded, model.AlarmOverrun, model.AlarmDetail{LimitMS: 45 * 60_000})
	},
}

func (p *press) hostile() model.Message {
	p.logs.text = hostileLog
	return p.failed(model.StepOpened, hostileName, hostileNote, 0)
}

// trouble is what a node says is wrong with it.
func (p *press) trouble(subject, reason string, n int64) model.Message {
	return p.told(model.StepOpened, incident(subject, 0, 0, func(i *model.Incident) { i.Reason, i.Detail = reason, model.AlarmDetail{N: n}.Text() }))
}

// center is trouble of the center itself.
func (p *press) center(subject, reason string) model.Message {
	return p.told(model.StepOpened, incident(subject, 0, 0, func(i *model.Incident) { i.Reason = reason }))
}

func (p *press) failed(step, name, note string, lasted time.Duration) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, name, note)
	p.run(j, func(r *model.Run) { r.HandleCode, r.FinishedMS = 200, mailTime.Add(-time.Hour).UnixMilli() })
	r := p.run(j, func(r *model.Run) {
		r.HandleCode, r.HandleMsg = 500, "java.lang.IllegalStateException: <balance> & \"ledger\" locked\n\tat Ledger.java:42"
	})
	inc := incident("job:1", j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.Failed, i.FirstRun, i.LastRun = model.ReasonError, 1, r.ID, r.ID
		if step != model.StepOpened {
			i.Failed, i.Missed = 1203, 1
			i.AckedBy = "Han Meimei"
		}
		if lasted > 0 {
			i.EndedMS = i.OpenedMS + lasted.Milliseconds()
		}
	})
	return p.told(step, inc)
}

func (p *press) missed() model.Message {
	g := storetest.Group(p.t, p.store, "billing", "")
	j := p.job(g.ID, "Settlement", "")
	r := p.run(j, func(r *model.Run) {
		r.Phase, r.Reason, r.Address, r.TriggerCode, r.SentMS, r.MissedFires = model.PhaseMissed, model.ReasonDiscarded, "", 0, 0, 1
	})
	return p.told(model.StepOpened, incident("job:1", j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.Missed, i.FirstRun, i.LastRun = model.ReasonDiscarded, 1, r.ID, r.ID
	}))
}

func (p *press) exec(query string, args ...any) {
	p.t.Helper()
	db, done, err := p.store.MigrationDB()
	require.NoError(p.t, err)
	_, err = db.ExecContext(p.t.Context(), query, args...)
	require.NoError(p.t, err)
	require.NoError(p.t, done())
}

// overrun is a run that was sent 50 minutes ago; one that is over ended just now.
func (p *press) overrun(step, reason string, d model.AlarmDetail) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, "Settlement", plainNote)
	at := mailTime.Add(-50 * time.Minute).UnixMilli()
	r := p.run(j, func(r *model.Run) {
		r.Phase, r.PlannedMS, r.SentMS, r.FinishedMS = model.PhaseAccepted, at, at, 0
		if step == model.StepEnded {
			r.HandleCode, r.FinishedMS = 200, mailTime.Add(-4*time.Second).UnixMilli()
		}
	})
	p.exec(`UPDATE xxl_job_log SET sent_time = ? WHERE id = ?`, at, r.ID)
	d.SentMS = at
	return p.told(step, incident(model.WatchedJob(model.WatchOverrun, j.ID), j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.LastRun, i.Detail = reason, r.ID, d.Text()
		if step == model.StepEnded {
			i.EndedMS = mailTime.UnixMilli()
		}
	}))
}

// attempt is a run that failed and will be tried again, of a job with three failures of late.
func (p *press) attempt() model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, "Settlement", "")
	r := p.run(j, func(r *model.Run) { r.HandleCode, r.HandleMsg = 500, "ledger locked" })
	return p.told(model.StepOpened, incident(model.JobSubject(j.ID), j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.FirstRun, i.LastRun, i.Detail = model.AlarmAttempt, r.ID, r.ID, model.AlarmDetail{Recent: 3, OutOf: 10}.Text()
	}))
}

// broken is a job that cannot be planned; one that is over is mended.
func (p *press) broken(step string) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, "Settlement", plainNote)
	if step != model.StepEnded {
		p.exec(`UPDATE xxl_job_info SET trigger_status = 0, trigger_next_time = 0, carillon_condition = ?, carillon_reason = ? WHERE id = ?`,
			model.JobQuarantined, model.Say("broken_run_mode", "Value", "GLUE_COBOL").Encode(), j.ID)
	}
	return p.told(step, incident(model.WatchedJob(model.WatchBroken, j.ID), j.ID, g.ID, func(i *model.Incident) {
		if i.Reason = model.AlarmBroken; step == model.StepEnded {
			i.EndedMS = mailTime.UnixMilli()
		}
	}))
}

// late is a run that waits since eleven minutes; one that is over was sent four minutes ago.
func (p *press) late(step string) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, "Settlement", plainNote)
	due := mailTime.Add(-11 * time.Minute).UnixMilli()
	r := p.run(j, func(r *model.Run) {
		r.PlannedMS, r.FinishedMS = due, 0
		if r.Phase, r.SentMS = model.PhaseAccepted, mailTime.Add(-4*time.Minute).UnixMilli(); step != model.StepEnded {
			r.Phase, r.SentMS, r.Address, r.TriggerCode = model.PhasePlanned, 0, "", 0
		}
	})
	if step == model.StepEnded {
		p.exec(`UPDATE xxl_job_log SET sent_time = ? WHERE id = ?`, mailTime.Add(-4*time.Minute).UnixMilli(), r.ID)
	}
	d := model.AlarmDetail{DueMS: due, LimitMS: 10 * 60_000}
	return p.told(step, incident(model.WatchedJob(model.WatchLate, j.ID), j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.Detail, i.OpenedMS, i.LastRun = model.AlarmLate, d.Text(), due, r.ID
		if step == model.StepEnded {
			i.EndedMS = mailTime.UnixMilli()
		}
	}))
}

// lates are two jobs that wait since some minutes; the reader may know of both.
func (p *press) lates(step string) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	due := mailTime.Add(-11 * time.Minute).UnixMilli()
	top := incident(model.WatchLates+":1/0", 0, g.ID, func(i *model.Incident) {
		if i.Reason, i.OpenedMS = model.AlarmLate, due; step == model.StepEnded {
			i.EndedMS = mailTime.UnixMilli()
		}
	})
	d := model.AlarmDecision{Changed: []*model.Incident{top}, Parents: map[*model.Incident]*model.Incident{}}
	for _, name := range executors[:2] {
		j := p.job(g.ID, name, "")
		x := incident(model.WatchedJob(model.WatchLate, j.ID), j.ID, g.ID, func(i *model.Incident) { i.Reason = model.AlarmLate })
		d.Changed, d.Parents[x] = append(d.Changed, x), top
	}
	p.decide(d)
	return p.put(model.Telling{Incident: top, Step: step, Targets: []model.TellTarget{{Channel: model.ChannelMail, Name: "oncall@example.org", JobIDs: []int{1, 2}}}})
}

// deadline is a job that had to be done an hour ago; one that is over was done four minutes ago.
func (p *press) deadline(step string) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	j := p.job(g.ID, "Settlement", plainNote)
	due := mailTime.Add(-time.Hour - 4*time.Minute - 5*time.Second).UnixMilli()
	p.run(j, func(r *model.Run) {
		if r.HandleCode = 200; step != model.StepEnded {
			r.HandleCode, r.HandleMsg = 500, "ledger locked"
		}
	})
	d := model.AlarmDetail{DueMS: due, FromMS: due}
	return p.told(step, incident(model.WatchedJob(model.WatchDeadline, j.ID), j.ID, g.ID, func(i *model.Incident) {
		i.Reason, i.Detail, i.OpenedMS = model.AlarmNotDone, d.Text(), due
		if step == model.StepEnded {
			i.EndedMS = mailTime.UnixMilli()
		}
	}))
}

// many is an incident of 23 jobs; the reader may know of three.
func (p *press) many(step, kind, reason string, lasted time.Duration) model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	subject, group := kind, 0
	if kind == "executor" {
		subject, group = "executor:1", g.ID
	}
	top := incident(subject, 0, group, func(i *model.Incident) {
		i.Reason, i.Failed = reason, 23
		if kind != "executor" {
			i.Failed, i.Missed = 0, 1204
		}
		if lasted > 0 {
			i.EndedMS = i.OpenedMS + lasted.Milliseconds()
		}
	})
	d := model.AlarmDecision{Changed: []*model.Incident{top}, Parents: map[*model.Incident]*model.Incident{}}
	secret := p.job(g.ID, "Salaries of the board", "The password is in the safe.")
	r := p.run(secret, func(r *model.Run) { r.HandleCode, r.HandleMsg = 500, "salary of A. Smith" })
	top.FirstRun, top.LastRun = r.ID, r.ID
	for _, name := range executors {
		j := p.job(g.ID, name, "")
		x := incident("job:"+name, j.ID, g.ID, func(i *model.Incident) { i.Reason, i.Failed = reason, 1 })
		d.Changed, d.Parents[x] = append(d.Changed, x), top
	}
	p.decide(d)
	return p.put(model.Telling{Incident: top, Step: step, Targets: []model.TellTarget{{Channel: model.ChannelMail, Name: "oncall@example.org", JobIDs: []int{2, 3, 4}}}})
}

func (p *press) summed() model.Message {
	g := storetest.Group(p.t, p.store, "billing", "http://10.1.2.3:9999/")
	var d model.AlarmDecision
	for n, step := range []string{model.StepOpened, model.StepReminder, model.StepEscalated, model.StepEnded} {
		j := p.job(g.ID, "Job "+string(rune('A'+n)), "")
		x := incident("job:"+j.Name, j.ID, g.ID, func(i *model.Incident) {
			i.Reason, i.Failed = model.ReasonError, 1
			if step == model.StepEnded {
				i.EndedMS = mailTime.UnixMilli()
			}
		})
		p.decide(model.AlarmDecision{Changed: []*model.Incident{x}})
		t := model.Telling{Incident: x, Step: step, Targets: []model.TellTarget{{Channel: model.ChannelMail, Name: "oncall@example.org"}}}
		p.toldBefore(t)
		d.Told = append(d.Told, t)
	}
	p.decide(d)
	due, err := p.store.DueMessages(p.t.Context(), "", mailTime.UnixMilli(), 10)
	require.NoError(p.t, err)
	_, err = p.store.FoldMessages(p.t.Context(), due, mailTime)
	require.NoError(p.t, err)
	due, err = p.store.DueMessages(p.t.Context(), "", mailTime.UnixMilli(), 10)
	require.NoError(p.t, err)
	require.Len(p.t, due, 1)
	return due[0]
}

func (p *press) told(step string, i *model.Incident) model.Message {
	p.decide(model.AlarmDecision{Changed: []*model.Incident{i}})
	return p.put(model.Telling{Incident: i, Step: step, Targets: []model.TellTarget{{Channel: model.ChannelMail, Name: "oncall@example.org"}}})
}

// toldBefore writes down that somebody was told of the beginning: only they hear of the end.
func (p *press) toldBefore(x model.Telling) {
	if x.Step != model.StepEnded {
		return
	}
	x.Step = model.StepOpened
	p.decide(model.AlarmDecision{Told: []model.Telling{x}})
	due, err := p.store.DueMessages(p.t.Context(), "", mailTime.UnixMilli(), 100)
	require.NoError(p.t, err)
	for _, m := range due {
		if m.IncidentID != x.Incident.ID {
			continue
		}
		mine, err := p.store.ClaimMessage(p.t.Context(), &m, "n#1", mailTime.UnixMilli())
		require.NoError(p.t, err)
		require.True(p.t, mine)
		m.State, m.SentMS = model.OutboxSent, mailTime.UnixMilli()
		require.NoError(p.t, p.store.RecordMessage(p.t.Context(), m))
	}
}

func (p *press) put(x model.Telling) model.Message {
	p.toldBefore(x)
	p.decide(model.AlarmDecision{Told: []model.Telling{x}})
	due, err := p.store.DueMessages(p.t.Context(), "", mailTime.UnixMilli(), 10)
	require.NoError(p.t, err)
	require.Len(p.t, due, 1)
	return due[0]
}

// TestMailsAsTheyArrive compares every mail, as another program reads it from the wire, with
// the files in testdata/mails. go test ./app -run TestMailsAsTheyArrive -update writes them.
func TestMailsAsTheyArrive(t *testing.T) {
	for name, scene := range scenes {
		p := newPress(t)
		m := scene(p)
		for _, lang := range languages {
			t.Run(name+"-"+lang, func(t *testing.T) {
				p.lang, p.tray.raw = lang, ""
				_, _, err := p.Send(t.Context(), m)
				require.NoError(t, err)
				compare(t, name+"."+lang, p.tray.raw)
			})
		}
	}
	p := newPress(t)
	for _, lang := range languages {
		t.Run("test-"+lang, func(t *testing.T) {
			_, err := p.Test(t.Context(), "oncall@example.org", nil, lang)
			require.NoError(t, err)
			compare(t, "test."+lang, p.tray.raw)
		})
	}
}

// TestASummaryInTheLanguageOfItsReader: of the rule that names the address, else of the rule of
// the newest trouble.
func TestASummaryInTheLanguageOfItsReader(t *testing.T) {
	for name, rules := range map[string][]model.AlarmRule{
		"named": {
			{Scope: model.ScopeTag, Tag: "x", AlarmSettings: model.AlarmSettings{Language: "zh-Hant", Mails: []string{"OnCall@example.org"}}},
			{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Language: "en"}},
		},
		"of the trouble": {{Scope: model.ScopeDefault, AlarmSettings: model.AlarmSettings{Language: "zh-Hant"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPress(t)
			m := p.summed()
			for _, r := range rules {
				_, err := p.store.SaveAlarmRule(t.Context(), r)
				require.NoError(t, err)
			}
			_, _, err := p.Send(t.Context(), m)
			require.NoError(t, err)
			require.Contains(t, harmless(t, p.tray.raw).GetHeader("Subject"), "則告警彙總")
		})
	}
}

func compare(t *testing.T, name, raw string) {
	t.Helper()
	got := harmless(t, raw)
	golden(t, name+".txt", "Subject: "+got.GetHeader("Subject")+"\n\n"+strings.ReplaceAll(got.Text, "\r\n", "\n"))
	golden(t, name+".html", strings.ReplaceAll(got.HTML, "\r\n", "\n"))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "mails", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, name)
}

var dangerous = regexp.MustCompile(`(?i)<(script|img|iframe|form|object|svg|link|b>)|javascript:|\son[a-z]+=`)

// harmless reads a mail with a foreign parser and wants nothing in it that a reader could be
// harmed or misled by.
func harmless(t *testing.T, raw string) *enmime.Envelope {
	t.Helper()
	got, err := enmime.ReadEnvelope(strings.NewReader(raw))
	require.NoError(t, err)
	require.Empty(t, got.Errors)
	assert.Less(t, len(raw), 100<<10)
	assert.Less(t, len(got.HTML), 100<<10)
	assert.NotEmpty(t, got.Text)
	assert.Empty(t, got.GetHeader("Bcc"))
	assert.NotContains(t, got.Text+got.HTML, "Smith", "of another job")
	assert.NotContains(t, got.Text+got.HTML, "Salaries", "of another job")
	own := regexp.MustCompile(`(?s)<style.*?</style>|<img src="cid:[a-z@]+"`) // styles, and the picture that comes with the mail
	assert.NotRegexp(t, dangerous, own.ReplaceAllString(got.HTML, ""))
	for _, x := range []string{got.Text, got.HTML, got.GetHeader("Subject")} {
		assert.NotRegexp(t, `[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{202a}-\x{202e}\x{2066}-\x{2069}]|\[31m`, x)
		assert.NotContains(t, x, "<no value>")
		assert.NotRegexp(t, `That did not work|操作未成功`, x, "a text is missing")
		assert.NotRegexp(t, `“”|「」`, x, "a name is missing")
	}
	for line := range strings.SplitSeq(raw, "\r\n") {
		require.Less(t, len(line), 999, "RFC 5321: at most 998 octets")
	}
	return got
}
