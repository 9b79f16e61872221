package console

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// formOf turns a job into the texts of the form.
func formOf(in jobs.JobInput) map[string]string {
	v := map[string]string{
		"group": positive(in.GroupID), "name": in.Name, "author": in.Author, "alarm_email": in.AlarmEmail,
		"schedule_type": string(in.ScheduleType), "misfire": string(in.Misfire), "route": string(in.Route),
		"handler": in.Handler, "param": in.Param, "block": string(in.Block), "timeout": strconv.Itoa(in.TimeoutSec),
		"retry": strconv.Itoa(in.RetryCount), "glue_type": string(in.GlueType), "glue_source": in.GlueSource,
		"retry_delay": strconv.Itoa(in.RetryDelaySec), "retry_wait": retryWait(in.RetryGrowing), "misfire_after": strconv.Itoa(in.MisfireAfterSec),
		"keep_days": in.KeepDays.String(), "keep_failed_days": in.KeepFailedDays.String(),
		"glue_remark": in.GlueRemark, "child_ids": in.ChildIDs, "tags": shownTags(in.Tags), "version": strconv.FormatInt(in.Version, 10),
	}
	switch in.ScheduleType {
	case model.ScheduleFixRate:
		v["seconds"] = in.ScheduleConf
	case model.ScheduleCron:
		v["zone"], v["schedule_conf"] = splitZone(in.ScheduleConf)
	}
	return v
}

// shownTags puts blanks between tags, for reading.
func shownTags(tags string) string { return strings.Join(model.TagList(tags), ", ") }

// retryWait is the choice behind RetryGrowing.
func retryWait(growing bool) string {
	if growing {
		return views.RetryGrowing
	}
	return views.RetryFixed
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// scheduleConf is the schedule text behind the visible sub-fields of a form.
func scheduleConf(get func(string) string) string {
	switch model.ScheduleType(get("schedule_type")) {
	case model.ScheduleCron:
		return joinZone(get("zone"), get("schedule_conf"))
	case model.ScheduleFixRate:
		return strings.TrimSpace(get("seconds"))
	}
	return ""
}

// bindJob reads the form. The texts come back as typed, for redrawing; bad
// gives the numbers that are none.
func bindJob(r *request) (in jobs.JobInput, values map[string]string, bad *model.Error) {
	values = formOf(in)
	for _, name := range []string{"schedule_conf", "seconds", "zone"} {
		values[name] = ""
	}
	for name := range values {
		values[name] = strings.ReplaceAll(r.FormValue(name), "\r\n", "\n")
	}
	get := func(name string) string { return values[name] }
	bad = model.Errf(model.CodeInvalid, "error.invalid")
	number := func(name string) int {
		text := strings.TrimSpace(get(name))
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			bad.AddField(name, "field.number")
			return -1 // out of every range, so it is refused with the rest of the form
		}
		return n
	}
	days := func(name string) model.KeepDays {
		k, ok := model.ParseKeepDays(get(name))
		if !ok {
			bad.AddField(name, "field.number")
		}
		return k
	}
	version, err := strconv.ParseInt(get("version"), 10, 64)
	if err != nil {
		version = -1 // a conflict with whatever is stored
	}
	in = jobs.JobInput{
		GroupID: number("group"), Name: get("name"), Author: get("author"), AlarmEmail: get("alarm_email"),
		ScheduleType: model.ScheduleType(get("schedule_type")), ScheduleConf: scheduleConf(get),
		Misfire: model.MisfireStrategy(get("misfire")), Route: model.RouteStrategy(get("route")),
		Handler: get("handler"), Param: get("param"), Block: model.BlockStrategy(get("block")),
		TimeoutSec: number("timeout"), RetryCount: number("retry"), RetryDelaySec: number("retry_delay"),
		RetryGrowing: get("retry_wait") == views.RetryGrowing, MisfireAfterSec: number("misfire_after"),
		KeepDays: days("keep_days"), KeepFailedDays: days("keep_failed_days"), GlueType: model.GlueType(get("glue_type")),
		GlueSource: get("glue_source"), GlueRemark: get("glue_remark"), ChildIDs: get("child_ids"), Tags: get("tags"), Version: version,
	}
	if wait := get("retry_wait"); wait != "" && wait != views.RetryGrowing && wait != views.RetryFixed {
		in.Unread = model.Errf(model.CodeInvalid, "error.invalid")
		in.Unread.AddField("retry_wait", "field.unknown_value", "Value", wait)
	}
	if len(bad.Fields) == 0 {
		return in, values, nil
	}
	return in, values, bad
}

