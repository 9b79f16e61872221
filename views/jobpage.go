package views

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/i18n"
	"github.com/carillon-scheduler/carillon/model"
)

// JobView is the page of one job.
type JobView struct {
	Page
	History  []model.AuditEntry // who changed what
	Row      JobRow             // the job with its schedule in words
	AppName  string
	Fires    []time.Time // in the zone of the schedule
	FireZone string
	Recent   []model.Run // newest last, without texts
	Last     []RunRow    // newest first, with what happened
	Streak   model.Failures
	Incident *IncidentRow // that lasts
	Why      string       // of the newest failed run
	Waiting  []RunRow
	Total    int // runs that are planned
	Due      int // of these, how many should have been sent by now
	Nodes    []ExecutorNode
	Parents  []RelatedJob
	Children []RelatedJob
	NoteHTML string // sanitised
	Fragment bool   // drawn for htmx: other parts go out of band
}

// RelatedJob is a job beside another. One that is gone, or that the person may not see,
// has no row.
type RelatedJob struct {
	ID  int
	Row *JobRow
}

func (v JobView) path(suffix string) string { return v.URL("/jobs/" + itoa(v.Row.ID) + suffix) }

func (v JobView) runsURL(kv ...string) string {
	return v.URL("/runs", append([]string{"executor", itoa(v.Row.GroupID), "job", itoa(v.Row.ID)}, kv...)...)
}

// stuck reports that runs wait longer than sending takes.
func (v JobView) stuck() bool {
	return v.Due > 0 && len(v.Waiting) > 0 && v.Now.Sub(plannedAt(v.Waiting[0].Run)) > 10*time.Second
}

// since says for how many runs and since when a job fails.
func (v JobView) since() string {
	when := v.when(v.millis(v.Streak.SinceMS))
	if v.Streak.More {
		return v.T("run.streak", "When", when, "Number", v.L.Number(int64(v.Streak.Fires))+"+")
	}
	return v.L.N("jobpage.failing", max(1, v.Streak.Fires), "Time", when)
}

func (v JobView) lastSuccess() string {
	if v.Streak.LastSuccess.ID == 0 {
		return v.T("jobpage.no_success")
	}
	return v.T("jobpage.last_success", "Time", v.when(plannedAt(v.Streak.LastSuccess)))
}

// fireText gives an instant of a schedule in its zone, short when it is today there.
func (v JobView) fireText(t time.Time) string {
	if t.Format(time.DateOnly) == v.Now.In(t.Location()).Format(time.DateOnly) {
		return i18n.Clock(t)
	}
	return i18n.DateTime(t)
}

// ownZone names the zone of the schedule when it is not that of the center.
func (v JobView) ownZone() string {
	if v.Row.Zone == "" {
		return ""
	}
	return v.FireZone
}

// counts says how many of the shown runs ended how.
func (v JobView) counts() (ok, bad, missed, open int) {
	for _, r := range v.Recent {
		switch resultClass(r.Result()) {
		case "ok":
			ok++
		case "bad":
			bad++
		case "missed":
			missed++
		default:
			open++
		}
	}
	return ok, bad, missed, open
}

// stripLabel says in words what the picture of the runs shows.
func (v JobView) stripLabel() string {
	ok, bad, missed, open := v.counts()
	return v.T("jobpage.strip_label", "Number", len(v.Recent), "Succeeded", ok, "Failed", bad, "Missed", missed, "Open", open)
}

// durations says how long the succeeded runs among the shown ones took.
func (v JobView) durations() string {
	var took []int64
	for _, r := range v.Recent {
		if d := r.DurationMS(); d >= 0 && r.Result() == model.ResultSucceeded {
			took = append(took, d)
		}
	}
	if len(took) == 0 {
		return ""
	}
	slices.Sort(took)
	at := func(part float64) string {
		return v.L.Millis(took[min(len(took)-1, int(math.Ceil(part*float64(len(took))))-1)])
	}
	text := v.T("jobpage.durations", "Median", at(.5), "Slow", at(.95))
	if v.Row.TimeoutSec > 0 {
		text += " · " + v.T("jobpage.limit", "Duration", v.L.Millis(int64(v.Row.TimeoutSec)*1000))
	}
	return text
}

// Geometry of the strip of the job page.
const (
	tallSlots  = 100
	tallPitch  = 8
	tallBar    = 6
	tallHeight = 64
)

type runBar struct {
	bar
	ID   int64
	Href string
	HitX string
}

