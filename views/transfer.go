package views

import (
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Import is the page that makes jobs out of a file.
type Import struct {
	Page
	Text      string // what was uploaded or pasted
	Executors string // number=app, one a line
	Status    bool
	Error     string // about the file, or why nothing was done
	Plan      *ImportPlan
}

// ImportPlan is what an import would change, or what it has done.
type ImportPlan struct {
	Items                   []ImportItem // without those that stay the same, the first of them
	More                    int          // how many are not shown
	New, Changed, Same, Bad int
	Digest                  string
	Done                    bool // it was made: items say what failed
}

// ImportItem is one job of the file.
type ImportItem struct {
	Key     model.JobKey
	Kind    string // new, changed, bad
	Line    int
	Changes []FieldChange
	Error   string
}

// FieldChange is one field, old and new.
type FieldChange struct{ Field, Old, New string }

// ready reports whether there is something to import and nothing against it.
func (v Import) ready() bool {
	return v.Plan != nil && !v.Plan.Done && v.Plan.Bad == 0 && v.Plan.New+v.Plan.Changed > 0
}

func (i ImportItem) class() string {
	switch {
	case i.Error != "":
		return "bad"
	case i.Kind == "new":
		return "ok"
	}
	return "open"
}

// exportURL is the file with the jobs of this list, whatever its filter.
func (v Jobs) exportURL() string { return exportURL(v.SelfURL(), "/jobs") }

// exportURL is the table with the runs of this list.
func (v Runs) exportURL() string { return exportURL(v.SelfURL(), "/runs") }

func exportURL(list, path string) string {
	before, query, _ := strings.Cut(list, "?")
	before = strings.TrimSuffix(before, path) + path + "/export"
	if query == "" {
		return before
	}
	return before + "?" + query
}
