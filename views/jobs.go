package views

import (
	"fmt"
	"math"
	"strconv"

	"github.com/carillon-scheduler/carillon/model"
)

// Jobs is the job list.
type Jobs struct {
	Page
	Filter JobFilter
	Rows   []JobRow
	Total  int
	Counts model.JobCounts
	Groups []model.Group
	Tags   []string // on offer
	Saved  []model.SavedFilter
}

// JobFilter is the job filter as it stands in the address.
type JobFilter struct {
	GroupID int
	Status  string // one of JobStatuses
	Text    string
	Tag     string
	// Favourites takes what the person has marked.
	Favourites bool
	Sort       model.JobSort
	Page       int // from 1
	PageSize   int
}

// PageSizes are the offered numbers of rows.
func PageSizes() []int { return []int{25, 50, 100} }

// JobRow is one line of the job list.
type JobRow struct {
	model.Job
	GroupTitle string
	Conf       string // schedule without its zone
	Zone       string // zone of the schedule, "" = that of the center
	Words      string
	Recent     []model.Run
	FailingMS  int64 // since when its fires fail, epoch ms; 0 = they do not
	Favourite  bool  // of the person
}

// JobStatuses are the states that the list can be narrowed to.
func JobStatuses() []string {
	return []string{"", "running", "stopped", "ondemand", "ended", "waiting", "failing"}
}

// JobRowID is the id of a job's line in the page.
func JobRowID(id int) string { return "job-" + itoa(id) }

// url gives the address of the list with one setting changed.
func (v Jobs) url(change func(*JobFilter)) string {
	f := v.Filter
	change(&f)
	return v.filterURL(f)
}

// SelfURL is the shortest address of this list.
func (v Jobs) SelfURL() string { return v.filterURL(v.Filter) }

func (v Jobs) filterURL(f JobFilter) string {
	kv := []string{"status", f.Status, "q", f.Text, "sort", string(f.Sort), "tag", f.Tag}
	if f.Favourites {
		kv = append(kv, "fav", "1")
	}
	if f.GroupID > 0 {
		kv = append(kv, "executor", itoa(f.GroupID))
	}
	if f.Page > 1 {
		kv = append(kv, "page", itoa(f.Page))
	}
	if f.PageSize > 0 && f.PageSize != PageSizes()[0] {
		kv = append(kv, "size", itoa(f.PageSize))
	}
	if len(kv) == 8 && f.Status == "" && f.Text == "" && f.Sort == "" && f.Tag == "" {
		kv = append(kv, "all", "1") // the bare address means "as last time"
	}
	return v.URL("/jobs", kv...)
}

// HomeURL is this list without what was searched for: where the menu leads.
func (v Jobs) HomeURL() string {
	return v.filterURL(JobFilter{GroupID: v.Filter.GroupID, PageSize: v.Filter.PageSize})
}

// sortURL orders the list; by the same column again it turns the order round.
func (v Jobs) sortURL(by, turned model.JobSort) string {
	return v.url(func(f *JobFilter) {
		if f.Page = 1; f.Sort == by {
			by = turned
		}
		f.Sort = by
	})
}

// sortWord is the order of a column as assistive technology reads it.
func sortWord(by model.JobSort) string {
	if by == model.JobsNewest || by == model.JobsByLast || by == model.JobsByNameZA || by == model.JobsByDuration || by == model.JobsByFailures {
		return "descending"
	}
	return "ascending"
}

func (v Jobs) statusURL(status string) string {
	return v.url(func(f *JobFilter) { f.Status, f.Page = status, 1 })
}

func (v Jobs) pageURL(n int) string { return v.url(func(f *JobFilter) { f.Page = n }) }

func (v Jobs) sizeURL(n int) string { return v.url(func(f *JobFilter) { f.PageSize, f.Page = n, 1 }) }

func (v Jobs) filtered() bool {
	return v.Filter.GroupID > 0 || v.Filter.Status != "" || v.Filter.Text != "" || v.Filter.Tag != "" || v.Filter.Favourites
}

func (v Jobs) pages() int { return max(1, (v.Total+v.Filter.PageSize-1)/v.Filter.PageSize) }

// pageNumbers gives the numbers to show; 0 stands for a gap.
func (v Jobs) pageNumbers() []int {
	last, cur := v.pages(), v.Filter.Page
	var out []int
	for n := 1; n <= last; n++ {
		if n == 1 || n == last || (n >= cur-1 && n <= cur+1) {
			if len(out) > 0 && out[len(out)-1] != n-1 {
				out = append(out, 0)
			}
			out = append(out, n)
		}
	}
	return out
}

