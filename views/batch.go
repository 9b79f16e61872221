package views

import "strings"

// Batch is a question about many jobs or runs, or what became of them.
type Batch struct {
	Page
	Heading, Text string
	Lines         []BatchLine
	More          int      // lines that are not shown
	IDs           []string // what the next step is about
	Action, Back  string   // paths with base
	Do, Button    string   // of the question
	Done          bool
	Undo          string // what takes it back, "" = nothing does
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
