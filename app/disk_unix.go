//go:build linux || darwin

package app

import "syscall"

// diskUsed says how full the file system of a path is, in percent of what this user may write.
func diskUsed(path string) (percent int, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	used := s.Blocks - s.Bfree
	all := used + uint64(s.Bavail)
	if all == 0 {
		return 0, false
	}
	return int((used*100 + all - 1) / all), true
}
