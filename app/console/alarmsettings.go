package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

func channelRows(list []jobs.ChannelRow) []views.AlarmChannel {
	out := make([]views.AlarmChannel, len(list))
	for i, c := range list {
		out[i] = views.AlarmChannel{ID: c.ID, Name: c.Name, Kind: c.Kind, Where: c.Where, Disabled: c.Disabled, Signed: c.Signed}
	}
	return out
}

// alarmSettings lists rules and channels.
func (c *Console) alarmSettings(r *request) error {
	return c.drawAlarmSettings(r, http.StatusOK, views.AlarmSettings{})
}

func (c *Console) drawAlarmSettings(r *request, status int, v views.AlarmSettings) error {
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v.Page = r.page("incidents", r.loc.T("alarms.title"))
	v.Rules, v.Channels, v.Groups, v.JobNames, v.MailSet, v.People = set.Rules, channelRows(set.Channels), set.Groups, set.JobNames, set.MailSet, set.People
	return r.render(status, views.AlarmSettingsPage(v))
}

// alarmTest sends a test and shows the server's own answer.
func (c *Console) alarmTest(r *request) error {
	id, _ := strconv.Atoi(r.FormValue("channel"))
	v := views.AlarmSettings{Address: r.FormValue("address")}
	answer, err := c.svc.TestAlarm(r.Request().Context(), r.actor(), v.Address, id, r.loc.Lang())
	switch model.CodeOf(err) {
	case model.CodeInvalid:
		v.Error = fieldMessages(r.loc, err)["address"]
	case model.CodeUnavailable:
		v.Refused = message(r.loc, err)
	default:
		if err != nil {
			return err
		}
		v.Answer = answer
		return c.drawAlarmSettings(r, http.StatusOK, v)
	}
	return c.drawAlarmSettings(r, http.StatusUnprocessableEntity, v)
}

// ruleFields are the fields of a rule that hold one text each.
var ruleFields = []string{"name", "scope", "executor", "tag", "job", "off", "mails", "language", "zone", "severity", "in_a_row", "remind", "quiet_from", "quiet_to", "escalate", "escalate_to",
	"overrun", "overrun_times", "late", "done_by", "out_of", "each_attempt", "discarded"}

func (c *Console) ruleNew(r *request) error {
	d := model.DefaultAlarmRule()
	if r.QueryParam("scope") != model.ScopeDefault || !r.actor().Admin {
		d.Scope = model.ScopeExecutor
	}
	return c.drawRule(r, http.StatusOK, ruleForm(d, nil))
}

// ruleForm is a stored rule in the form; names are those of jobs.
func ruleForm(d model.AlarmRule, names map[int]string) views.AlarmRuleForm {
	v := views.AlarmRuleForm{ID: d.ID, Without: d.Without, Values: map[string]string{
		"name": d.Name, "scope": d.Scope, "executor": shownNumber(d.GroupID), "tag": d.Tag, "job": shownJob(d.JobID, names[d.JobID]), "mails": strings.Join(d.Mails, "\n"),
		"language": d.Language, "zone": d.Zone, "severity": string(d.Severity), "in_a_row": shownNumber(max(1, d.InARow)), "remind": strconv.Itoa(d.RemindMinutes),
		"overrun": shownNumber(d.OverrunMinutes), "overrun_times": shownNumber(d.OverrunTimes), "late": shownNumber(d.LateMinutes), "done_by": d.DoneBy, "out_of": shownNumber(d.OutOf),
		"quiet_from": d.QuietFrom, "quiet_to": d.QuietTo, "escalate": shownNumber(d.EscalateMinutes), "escalate_to": strings.Join(d.EscalateTo, "\n"),
	}}
	if d.Off {
		v.Values["off"] = "1"
	}
	if d.Discarded {
		v.Values["discarded"] = "1"
	}
	if d.EachAttempt {
		v.Values["each_attempt"] = "1"
	}
	for _, day := range d.DoneDays {
		v.DoneDays = append(v.DoneDays, strconv.Itoa(day))
	}
	for _, id := range d.Channels {
		v.Chosen = append(v.Chosen, strconv.Itoa(id))
	}
	return v
}

func (c *Console) ruleEdit(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	d, err := c.svc.AlarmRule(r.Request().Context(), r.actor(), id)
	if err != nil {
		return err
	}
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	return c.drawRule(r, http.StatusOK, ruleForm(d, set.JobNames))
}

func (c *Console) drawRule(r *request, status int, v views.AlarmRuleForm) error {
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	title := "alarms.rule_add"
	if v.ID > 0 || v.Values["scope"] == model.ScopeDefault {
		title = "alarms.rule_edit"
	}
	v.Page, v.Groups, v.Channels, v.People = r.page("incidents", r.loc.T(title)), set.Groups, channelRows(set.Channels), set.People
	return r.render(status, views.AlarmRuleFormPage(v))
}

