package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = `"Package":"github.com/x/carillon`

func summarise(t *testing.T, lines ...string) (string, bool) {
	t.Helper()
	var out strings.Builder
	s := newSummary(&out)
	require.NoError(t, read(strings.NewReader(strings.Join(lines, "\n")), s))
	ok := s.report()
	return out.String(), ok
}

func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func TestCountsLeavesByPart(t *testing.T) {
	out, ok := summarise(t,
		`{"Action":"pass",`+module+`/jobs","Test":"TestA/one"}`,
		`{"Action":"pass",`+module+`/jobs","Test":"TestA/two"}`,
		`{"Action":"pass",`+module+`/jobs","Test":"TestA"}`,
		`{"Action":"pass",`+module+`/jobs"}`,
		`{"Action":"pass",`+module+`/store","Test":"TestB"}`,
		`{"Action":"pass",`+module+`/store"}`,
		`{"Action":"skip",`+module+`/views"}`, // a package without test files
		`{"Action":"pass",`+module+`/e2e/interop","Test":"TestC"}`,
		`{"Action":"pass",`+module+`/e2e/interop"}`,
	)
	require.True(t, ok)
	require.Contains(t, out, "\nunit: 2 passed, 0 failed\nstore: 1 passed, 0 failed\ninterop: 1 passed, 0 failed\n")
	require.Equal(t, "total: 4 passed, 0 failed", last(out))
}

func TestFailureIsShownInFull(t *testing.T) {
	out, ok := summarise(t,
		`{"Action":"output",`+module+`/jobs","Test":"TestA","Output":"want 1, have 2\n"}`,
		`{"Action":"output",`+module+`/jobs","Test":"TestB","Output":"quiet\n"}`,
		`{"Action":"fail",`+module+`/jobs","Test":"TestA"}`,
		`{"Action":"pass",`+module+`/jobs","Test":"TestB"}`,
		`{"Action":"fail",`+module+`/jobs"}`,
	)
	require.False(t, ok)
	require.Contains(t, out, "want 1, have 2")
	require.NotContains(t, out, "quiet")
	require.Equal(t, "total: 1 passed, 1 failed", last(out))
}

func TestParentThatFailsByItselfCounts(t *testing.T) {
	out, ok := summarise(t,
		`{"Action":"pass",`+module+`/jobs","Test":"TestA/one"}`,
		`{"Action":"fail",`+module+`/jobs","Test":"TestA"}`,
		`{"Action":"fail",`+module+`/jobs"}`,
	)
	require.False(t, ok)
	require.Equal(t, "total: 1 passed, 1 failed", last(out))
}

func TestSkipIsAFailure(t *testing.T) {
	out, ok := summarise(t,
		`{"Action":"output",`+module+`/jobs","Test":"TestA","Output":"needs python3\n"}`,
		`{"Action":"skip",`+module+`/jobs","Test":"TestA"}`,
		`{"Action":"pass",`+module+`/jobs","Test":"TestB"}`,
		`{"Action":"pass",`+module+`/jobs"}`,
	)
	require.False(t, ok)
	require.Contains(t, out, "needs python3")
	require.Equal(t, "total: 1 passed, 0 failed, 1 skipped", last(out))
}

func TestWhatIsNoTestFailsToo(t *testing.T) {
	passed := `{"Action":"pass",` + module + `/jobs","Test":"TestB"}` + "\n" + `{"Action":"pass",` + module + `/jobs"}`
	for name, lines := range map[string][]string{
		"nothing ran": {},
		"build": {
			`{"ImportPath":"github.com/x/carillon/views","Action":"build-output","Output":"undefined: x\n"}`,
			`{"ImportPath":"github.com/x/carillon/views","Action":"build-fail"}`,
			`{"Action":"fail",` + module + `/views","FailedBuild":"github.com/x/carillon/views"}`, passed,
		},
		"test main":       {`{"Action":"output",` + module + `/e2e","Output":"no browser\n"}`, `{"Action":"fail",` + module + `/e2e"}`, passed},
		"killed":          {`{"Action":"run",` + module + `/e2e","Test":"TestA"}`, passed},
		"the go command":  {"go: cannot find main module", passed},
		"crash in a test": {`{"Action":"output",` + module + `/e2e","Test":"TestA","Output":"panic: oh\n"}`, `{"Action":"fail",` + module + `/e2e"}`, passed},
	} {
		t.Run(name, func(t *testing.T) {
			out, ok := summarise(t, lines...)
			require.False(t, ok, out)
			for _, words := range []string{"undefined: x", "no browser", "panic: oh", "cannot find main"} {
				if strings.Contains(strings.Join(lines, ""), strings.TrimSuffix(words, "\n")) {
					require.Contains(t, out, words)
				}
			}
		})
	}
}
