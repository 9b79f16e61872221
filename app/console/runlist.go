package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const runPageSize = 50

// bindRunFilter reads the filter of the run list from the address.
func bindRunFilter(r *request) views.RunFilter { return readRunFilter(r, r.QueryParams()) }

func readRunFilter(r *request, q url.Values) views.RunFilter {
	f := views.RunFilter{
		GroupID: numberOf(q.Get("executor")), JobID: numberOf(q.Get("job")), Preset: q.Get("preset"),
		From: q.Get("from"), To: q.Get("to"), Text: searchText(q.Get("q")),
	}
	switch s := model.RunStatus(q.Get("status")); s {
	case model.RunsSucceeded, model.RunsFailed, model.RunsOpen, model.RunsMissed:
		f.Status = string(s)
	}
	if info, ok := model.ReasonOf(q.Get("reason")); ok && (f.Status == "" || f.Status == string(info.Class)) {
		f.Reason = info.Code
	}
	f.Fires = q.Get("fires") == "1"
	f.Address, f.Tag = searchText(q.Get("address")), searchText(strings.ToLower(q.Get("tag")))
	f.Owner = searchText(q.Get("owner"))
	if how := q.Get("how"); how == model.HowLate || how == model.HowRescued {
		f.How, f.Fires = how, true
	}
	if t := model.TriggerType(q.Get("trigger")); slices.Contains(model.TriggerTypes(), t) {
		f.Trigger = string(t)
	}
	f.Before, _ = strconv.ParseInt(q.Get("before"), 10, 64) // not a number is no key
	f.After, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	f.Before, f.After = max(0, f.Before), max(0, f.After)
	if !slices.Contains(views.Presets(), f.Preset) {
		f.Preset = "any"
		if f.From != "" || f.To != "" {
			f.Preset = "custom"
		}
	}
	if f.Preset != "custom" {
		f.From, f.To = "", ""
	}
	zone := r.zoneOf(q)
	f.From, f.To = r.ownClock(f.From, zone), r.ownClock(f.To, zone)
	return f
}

// zoneOf is the zone in which an address gives times of the wall clock: the one that it
// names, else that of the center, so that it means the same to everybody who opens it.
func (r *request) zoneOf(q url.Values) *time.Location {
	name := q.Get("zone")
	if zone, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return zone
	}
	return r.center
}

// ownClock says a wall clock time of another zone on the clock of the person. A text that
// is no time stays as it is.
func (r *request) ownClock(text string, zone *time.Location) string {
	own := r.now.Location()
	if t := localTime(text, zone); !t.IsZero() && zone.String() != own.String() {
		return t.In(own).Format("2006-01-02T15:04:05")
	}
	return text
}

// period turns a preset or the two inputs into instants; zero means open.
func period(f views.RunFilter, now time.Time) (from, to time.Time) {
	switch f.Preset {
	case "hour":
		return now.Add(-time.Hour), to
	case "today":
		return model.DayStart(now, 0), to
	case "yesterday":
		return model.DayStart(now, -1), model.DayStart(now, 0)
	case "week":
		return model.DayStart(now, -7), to
	case "month":
		return model.DayStart(now, -30), to
	case "custom":
		return localTime(f.From, now.Location()), localTime(f.To, now.Location())
	}
	return from, to
}

// localTime reads what a datetime-local input gives, with or without seconds. A time that
// the clocks skip is the moment at which they do.
func localTime(s string, zone *time.Location) time.Time {
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			switch shown := t.Format(layout); {
			case shown < s:
				_, t = t.ZoneBounds()
			case shown > s:
				t, _ = t.ZoneBounds()
			}
			return t
		}
	}
	return time.Time{}
}

// runFilter is the filter as the service takes it.
func runFilter(r *request, f views.RunFilter) model.RunFilter {
	mf := model.RunFilter{
		GroupID: f.GroupID, JobID: f.JobID, Groups: r.actor().GroupLimit(), Status: model.RunStatus(f.Status),
		Reason: f.Reason, Fires: f.Fires,
		Before: f.Before, After: f.After, Limit: runPageSize,
	}
	mf.From, mf.To = period(f, r.now)
	mf.Text, mf.Trigger, mf.Address, mf.Tag = f.Text, model.TriggerType(f.Trigger), f.Address, f.Tag
	mf.Owner, mf.How = f.Owner, f.How
	return mf
}

func (c *Console) runList(r *request) error {
	f := bindRunFilter(r)
	mf := runFilter(r, f)
	if newest := f.Status == "" && f.Preset == "any" && !f.Fires && f.Before == 0 && f.After == 0; newest {
		mf.DueByMS = r.now.UnixMilli() // what is planned for the next seconds is one line
	}
	page, err := c.svc.ListRuns(r.Request().Context(), r.actor(), mf)
	if err != nil {
		return err
	}
	if page.JobGroup > 0 && f.GroupID > 0 && page.JobGroup != f.GroupID { // the executor was changed
		f.JobID, mf.JobID = 0, 0
		if page, err = c.svc.ListRuns(r.Request().Context(), r.actor(), mf); err != nil {
			return err
		}
	}
	v := views.Runs{
		Page: r.page("runs", r.loc.T("runs.title")), Filter: f, Groups: page.Groups, JobName: page.JobName, Planned: page.Planned,
		Older: page.Older, Newer: page.Newer,
	}
	if v.Tags, err = c.svc.Tags(r.Request().Context(), r.actor()); err != nil {
		return err
	}
	if v.Saved, err = c.svc.Filters(r.Request().Context(), r.actor(), "runs"); err != nil {
		return err
	}
	if n := len(page.Rows); n > 0 {
		v.FirstID, v.LastID = page.Rows[0].ID, page.Rows[n-1].ID
	}
	// Runs are written down a few seconds ahead, job by job: people read them by time.
	slices.SortStableFunc(page.Rows, func(a, b model.Run) int { return views.PlannedAt(b).Compare(views.PlannedAt(a)) })
	for _, run := range page.Rows {
		v.Rows = append(v.Rows, views.RunRow{Run: run, Message: runMessage(r.loc, r.now.Location(), run)})
	}
	v.Rows = views.FoldRuns(v.Rows)
	r.canonical(v.SelfURL())
	return r.pageOr(http.StatusOK, views.RunsPage(v), views.RunsPanel(v))
}
