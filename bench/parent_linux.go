package main

import (
	"os/exec"
	"syscall"
)

// endWithParent ends a center when this program is killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
