package app_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamplesAreReal: code in CONTRIBUTING.md that names a file stands in that file, line by
// line.
func TestExamplesAreReal(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?ms)^```(?:go|templ) (\\S+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	require.GreaterOrEqual(t, len(examples), 8)
	for _, e := range examples {
		source, err := os.ReadFile("../" + e[1])
		require.NoError(t, err)
		for part := range strings.SplitSeq(e[2], "…\n") {
			require.Contains(t, string(source), part, e[1])
		}
	}
}
