package app

import (
	"fmt"
	"os"
	"path/filepath"
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

// TestIsFixed: of a program that may lie anywhere only code is given back; its loader has
// written other pages, and a program that loses those dies at once.
func TestIsFixed(t *testing.T) {
	program := func(kind byte) string {
		head := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
		head[16] = kind
		path := filepath.Join(t.TempDir(), "program")
		require.NoError(t, os.WriteFile(path, head, 0o600))
		return path
	}
	require.True(t, isFixed(program(2)))
	require.False(t, isFixed(program(3)), "position-independent")
	require.False(t, isFixed("/dev/null"))
	require.False(t, isFixed("/nowhere"))
}
