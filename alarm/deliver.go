package alarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Outbox is what delivering needs of the database.
type Outbox interface {
	DueMessages(ctx context.Context, channel string, now int64, limit int) ([]model.Message, error)
	ClaimMessage(ctx context.Context, m *model.Message, owner string, until int64) (bool, error)
	RecordMessage(ctx context.Context, m model.Message) error
	SentTo(ctx context.Context, channel, target string, since int64) (model.Sent, error)
	FoldMessages(ctx context.Context, of []model.Message, now time.Time) (bool, error)
	PostponeMessages(ctx context.Context, of []model.Message, until int64) error
	HastenMessages(ctx context.Context, channel string, now, back, most int64) error
}

// Sender writes and sends one message. Its error may be a *Refused.
type Sender interface {
	Send(ctx context.Context, m model.Message) (code int, answer string, err error)
}

// Refused is the answer of a server or a robot that did not take a message.
type Refused struct {
	Code      int
	Text      string
	Permanent bool          // it will never take it
	After     time.Duration // it asks for so much patience; 0 = it does not say
}

func (r *Refused) Error() string { return r.Text }

// How messages are sent.
const (
	sendLimit  = time.Minute     // one message, from writing it to the answer
	lease      = 2 * time.Minute // then a message that is being sent is taken for left behind
	giveUp     = 24 * time.Hour
	mostDue    = 500
	sendAtOnce = 4
	passLimit  = 20 * time.Second // then nothing more is begun: what is due is looked at again

	// One target gets that many messages an hour one by one; then what happens goes into
	// one message every ten minutes.
	singlesPerHour = 15
	digestEvery    = 10 * time.Minute
	// What waited for longer than that is told in one message.
	staleAfter = 10 * time.Minute
	// longestWait is more than any time between two tries, but for those that the other side asks for.
	longestWait = 20 * time.Minute
)

// Deliverer sends what is in the outbox. Any number of nodes may do it.
type Deliverer struct {
	Outbox Outbox
	Sender Sender
	// Channel is what it sends over; "" = everything. Each has its own, so that a mail server
	// that hangs delays no robot.
	Channel string
	Owner   func() string
	Log     *slog.Logger
	Now     func() time.Time
	// Jitter spreads what is tried again.
	Jitter func(time.Duration) time.Duration

	last time.Time // what the clock said at the pass before
}

// Pass sends what is due.
func (d *Deliverer) Pass(ctx context.Context, now time.Time) error {
	if err := d.watchClock(ctx, now); err != nil {
		return err
	}
	due, err := d.Outbox.DueMessages(ctx, d.Channel, now.UnixMilli(), mostDue)
	if err != nil || len(due) == 0 {
		return err
	}
	if due, err = d.apart(ctx, now, due); err != nil {
		return err
	}
	type key struct{ channel, target string }
	var order []key
	byTarget := map[key][]model.Message{}
	for _, m := range due {
		k := key{m.Channel, m.Target}
		if byTarget[k] == nil {
			order = append(order, k)
		}
		byTarget[k] = append(byTarget[k], m)
	}
	var ready []model.Message
	for _, k := range order {
		some, err := d.budget(ctx, now, byTarget[k])
		if err != nil {
			return err
		}
		ready = append(ready, some...)
	}
	return d.sendAll(ctx, ready)
}

// watchClock keeps messages from waiting longer than they are to when the clock is set back: it
// said then when they are tried next. What a process finds when it starts may be of before that.
func (d *Deliverer) watchClock(ctx context.Context, now time.Time) error {
	back, most := d.last.UnixMilli()-now.UnixMilli(), giveUp.Milliseconds() // as people see it: times in the database are such
	switch {
	case d.last.IsZero():
		back, most = 0, longestWait.Milliseconds()
	case back <= 0:
		d.last = now
		return nil
	}
	err := d.Outbox.HastenMessages(ctx, d.Channel, now.UnixMilli(), back, most)
	if err == nil {
		d.last = now
	}
	return err
}

// Robots of chats refuse at full and half hours, when all schedulers of a company talk at once:
// for so long after one, messages to channels are spread over some seconds.
const (
	rushEvery = 30 * time.Minute
	rushFor   = 30 * time.Second
	rushLeast = 3 * time.Second
	rushOver  = 20 * time.Second
)

// notBefore is when a message to a channel may be sent: at once, or some seconds after a full
// or half hour, the same on each node. Hours of all zones begin at quarters of ours.
func notBefore(m model.Message, now time.Time) time.Time {
	began := now.Truncate(rushEvery)
	if m.Channel == model.ChannelMail || now.Sub(began) >= rushFor {
		return now
	}
	spread := time.Duration(uint64(m.ID)*7919%uint64((rushOver-rushLeast).Milliseconds())) * time.Millisecond
	return began.Add(rushLeast + spread)
}

