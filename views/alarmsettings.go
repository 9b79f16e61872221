package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// AlarmSettings is the page of rules and channels.
type AlarmSettings struct {
	Page
	Rules    []model.AlarmRule
	Channels []AlarmChannel
	Groups   []model.Group
	JobNames map[int]string
	MailSet  bool
	People   []model.MailPerson

	Address string // of a test
	Error   string // of its field
	Answer  string // of the server
	Refused string // of the server
}

// AlarmChannel is a channel as it may be shown.
type AlarmChannel struct {
	ID                int
	Name, Kind, Where string
	Disabled, Signed  bool
}

// AlarmRuleForm is the form of a rule. Values are as they were typed.
type AlarmRuleForm struct {
	Page
	ID       int
	Values   map[string]string
	Chosen   []string // ids of channels
	Without  []string // reasons
	DoneDays []string // days of the week, 0 = Sunday
	Errors   map[string]string
	Groups   []model.Group
	Channels []AlarmChannel
	People   []model.MailPerson
}

// AlarmChannelForm is the form of a channel. What is secret is never in it.
type AlarmChannelForm struct {
	Page
	ID     int
	Values map[string]string
	Errors map[string]string
	Kinds  []string
	Where  string // where it leads now
	Signed bool
}

// covers says what a rule is about.
func (v AlarmSettings) covers(r model.AlarmRule) string {
	switch r.Scope {
	case model.ScopeExecutor:
		i := slices.IndexFunc(v.Groups, func(g model.Group) bool { return g.ID == r.GroupID })
		if i < 0 {
			return v.T("alarms.covers.gone")
		}
		return v.T("alarms.covers.executor", "Name", v.Groups[i].Title)
	case model.ScopeTag:
		return v.T("alarms.covers.tag", "Name", r.Tag)
	case model.ScopeJob:
		if v.JobNames[r.JobID] == "" {
			return v.T("alarms.covers.gone")
		}
		return v.T("alarms.covers.job", "Name", v.JobNames[r.JobID])
	}
	return v.T("alarms.covers.default")
}

// says puts a rule into one line.
func (v AlarmSettings) says(r model.AlarmRule) string {
	if r.Off {
		return v.T("alarms.says.off")
	}
	out := []string{v.T("severity." + string(severityOr(r.Severity)))}
	if r.EachAttempt {
		out = append(out, v.T("alarms.says.each_attempt"))
	}
	if r.Discarded {
		out = append(out, v.T("alarms.says.discarded"))
	}
	if r.OutOf > 0 {
		out = append(out, v.T("alarms.says.out_of", "Count", max(1, r.InARow), "Of", r.OutOf))
	} else if r.InARow > 1 {
		out = append(out, v.T("alarms.says.in_a_row", "Count", r.InARow))
	}
	out = append(out, v.watches(r)...)
	if r.RemindMinutes > 0 {
		out = append(out, v.T("alarms.says.remind", "For", v.minutes(r.RemindMinutes)))
	} else {
		out = append(out, v.T("alarms.says.no_reminder"))
	}
	if r.EscalateMinutes > 0 {
		out = append(out, v.T("alarms.says.escalate", "For", v.minutes(r.EscalateMinutes), "Names", strings.Join(r.EscalateTo, ", ")))
	}
	if r.QuietFrom != "" {
		out = append(out, v.T("alarms.says.quiet", "From", r.QuietFrom, "To", r.QuietTo))
	}
	return strings.Join(out, " · ")
}

// watches says what a rule watches beside the outcomes.
func (v AlarmSettings) watches(r model.AlarmRule) (out []string) {
	if r.OverrunMinutes > 0 {
		out = append(out, v.T("alarms.says.overrun", "For", v.minutes(r.OverrunMinutes)))
	}
	if r.OverrunTimes > 0 {
		out = append(out, v.T("alarms.says.overrun_times", "Count", r.OverrunTimes))
	}
	if r.LateMinutes > 0 {
		out = append(out, v.T("alarms.says.late", "For", v.minutes(r.LateMinutes)))
	}
	if r.DoneBy != "" {
		var days []string
		for _, d := range dayOrder() {
			if slices.Contains(r.DoneDays, d) {
				days = append(days, v.T("weekday."+itoa(d+1)))
			}
		}
		out = append(out, strings.TrimSpace(v.T("alarms.says.done_by", "Time", r.DoneBy, "Days", strings.Join(days, " "))))
	}
	return out
}

// dayOrder are the days of the week from Monday on, Sunday being 0.
func dayOrder() []int { return []int{1, 2, 3, 4, 5, 6, 0} }

// days are the days on which a deadline can hold.
func (v AlarmRuleForm) days() []Option {
	var out []Option
	for _, d := range dayOrder() {
		out = append(out, Option{itoa(d), v.T("weekday." + itoa(d+1))})
	}
	return out
}

// tells lists whom a rule tells beside the addresses of the jobs.
func (v AlarmSettings) tells(r model.AlarmRule) string {
	out := slices.Clone(r.Mails)
	for _, c := range v.Channels {
		if slices.Contains(r.Channels, c.ID) {
			out = append(out, c.Name)
		}
	}
	return strings.Join(out, ", ")
}