// jobNew shows the form with defaults, or with the values of another job.
func (c *Console) jobNew(r *request) error {
	if a := r.actor(); !a.MaySomewhere(model.LevelEdit) {
		if a.MaySomewhere(model.LevelView) {
			return model.Errf(model.CodeForbidden, "error.forbidden")
		}
		return model.Errf(model.CodeForbidden, "error.no_executor")
	}
	in, copyOf, original := jobs.NewJobInput(), r.queryInt("copy"), ""
	in.GroupID, in.Author = r.queryInt("executor"), r.user.Name
	if copyOf > 0 {
		j, err := c.svc.Job(r.Request().Context(), r.actor(), copyOf)
		if err != nil {
			return err
		}
		in, original = jobs.InputOf(&j), j.Name
		in.Version, in.Name = 0, copyName(j.Name, r.loc.T("form.copy_suffix"))
	}
	return c.drawJob(r, http.StatusOK, views.JobForm{CopyOf: copyOf, Name: original, Values: formOf(in)})
}

// copyName is the name of a copy: two equal rows in a list help nobody. It is no longer
// than names may be.
func copyName(name, suffix string) string {
	const most = 255
	runes, room := []rune(name), most-len([]rune(suffix))
	return string(runes[:min(len(runes), room)]) + suffix
}

func (c *Console) jobEdit(r *request) error {
	j, err := c.pathJob(r, model.LevelEdit, "job.edit")
	if err != nil {
		return err
	}
	v := views.JobForm{ID: j.ID, Name: j.Name, Values: formOf(jobs.InputOf(&j))}
	if line := numberOf(r.QueryParam("restore")); line > 0 {
		old, err := c.svc.RestoreJob(r.Request().Context(), r.actor(), j.ID, int64(line))
		if err != nil {
			return err
		}
		v.Was = formMarks(v.Values) // what is stored: the old values are typed on top of it
		v.Values, v.Restored, v.RestoredLeft, v.RestoredFrom = formOf(old.Input), old.Back, old.Left, &old.Entry
	}
	return c.drawJob(r, http.StatusOK, v)
}

// drawJob draws the form with the executors on offer and the preview.
func (c *Console) drawJob(r *request, status int, v views.JobForm) error {
	groups, err := c.svc.Groups(r.Request().Context(), r.actor())
	if err != nil {
		return err
	}
	v.Page, v.Groups = r.page("jobs", ""), groups
	v.Groups = slices.DeleteFunc(v.Groups, func(g model.Group) bool { return !r.actor().May(model.LevelEdit, g.ID) })
	if v.Title = v.Heading(); v.ID == 0 {
		v.Once = newRequestID()
	}
	if v.ID == 0 && len(v.Groups) == 1 && v.Values["group"] == "" {
		v.Values["group"] = strconv.Itoa(v.Groups[0].ID) // nothing to choose from
	}
	if v.Was == "" {
		v.Was = formMarks(v.Values)
	}
	if err := c.fillSuggestions(r, &v); err != nil {
		return err
	}
	v.Preview = c.preview(r, func(name string) string { return v.Values[name] })
	return r.render(status, views.JobFormPage(v))
}

func (c *Console) preview(r *request, get func(string) string) views.Preview {
	v := views.Preview{Page: views.Page{L: r.loc, Base: c.base, Asset: c.files.URL, Now: r.now}}
	conf := scheduleConf(get)
	if v.Empty = conf == ""; v.Empty {
		return v
	}
	f, err := c.svc.Forecast(model.ScheduleType(get("schedule_type")), conf, r.loc.Lang())
	if err != nil {
		v.Error = r.scheduleError(err)
		_, v.Instead = splitZone(f.Instead)
		return v
	}
	v.Words, v.Next, v.Zone, v.Weekdays = f.InWords, f.Next, f.Zone, f.Weekdays
	if v.Zone == "" || v.Zone == "Local" {
		v.Zone = v.Page.Zone()
	}
	if f.Week != nil {
		v.Week = &views.Week{First: f.Week.First, Fires: f.Week.Fires, Many: jobs.ManyFires}
	}
	for _, j := range f.Jumps {
		v.Jumps = append(v.Jumps, views.ClockJump{Back: j.Back(), From: j.From, To: j.To, Fire: j.Fire})
	}
	return v
}