func (v Jobs) from() int { return min(v.Total, (v.Filter.Page-1)*v.Filter.PageSize+1) }

func (v Jobs) to() int { return min(v.Total, (v.Filter.Page-1)*v.Filter.PageSize+len(v.Rows)) }

// signature changes when something happened to the job, so that the row
// flashes once. Of a run only its end counts, else each would flash twice.
func (r JobRow) signature() string {
	last := ""
	for _, run := range r.Recent {
		if !run.Open() {
			last = fmt.Sprintf("%d%s", run.ID, run.Result())
		}
	}
	return fmt.Sprintf("%d.%s.%d.%s", r.Status, r.Condition, r.Version, last)
}

// last is the newest run that has ended, nil when there is none among the recent ones.
func (r JobRow) last() *model.Run {
	for i := len(r.Recent) - 1; i >= 0; i-- {
		if !r.Recent[i].Open() {
			return &r.Recent[i]
		}
	}
	return nil
}

// lastAt is when the run ended, as far as it is known.
func lastAt(r *model.Run) int64 {
	if r.FinishedMS > 0 {
		return r.FinishedMS
	}
	return plannedAt(*r).UnixMilli()
}

// lastSub says why the last run went wrong, or how long runs take that go well.
func (v Jobs) lastSub(r JobRow, last *model.Run) string {
	if last.Result() != model.ResultSucceeded {
		if line := last.Outcome(); line != "" {
			return shortReason(v.L, line)
		}
	}
	if ms := r.averageMS(); ms >= 0 {
		return v.T("jobs.usually", "Duration", v.L.Millis(ms))
	}
	return ""
}

// statusKey gives the word of the job's state.
func (r JobRow) statusKey() string {
	switch {
	case r.Status == model.JobRunning && r.Condition != model.JobQuarantined:
		return "running"
	case r.Condition == model.JobQuarantined:
		return "quarantined"
	case r.Condition == model.JobEnded:
		return "ended"
	case r.ScheduleType == model.ScheduleNone:
		return "ondemand"
	}
	return "stopped"
}

func (r JobRow) statusClass() string {
	switch r.statusKey() {
	case "running":
		return "ok"
	case "quarantined":
		return "bad"
	}
	return "off"
}

// averageMS is the mean duration of the recent successful runs, -1 = unknown.
func (r JobRow) averageMS() int64 {
	var sum, n int64
	for _, run := range r.Recent {
		if d := run.DurationMS(); d >= 0 && run.Result() == model.ResultSucceeded {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return -1
	}
	return sum / n
}

// modeShort is the badge of the run mode.
func modeShort(g model.GlueType) string {
	switch g {
	case model.GlueBean:
		return "BEAN"
	case model.GlueGroovy:
		return "JAVA"
	case model.GlueNodeJS:
		return "NODE"
	case model.GluePowerShell:
		return "PWSH"
	}
	return string(g)[min(len(g), len("GLUE_")):]
}

// Geometry of the strip of recent runs.
const (
	stripSlots  = 20
	stripPitch  = 5
	stripBar    = 3
	stripHeight = 18
)

type bar struct {
	X, Y, H string
	Class   string
	Title   string
}

// bars lays the recent runs out, newest at the right edge. Heights follow the
// square root of the duration: a run ten times as long stands out and the
// others can still be told apart.
func bars(p Page, runs []model.Run) []bar {
	if len(runs) > stripSlots {
		runs = runs[len(runs)-stripSlots:]
	}
	longest := int64(1)
	for _, r := range runs {
		longest = max(longest, r.DurationMS())
	}
	out := make([]bar, 0, len(runs))
	for i, r := range runs {
		h := 5.0
		if class := resultClass(r.Result()); class == "bad" || class == "missed" {
			h = stripHeight // what went wrong is seen, however short it was
		} else if d := r.DurationMS(); d >= 0 {
			h = math.Round(4 + (stripHeight-4)*math.Sqrt(float64(d)/float64(longest)))
		}
		title := p.T("result." + string(r.Result()))
		if at := r.TriggerTime; !at.IsZero() {
			title = p.when(at) + " · " + title
		}
		if d := r.DurationMS(); d >= 0 {
			title += " · " + p.L.Millis(d)
		}
		out = append(out, bar{
			X: itoa((stripSlots - len(runs) + i) * stripPitch), Y: itoa(int(stripHeight - h)), H: itoa(int(h)),
			Class: "b-" + resultClass(r.Result()), Title: title,
		})
	}
	return out
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
