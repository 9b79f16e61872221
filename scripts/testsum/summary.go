package main

import (
	"fmt"
	"io"
	"strings"
)

// parts are the kinds of tests, by what their package path holds; the first
// that fits counts. "unit" is everything else.
var parts = []struct{ name, path string }{
	{"crash", "/e2e/crash"},
	{"interop", "/e2e/interop"},
	{"browser", "/e2e"},
	{"store", "/store"},
	{"store", "/migrations"},
	{"unit", ""},
}

// count is how many tests ended how.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	s := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return s
}

// pkg is what is known of one package while its tests run.
type pkg struct {
	output  map[string][]string // by test; "" = the package itself
	results map[string]string   // pass, fail, skip by test
	order   []string            // tests as they ended
}

// summary collects events and prints packages as they end.
type summary struct {
	w      io.Writer
	pkgs   map[string]*pkg
	builds map[string][]string // output of builds by import path
	counts map[string]*count
	broken bool // something failed that is not a test
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, pkgs: map[string]*pkg{}, builds: map[string][]string{}, counts: map[string]*count{}}
}

func (s *summary) stray(line string) {
	s.broken = true
	fmt.Fprint(s.w, line)
}

func (s *summary) add(e event) {
	switch e.Action {
	case "build-output":
		s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		return
	case "build-fail":
		s.broken = true
		return
	}
	p := s.pkgs[e.Package]
	if p == nil {
		p = &pkg{output: map[string][]string{}, results: map[string]string{}}
		s.pkgs[e.Package] = p
	}
	switch e.Action {
	case "output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.end(e, p)
			return
		}
		p.results[e.Test] = e.Action
		p.order = append(p.order, e.Test)
		if e.Action == "pass" {
			delete(p.output, e.Test)
		}
	}
}

// end counts and prints a package that is done.
func (s *summary) end(e event, p *pkg) {
	c := p.tally()
	if e.Action == "fail" && c.failed == 0 {
		s.broken = true // the build, TestMain or a crash between tests
	}
	total := s.counts[partOf(e.Package)]
	if total == nil {
		total = &count{}
		s.counts[partOf(e.Package)] = total
	}
	total.passed, total.failed, total.skipped = total.passed+c.passed, total.failed+c.failed, total.skipped+c.skipped
	switch {
	case e.Action == "fail":
		fmt.Fprintf(s.w, "FAIL  %s  %s  %.1fs\n", e.Package, c, e.Elapsed)
	case len(p.results) > 0:
		fmt.Fprintf(s.w, "ok    %s  %s  %.1fs\n", e.Package, c, e.Elapsed)
	}
	if e.FailedBuild != "" {
		s.print(s.builds[e.FailedBuild])
	}
	for _, name := range p.order {
		if p.results[name] != "pass" {
			s.print(p.output[name])
		}
	}
	if e.Action == "fail" {
		for name, lines := range p.output {
			if p.results[name] == "" { // the package's own words, and tests that a crash cut short
				s.print(lines)
			}
		}
	}
	delete(s.pkgs, e.Package)
}

func (s *summary) print(lines []string) {
	for _, l := range lines {
		fmt.Fprint(s.w, "      ", l)
	}
}

// tally counts leaves: a test with subtests is counted by them, unless it
// failed by itself.
func (p *pkg) tally() count {
	parents := map[string]string{} // worst result of the subtests
	for name, result := range p.results {
		for at := strings.LastIndexByte(name, '/'); at >= 0; at = strings.LastIndexByte(name[:at], '/') {
			if parents[name[:at]] != "fail" {
				parents[name[:at]] = result
			}
		}
	}
	var c count
	for name, result := range p.results {
		below, isParent := parents[name]
		if isParent && (result != "fail" || below == "fail") {
			continue
		}
		switch result {
		case "pass":
			c.passed++
		case "fail":
			c.failed++
		case "skip":
			c.skipped++
		}
	}
	return c
}

func partOf(path string) string {
	for _, p := range parts {
		if strings.Contains(path, p.path) {
			return p.name
		}
	}
	return ""
}

// report prints the last lines and says whether all is well.
func (s *summary) report() bool {
	for name := range s.pkgs { // never ended: go test itself was killed
		s.broken = true
		fmt.Fprintf(s.w, "FAIL  %s did not end\n", name)
	}
	var all count
	seen := map[string]bool{}
	fmt.Fprintln(s.w)
	for i := len(parts) - 1; i >= 0; i-- {
		name := parts[i].name
		c := s.counts[name]
		if c == nil || seen[name] || *c == (count{}) {
			continue
		}
		seen[name] = true
		fmt.Fprintf(s.w, "%s: %s\n", name, *c)
		all.passed, all.failed, all.skipped = all.passed+c.passed, all.failed+c.failed, all.skipped+c.skipped
	}
	ok := !s.broken && all.failed == 0 && all.skipped == 0 && all.passed > 0
	if !ok && all.failed == 0 {
		fmt.Fprintln(s.w, "not all is well: a build or package failed, or a test was skipped; see above")
	}
	fmt.Fprintf(s.w, "total: %s\n", all)
	return ok
}
