package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/app/console"
	"github.com/carillon-scheduler/carillon/channel"
	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/mail"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/scheduler/rule"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	linesInMail = 20
	mostRead    = 500             // jobs of which those in the mail are chosen
	tailWait    = 5 * time.Second // for an executor's log: the alarm must not wait for it
)

// newTeller can send mails when a server is set, and messages to channels.
func newTeller(cfg ServeCmd, st *store.Store, texts *i18n.Bundle, loc *time.Location, base string) (*teller, error) {
	t := &teller{store: st, texts: texts, lang: cfg.Lang, zone: loc, base: base, now: time.Now}
	inside, err := cfg.internal()
	if err != nil {
		return nil, err
	}
	t.channel, t.heartbeat = channel.New(channel.Options{AllowInternal: inside}), cfg.HeartbeatURL
	if t.heartbeat != "" {
		if err := t.channel.Check(channel.Target{Kind: channel.Webhook, URL: t.heartbeat}); err != nil {
			return nil, fmt.Errorf("--heartbeat-url: %w", err)
		}
	}
	if cfg.SmtpURL == "" {
		return t, nil
	}
	settings, err := mail.ParseURL(cfg.SmtpURL)
	if err != nil {
		return nil, fmt.Errorf("--smtp-url: %w", err)
	}
	settings.From = cfg.MailFrom
	t.mail, err = mail.New(settings)
	return t, err
}

// alarms are the loops that decide and deliver.
func (c *Center) alarms(t *teller) {
	t.jobs = c.Jobs
	deliver := func(name, channel string) *loop.Loop {
		post := &alarm.Deliverer{Outbox: c.store, Sender: t, Channel: channel, Owner: c.sched.Owner, Log: c.log.With("part", "alarms"), Now: time.Now, Jitter: spread}
		return &loop.Loop{Name: name, Every: time.Second, Nudge: make(chan struct{}, 1), Body: post.Pass, Nudged: post.Pass}
	}
	mails, channels := deliver("mails", model.ChannelMail), deliver("channels", model.ChannelOther)
	desk := &alarm.Engine{Store: c.store, Taken: store.ErrAlarmsTaken, Leads: c.sched.Leads, Decided: func() { mails.Wake(); channels.Wake() },
		Zone: t.zone, Next: nextFire(t.zone)}
	if t.heartbeat != "" {
		t.well = func(ctx context.Context) bool { return c.sched.Leads() && c.ready(ctx) == nil }
		c.sched.Also(&loop.Loop{Name: "heartbeat", Every: 2 * time.Second, Body: t.beat})
	}
	c.sched.Also(c.keepCounters(), c.assessTargets(), c.postReports(t, mails.Wake))
	c.sched.Also(&loop.Loop{Name: "alarms", Every: time.Second, Phase: 700 * time.Millisecond, Body: desk.Pass}, mails, channels)
}

// nextFire gives the fires of jobs, on the clock of the center where their schedule names none.
func nextFire(zone *time.Location) func(*model.Job, time.Time) (time.Time, bool) {
	return func(j *model.Job, after time.Time) (time.Time, bool) {
		schedule, err := rule.ScheduleOf(*j)
		if err != nil {
			return time.Time{}, false
		}
		return schedule.Next(after.In(zone)), true
	}
}

// teller writes messages in the words of the reader and hands them to the server.
type teller struct {
	jobs  *jobs.Service
	store *store.Store
	texts *i18n.Bundle
	lang  string
	zone  *time.Location
	base  string       // of the console, without a slash at its end
	mail  *mail.Sender // nil = no server is set

	channel *channel.Sender
	// heartbeat is called each minute while all is well; "" = nothing is.
	heartbeat string
	well      func(context.Context) bool
	beatAt    time.Time

	now func() time.Time
}

// Send implements alarm.Sender.
func (t *teller) Send(ctx context.Context, m model.Message) (int, string, error) {
	if m.Channel != model.ChannelMail {
		return t.sendToChannel(ctx, m)
	}
	if t.mail == nil {
		return 0, "", &alarm.Refused{Text: "no mail server is set: --smtp-url", Permanent: true}
	}
	letter, err := t.letter(ctx, m)
	if err != nil {
		return 0, "", err
	}
	receipt, err := t.mail.Send(ctx, letter)
	if no := (*mail.Error)(nil); errors.As(err, &no) {
		return no.Code, "", &alarm.Refused{Code: no.Code, Text: no.Error(), Permanent: no.Permanent}
	}
	return receipt.Code, receipt.Text, err
}

