package app

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheProcessIsClosedToItsScripts asks the kernel; as root a script could
// read everything all the same, so trying it would prove nothing.
func TestTheProcessIsClosedToItsScripts(t *testing.T) {
	const getDumpable = 3
	before, _, errno := syscall.Syscall(syscall.SYS_PRCTL, getDumpable, 0, 0)
	require.Zero(t, errno)
	require.NoError(t, keepPrivate())
	after, _, errno := syscall.Syscall(syscall.SYS_PRCTL, getDumpable, 0, 0)
	require.Zero(t, errno)
	require.Zero(t, after)
	_, _, errno = syscall.Syscall(syscall.SYS_PRCTL, setDumpable, before, 0)
	require.Zero(t, errno)
}