// apart lets messages wait that would come to robots at a full or half hour.
func (d *Deliverer) apart(ctx context.Context, now time.Time, due []model.Message) (ready []model.Message, err error) {
	for _, m := range due {
		at := notBefore(m, now)
		if m.State != model.OutboxWaiting || !at.After(now) {
			ready = append(ready, m)
			continue
		}
		if err := d.Outbox.PostponeMessages(ctx, []model.Message{m}, at.UnixMilli()); err != nil {
			return nil, err
		}
	}
	return ready, nil
}

// budget gives what a target gets now; the rest is folded into one message, or waits.
func (d *Deliverer) budget(ctx context.Context, now time.Time, list []model.Message) (ready []model.Message, err error) {
	var fresh []model.Message
	for _, m := range list {
		if m.State == model.OutboxSending || m.Step == model.StepDigest || m.Step == model.StepReport {
			ready = append(ready, m) // it has its place
		} else {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return ready, nil
	}
	sent, err := d.Outbox.SentTo(ctx, fresh[0].Channel, fresh[0].Target, now.Add(-time.Hour).UnixMilli())
	if err != nil {
		return nil, err
	}
	if sent.Sending > 0 { // what comes after it goes into the next one
		return ready, nil
	}
	stale := len(fresh) > 1 && now.UnixMilli()-fresh[0].MadeMS > staleAfter.Milliseconds()
	if !stale && sent.Digests == 0 && sent.Single+len(fresh) <= singlesPerHour {
		return append(ready, fresh...), nil
	}
	if next := min(sent.LastDigest, now.UnixMilli()) + digestEvery.Milliseconds(); sent.LastDigest > 0 && now.UnixMilli() < next {
		return ready, d.Outbox.PostponeMessages(ctx, fresh, next)
	}
	if len(fresh) == 1 && sent.Digests == 0 {
		return append(ready, fresh...), nil
	}
	_, err = d.Outbox.FoldMessages(ctx, fresh, now) // the digest is due with the next pass
	return ready, err
}

// sendAll sends a few at a time, so that a dead server does not hold up the others.
func (d *Deliverer) sendAll(ctx context.Context, list []model.Message) error {
	var wg sync.WaitGroup
	places := make(chan struct{}, sendAtOnce)
	errs := make(chan error, len(list))
	began := d.Now()
	for _, m := range list {
		places <- struct{}{}
		if ctx.Err() != nil || d.Now().Sub(began) > passLimit {
			break
		}
		wg.Go(func() {
			defer func() { <-places }()
			errs <- d.send(ctx, m)
		})
	}
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func (d *Deliverer) send(ctx context.Context, m model.Message) error {
	now := d.Now()
	mine, err := d.Outbox.ClaimMessage(ctx, &m, d.Owner(), now.Add(lease).UnixMilli())
	if err != nil || !mine {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, sendLimit)
	code, answer, err := d.safely(limit, m)
	cancel()
	if ctx.Err() != nil {
		return nil // the process ends: the lease brings it back
	}
	now = d.Now()
	m.Code, m.Answer = code, answer
	switch no := (*Refused)(nil); {
	case err == nil:
		m.State, m.SentMS = model.OutboxSent, now.UnixMilli()
	case errors.As(err, &no) && no.Permanent, now.UnixMilli()-m.MadeMS > giveUp.Milliseconds():
		m.State = model.OutboxFailed
	default:
		wait := backOff(m.Attempts)
		if no != nil {
			wait = max(wait, no.After)
		}
		m.State, m.NextMS = model.OutboxWaiting, now.Add(wait+d.Jitter(wait/4)).UnixMilli()
	}
	if err != nil {
		if no := (*Refused)(nil); errors.As(err, &no) {
			m.Code = no.Code
		}
		m.Answer = err.Error()
		d.Log.Warn("alarm not delivered", "message_id", m.ID, "incident_id", m.IncidentID, "channel", m.Channel, "attempts", m.Attempts, "state", m.State, "error", err)
	}
	return d.Outbox.RecordMessage(ctx, m)
}

// safely keeps one message that cannot be written from ending the loop.
func (d *Deliverer) safely(ctx context.Context, m model.Message) (code int, answer string, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &Refused{Text: fmt.Sprint("cannot be written: ", x), Permanent: true}
		}
	}()
	return d.Sender.Send(ctx, m)
}

// backOff is how long to wait after so many attempts.
func backOff(attempts int) time.Duration {
	steps := []time.Duration{15 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute}
	return steps[min(max(attempts, 1), len(steps))-1]
}
