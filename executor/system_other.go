//go:build !unix

package executor

import (
	"os"
	"os/exec"
)

// lockFile only marks the data directory: there is no lock that goes with the
// process in the standard library here.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}

func ownGroup(*exec.Cmd) {}

// endGroup ends the command but not its children.
func endGroup(p *os.Process, _ bool) error { return p.Kill() }
