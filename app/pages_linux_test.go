package app

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPagesOfTheProgramAreGivenBack: less of the program file is in memory afterwards, and
// it still runs.
func TestPagesOfTheProgramAreGivenBack(t *testing.T) {
	resident := func() (kb int) {
		status, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(status), "RssFile:")
		require.True(t, found)
		_, err = fmt.Sscan(rest, &kb)
		require.NoError(t, err)
		return kb
	}
	before := resident()
	giveBackProgram()
	require.Less(t, resident(), before*3/4)
}
