package model

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Drain says that an address of an executor gets no new runs.
type Drain struct {
	GroupID int
	Address string
	SinceMS int64
	By      string // name of the person
}

// Report is what an executor says of itself with its beats; only our SDK does.
type Report struct {
	Version  string   `json:"version,omitempty"` // of the application
	SDK      string   `json:"sdk,omitempty"`     // version of our SDK in it
	Language string   `json:"language,omitempty"`
	Handlers []string `json:"handlers,omitempty"`
	// Types are the kinds of jobs that it can run.
	Types   []GlueType `json:"types,omitempty"`
	Running int        `json:"running"`
	Waiting int        `json:"waiting"`
}

// Bounds of a report: it comes from outside.
const (
	mostHandlers  = 500
	mostTypes     = 50
	longestWord   = 100
	longestReport = 60_000 // of all handlers together, in bytes
)

// Bounded gives the report without what is too long or too much, or nil of nil.
func (r *Report) Bounded() *Report {
	if r == nil {
		return nil
	}
	word := func(s string, most int) string {
		s = strings.TrimSpace(strings.ToValidUTF8(s, "?"))
		for len(s) > most {
			_, n := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-n]
		}
		return s
	}
	out := &Report{Version: word(r.Version, longestWord), SDK: word(r.SDK, longestWord), Language: word(r.Language, longestWord), Running: max(0, r.Running), Waiting: max(0, r.Waiting)}
	bytes := 0
	for _, h := range r.Handlers[:min(len(r.Handlers), mostHandlers)] {
		if h = word(h, 255); h != "" && bytes+len(h) <= longestReport/2 {
			bytes += len(h)
			out.Handlers = append(out.Handlers, h)
		}
	}
	for _, t := range r.Types[:min(len(r.Types), mostTypes)] {
		if t = GlueType(word(string(t), longestWord)); t != "" {
			out.Types = append(out.Types, t)
		}
	}
	return out
}

// LastCall is what came of the last call of a center to an address.
type LastCall struct {
	Address string
	AtMS    int64
	Asked   string // the question: run, beat, idleBeat, globalIdleBeat
	// Reason is empty when the address answered well, else ReasonUnreached, ReasonWrongToken,
	// ReasonRefused or CallNoAnswer.
	Reason string
	Code   int // of the answer, 0 = none
	Text   string
	TookMS int64
}

// CallNoAnswer is the reason of a call that may have arrived and was not answered.
const CallNoAnswer = "no_answer"

// Failed reports whether the address could not be called: a refusal is an answer.
func (c *LastCall) Failed() bool { return c.Reason != "" && c.Reason != ReasonRefused }

// AddressLoad is how many runs of an executor an address has got and not ended.
type AddressLoad struct {
	GroupID int
	Address string
	Open    int
}

// Lacking gives the types of jobs that no address of an executor runs, as far as is
// known: all of reports must be there and say which they run.
func Lacking(reports []*Report) (out []GlueType) {
	if len(reports) == 0 || slices.ContainsFunc(reports, func(r *Report) bool { return r == nil || len(r.Types) == 0 }) {
		return nil
	}
	for _, t := range GlueTypes() {
		if !slices.ContainsFunc(reports, func(r *Report) bool { return slices.Contains(r.Types, t) }) {
			out = append(out, t)
		}
	}
	return out
}