// ruleSave binds the form, saves, and draws it again when something is wrong.
func (c *Console) ruleSave(r *request) error {
	t := r.readForm(ruleFields...)
	v := views.AlarmRuleForm{Values: t.Values, Errors: t.Errors}
	if r.Param("id") != "" {
		var err error
		if v.ID, err = r.jobID(); err != nil {
			return err
		}
	}
	form, err := r.FormParams()
	if err != nil {
		return err
	}
	v.Chosen, v.Without, v.DoneDays = form["channel"], form["without"], form["done_day"]
	d := model.AlarmRule{ID: v.ID, Name: v.Values["name"], Scope: v.Values["scope"], Tag: v.Values["tag"]}
	switch d.Scope {
	case model.ScopeExecutor:
		d.GroupID = t.number("executor")
	case model.ScopeJob:
		if d.JobID, err = t.job(c, "job"); err != nil {
			return err
		}
	}
	d.AlarmSettings = model.AlarmSettings{
		Off: t.set("off"), Without: v.Without, InARow: t.number("in_a_row"), RemindMinutes: t.number("remind"), Severity: model.Severity(v.Values["severity"]),
		QuietFrom: v.Values["quiet_from"], QuietTo: v.Values["quiet_to"], Zone: v.Values["zone"], Language: v.Values["language"],
		Mails: addresses(v.Values["mails"]), EscalateMinutes: t.number("escalate"), EscalateTo: addresses(v.Values["escalate_to"]),
		OverrunMinutes: t.number("overrun"), OverrunTimes: t.number("overrun_times"), LateMinutes: t.number("late"), DoneBy: v.Values["done_by"], OutOf: t.number("out_of"), EachAttempt: t.set("each_attempt"), Discarded: t.set("discarded"),
	}
	for _, text := range v.DoneDays {
		day, err := strconv.Atoi(text)
		if err != nil {
			day = -1 // is refused
		}
		d.DoneDays = append(d.DoneDays, day)
	}
	for _, text := range v.Chosen {
		id, err := strconv.Atoi(text)
		if err != nil {
			v.Errors["channels"] = r.loc.T("field.not_found")
		}
		d.Channels = append(d.Channels, id)
	}
	if len(v.Errors) == 0 {
		err := c.svc.SaveAlarmRule(r.Request().Context(), r.actor(), d)
		if model.CodeOf(err) != model.CodeInvalid {
			if err != nil {
				return err
			}
			return r.leave(c.path("/alarms"), r.loc.T("alarms.rule_saved"))
		}
		v.Errors = fieldMessages(r.loc, err)
	}
	return c.drawRule(r, http.StatusUnprocessableEntity, v)
}

// addresses takes apart what was typed into a field for several.
func addresses(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;，； \t\r\n", r) })
}

func (c *Console) ruleDeleteForm(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if _, err := c.svc.AlarmRule(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return c.confirmAlarm(r, "alarms.rule_delete", "alarms.rule_delete_text", "/alarms/rules/"+strconv.Itoa(id)+"/delete")
}

func (c *Console) confirmAlarm(r *request, title, text, action string) error {
	v := views.Confirm{
		Page: r.page("incidents", r.loc.T(title)), Heading: r.loc.T(title), Text: r.loc.T(text), Button: r.loc.T("action.delete"),
		Action: c.path(action), Cancel: c.path("/alarms"),
	}
	return r.pageOr(http.StatusOK, views.ConfirmPage(v), views.ConfirmFragment(v))
}

func (c *Console) ruleDelete(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if err := c.svc.DeleteAlarmRule(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.leave(c.path("/alarms"), r.loc.T("alarms.rule_deleted"))
}

func (c *Console) channelNew(r *request) error {
	return c.drawChannel(r, http.StatusOK, views.AlarmChannelForm{Values: map[string]string{"kind": "webhook"}})
}

func (c *Console) channelEdit(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	for _, ch := range set.Channels {
		if ch.ID == id {
			v := views.AlarmChannelForm{ID: id, Values: map[string]string{"name": ch.Name, "kind": ch.Kind}}
			if ch.Disabled {
				v.Values["disabled"] = "1"
			}
			return c.drawChannel(r, http.StatusOK, v)
		}
	}
	return model.Errf(model.CodeNotFound, "error.channel_not_found", "ID", id)
}

func (c *Console) drawChannel(r *request, status int, v views.AlarmChannelForm) error {
	set, err := c.svc.AlarmSettings(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	title := "alarms.channel_add"
	for _, ch := range set.Channels {
		if ch.ID == v.ID {
			v.Where, v.Signed, title = ch.Where, ch.Signed, "alarms.channel_edit"
		}
	}
	v.Page, v.Kinds = r.page("incidents", r.loc.T(title)), set.Kinds
	return r.render(status, views.AlarmChannelFormPage(v))
}

func (c *Console) channelSave(r *request) error {
	v := views.AlarmChannelForm{Values: map[string]string{}}
	if r.Param("id") != "" {
		var err error
		if v.ID, err = r.jobID(); err != nil {
			return err
		}
	}
	for _, name := range []string{"name", "kind", "url", "secret", "disabled"} {
		v.Values[name] = r.FormValue(name)
	}
	ch := model.Channel{ID: v.ID, Name: v.Values["name"], Kind: v.Values["kind"], URL: v.Values["url"], Secret: v.Values["secret"], Disabled: v.Values["disabled"] != ""}
	err := c.svc.SaveChannel(r.Request().Context(), r.actor(), ch, r.FormValue("forget") != "")
	if model.CodeOf(err) == model.CodeInvalid {
		v.Errors = fieldMessages(r.loc, err)
		delete(v.Values, "secret")
		return c.drawChannel(r, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	return r.leave(c.path("/alarms"), r.loc.T("alarms.channel_saved"))
}

func (c *Console) channelDeleteForm(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	return c.confirmAlarm(r, "alarms.channel_delete", "alarms.channel_delete_text", "/alarms/channels/"+strconv.Itoa(id)+"/delete")
}

func (c *Console) channelDelete(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if err := c.svc.DeleteChannel(r.Request().Context(), r.actor(), id); err != nil {
		return err
	}
	return r.leave(c.path("/alarms"), r.loc.T("alarms.channel_deleted"))
}
