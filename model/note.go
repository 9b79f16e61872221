package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Said is one thing that the center or the Go SDK says of a run: a code with
// arguments, worded when it is shown, in the reader's language (key why.CODE).
// Arguments are texts and numbers. A name that ends in MS is a duration in
// milliseconds, one that ends in At an instant in epoch milliseconds; the text names
// them without that end.
type Said struct {
	Code string         `json:"c"`
	Args map[string]any `json:"a,omitempty"`
}

// Say builds a Said from names and values in turn.
func Say(code string, kv ...any) Said { return Said{Code: code, Args: args(kv)} }

// Encode gives a text of at most 255 bytes for the column carillon_reason.
func (s Said) Encode() string {
	for limit := 200; ; limit /= 2 {
		b, err := json.Marshal(s)
		if err == nil && len(b) <= 255 {
			return string(b)
		}
		if limit < 10 {
			return s.Code
		}
		short := make(map[string]any, len(s.Args))
		for k, v := range s.Args {
			if text, ok := v.(string); ok && len(text) > limit {
				v = strings.ToValidUTF8(text[:limit], "")
			}
			short[k] = v
		}
		s.Args = short
	}
}

// DecodeSaid reads carillon_reason; a text of an older center is not ok.
func DecodeSaid(text string) (s Said, ok bool) {
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &s) != nil || s.Code == "" {
		return Said{}, false
	}
	return s, true
}

// PlainWords gives codes and arguments, for where no language is known.
func PlainWords(said ...Said) string {
	var lines []string
	for _, x := range said {
		line := x.Code
		for _, k := range slices.Sorted(maps.Keys(x.Args)) {
			line += fmt.Sprintf(" %s=%v", k, x.Args[k])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// Attempt is one question or call to an address on the way of a run.
type Attempt struct {
	Address string `json:"a"`
	Asked   string `json:"q"`           // run, beat, idleBeat, globalIdleBeat
	Code    int    `json:"c,omitempty"` // of the answer; 0 = none
	Text    string `json:"t,omitempty"` // verbatim, cut
	At      int64  `json:"at,omitempty"`
	MS      int64  `json:"ms"`
}

// Note is what the center says of a run and whom it asked for it: the column
// run_note, a small JSON object. Rows of others and old rows have none.
type Note struct {
	Said  []Said    `json:"s,omitempty"`
	Route []Attempt `json:"r,omitempty"`
	// Own says that handle_msg has the center's words of Said, not those of an executor.
	Own bool `json:"o,omitempty"`
}

const (
	// maxNoteBytes bounds a note: it is read with each run that is shown.
	maxNoteBytes = 16 << 10
	// maxAttemptText is how much of an answer is kept.
	maxAttemptText = 300
	// maxAttempts is how many attempts are kept: the first ones and the last.
	maxAttempts = 40
)

// IsZero reports whether there is nothing to say.
func (n Note) IsZero() bool { return len(n.Said) == 0 && len(n.Route) == 0 }

// Encode gives the text for the column, "" for an empty note. It always fits.
func (n Note) Encode() string {
	if n.IsZero() {
		return ""
	}
	if over := len(n.Route) - maxAttempts; over > 0 {
		n.Route = append(append([]Attempt(nil), n.Route[:maxAttempts-1]...), n.Route[len(n.Route)-1])
	}
	for i := range n.Route {
		if t := n.Route[i].Text; len(t) > maxAttemptText {
			route := append([]Attempt(nil), n.Route...)
			route[i].Text = strings.ToValidUTF8(t[:maxAttemptText], "") + "…"
			n.Route = route
		}
	}
	b, err := json.Marshal(n)
	if err != nil { // an argument that is neither text nor number: a mistake of ours
		return ""
	}
	if len(b) > maxNoteBytes {
		n.Route = nil
		if b, err = json.Marshal(n); err != nil || len(b) > maxNoteBytes {
			return ""
		}
	}
	return string(b)
}

// DecodeNote reads the column; what is no note of ours is an empty one.
func DecodeNote(text string) Note {
	var n Note
	if text == "" || json.Unmarshal([]byte(text), &n) != nil {
		return Note{}
	}
	return n
}

// Rings counts how often the run was sent to an address without a clear answer.
func (n Note) Rings() int {
	c := 0
	for _, a := range n.Route {
		if a.Asked == AskedRun {
			c++
		}
	}
	return c
}

// What is asked of an executor on the way of a run.
const (
	AskedRun            = "run"
	AskedBeat           = "beat"
	AskedIdleBeat       = "idleBeat"
	AskedGlobalIdleBeat = "globalIdleBeat"
)
