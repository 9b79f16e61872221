package mariadb

import (
	"os/exec"
	"syscall"
)

// endWithParent ends the server when the test process is killed. The kernel
// ties it to the starting thread, which Go may end only with the process here:
// the server is started from the main goroutine of TestMain.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
