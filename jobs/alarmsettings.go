package jobs

import (
	"context"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Teller sends messages by hand and knows channels; app adapts mail and channel.
type Teller interface {
	// MailSet says that mails can be sent.
	MailSet() bool
	// Test sends a test to a mail address, or to a channel, and gives the server's own answer.
	Test(ctx context.Context, address string, ch *model.Channel, lang string) (answer string, err error)
	// CheckChannel names the field of a channel that is wrong, and how.
	CheckChannel(ch model.Channel) (field, code string)
	// Redact is what may be shown of where a channel leads.
	Redact(ch model.Channel) string
	// Kinds lists the kinds of channels.
	Kinds() []string
	// SendReport sends the last report that is over to an address, PreviewReport writes it only.
	SendReport(ctx context.Context, m model.ReportMail, address string) (answer string, err error)
	PreviewReport(ctx context.Context, m model.ReportMail) (subject, html string, picture []byte, err error)
}

// AlarmSettings is what administrators see of rules and channels. Who administers executors
// sees the rules about these and their jobs, and of channels what they are called.
type AlarmSettings struct {
	Rules    []model.AlarmRule
	Channels []ChannelRow
	Groups   []model.Group
	JobNames map[int]string // of rules
	Kinds    []string
	MailSet  bool
	People   []model.MailPerson // to be suggested, for administrators
}

// ChannelRow is a channel as it may be shown.
type ChannelRow struct {
	ID       int
	Name     string
	Kind     string
	Where    string // redacted
	Disabled bool
	Signed   bool // it has a secret
}

const (
	mostMails     = 20
	longestMinute = 7 * 24 * 60
	mostInARow    = 100
)

// AlarmSettings lists the rules and channels that the actor has to do with.
func (s *Service) AlarmSettings(ctx context.Context, actor model.Actor) (AlarmSettings, error) {
	var out AlarmSettings
	if !actor.MaySomewhere(model.LevelAdminister) {
		return out, forbidden()
	}
	var err error
	if out.Rules, err = s.managedRules(ctx, actor); err != nil {
		return out, err
	}
	if actor.Admin && !slices.ContainsFunc(out.Rules, func(r model.AlarmRule) bool { return r.Scope == model.ScopeDefault }) {
		out.Rules = append([]model.AlarmRule{model.DefaultAlarmRule()}, out.Rules...)
	}
	list, err := s.store.Channels(ctx)
	if err != nil {
		return out, err
	}
	for _, c := range list {
		row := ChannelRow{ID: c.ID, Name: c.Name, Kind: c.Kind, Disabled: c.Disabled}
		if actor.Admin {
			row.Where, row.Signed = s.teller.Redact(c), c.Secret != ""
		}
		out.Channels = append(out.Channels, row)
	}
	var ids []int
	for _, r := range out.Rules {
		ids = append(ids, r.JobID)
	}
	if out.JobNames, err = s.store.NamesOfJobs(ctx, ids); err != nil {
		return out, err
	}
	out.Kinds, out.MailSet = s.teller.Kinds(), s.teller.MailSet()
	out.Groups, err = s.store.Groups(ctx, nil)
	if err != nil {
		return out, err
	}
	out.Groups = slices.DeleteFunc(out.Groups, func(g model.Group) bool { return !actor.May(model.LevelAdminister, g.ID) })
	out.People, err = s.mailPeople(ctx, actor)
	return out, err
}

// mailPeople lists the accounts that have a mail address and may log in, by name, for
// administrators: nobody else is told of them.
func (s *Service) mailPeople(ctx context.Context, actor model.Actor) ([]model.MailPerson, error) {
	if !actor.Admin {
		return nil, nil
	}
	users, err := s.store.Users(ctx)
	var out []model.MailPerson
	for _, u := range users {
		if u.Mail != "" && !u.Disabled {
			out = append(out, model.MailPerson{Name: u.Name, Mail: u.Mail})
		}
	}
	return out, err
}

// managedRules lists the rules that the actor may change: administrators all of them, others
// those of executors that they administer, and of jobs that run there now.
func (s *Service) managedRules(ctx context.Context, actor model.Actor) ([]model.AlarmRule, error) {
	list, err := s.store.AlarmRules(ctx)
	if err != nil || actor.Admin {
		return list, err
	}
	var ids []int
	for _, r := range list {
		if r.Scope == model.ScopeJob {
			ids = append(ids, r.JobID)
		}
	}
	of, err := s.store.JobTitles(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(r model.AlarmRule) bool {
		group := 0
		switch r.Scope {
		case model.ScopeExecutor:
			group = r.GroupID
		case model.ScopeJob:
			group = of[r.JobID].GroupID
		}
		return group == 0 || !actor.May(model.LevelAdminister, group)
	}), nil
}

// AlarmRule gives a rule that the actor may change.
func (s *Service) AlarmRule(ctx context.Context, actor model.Actor, id int) (model.AlarmRule, error) {
	if !actor.MaySomewhere(model.LevelAdminister) {
		return model.AlarmRule{}, forbidden()
	}
	list, err := s.managedRules(ctx, actor)
	if err != nil {
		return model.AlarmRule{}, err
	}
	if i := slices.IndexFunc(list, func(r model.AlarmRule) bool { return r.ID == id }); i >= 0 {
		return list[i], nil
	}
	return model.AlarmRule{}, model.Errf(model.CodeNotFound, "error.rule_not_found", "ID", id)
}

// SaveAlarmRule writes a rule, a new one when it has no id. Who administers executors writes
// rules about these and their jobs.
func (s *Service) SaveAlarmRule(ctx context.Context, actor model.Actor, r model.AlarmRule) error {
	err := s.mayRule(ctx, actor, r)
	if err != nil {
		s.note(ctx, actor, "alarm.rule", thing{id: int64(r.ID), name: r.Name}, err)
		return err
	}
	set, err := s.AlarmSettings(ctx, actor)
	if err != nil {
		return err
	}
	if err := s.checkRule(ctx, actor, &r, set); err != nil {
		return err
	}
	_, err = s.store.SaveAlarmRule(ctx, r)
	s.note(ctx, actor, "alarm.rule", thing{name: r.Name}, err)
	return err
}

// mayRule says whether the actor may write a rule; whose it is then to be is checked with its
// fields.
func (s *Service) mayRule(ctx context.Context, actor model.Actor, r model.AlarmRule) error {
	if actor.Admin {
		return nil
	}
	if !actor.MaySomewhere(model.LevelAdminister) || r.Scope == model.ScopeDefault || r.Scope == model.ScopeTag {
		return forbidden()
	}
	if r.ID == 0 {
		return nil
	}
	_, err := s.AlarmRule(ctx, actor, r.ID)
	return err
}

var clockForm = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d$`)

func (s *Service) checkRule(ctx context.Context, actor model.Actor, r *model.AlarmRule, set AlarmSettings) error {
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	switch r.Scope {
	case model.ScopeDefault:
		r.Name, r.GroupID, r.JobID, r.Tag = "default", 0, 0, ""
		if i := slices.IndexFunc(set.Rules, func(x model.AlarmRule) bool { return x.Scope == model.ScopeDefault }); i >= 0 {
			r.ID = set.Rules[i].ID // there is one
		}
	case model.ScopeExecutor:
		r.JobID, r.Tag = 0, ""
		if !slices.ContainsFunc(set.Groups, func(g model.Group) bool { return g.ID == r.GroupID }) {
			bad.AddField("executor", "field.not_found")
		}
	case model.ScopeTag:
		r.GroupID, r.JobID, r.Tag = 0, 0, strings.TrimSpace(r.Tag)
		line(bad, "tag", r.Tag, 40, true) // before it becomes small: that hides what is no text
		r.Tag = strings.ToLower(r.Tag)
	case model.ScopeJob:
		r.GroupID, r.Tag = 0, ""
		if j, err := s.store.Job(ctx, r.JobID); err != nil && model.CodeOf(err) != model.CodeNotFound {
			return err
		} else if err != nil || !actor.May(model.LevelAdminister, j.GroupID) {
			bad.AddField("job", "field.not_found")
		}
	default:
		bad.AddField("scope", "field.invalid")
	}
	if r.Scope != model.ScopeDefault {
		r.Name = strings.TrimSpace(r.Name)
		line(bad, "name", r.Name, 100, true)
	}
	// Of two about the same only one would hold.
	if i := slices.IndexFunc(set.Rules, func(x model.AlarmRule) bool {
		return x.ID != r.ID && x.Scope == r.Scope && x.GroupID == r.GroupID && x.JobID == r.JobID && x.Tag == r.Tag && r.Scope != model.ScopeDefault
	}); i >= 0 {
		bad.AddField(r.Scope, "field.rule_there", "Name", set.Rules[i].Name)
	}
	checkMails(bad, "mails", r.Mails)
	checkMails(bad, "escalate_to", r.EscalateTo)
	for _, id := range r.Channels {
		if !slices.ContainsFunc(set.Channels, func(c ChannelRow) bool { return c.ID == id }) {
			bad.AddField("channels", "field.not_found")
		}
	}
	whole(bad, "in_a_row", r.InARow, 0, mostInARow)
	whole(bad, "overrun", r.OverrunMinutes, 0, longestMinute)
	if r.OverrunTimes != 0 {
		whole(bad, "overrun_times", r.OverrunTimes, 2, mostInARow)
	}
	if r.OutOf != 0 {
		whole(bad, "out_of", r.OutOf, max(2, r.InARow), mostInARow)
	}
	whole(bad, "late", r.LateMinutes, 0, longestMinute)
	whole(bad, "remind", r.RemindMinutes, 0, longestMinute)
	whole(bad, "escalate", r.EscalateMinutes, 0, longestMinute)
	if r.EscalateMinutes > 0 && len(r.EscalateTo) == 0 {
		bad.AddField("escalate_to", "field.required")
	}
	if (r.QuietFrom == "") != (r.QuietTo == "") || r.QuietFrom != "" && r.QuietFrom == r.QuietTo {
		bad.AddField("quiet_to", "field.quiet")
	}
	for _, day := range r.DoneDays {
		known(bad, "done_day", strconv.Itoa(day), day >= 0 && day <= 6)
	}
	for field, text := range map[string]string{"quiet_from": r.QuietFrom, "quiet_to": r.QuietTo, "done_by": r.DoneBy} {
		if text != "" && !clockForm.MatchString(text) {
			bad.AddField(field, "field.clock")
		}
	}
	if r.Zone != "" {
		if _, err := time.LoadLocation(r.Zone); err != nil || r.Zone == "Local" {
			bad.AddField("zone", "field.zone")
		}
	}
	known(bad, "severity", string(r.Severity), slices.Contains([]model.Severity{model.SeverityInfo, model.SeverityWarning, model.SeverityCritical}, r.Severity))
	known(bad, "language", r.Language, slices.Contains([]string{"", "zh-Hans", "zh-Hant", "en"}, r.Language))
	for _, reason := range r.Without {
		known(bad, "without", reason, model.Choosable(reason))
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

func whole(bad *model.Error, field string, n, least, most int) {
	if n < least || n > most {
		bad.AddField(field, "field.range", "Min", least, "Max", most)
	}
}

func checkMails(bad *model.Error, field string, list []string) {
	if len(list) > mostMails {
		bad.AddField(field, "field.too_many", "Max", mostMails)
	}
	for _, a := range list {
		if p, err := mail.ParseAddress(a); err != nil || p.Address != a || len(a) > 254 {
			bad.AddField(field, "field.email", "Value", a)
		}
	}
}

// DeleteAlarmRule removes a rule; of the default what was set goes.
func (s *Service) DeleteAlarmRule(ctx context.Context, actor model.Actor, id int) error {
	r, err := s.AlarmRule(ctx, actor, id)
	if err == nil {
		err = s.store.DeleteAlarmRule(ctx, id)
	}
	s.note(ctx, actor, "alarm.rule", thing{id: int64(id), name: r.Name}, err)
	return err
}

// SaveChannel writes a channel, a new one when it has no id. An empty address or secret of
// an old one means: as it was.
func (s *Service) SaveChannel(ctx context.Context, actor model.Actor, c model.Channel, forgetSecret bool) error {
	if !actor.Admin {
		return forbidden()
	}
	if c.ID != 0 {
		old, err := s.channel(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.Kind == old.Kind && strings.TrimSpace(c.URL) == "" {
			c.URL = old.URL
		}
		if c.Kind == old.Kind && c.Secret == "" && !forgetSecret {
			c.Secret = old.Secret
		}
	}
	c.Name, c.URL, c.Secret = strings.TrimSpace(c.Name), strings.TrimSpace(c.URL), strings.TrimSpace(c.Secret)
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	line(bad, "name", c.Name, 100, true)
	line(bad, "url", c.URL, 2000, false)
	line(bad, "secret", c.Secret, 500, false)
	if len(bad.Fields) == 0 {
		if field, code := s.teller.CheckChannel(c); code != "" {
			bad.AddField(field, "channel.bad."+code)
		}
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	_, err := s.store.SaveChannel(ctx, c)
	s.note(ctx, actor, "alarm.channel", thing{name: c.Name}, err)
	return err
}

func (s *Service) channel(ctx context.Context, id int) (model.Channel, error) {
	list, err := s.store.Channels(ctx)
	if err != nil {
		return model.Channel{}, err
	}
	if i := slices.IndexFunc(list, func(c model.Channel) bool { return c.ID == id }); i >= 0 {
		return list[i], nil
	}
	return model.Channel{}, model.Errf(model.CodeNotFound, "error.channel_not_found", "ID", id)
}

// DeleteChannel removes a channel. Rules that name it tell nobody there any more.
func (s *Service) DeleteChannel(ctx context.Context, actor model.Actor, id int) error {
	if !actor.Admin {
		return forbidden()
	}
	c, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	err = s.store.DeleteChannel(ctx, id)
	s.note(ctx, actor, "alarm.channel", thing{id: int64(id), name: c.Name}, err)
	return err
}

// TestAlarm sends a test to a mail address, or to a channel when its id is not 0, and gives
// the server's own answer. What the server refuses is a model.CodeUnavailable with its words.
func (s *Service) TestAlarm(ctx context.Context, actor model.Actor, address string, channelID int, lang string) (string, error) {
	if !actor.Admin {
		return "", forbidden()
	}
	var ch *model.Channel
	if channelID != 0 {
		c, err := s.channel(ctx, channelID)
		if err != nil {
			return "", err
		}
		ch, address = &c, c.Name
	} else {
		bad := model.Errf(model.CodeInvalid, "error.invalid")
		address = strings.TrimSpace(address)
		if address == "" {
			bad.AddField("address", "field.required")
		} else {
			checkMails(bad, "address", []string{address})
		}
		if len(bad.Fields) == 0 && !s.teller.MailSet() {
			bad.AddField("address", "field.no_mail")
		}
		if len(bad.Fields) > 0 {
			return "", bad
		}
	}
	answer, err := s.teller.Test(ctx, address, ch, lang)
	s.note(ctx, actor, "alarm.test", thing{name: address}, err)
	if err != nil {
		return "", &model.Error{Code: model.CodeUnavailable, Key: "error.not_delivered", Args: map[string]any{"Text": err.Error()}, Cause: err}
	}
	return answer, nil
}

// mute tells nobody.
type mute struct{}

func (mute) MailSet() bool { return false }
func (mute) Test(context.Context, string, *model.Channel, string) (string, error) {
	return "", model.Errf(model.CodeUnavailable, "field.no_mail")
}
func (mute) CheckChannel(model.Channel) (field, code string) { return "kind", "kind" }
func (mute) Redact(model.Channel) string                     { return "" }
func (mute) Kinds() []string                                 { return nil }
func (mute) SendReport(context.Context, model.ReportMail, string) (string, error) {
	return "", model.Errf(model.CodeUnavailable, "field.no_mail")
}
func (mute) PreviewReport(context.Context, model.ReportMail) (subject, html string, picture []byte, err error) {
	return "", "", nil, nil
}