// letter writes a message as a mail. It has the same Message-ID each time.
func (t *teller) letter(ctx context.Context, m model.Message) (mail.Message, error) {
	domain := domainOf(t.mail.From())
	out := mail.Message{To: m.Target, ID: fmt.Sprintf("carillon.%d.%d@%s", m.ID, m.MadeMS, domain), At: t.now()}
	if m.Step == model.StepReport {
		err := t.dueReport(ctx, m, &out)
		return out, err
	}
	if m.Step == model.StepDigest {
		d, err := t.digest(ctx, m)
		if err != nil {
			return out, err
		}
		out.Subject, out.Text = d.Subject(), d.Text()
		out.HTML, err = d.HTML(ctx)
		return out, err
	}
	a, err := t.alarm(ctx, m)
	if err != nil {
		return out, err
	}
	if err := t.acts(ctx, &a, m); err != nil {
		return out, err
	}
	out.References = []string{fmt.Sprintf("carillon.incident.%d.%d@%s", a.Incident.ID, a.Incident.OpenedMS, domain)}
	out.Subject, out.Text = a.Subject(), a.Text()
	out.HTML, err = a.HTML(ctx)
	return out, err
}

// acts adds the links with which the reader of a mail acts: of a trouble that lasts.
func (t *teller) acts(ctx context.Context, a *views.AlarmMail, m model.Message) error {
	if m.Step == model.StepEnded || m.IncidentID == 0 {
		return nil
	}
	links, err := t.jobs.AlarmLinks(ctx, m)
	for _, action := range jobs.LinkActions() {
		if links[action] != "" {
			a.Acts = append(a.Acts, views.AlarmLine{Name: a.L.T("alarm.act." + action), URL: t.base + "/link?do=" + links[action]})
		}
	}
	return err
}

// alarm gathers what a message about an incident says.
func (t *teller) alarm(ctx context.Context, m model.Message) (views.AlarmMail, error) {
	d, err := t.jobs.Incident(ctx, model.Actor{Name: "alarm", Admin: true}, m.IncidentID)
	if err != nil {
		return views.AlarmMail{}, err
	}
	words, zone, err := t.reader(ctx, &d, m)
	a := views.AlarmMail{
		L: words, Zone: zone, Now: t.now(), Base: t.base, Step: m.Step, Incident: d.Incident, JobName: d.JobName, GroupTitle: d.GroupTitle,
		Jobs: d.Jobs, Job: d.Job, Run: d.Run, NextMS: d.NextMS, SuccessMS: d.SucceededMS, NoteText: d.NoteText,
	}
	if err != nil {
		return a, err
	}
	if a.Run != nil {
		a.Plain = func(s string) string { return console.PlainText(*a.Run, s) }
	}
	if m.Step != model.StepEnded && d.JobID != 0 {
		limit, cancel := context.WithTimeout(ctx, tailWait)
		a.LogTail = t.jobs.LogTail(limit, d.Run)
		cancel()
		if a.NoteHTML, err = console.Markdown(d.NoteText, fmt.Sprintf("%s/jobs/%d", t.base, d.JobID)); err != nil {
			return a, err
		}
	} else {
		a.NoteText = ""
	}
	return a, t.members(ctx, &a, m)
}

// members names the jobs that the target of the message may know of.
func (t *teller) members(ctx context.Context, a *views.AlarmMail, m model.Message) error {
	if a.Incident.JobID != 0 {
		return nil
	}
	ids := m.JobIDs
	if ids == nil {
		list, err := t.store.IncidentMembers(ctx, m.IncidentID, mostRead)
		if err != nil {
			return err
		}
		for _, x := range list {
			ids = append(ids, x.JobID)
		}
	} else {
		a.Jobs = len(ids)
	}
	ids = ids[:min(len(ids), mostRead)]
	jobs, err := t.store.JobsToWatch(ctx, ids)
	for _, id := range ids {
		j, there := jobs[id]
		if !there || a.Incident.GroupID != 0 && j.GroupID != a.Incident.GroupID { // who may see it where it is now is not known
			continue
		}
		if len(a.Members) < linesInMail {
			a.Members = append(a.Members, views.AlarmLine{Name: j.Name, URL: fmt.Sprintf("%s/jobs/%d", t.base, id)})
		}
	}
	return err
}