// stripBars lays the runs out, newest at the right edge. What succeeded or runs is as
// high as the root of its duration; what failed or was not sent has the full height, so
// that a run that fails at once is not the smallest mark.
func (v JobView) stripBars() []runBar {
	runs := v.Recent[max(0, len(v.Recent)-tallSlots):]
	longest := int64(1)
	for _, r := range runs {
		if resultClass(r.Result()) == "ok" {
			longest = max(longest, r.DurationMS())
		}
	}
	out := make([]runBar, 0, len(runs))
	for i, r := range runs {
		h, class := 14.0, resultClass(r.Result())
		switch d := r.DurationMS(); {
		case class == "bad" || class == "missed":
			h = tallHeight
		case d >= 0:
			h = 8 + (tallHeight-20)*math.Sqrt(float64(d)/float64(longest))
		}
		title := v.when(plannedAt(r)) + " · " + v.T("result."+string(r.Result()))
		if d := r.DurationMS(); d >= 0 {
			title += " · " + v.L.Millis(d)
		}
		x := (tallSlots - len(runs) + i) * tallPitch
		out = append(out, runBar{
			bar: bar{X: itoa(x + 1), Y: decimal(tallHeight - h), H: decimal(h), Class: "b-" + class, Title: title},
			ID:  r.ID, Href: v.URL("/runs/" + id64(r.ID)), HitX: itoa(x),
		})
	}
	return out
}

// queue says in one line how many runs wait and since when the first does.
func (v JobView) queue() string {
	if v.Due == 0 || len(v.Waiting) == 0 {
		return v.L.N("jobpage.planned", v.Total)
	}
	return v.L.N("jobpage.queue", v.Due, "Time", v.when(plannedAt(v.Waiting[0].Run)))
}

// settings is the one line that stands for all of them.
func (v JobView) settings() string {
	j := v.Row.Job
	parts := []string{modeShort(j.GlueType)}
	if j.Handler != "" {
		parts[0] += " " + j.Handler
	}
	parts = append(parts, Enum(v.L, j.Route), Enum(v.L, j.Block))
	if j.TimeoutSec > 0 {
		parts = append(parts, v.T("jobpage.limit", "Duration", v.L.Millis(int64(j.TimeoutSec)*1000)))
	}
	if j.RetryCount > 0 {
		parts = append(parts, v.L.N("jobpage.retries", j.RetryCount))
	}
	return strings.Join(parts, " · ")
}

// setting is one line of the settings.
type setting struct {
	Label, Value string
	Mono         bool
}

func (v JobView) allSettings() []setting {
	j := v.Row.Job
	seconds := func(n int, zero string) string {
		if n == 0 {
			return zero
		}
		return v.L.Millis(int64(n) * 1000)
	}
	schedule := Enum(v.L, j.ScheduleType)
	if j.ScheduleConf != "" {
		schedule += " " + j.ScheduleConf
	}
	wait := v.T("form.retry_fixed")
	if j.RetryGrowing {
		wait = v.T("form.retry_growing")
	}
	all := []setting{
		{v.T("form.schedule"), schedule, true},
		{v.T("form.mode"), Enum(v.L, j.GlueType), false},
		{v.T("form.handler"), dash(j.Handler), true},
		{v.T("form.param"), dash(j.Param), true},
		{v.T("form.route"), Enum(v.L, j.Route), false},
		{v.T("form.block"), Enum(v.L, j.Block), false},
		{v.T("form.misfire"), Enum(v.L, j.Misfire), false},
		{v.T("form.misfire_after"), seconds(j.MisfireAfterSec, v.T("jobpage.as_center")), false},
		{v.T("run.timeout"), seconds(j.TimeoutSec, v.T("run.no_limit")), false},
		{v.T("form.retry"), itoa(j.RetryCount), false},
	}
	if j.RetryCount > 0 && j.RetryDelaySec > 0 {
		all = append(all, setting{v.T("form.retry_delay"), seconds(j.RetryDelaySec, "") + " · " + wait, false})
	}
	if j.GlueType.IsScript() {
		lines := strings.Count(strings.TrimRight(j.GlueSource, "\n"), "\n") + 1
		all = append(all, setting{v.T("form.source"), v.L.N("jobpage.lines", lines), false})
	}
	for _, keep := range []struct {
		label string
		days  model.KeepDays
	}{{"form.keep_days", j.Keep.Succeeded}, {"form.keep_failed_days", j.Keep.Failed}} {
		if keep.days != model.KeepDefault {
			all = append(all, setting{v.T(keep.label), v.keepText(keep.days), false})
		}
	}
	if j.AlarmEmail != "" {
		all = append(all, setting{v.T("form.alarm"), j.AlarmEmail, false})
	}
	if !j.AddTime.IsZero() {
		all = append(all, setting{v.T("jobpage.added"), i18n.DateTime(j.AddTime.In(v.Now.Location())), false})
	}
	if !j.UpdateTime.IsZero() {
		all = append(all, setting{v.T("jobpage.updated"), i18n.DateTime(j.UpdateTime.In(v.Now.Location())) + " · v" + strconv.FormatInt(j.Version, 10), false})
	}
	return all
}

// may reports whether the person has a level for the job.
func (v JobView) may(l model.Level) bool { return v.Actor.May(l, v.Row.GroupID) }

// restoreURL is the form that takes old values, "" for who may not edit.
func (v JobView) restoreURL() string {
	if !v.Actor.May(model.LevelEdit, v.Row.GroupID) {
		return ""
	}
	return v.path("/edit")
}
