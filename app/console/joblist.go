package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

// bindJobFilter reads the filter of the job list from the address.
func bindJobFilter(r *request) views.JobFilter { return readJobFilter(r.QueryParams()) }

func readJobFilter(q url.Values) views.JobFilter {
	f := views.JobFilter{
		GroupID: numberOf(q.Get("executor")), Text: searchText(q.Get("q")), Tag: searchText(strings.ToLower(q.Get("tag"))), Favourites: q.Get("fav") == "1",
		Page: max(1, numberOf(q.Get("page"))), PageSize: numberOf(q.Get("size")),
	}
	if s := q.Get("status"); slices.Contains(views.JobStatuses(), s) {
		f.Status = s
	}
	if s := model.JobSort(q.Get("sort")); slices.Contains(model.JobSorts(), s) {
		f.Sort = s
	}
	if !slices.Contains(views.PageSizes(), f.PageSize) {
		f.PageSize = views.PageSizes()[0]
	}
	return f
}

// longestSearch is what anybody means to search for: SQLite refuses long
// patterns, and the session keeps the filter.
const longestSearch = 200

func searchText(q string) string {
	runes := []rune(strings.ToValidUTF8(strings.TrimSpace(q), "?"))
	return strings.TrimSpace(string(runes[:min(len(runes), longestSearch)]))
}

// jobFilter is the filter as the service takes it.
func jobFilter(r *request, f views.JobFilter) model.JobFilter {
	mf := model.JobFilter{
		GroupID: f.GroupID, Groups: r.actor().GroupLimit(), Text: f.Text,
		Sort: f.Sort, Offset: (f.Page - 1) * f.PageSize, Limit: f.PageSize, Tag: f.Tag,
	}
	if f.Favourites {
		mf.Marked = r.actor().UserID
	}
	switch status := model.JobRunning; f.Status {
	case "stopped":
		status, mf.Scheduled = model.JobStopped, true
		fallthrough
	case "running":
		mf.Status = &status
	case "failing":
		mf.Failing = true
	case "ondemand":
		mf.OnDemand = true
	case "ended":
		mf.Ended = true
	case "waiting":
		mf.Waiting = true
	}
	return mf
}

// jobList shows the jobs. The bare address, as in the menu, returns to the executor
// and the number of rows that were used last; what was searched for is forgotten.
func (c *Console) jobList(r *request) error {
	if last := c.sessions.GetString(r.Request().Context(), keyJobs); r.QueryString() == "" && last != "" && !r.htmx() {
		return r.Redirect(http.StatusSeeOther, c.path("/jobs?"+last))
	}
	f := bindJobFilter(r)
	mf := jobFilter(r, f)
	page, err := c.svc.ListJobs(r.Request().Context(), r.actor(), mf)
	if err != nil {
		return err
	}
	if last := (page.Total + f.PageSize - 1) / f.PageSize; len(page.Rows) == 0 && page.Total > 0 && f.Page > last { // of an old bookmark
		f.Page = last
		mf = jobFilter(r, f)
		if page, err = c.svc.ListJobs(r.Request().Context(), r.actor(), mf); err != nil {
			return err
		}
	}
	v := views.Jobs{
		Page: r.page("jobs", r.loc.T("jobs.title")), Filter: f, Total: page.Total, Counts: page.Counts, Groups: page.Groups, Tags: page.Tags,
	}
	if v.Saved, err = c.svc.Filters(r.Request().Context(), r.actor(), "jobs"); err != nil {
		return err
	}
	for _, row := range page.Rows {
		v.Rows = append(v.Rows, c.jobRow(r, row))
	}
	c.rememberJobs(r, v.HomeURL())
	r.canonical(v.SelfURL())
	return r.pageOr(http.StatusOK, views.JobsPage(v), views.JobsPanel(v))
}

func (c *Console) jobRow(r *request, row jobs.JobRow) views.JobRow {
	out := views.JobRow{Job: row.Job, GroupTitle: row.GroupTitle, Recent: row.Recent, FailingMS: row.FailingMS, Favourite: row.Favourite}
	if row.ScheduleType == model.ScheduleNone {
		return out
	}
	out.Zone, out.Conf = splitZone(row.ScheduleConf)
	p, err := c.svc.Preview(row.ScheduleType, row.ScheduleConf, r.loc.Lang(), 0)
	if err != nil {
		out.Words = r.scheduleError(err)
	} else {
		out.Words = p.InWords
	}
	return out
}

// scheduleError says what is wrong with a schedule.
func (r *request) scheduleError(err error) string {
	for _, text := range fieldMessages(r.loc, err) {
		return text
	}
	if text := message(r.loc, err); text != "" {
		return text
	}
	return r.loc.T("error.cron")
}

// splitZone takes the optional zone prefix off a cron text.
func splitZone(conf string) (zone, rest string) {
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if after, ok := strings.CutPrefix(conf, prefix); ok {
			zone, rest, _ = strings.Cut(after, " ")
			return zone, strings.TrimSpace(rest)
		}
	}
	return "", conf
}

// joinZone puts the zone back before a cron text.
func joinZone(zone, conf string) string {
	conf = strings.TrimSpace(conf)
	if zone == "" || conf == "" {
		return conf
	}
	return "CRON_TZ=" + zone + " " + conf
}
