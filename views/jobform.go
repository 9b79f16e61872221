package views

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// JobForm is the form of a new or an existing job.
type JobForm struct {
	Page
	ID       int    // 0 = new
	Name     string // of it, or of the copied one, as it is stored
	CopyOf   int
	Values   map[string]string
	Errors   map[string]string
	Message  string // what is wrong with the whole form
	Conflict bool
	Groups   []model.Group
	Preview  Preview
	// Handlers are the names that jobs of the chosen executor use, for suggestions.
	Handlers []string
	// Tags are those in use, for suggestions.
	Tags []string
	// Lacking are the types that no address of the chosen executor runs, as far as is known.
	Lacking []model.GlueType
	// Children are the jobs behind the ids that were typed; those without a name are gone or
	// nobody's business. Parents start this job.
	Children, Parents []model.Job
	// Was says what each field held when the form was first drawn, see FormMarks.
	Was    string
	Theirs []Differing // of a conflict: what others saved
	Once   string      // names a form that makes a job, so that a double click makes one
	Kept   bool        // what was typed before the login ran out
	// RestoredFrom is the change whose old values the form shows, nil = none; Restored are
	// these fields, RestoredLeft those whose old values are not kept.
	RestoredFrom           *model.AuditEntry
	Restored, RestoredLeft []string
}

// Differing is a field of a conflict that others and this person have differently.
type Differing struct {
	Name, Label          string
	Theirs, Mine         string // as stored and as typed
	TheirsText, MineText string // as people read them
	TakeTheirs           bool   // only they changed it
}

// JobFields is the order of the fields on the form, to find the first bad one.
func JobFields() []string {
	return []string{
		"group", "name", "author", "tags", "alarm_email", "schedule_type", "schedule_conf", "seconds", "zone", "misfire",
		"glue_type", "handler", "glue_source", "glue_remark", "param", "route", "child_ids", "block", "misfire_after", "timeout", "retry",
		"retry_delay", "retry_wait", "keep_days", "keep_failed_days",
	}
}

func (v JobForm) field(name, label string) Field {
	first := slices.IndexFunc(JobFields(), func(n string) bool { return v.Errors[n] != "" })
	return Field{
		Name: name, Label: v.T(label), Value: v.Values[name], Error: v.Errors[name],
		Focus: first >= 0 && JobFields()[first] == name,
	}
}

func (v JobForm) required(f Field) Field { f.Required = true; return f }

func (v JobForm) hint(f Field, key string) Field { f.Hint = v.T(key); return f }

func (v JobForm) choose(f Field, o []Option) Field { f.Options = o; return f }

func (v JobForm) mono(f Field, rows int) Field { f.Mono, f.Rows = true, rows; return f }

func (v JobForm) suggest(f Field, list string) Field { f.List = list; return f }

// freeTags are the tags on offer that the job does not have.
func (v JobForm) freeTags() []string {
	has := model.TagList(v.Values["tags"])
	return slices.DeleteFunc(slices.Clone(v.Tags), func(t string) bool { return slices.Contains(has, t) })
}

// guard says whether leaving loses something even when nothing is typed any more.
func (v JobForm) guard() string {
	if v.Conflict || v.Kept || v.Message != "" {
		return "dirty"
	}
	return ""
}

func (v JobForm) groupOptions() []Option {
	out := []Option{{"", v.T("form.choose")}}
	for _, g := range v.Groups {
		out = append(out, Option{itoa(g.ID), g.Title + " · " + g.AppName})
	}
	return out
}

// zones are offered for schedules; any other zone that a job already has is
// added to the list.
func zones() []string {
	return []string{
		"Asia/Shanghai", "Asia/Hong_Kong", "Asia/Taipei", "Asia/Singapore", "Asia/Tokyo", "Asia/Seoul", "Asia/Bangkok",
		"Asia/Jakarta", "Asia/Kolkata", "Asia/Dubai", "Europe/Moscow", "Europe/Istanbul", "Africa/Cairo",
		"Africa/Johannesburg", "Europe/Berlin", "Europe/Paris", "Europe/London", "UTC", "America/Sao_Paulo",
		"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "Australia/Sydney",
		"Pacific/Auckland",
	}
}

func (v JobForm) zoneOptions() []Option {
	return v.zoneChoices(v.Values["zone"])
}

// zoneChoices offers zones, the chosen one among them; none is that of the center.
func (p Page) zoneChoices(chosen string) []Option {
	out := []Option{{"", p.T("form.zone_center", "Zone", p.CenterZone())}}
	all := zones()
	if chosen != "" && !slices.Contains(all, chosen) {
		all = append(all, chosen)
	}
	for _, z := range all {
		out = append(out, Option{z, z})
	}
	return out
}

