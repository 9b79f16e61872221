package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/alarm"
	"github.com/carillon-scheduler/carillon/app/console"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/mail"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/scheduler/loop"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/views"
)

// keepCounters is the loop behind the counters of reports.
func (c *Center) keepCounters() *loop.Loop {
	keeper := &report.Keeper{
		Store: c.store, Taken: store.ErrCountsTaken, Meanwhile: store.ErrCountedMeanwhile, Leads: c.sched.Leads,
		Zone: c.store.Location(), Log: c.log.With("part", "reports"), Now: time.Now,
	}
	return &loop.Loop{Name: "counts", Every: 2 * time.Second, Body: keeper.Pass}
}

// postReports is the loop that puts reports into the outbox when they are due.
func (c *Center) postReports(t *teller, posted func()) *loop.Loop {
	postman := &report.Postman{Store: c.store, Leads: c.sched.Leads, Zone: c.store.Location(), Posted: posted, Trouble: t.trouble}
	return &loop.Loop{Name: "reports", Every: 10 * time.Second, Body: postman.Pass}
}

// assessTargets is the loop that looks at the days of targets with a time.
func (c *Center) assessTargets() *loop.Loop {
	assessor := &report.Assessor{Store: c.store, Leads: c.sched.Leads, Zone: c.store.Location()}
	return &loop.Loop{Name: "targets", Every: 10 * time.Second, Phase: 300 * time.Millisecond, Body: assessor.Pass}
}

// reporter is who reads a report that goes out by mail: all that there is, or nothing but the
// executor that it is about. Whoever administers that one decides who gets it.
func reporter(m model.ReportMail) model.Actor {
	if m.GroupID == 0 {
		return model.Actor{Name: "report", Admin: true}
	}
	return model.Actor{Name: "report", Rights: model.Rights{Groups: map[int]model.Grant{m.GroupID: {Level: model.LevelView}}}}
}

func reportAsk(m model.ReportMail, kind report.Kind, first string) jobs.ReportAsk {
	return jobs.ReportAsk{Kind: kind, Day: first, GroupID: m.GroupID, Owner: m.Owner, Tag: m.Tag, List: report.Failing}
}

// coveredBy is what a report names: who reads it may not be meant to know of the rest.
func coveredBy(m model.ReportMail) model.CounterFilter {
	return model.CounterFilter{GroupID: m.GroupID, Owner: m.Owner, Tag: m.Tag}
}

// trouble reports whether something was lost in a period, or an incident is open.
func (t *teller) trouble(ctx context.Context, m model.ReportMail, p report.Period) (bool, error) {
	got, err := t.jobs.Report(ctx, reporter(m), reportAsk(m, p.Kind, p.First.Format(time.DateOnly)))
	if err != nil || report.Lost(got.Now) > 0 {
		return err == nil, err
	}
	open, err := t.jobs.OpenIncidents(ctx, reporter(m), coveredBy(m))
	return len(open) > 0, err
}

// openInReport is how many open incidents a report names.
const openInReport = 5

// reportMail gathers what a report says that goes out by mail to an address: in its own
// language and zone, else in those of the person who has the address; "" = nobody.
func (t *teller) reportMail(ctx context.Context, m model.ReportMail, to string, kind report.Kind, first string) (views.ReportMail, error) {
	ask := reportAsk(m, kind, first)
	got, err := t.jobs.Report(ctx, reporter(m), ask)
	if err != nil {
		return views.ReportMail{}, err
	}
	own := model.Profile{}
	if to != "" {
		if own, err = t.store.MailReader(ctx, to); err != nil {
			return views.ReportMail{}, err
		}
	}
	words, zone := t.speaks(cmp.Or(m.Language, own.Language), cmp.Or(m.Zone, own.Zone))
	out := views.ReportMail{Report: console.ReportView(ask, got)}
	out.Page = views.Page{L: words, Base: t.base, Now: t.now().In(zone), Center: got.Zone}
	out.URL = out.SelfURL()
	open, err := t.jobs.OpenIncidents(ctx, reporter(m), coveredBy(m))
	if err != nil {
		return out, err
	}
	out.OpenOf = len(open)
	for _, i := range open[:min(len(open), openInReport)] {
		a := views.AlarmMail{L: words, Incident: i.Incident, JobName: i.JobName, GroupTitle: i.GroupTitle}
		out.Open = append(out.Open, views.AlarmLine{
			Name: a.Subject(), URL: fmt.Sprintf("%s/incidents/%d", t.base, i.ID),
			Detail: words.T("report.mail.since", "For", words.Age(max(time.Minute, t.now().Sub(time.UnixMilli(i.OpenedMS))))),
		})
	}
	return out, nil
}

// pictureID names the picture within a mail.
const pictureID = "trend"

// reportLetter writes a report as a mail.
func (t *teller) reportLetter(ctx context.Context, r views.ReportMail, out *mail.Message) error {
	picture, err := report.Picture(r.Trend)
	if err != nil {
		return err
	}
	r.PictureID = pictureID + "@carillon"
	out.Images = []mail.Image{{CID: r.PictureID, Name: pictureID + ".png", Type: "image/png", Data: picture}}
	out.Subject, out.Text = r.Subject(), r.Text()
	out.HTML, err = r.HTML(ctx)
	return err
}

// dueReport writes the report that a message of the outbox is about.
func (t *teller) dueReport(ctx context.Context, m model.Message, out *mail.Message) error {
	id, kind, first, ok := model.ParseReportKey(m.Dedup)
	if !ok {
		return &alarm.Refused{Text: "nobody knows which report this is", Permanent: true}
	}
	about, err := t.store.ReportMail(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		return &alarm.Refused{Text: "this report does not go out any more", Permanent: true}
	}
	if err != nil {
		return err
	}
	r, err := t.reportMail(ctx, about, m.Target, report.Kind(kind), first)
	if err != nil {
		return err
	}
	return t.reportLetter(ctx, r, out)
}

// SendReport sends the last report that is over to one address at once, and gives the
// answer of the server.
func (t *teller) SendReport(ctx context.Context, m model.ReportMail, to string) (string, error) {
	if t.mail == nil {
		return "", errors.New("no mail server is set: --smtp-url")
	}
	p := report.LastOver(report.Kind(m.Kind), t.now().In(t.store.Location()))
	r, err := t.reportMail(ctx, m, to, p.Kind, p.First.Format(time.DateOnly))
	if err != nil {
		return "", err
	}
	out := mail.Message{To: to, ID: fmt.Sprintf("carillon.report.%d@%s", t.now().UnixNano(), domainOf(t.mail.From())), At: t.now()}
	if err := t.reportLetter(ctx, r, &out); err != nil {
		return "", err
	}
	receipt, err := t.mail.Send(ctx, out)
	return fmt.Sprintf("%d %s", receipt.Code, receipt.Text), err
}

// PreviewReport is the mail as it would go out now, in HTML, and its picture.
func (t *teller) PreviewReport(ctx context.Context, m model.ReportMail) (subject, html string, picture []byte, err error) {
	p := report.LastOver(report.Kind(m.Kind), t.now().In(t.store.Location()))
	r, err := t.reportMail(ctx, m, "", p.Kind, p.First.Format(time.DateOnly))
	if err != nil {
		return "", "", nil, err
	}
	var out mail.Message
	if err := t.reportLetter(ctx, r, &out); err != nil {
		return "", "", nil, err
	}
	return out.Subject, out.HTML, out.Images[0].Data, nil
}
