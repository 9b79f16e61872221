package views

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// Runs is the run list.
type Runs struct {
	Page
	Filter       RunFilter
	Rows         []RunRow
	Groups       []model.Group
	JobName      string // of the chosen job
	Tags         []string
	Saved        []model.SavedFilter
	Planned      int // runs of the next seconds, folded into one line
	Older, Newer bool
	// FirstID and LastID are where the pages before and after begin.
	FirstID, LastID int64
}

// clearURL asks which runs of the shown executor or job are to be removed.
func (v Runs) clearURL() string {
	return v.URL("/runs/clear", "executor", zeroEmpty(v.Filter.GroupID), "job", zeroEmpty(v.Filter.JobID))
}

func (v Runs) mayClear() bool { return v.Actor.MaySomewhere(model.LevelAdminister) }

// jobChip names the chosen job.
func (v Runs) jobChip() string {
	if v.JobName != "" {
		return v.JobName
	}
	return v.T("runs.job_gone", "ID", v.Filter.JobID)
}

// withoutJobURL is the same list of all jobs.
func (v Runs) withoutJobURL() string {
	f := v.Filter
	f.JobID, f.Before, f.After = 0, 0, 0
	return v.url(f)
}

// withoutOwnerURL is the same list whoever is responsible, withoutHowURL that of all fires.
func (v Runs) withoutOwnerURL() string {
	f := v.Filter
	f.Owner, f.Before, f.After = "", 0, 0
	return v.url(f)
}

func (v Runs) withoutHowURL() string {
	f := v.Filter
	f.How, f.Before, f.After = "", 0, 0
	return v.url(f)
}

// RunFilter is the run filter as it stands in the address. Times are texts
// as datetime-local inputs give them.
type RunFilter struct {
	GroupID, JobID           int
	Status, Preset, From, To string
	Reason, Text             string
	Trigger, Address, Tag    string
	Owner, How               string // How: late or rescued, see model.RunFilter
	Fires                    bool   // one row for each planned fire
	Before, After            int64
}

// RunRow is one line of the run list.
type RunRow struct {
	model.Run
	Message string // plain text, first line matters
	// Under is the run under whose line this one is folded, 0 = none; Folded is how many
	// are folded under this one.
	Under  int64
	Folded int
}

// FoldRuns puts the runs of one fire together: attempts, shards, parent and children. The
// line that says most comes first, the others follow it and are folded. Rows come by time,
// the newest first; each family stands where its newest run did.
func FoldRuns(rows []RunRow) []RunRow {
	family := make([]int, len(rows)) // the first row of each
	byKey := map[string]int{}
	join := func(i int, key string) {
		j, there := byKey[key]
		if !there {
			byKey[key] = family[i]
			return
		}
		from, to := family[i], family[j]
		for k := range family {
			if family[k] == from {
				family[k] = to
			}
		}
	}
	for i := range rows {
		family[i] = i
		join(i, "run "+id64(rows[i].ID))
		join(i, "run "+id64(rows[i].FirstAttempt()))
		if rows[i].ShardKey != "" {
			join(i, "shards "+rows[i].ShardKey)
		}
	}
	for i := range rows {
		parent := "run " + id64(rows[i].ParentID)
		if _, there := byKey[parent]; rows[i].ParentID != 0 && there {
			join(i, parent)
		}
	}
	out := make([]RunRow, 0, len(rows))
	for i := range rows {
		var of []int
		for j := range rows {
			if family[j] == family[i] {
				of = append(of, j)
			}
		}
		if of[0] != i {
			continue // came with its newest run
		}
		head := foldHead(rows, of)
		first := rows[head]
		first.Folded = len(of) - 1
		out = append(out, first)
		for _, j := range slices.Backward(of) {
			if j != head {
				member := rows[j]
				member.Under = first.ID
				out = append(out, member)
			}
		}
	}
	return out
}

// foldHead gives the row that stands for a family: of the runs without a parent in it the
// worst shard, or the last attempt.
func foldHead(rows []RunRow, of []int) int {
	in := map[int64]bool{}
	for _, i := range of {
		in[rows[i].ID] = true
	}
	rank := func(i int) int {
		r := &rows[i]
		n := slices.Index([]model.Class{model.ClassNotSent, model.ClassOpen, model.ClassFailed}, r.Class())
		if r.ShardKey == "" {
			n = 0 // of attempts the last one counts
		}
		if r.ParentID != 0 && in[r.ParentID] {
			n -= 10
		}
		return n
	}
	return slices.MaxFunc(of, func(a, b int) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(rows[a].ID, rows[b].ID)) })
}

