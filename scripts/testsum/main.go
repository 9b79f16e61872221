// Command testsum reads the output of "go test -json" on standard input, prints
// one line per package and everything a failure said, and ends with the number
// of tests of each part and of all. A skipped test counts as a failure: a part
// of the machine that is missing must not look like success.
//
//	go test -json ./... | testsum
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	s := newSummary(os.Stdout)
	if err := read(os.Stdin, s); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if !s.report() {
		os.Exit(1)
	}
}

// event is one line of "go test -json"; see go doc test2json and go help buildjson.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// read gives every event to s. Lines that are none are shown as they are: they
// come from the go command itself and say what went wrong.
func read(r io.Reader, s *summary) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 {
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				s.add(e)
			} else {
				s.stray(string(line))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
