//go:build !linux && !darwin

package app

// diskUsed is not known on this system: its disks are not watched.
func diskUsed(string) (percent int, ok bool) { return 0, false }