// reader says in which language and zone the incident is told: those of the person who has the
// address, else those of its rule, else those of the center.
func (t *teller) reader(ctx context.Context, d *jobs.IncidentDetail, m model.Message) (*i18n.Localizer, *time.Location, error) {
	rules, err := t.store.AlarmRules(ctx)
	if err != nil {
		return t.texts.Localizer(t.lang), t.zone, err
	}
	var holds model.AlarmRule
	if d.Job != nil {
		holds = alarm.Rules(rules).For(d.Job)
	} else {
		about, err := t.toldOf(ctx, m)
		if err != nil {
			return t.texts.Localizer(t.lang), t.zone, err
		}
		holds = alarm.Rules(rules).Of(&d.Incident, about, m.Channel, m.Target)
	}
	own, err := t.prefers(ctx, m)
	words, zone := t.speaks(cmp.Or(own.Language, holds.Language), cmp.Or(own.Zone, holds.Zone))
	return words, zone, err
}

// toldOf gives the jobs of which the target of a message about many is told, in their order.
func (t *teller) toldOf(ctx context.Context, m model.Message) ([]model.Job, error) {
	ids := m.JobIDs[:min(len(m.JobIDs), mostRead)]
	found, err := t.store.JobsToWatch(ctx, ids)
	var out []model.Job
	for _, id := range ids {
		if j, there := found[id]; there {
			out = append(out, j)
		}
	}
	return out, err
}

// prefers is what the person chose who has the address that a message goes to; of channels, and
// of addresses that no account has, nothing.
func (t *teller) prefers(ctx context.Context, m model.Message) (model.Profile, error) {
	if m.Channel != model.ChannelMail {
		return model.Profile{}, nil
	}
	return t.store.MailReader(ctx, m.Target)
}

// speaks gives a language and a zone by their names, those of the center where there is none.
func (t *teller) speaks(lang, name string) (*i18n.Localizer, *time.Location) {
	zone := t.zone
	if name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			zone = z
		}
	}
	return t.texts.Localizer(cmp.Or(lang, t.lang)), zone
}

// digest gathers what was not told one by one.
func (t *teller) digest(ctx context.Context, m model.Message) (views.AlarmDigest, error) {
	d := views.AlarmDigest{Now: t.now(), Base: t.base}
	list, err := t.store.MessagesIn(ctx, m.ID, 10_000)
	if err != nil {
		return d, err
	}
	rules, err := t.store.AlarmRules(ctx)
	if err != nil {
		return d, err
	}
	own, err := t.prefers(ctx, m)
	if err != nil {
		return d, err
	}
	d.L, d.Zone = t.speaks(own.Language, own.Zone)
	named := slices.IndexFunc(rules, func(r model.AlarmRule) bool { return r.Language != "" && alarm.Tells(r, m.Channel, m.Target) })
	if named >= 0 {
		d.L, d.Zone = t.speaks(cmp.Or(own.Language, rules[named].Language), cmp.Or(own.Zone, rules[named].Zone))
	}
	d.Total = len(list)
	open := map[int64]bool{}
	for _, x := range slices.Backward(list) {
		if len(d.Lines) >= linesInMail {
			break
		}
		i, err := t.jobs.Incident(ctx, model.Actor{Name: "alarm", Admin: true}, x.IncidentID)
		if model.CodeOf(err) == model.CodeNotFound {
			continue
		}
		if err != nil {
			return d, err
		}
		if named < 0 && len(d.Lines) == 0 { // of the newest, as it would have been told by itself
			if d.L, d.Zone, err = t.reader(ctx, &i, m); err != nil {
				return d, err
			}
		}
		words := d.L
		open[i.ID] = i.Open()
		a := views.AlarmMail{L: words, Incident: i.Incident, JobName: i.JobName, GroupTitle: i.GroupTitle}
		d.Lines = append(d.Lines, views.AlarmLine{Name: a.Subject(), Detail: words.T("alarm.digest."+x.Step) + " " + i18n.DateTime(time.UnixMilli(x.MadeMS).In(d.Zone)), URL: fmt.Sprintf("%s/incidents/%d", t.base, i.ID)})
	}
	for _, lasts := range open {
		if lasts {
			d.Open++
		}
	}
	return d, nil
}

// spread is a random part of a time.
func spread(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}

func domainOf(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return domain
}
