package app

import (
	"fmt"
	"syscall"
)

const setDumpable = 4 // PR_SET_DUMPABLE

// keepPrivate closes the environment and the memory of this process to others
// of the same user, such as the scripts that it runs. Programs that it starts
// are not concerned, and root sees everything.
func keepPrivate() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, setDumpable, 0, 0); errno != 0 {
		return fmt.Errorf("close the process to others of its user: %w", errno)
	}
	return nil
}