func (v JobForm) folds() []fold {
	n := func(name, key string) sum { return sum{Name: name, Text: v.T(key, "N", "%"), Skip: "0"} }
	as := func(name string) sum { return sum{Name: name, Text: "%"} }
	return []fold{
		{"route", []string{"route", "block"}, []sum{as("route"), as("block")}},
		{"late", []string{"misfire", "misfire_after", "timeout"}, []sum{as("misfire"), n("misfire_after", "form.sum_misfire_after"), n("timeout", "form.sum_timeout")}},
		{"retry", []string{"retry", "retry_delay", "retry_wait"}, []sum{n("retry", "form.sum_retry"),
			{Name: "retry_delay", Text: v.T("form.sum_retry_delay", "N", "%"), Skip: "0", Needs: "retry"}, {Name: "retry_wait", Text: "%", Skip: RetryFixed, Needs: "retry"}}},
		{"children", []string{"child_ids"}, []sum{as("child_ids")}},
		{"alarm", []string{"alarm_email"}, []sum{as("alarm_email")}},
		{"keep", []string{"keep_days", "keep_failed_days"}, []sum{
			{Name: "keep_days", Text: v.T("form.sum_keep", "N", "%"), Zero: v.T("form.sum_keep_ever")},
			{Name: "keep_failed_days", Text: v.T("form.sum_keep_failed", "N", "%"), Zero: v.T("form.sum_keep_failed_ever")}}},
	}
}

// open reports whether a group must be seen: something in it is wrong or in conflict.
func (v JobForm) open(f fold) bool {
	for _, name := range f.Fields {
		if v.Errors[name] != "" || slices.ContainsFunc(v.Theirs, func(d Differing) bool { return d.Name == name }) {
			return true
		}
	}
	return false
}

// line says what is set in a group.
func (v JobForm) line(f fold) string { return f.line(v.Page, v.Values, v.shown) }

// shown is the value of a field as people read it.
func (v JobForm) shown(name, value string) string {
	switch name {
	case "schedule_type", "misfire", "route", "block", "glue_type":
		return Enum(v.L, model.RouteStrategy(value)) // whichever: the words follow the value
	case "group":
		for _, g := range v.Groups {
			if itoa(g.ID) == value {
				return g.Title
			}
		}
	case "retry_wait":
		for _, o := range v.retryOptions() {
			if o.Value == value {
				return o.Label
			}
		}
	case "child_ids":
		var names []string
		for _, c := range v.Children {
			names = append(names, v.childName(c))
		}
		if len(names) > 0 {
			return strings.Join(names, v.T("list.comma"))
		}
	}
	return value
}

// childName names a job for a chip.
func (v JobForm) childName(j model.Job) string {
	if j.Name == "" {
		return "#" + itoa(j.ID)
	}
	return j.Name
}

// choice is a select whose options are explained: the chosen one below it.
func (v JobForm) choice(name, label string, o []Option) Field {
	f := v.required(v.choose(v.field(name, label), o))
	if key := "hint." + f.Value; v.L.Has(key) {
		f.Hint = v.T(key)
	}
	return f
}

// hints are the explanations of all options of a select, as data for the browser.
func (v JobForm) hints(o []Option) string {
	all := map[string]string{}
	for _, one := range o {
		all[one.Value] = v.T("hint." + one.Value)
	}
	return asJSON(all)
}

// FieldLabel names a field of the form.
func (v JobForm) FieldLabel(name string) string {
	keys := map[string]string{
		"group": "form.executor", "alarm_email": "form.alarm", "schedule_type": "form.type", "schedule_conf": "form.cron", "glue_type": "form.mode",
		"glue_source": "form.source", "glue_remark": "form.remark", "child_ids": "form.children",
	}
	if key := keys[name]; key != "" {
		return v.T(key)
	}
	return v.T("form." + name)
}

// Shown is a value as people read it, cut where it is long.
func (v JobForm) Shown(name, value string) string {
	text := []rune(v.shown(name, value))
	if value == "" {
		return v.T("form.empty")
	}
	if len(text) > 300 {
		return string(text[:300]) + "…"
	}
	return string(text)
}

// How the wait before retries goes on.
const (
	RetryFixed   = "fixed"
	RetryGrowing = "growing"
)

func (v JobForm) retryOptions() []Option {
	return []Option{{RetryFixed, v.T("form.retry_fixed")}, {RetryGrowing, v.T("form.retry_growing")}}
}

// Heading is the title of the form.
func (v JobForm) Heading() string {
	switch {
	case v.ID > 0:
		return v.T("form.edit", "Name", v.Name)
	case v.CopyOf > 0:
		return v.T("form.copy", "Name", v.Name)
	}
	return v.T("form.new")
}

// leaveURL is where a person goes who does not save.
func (v JobForm) leaveURL() string {
	switch {
	case v.ID > 0:
		return v.URL("/jobs/" + itoa(v.ID))
	case v.CopyOf > 0:
		return v.URL("/jobs/" + itoa(v.CopyOf))
	}
	return v.URL("/jobs")
}

func (v JobForm) action() string {
	if v.ID > 0 {
		return v.URL("/jobs/" + itoa(v.ID))
	}
	return v.URL("/jobs")
}

// fieldNames lists fields by the names that they have in the audit.
func (v JobForm) fieldNames(fields []string) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = v.auditField(f)
	}
	return strings.Join(out, ", ")
}