// headRow is the id of the line under which a line is folded.
func (r RunRow) headRow() string { return "run-" + id64(r.Under) }

// Presets lists the periods on offer.
func Presets() []string {
	return []string{"any", "hour", "today", "yesterday", "week", "month", "custom"}
}

func runStatuses() []model.RunStatus {
	return []model.RunStatus{model.RunsAll, model.RunsSucceeded, model.RunsFailed, model.RunsOpen, model.RunsMissed}
}

func statusLabel(p Page, s model.RunStatus) string {
	if s == model.RunsAll {
		return p.T("runs.status.all")
	}
	return p.T("runs.status." + string(s))
}

// SelfURL is the shortest address of this list.
func (v Runs) SelfURL() string { return v.url(v.Filter) }

func (v Runs) url(f RunFilter) string {
	if f.Preset == "any" {
		f.Preset = ""
	}
	kv := []string{"status", f.Status, "reason", f.Reason, "preset", f.Preset, "from", f.From, "to", f.To, "zone", v.zoneFor(f.From, f.To), "q", f.Text,
		"trigger", f.Trigger, "address", f.Address, "tag", f.Tag, "owner", f.Owner, "how", f.How}
	if f.Fires {
		kv = append(kv, "fires", "1")
	}
	if f.GroupID > 0 {
		kv = append(kv, "executor", itoa(f.GroupID))
	}
	if f.JobID > 0 {
		kv = append(kv, "job", itoa(f.JobID))
	}
	if f.Before > 0 {
		kv = append(kv, "before", id64(f.Before))
	}
	if f.After > 0 {
		kv = append(kv, "after", id64(f.After))
	}
	return v.URL("/runs", kv...)
}

func (v Runs) statusURL(s model.RunStatus) string {
	f := v.Filter
	f.Status, f.Reason, f.Before, f.After = string(s), "", 0, 0
	return v.url(f)
}

// allAttemptsURL is the same list with every attempt.
func (v Runs) allAttemptsURL() string {
	f := v.Filter
	f.Fires, f.Before, f.After = false, 0, 0
	return v.url(f)
}

// reasons lists those that fit the chosen status.
func (v Runs) reasons() (out []model.ReasonInfo) {
	for _, r := range model.Reasons() {
		if v.Filter.Status == "" || v.Filter.Status == string(r.Class) {
			out = append(out, r)
		}
	}
	return out
}

func (v Runs) olderURL() string {
	f := v.Filter
	f.Before, f.After = v.LastID, 0
	return v.url(f)
}

func (v Runs) newerURL() string {
	f := v.Filter
	f.After, f.Before = v.FirstID, 0
	return v.url(f)
}

func (v Runs) filtered() bool {
	f := v.Filter
	f.Before, f.After = 0, 0
	if f.Preset == "any" {
		f.Preset = ""
	}
	return f != RunFilter{}
}

// shard counts from 1, as people do: executors get 0/2 and 1/2.
func shard(sharding string) string {
	index, total, ok := strings.Cut(sharding, "/")
	n, err := strconv.Atoi(index)
	if !ok || err != nil {
		return sharding
	}
	return strconv.Itoa(n+1) + "/" + total
}

// PlannedAt is the planned instant, or for rows of others the trigger time.
func PlannedAt(r model.Run) time.Time { return plannedAt(r) }

func plannedAt(r model.Run) time.Time {
	if r.PlannedMS > 0 {
		return time.UnixMilli(r.PlannedMS)
	}
	return r.TriggerTime
}

// lateMS is how long after its planned instant a run was sent, -1 = not known.
func lateMS(r model.Run) int64 {
	if r.PlannedMS == 0 || r.SentMS == 0 {
		return -1
	}
	return max(0, r.SentMS-r.PlannedMS)
}

// isLate reports lateness that a person should see: over a second.
func isLate(r model.Run) bool { return lateMS(r) > 1000 }

func (r RunRow) signature() string { return string(r.Result()) }

// firstLine gives the first line of a text that holds any.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// otherLines gives what follows the first line of a text.
func otherLines(s string) string {
	_, rest, _ := strings.Cut(strings.TrimLeft(s, "\r\n\t "), "\n")
	return strings.Trim(rest, "\r\n")
}
