package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/channel"
	"github.com/carillon-scheduler/carillon/mail"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// internal are the ranges that channels may call although they are not of the internet.
func (c *ServeCmd) internal() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range c.AllowInternal {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("--allow-internal %q: give an address or a network such as 10.1.2.0/24", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p)
	}
	return out, nil
}

func targetOf(c model.Channel) channel.Target {
	return channel.Target{Kind: c.Kind, URL: c.URL, Secret: c.Secret}
}

// channelStep is a step as channels call it.
func channelStep(step string) string {
	if step == model.StepEnded {
		return channel.Resolved
	}
	return step
}

// sendToChannel tells a message to the channel that it names.
func (t *teller) sendToChannel(ctx context.Context, m model.Message) (int, string, error) {
	id, _ := strconv.Atoi(m.Target)
	list, err := t.store.Channels(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, c := range list {
		if c.ID != id {
			continue
		}
		if c.Disabled {
			return 0, "", &alarm.Refused{Text: "the channel is switched off", Permanent: true}
		}
		out, err := t.channelMessage(ctx, m)
		if err != nil {
			return 0, "", err
		}
		return t.post(ctx, c, out)
	}
	return 0, "", &alarm.Refused{Text: "this channel does not exist any more", Permanent: true}
}

// post sends and puts refusals into the words of the outbox.
func (t *teller) post(ctx context.Context, c model.Channel, m channel.Message) (int, string, error) {
	answer, err := t.channel.Send(ctx, targetOf(c), m)
	if no, ok := errors.AsType[*channel.Error](err); ok {
		return no.Code, "", &alarm.Refused{Code: no.Code, Text: no.Error(), Permanent: no.Permanent, After: no.RetryAfter}
	}
	if bad, ok := errors.AsType[*channel.CheckError](err); ok {
		return 0, "", &alarm.Refused{Text: bad.Error(), Permanent: true}
	}
	return answer.Code, answer.Text, err
}

// channelMessage writes a message for a channel.
func (t *teller) channelMessage(ctx context.Context, m model.Message) (channel.Message, error) {
	out := channel.Message{ID: fmt.Sprintf("carillon.%d.%d", m.ID, m.MadeMS), Step: channelStep(m.Step), Severity: channel.Critical, At: t.now()}
	if m.Step == model.StepDigest {
		d, err := t.digest(ctx, m)
		if err != nil {
			return out, err
		}
		out.Title, out.Text, out.Link = d.Subject(), d.Text(), t.base+"/incidents"
		out.Body, err = json.Marshal(webhookBody{ID: out.ID, Event: out.Step, At: out.At, Title: out.Title, Text: out.Text, URL: out.Link, Count: d.Total})
		return out, err
	}
	a, err := t.alarm(ctx, m)
	if err != nil {
		return out, err
	}
	i := a.Incident
	out.Key, out.Severity = fmt.Sprintf("carillon.incident.%d.%d", i.ID, i.OpenedMS), string(i.Severity)
	out.Title, out.Text, out.Link = a.Headline(), a.Text(), fmt.Sprintf("%s/incidents/%d", t.base, i.ID)
	body := webhookBody{
		ID: out.ID, Event: out.Step, At: out.At, Title: out.Title, Text: out.Text, URL: out.Link,
		Incident: i.ID, Subject: i.Subject, Severity: out.Severity, Reason: i.Reason, Job: i.JobID, JobName: a.JobName, Executor: a.GroupTitle,
		Opened: time.UnixMilli(i.OpenedMS), Failed: i.Failed, Missed: i.Missed, Jobs: a.Jobs,
	}
	if i.EndedMS != 0 {
		ended := time.UnixMilli(i.EndedMS)
		body.Ended = &ended
	}
	if a.Run != nil {
		body.Run = a.Run.ID
	}
	out.Body, err = json.Marshal(body)
	return out, err
}

// webhookBody is what a webhook gets. Its fields are documented in docs/alarms.md.
type webhookBody struct {
	ID       string     `json:"id"`
	Event    string     `json:"event"`
	At       time.Time  `json:"at"`
	Title    string     `json:"title"`
	Text     string     `json:"text"`
	URL      string     `json:"url"`
	Incident int64      `json:"incident,omitempty"`
	Subject  string     `json:"subject,omitempty"`
	Severity string     `json:"severity,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Job      int        `json:"job,omitempty"`
	JobName  string     `json:"jobName,omitempty"`
	Executor string     `json:"executor,omitempty"`
	Run      int64      `json:"run,omitempty"`
	Opened   time.Time  `json:"opened,omitzero"`
	Ended    *time.Time `json:"ended,omitempty"`
	Failed   int        `json:"failed,omitempty"`
	Missed   int        `json:"missed,omitempty"`
	Jobs     int        `json:"jobs,omitempty"`
	Count    int        `json:"count,omitempty"`
}

// testWait bounds a test that somebody waits for.
const testWait = 20 * time.Second

// MailSet implements jobs.Teller.
func (t *teller) MailSet() bool { return t.mail != nil }

// Kinds implements jobs.Teller.
func (t *teller) Kinds() []string { return channel.Kinds() }

// Redact implements jobs.Teller.
func (t *teller) Redact(c model.Channel) string { return channel.Redact(targetOf(c)) }

// CheckChannel implements jobs.Teller.
func (t *teller) CheckChannel(c model.Channel) (field, code string) {
	if bad, ok := errors.AsType[*channel.CheckError](t.channel.Check(targetOf(c))); ok {
		return bad.Field, bad.Code
	}
	return "", ""
}

// Test implements jobs.Teller.
func (t *teller) Test(ctx context.Context, address string, ch *model.Channel, lang string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	now := t.now()
	a := views.AlarmMail{L: t.texts.Localizer(lang), Zone: t.zone, Now: now, Base: t.base, Step: model.StepTest, Incident: model.Incident{Subject: "test"}}
	id := fmt.Sprintf("carillon.test.%d", now.UnixNano())
	if ch != nil {
		body, err := json.Marshal(webhookBody{ID: id, Event: channel.Test, At: now, Title: a.Subject(), Text: a.Headline(), URL: t.base + "/incidents"})
		if err != nil {
			return "", err
		}
		m := channel.Message{ID: id, Key: id, Step: channel.Test, Severity: channel.Info, Title: a.Subject(), Text: a.Headline(), Link: t.base + "/incidents", At: now, Body: body}
		code, answer, err := t.post(ctx, *ch, m)
		if err == nil && ch.Kind == channel.PagerDuty { // a test opens an incident there
			m.Step = channel.Resolved
			_, _, _ = t.post(ctx, *ch, m)
		}
		return fmt.Sprint(code, " ", answer), err
	}
	html, err := a.HTML(ctx)
	if err != nil {
		return "", err
	}
	got, err := t.mail.Send(ctx, mail.Message{To: address, Subject: a.Subject(), Text: a.Text(), HTML: html, ID: id + "@" + domainOf(t.mail.From()), At: now})
	return fmt.Sprint(got.Code, " ", got.Text), err
}

// beatEvery is how often somebody outside is told that all is well.
const beatEvery = time.Minute

// beat tells somebody outside that the center schedules. One node does, and none while it
// does not: the silence is the message.
func (t *teller) beat(ctx context.Context, now time.Time) error {
	if now.Sub(t.beatAt) < beatEvery || !t.well(ctx) {
		return nil
	}
	t.beatAt = now // also when it fails: an address that is away is not called more often
	_, err := t.channel.Heartbeat(ctx, t.heartbeat)
	return err
}