func (p Page) minutes(n int) string { return p.L.Millis(int64(n) * 60_000) }

func severityOr(s model.Severity) model.Severity {
	if s == "" {
		return model.SeverityCritical
	}
	return s
}

func (v AlarmRuleForm) action() string {
	if v.ID == 0 {
		return v.URL("/alarms/rules")
	}
	return v.URL("/alarms/rules/" + itoa(v.ID))
}

func (v AlarmRuleForm) field(name string, f Field) Field {
	f.Name, f.Label, f.Value, f.Error = name, v.T("alarms.field."+name), v.Values[name], v.Errors[name]
	if key := "alarms.hint." + name; v.L.Has(key) && f.Hint == "" {
		f.Hint = v.T(key)
	}
	return f
}

// folds are the groups of options that most rules leave as they are.
func (v AlarmRuleForm) folds() []fold {
	n := func(name, key string) sum { return sum{Name: name, Text: v.T(key, "N", "%"), Skip: "0"} }
	return []fold{
		{"told", []string{"remind", "quiet_from", "quiet_to", "escalate", "escalate_to"}, []sum{
			{Name: "remind", Text: v.T("alarms.sum.remind", "N", "%"), Zero: v.T("alarms.says.no_reminder")},
			{Name: "quiet_from", Text: v.T("alarms.sum.quiet_from", "N", "%")}, {Name: "quiet_to", Text: v.T("alarms.sum.quiet_to", "N", "%")},
			n("escalate", "alarms.sum.escalate")}},
		{"watch", []string{"overrun", "overrun_times", "late", "done_by", "done_day"}, []sum{
			n("overrun", "alarms.sum.overrun"), n("overrun_times", "alarms.sum.overrun_times"), n("late", "alarms.sum.late"),
			{Name: "done_by", Text: v.T("alarms.sum.done_by", "N", "%")}}},
		{"without", []string{"without"}, []sum{n("without", "alarms.sum.without")}},
	}
}

// open reports whether a group must be seen: something in it is wrong.
func (v AlarmRuleForm) open(f fold) bool {
	return slices.ContainsFunc(f.Fields, func(name string) bool { return v.Errors[name] != "" })
}

// line says what is set in a group.
func (v AlarmRuleForm) line(f fold) string {
	values := maps.Clone(v.Values)
	values["without"] = itoa(len(v.Without))
	return f.line(v.Page, values, func(_, value string) string { return value })
}

func (v AlarmRuleForm) scopes() []Option {
	var out []Option
	for _, s := range []string{model.ScopeExecutor, model.ScopeTag, model.ScopeJob} {
		if s == model.ScopeTag && !v.Admin { // a tag may be at jobs of all executors
			continue
		}
		out = append(out, Option{s, v.T("alarms.scope." + s)})
	}
	return out
}

func (v AlarmRuleForm) groups() []Option {
	out := []Option{{"", "–"}}
	for _, g := range v.Groups {
		out = append(out, Option{itoa(g.ID), g.Title})
	}
	return out
}

func (v AlarmRuleForm) severities() []Option {
	var out []Option
	for _, s := range []model.Severity{model.SeverityCritical, model.SeverityWarning, model.SeverityInfo} {
		out = append(out, Option{string(s), v.T("severity." + string(s))})
	}
	return out
}

func (v AlarmRuleForm) languages() []Option {
	out := []Option{{"", v.T("alarms.language.center")}}
	for _, l := range i18n.Languages() {
		out = append(out, Option{l, v.T("lang." + l)})
	}
	return out
}

// reasons are the outcomes that a rule may leave out.
func (v AlarmRuleForm) reasons() []Option {
	out := []Option{{model.AlarmBroken, reasonText(v.L, model.AlarmBroken)}}
	for _, r := range model.Reasons() {
		if model.Choosable(r.Code) {
			out = append(out, Option{r.Code, reasonText(v.L, r.Code)})
		}
	}
	return out
}

// centerReasons are troubles of the center that the default rule may leave out.
func (v AlarmRuleForm) centerReasons() []Option {
	var out []Option
	for _, r := range model.CenterReasons() {
		out = append(out, Option{r, reasonText(v.L, r)})
	}
	return out
}

func (v AlarmChannelForm) action() string {
	if v.ID == 0 {
		return v.URL("/alarms/channels")
	}
	return v.URL("/alarms/channels/" + itoa(v.ID))
}

func (v AlarmChannelForm) kinds() []Option {
	var out []Option
	for _, k := range v.Kinds {
		out = append(out, Option{k, v.T("channel.kind." + k)})
	}
	return out
}

func (v AlarmChannelForm) field(name string, f Field) Field {
	f.Name, f.Label, f.Value, f.Error = name, v.T("alarms.field."+name), v.Values[name], v.Errors[name]
	if f.Hint == "" {
		if key := "alarms.hint." + name; v.L.Has(key) {
			f.Hint = v.T(key)
		}
	}
	return f
}

func has(list []string, s string) bool { return slices.Contains(list, s) }
