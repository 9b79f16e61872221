package views

import (
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// Batch is a question about many jobs or runs, how far work on them is, or what became of them.
type Batch struct {
	Page
	Heading, Text string
	Lines         []BatchLine
	More          int    // lines that are not shown
	IDs           string // what the next step is about, short
	Action, Back  string // paths with base
	Do, Button    string // of the question

	Change bool // what is to be changed is asked for
	Groups []model.Group
	Tags   []string
	Values map[string]string // what was typed, by change
	Errors map[string]string

	Progress         bool
	DoneCount, Total int
	Work             string // what the next step goes on with

	Done      bool
	Undo      string // what takes it back, "" = nothing does
	UndoCount int
}

// BatchLine is one of them.
type BatchLine struct{ Class, Name, Text, URL string }

// MostBatchLines is how many lines are shown.
const MostBatchLines = 100

// filterQuery is the filter of the list, for "all that match".
func (v Jobs) filterQuery() string {
	_, query, _ := strings.Cut(v.SelfURL(), "?")
	return query
}

func (v Batch) groupOptions() []Option {
	out := []Option{{"", v.T("form.choose")}}
	for _, g := range v.Groups {
		out = append(out, Option{itoa(g.ID), g.Title + " · " + g.AppName})
	}
	return out
}

// changeField is the control of one change.
func (v Batch) changeField(do string) Field {
	f := Field{Name: "value_" + do, Label: v.T("batch.change." + do), Value: v.Values[do], Error: v.Errors[do], Focus: v.Errors[do] != ""}
	switch do {
	case "move":
		f.Options = v.groupOptions()
	case "tag", "untag":
		f.List = "batch-tags"
	}
	return f
}