// jobPreview answers while somebody types a schedule.
func (c *Console) jobPreview(r *request) error {
	return r.render(http.StatusOK, views.PreviewFragment(c.preview(r, r.QueryParam)))
}

func (c *Console) jobAdd(r *request) error {
	in, values, bad := bindJob(r)
	if kept := r.FormValue("resume") != ""; takeOffer(r, values) || kept {
		if !r.actor().MaySomewhere(model.LevelEdit) {
			return model.Errf(model.CodeForbidden, "error.forbidden")
		}
		return c.drawJob(r, http.StatusOK, views.JobForm{Values: values, Kept: kept})
	}
	id, err := c.svc.AddJob(r.Request().Context(), r.actor(), in)
	if err = withNumbers(err, bad); err != nil {
		return c.redrawJob(r, 0, values, err)
	}
	return r.leave(c.path("/jobs/"+strconv.Itoa(id)), r.loc.T("jobs.added", "Name", in.Name))
}

func (c *Console) jobUpdate(r *request) error {
	id, err := r.jobID()
	if err != nil {
		return err
	}
	if err := c.takeTheirs(r, id); err != nil {
		return err
	}
	in, values, bad := bindJob(r)
	if kept := r.FormValue("resume") != ""; takeOffer(r, values) || kept {
		if _, err := c.pathJob(r, model.LevelEdit, "job.edit"); err != nil {
			return err
		}
		return c.drawJob(r, http.StatusOK, views.JobForm{ID: id, Name: c.storedName(r, id), Values: values, Was: r.FormValue("was"), Kept: kept})
	}
	err = c.svc.UpdateJob(r.Request().Context(), r.actor(), id, in)
	if err = withNumbers(err, bad); err != nil {
		return c.redrawJob(r, id, values, err)
	}
	return r.leave(c.path("/jobs/"+strconv.Itoa(id)), r.loc.T("jobs.saved", "Name", in.Name))
}

// takeOffer puts the schedule that was offered in the place of the refused one. Scripts
// do that in the browser; without them it is a button that saves nothing.
func takeOffer(r *request, values map[string]string) bool {
	offer := r.FormValue("use_cron")
	if offer == "" {
		return false
	}
	values["schedule_conf"] = offer
	return true
}

// withNumbers puts what is no number at all into the complaints about the form.
func withNumbers(err error, bad *model.Error) error {
	if bad == nil {
		return err
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Code != model.CodeInvalid {
		return cmp.Or(err, error(bad))
	}
	for name, f := range bad.Fields {
		if e.Fields == nil {
			e.Fields = map[string]model.FieldError{}
		}
		e.Fields[name] = f
	}
	return e
}

// storedName is the name of a job as others see it, while the form says another.
func (c *Console) storedName(r *request, id int) string {
	if id == 0 {
		return ""
	}
	j, err := c.svc.Job(r.Request().Context(), r.actor(), id)
	if err != nil {
		return "" // the answer of the save says what is wrong
	}
	return j.Name
}

// redrawJob shows the form again with what was typed and what is wrong.
func (c *Console) redrawJob(r *request, id int, values map[string]string, err error) error {
	v := views.JobForm{ID: id, Name: c.storedName(r, id), Values: values, Was: r.FormValue("was"), Errors: fieldMessages(r.loc, err), Message: message(r.loc, err)}
	switch model.CodeOf(err) {
	case model.CodeConflict:
		if e := c.showConflict(r, &v); e != nil {
			return e
		}
	case model.CodeInvalid:
	default:
		return err
	}
	if text := v.Errors["schedule_conf"]; values["schedule_type"] == string(model.ScheduleFixRate) && text != "" {
		delete(v.Errors, "schedule_conf")
		v.Errors["seconds"] = text
	}
	if len(v.Errors) > 0 {
		v.Message = r.loc.T("form.errors")
	}
	return c.drawJob(r, statusOf(err), v)
}
