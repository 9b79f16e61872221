package views

import (
	"slices"

	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// ListTools is what a person keeps for a list: which columns it has, and filters by name.
type ListTools struct {
	Page
	List   string // one of model.FilteredLists
	Saved  []model.SavedFilter
	Query  string // the filter that is shown
	Self   string // address of the list as it is
	Orders []Order
}

// Order is one order that a list can have.
type Order struct {
	Label, URL string
	Current    bool
}

// savedURL opens the list with a kept filter.
func (v ListTools) savedURL(f model.SavedFilter) string { return v.Base + "/" + v.List + "?" + f.Query }

// current names the kept filter that is shown, "" when it is none of them.
func (v ListTools) current() string {
	for _, f := range v.Saved {
		if f.Query == v.Query {
			return f.Name
		}
	}
	return ""
}

func (v ListTools) manageURL() string { return v.URL("/filters", "list", v.List) }

// Filters is the page on which kept filters are renamed and deleted.
type Filters struct {
	ListTools
	Name  string // as it was typed
	Error string // what is wrong with it
	Of    string // of which filter; "" = of the one that is to be kept
}

// gone reports whether the filter is no more of which something is wrong.
func (v Filters) gone() bool {
	return v.Of != "" && v.Error != "" && !slices.ContainsFunc(v.Saved, func(f model.SavedFilter) bool { return f.Name == v.Of })
}

// shows reports whether a column is to be drawn.
func (v Jobs) shows(column string) bool { return v.Columns.Shows("jobs", column) }

func (v Runs) shows(column string) bool { return v.Columns.Shows("runs", column) }

// tagList gives the tags of a job.
func tagList(tags string) []string { return model.TagList(tags) }

// withTag adds the chosen one to the tags on offer.
func withTag(tags []string, chosen string) []string {
	for _, t := range tags {
		if t == chosen {
			return tags
		}
	}
	if chosen == "" {
		return tags
	}
	return append([]string{chosen}, tags...)
}

// queryOf is the part of an address after the question mark.
func queryOf(url string) string {
	_, query, _ := strings.Cut(url, "?")
	return query
}

// Tools is what belongs to the job list.
func (v Jobs) tools() ListTools {
	t := ListTools{Page: v.Page, List: "jobs", Saved: v.Saved, Self: v.SelfURL()}
	f := v.Filter
	f.Page = 1
	t.Query = queryOf(v.filterURL(f))
	for _, by := range model.JobSorts() {
		if by != model.JobsOldest && by != model.JobsByNameZA {
			t.Orders = append(t.Orders, Order{v.T("order.jobs" + dashed(string(by))), v.url(func(f *JobFilter) { f.Sort, f.Page = by, 1 }), v.Filter.Sort == by})
		}
	}
	return t
}

func dashed(s string) string {
	if s == "" {
		return ""
	}
	return "_" + s
}

func (v Runs) tools() ListTools {
	f := v.Filter
	f.Before, f.After = 0, 0
	return ListTools{Page: v.Page, List: "runs", Saved: v.Saved, Self: v.SelfURL(), Query: queryOf(v.url(f))}
}

// favURL turns the filter "favourites" on or off.
func (v Jobs) favURL() string {
	return v.url(func(f *JobFilter) { f.Favourites, f.Page = !f.Favourites, 1 })
}

// failedPercent is how many of the recent runs that ended have failed, -1 = none has ended.
func (r JobRow) failedPercent() int {
	ended, failed := 0, 0
	for _, run := range r.Recent {
		if run.Open() {
			continue
		}
		ended++
		if resultClass(run.Result()) == "bad" {
			failed++
		}
	}
	if ended == 0 {
		return -1
	}
	return (failed*100 + ended/2) / ended
}

// newestOnly says that the filter looks at the newest runs only.
func (v Runs) newestOnly() bool {
	f := v.Filter
	return (f.Trigger != "" || f.Address != "") && f.JobID == 0 && f.Tag == "" && (f.Preset == "any" || f.Preset == "")
}

func (v Runs) withoutAddressURL() string {
	f := v.Filter
	f.Address, f.Before, f.After = "", 0, 0
	return v.url(f)
}

func (v Runs) addressURL(address string) string {
	f := v.Filter
	f.Address, f.Before, f.After = shortAddress(address), 0, 0
	return v.url(f)
}
