// Package jobfile reads and writes jobs as files: YAML, which is ours, and what
// people have of the center they come from: the JSON of its job list and dumps of
// its database. It checks the form of a file; whether a job is right is checked by
// package jobs.
package jobfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/model"
)

// Limits of one file.
const (
	MaxBytes = 10 << 20
	MaxJobs  = 20_000
)

// Error says what is wrong with a file, and where.
type Error struct {
	Line int // from 1; 0 = the file as a whole
	Key  string
	Args map[string]any
}

// Error gives a line for logs; people see the translation of Key.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s %v", e.Line, e.Key, e.Args) }

func errorAt(line int, key string, kv ...any) *Error {
	return &Error{Line: line, Key: key, Args: model.Errf("", "", kv...).Args}
}

// Read reads the jobs of a file. executors gives the app names of numbers that the
// file itself does not explain. Errors about the file are *Error.
func Read(raw []byte, executors map[int]string) ([]model.JobDoc, error) {
	if len(raw) > MaxBytes {
		return nil, errorAt(0, "import.too_large", "Max", MaxBytes>>20)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if line := invalidLine(raw); line > 0 {
		return nil, errorAt(line, "import.not_utf8")
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw))
	var docs []model.JobDoc
	var err error
	switch start := strings.TrimSpace(text); {
	case start == "":
		return nil, errorAt(0, "import.empty")
	case start[0] == '{' || start[0] == '[':
		docs, err = readJSON(text, executors)
	case looksLikeSQL(start):
		docs, err = readSQL(text, executors)
	default:
		docs, err = readYAML(text)
	}
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, errorAt(0, "import.no_jobs")
	}
	if len(docs) > MaxJobs {
		return nil, errorAt(0, "import.too_many", "Max", MaxJobs)
	}
	return docs, noDuplicates(docs)
}

// invalidLine gives the first line that is not UTF-8, or has a NUL, which no text has.
func invalidLine(raw []byte) int {
	line := 1
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n <= 1 || r == 0 {
			return line
		}
		if r == '\n' {
			line++
		}
		raw = raw[n:]
	}
	return 0
}

func noDuplicates(docs []model.JobDoc) error {
	seen := make(map[model.JobKey]int, len(docs))
	for i := range docs {
		d := &docs[i]
		key := model.JobKey{Executor: strings.ToLower(d.Executor), Name: d.Name}
		if first, ok := seen[key]; ok {
			return errorAt(d.Line, "import.duplicate", "Name", d.Name, "Executor", d.Executor, "First", first)
		}
		seen[key] = d.Line
	}
	return nil
}
